/* One column problem, min w'Hw - 2d'w over unit w of a code set, drawn at random and ready to be solved. */
#ifndef ARMILLA_TESTS_COLUMN_H
#define ARMILLA_TESTS_COLUMN_H

#include "reference/reference.h"

#include "sets/column.h"

enum { SMALL_RANK = 8, MOST_RANK = 16 };

/* Where H comes from. */
typedef enum gram_kind { TALL, NONNEGATIVE, WIDE, TWINS, ZEROS, NOTHING, GRAM_KINDS } gram_kind;

typedef struct column {
    const armilla_code_set *codes;
    int64_t r, s;
    double H[MOST_RANK * MOST_RANK], d[MOST_RANK];
    armilla_algebra *algebra;
    armilla_column_problem *problem;
    double *workspace;
} column;

/* The problem without H and d, and what it is in words. */
void column_open(const char *codes, int64_t r, int64_t s, bool exact, column *c);
void column_close(column *c);
void column_scene(const column *c, gram_kind kind, int draw);

/* U of the kind gives H; d = U'x for an x near the span or, at times, any d at all. nonnegative: of U. */
void column_draw(uint64_t *random, gram_kind kind, bool nonnegative, column *c);
/* A random point of the set; some of its entries are 0 where they may be. */
void column_draw_point(uint64_t *random, const column *c, double *w);

/* g(w), and what differences of g are measured by. */
double column_value(const column *c, const double *w);
double column_scale(const column *c);

/* Finite, without negative zeros, and as nonnegative and sparse as the set says. */
void column_check_signs(const column *c, const double *w);
/* Exactly in the set, which is on the sphere. */
void column_check_feasible(const column *c, const double *w);
/* The code on the sphere, its feasibility, and that neither Proj(d) nor an axis is better. Returns g. */
double column_solve(column *c, double *w);

/* The sorts of problems with codes on a sphere. */
typedef struct column_sort {
    const char *codes;
    int64_t r, s;
} column_sort;
enum { COLUMN_SORTS = 20 };
extern const column_sort column_sorts[COLUMN_SORTS];

/* Each sort of problem and each kind of H, several times. */
void column_for_each(uint64_t seed, int draws, void (*check)(uint64_t *random, column *c));

/* BLAS on one thread, as in a fit. */
int column_set_up(void **state);
int column_tear_down(void **state);

#endif
