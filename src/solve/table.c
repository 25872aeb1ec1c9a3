/* The table of solvers. */
#include "solve/problem.h"

#include <string.h>

static const armilla_solver *const rows[] = {
    &armilla_solver_fast,
    &armilla_solver_palm,
    &armilla_solver_mu,
    &armilla_solver_online,
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const armilla_solver *armilla_solvers_row(size_t index)
{
    return index < ROWS ? rows[index] : NULL;
}

const armilla_solver *armilla_solvers_find(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(name, rows[i]->name) == 0) return rows[i];
    return NULL;
}
