/* All tables behind one listing. */
#include "files/files.h"
#include "sets/sets.h"
#include "solve/problem.h"
#include "start/start.h"

#include <armilla/tables.h>

static bool basis_row(size_t index, armilla_table_row *row)
{
    const armilla_basis_set *set = armilla_basis_row(index);
    if (set) *row = (armilla_table_row){set->name, set->alias, set->meaning};
    return set != NULL;
}

static bool codes_row(size_t index, armilla_table_row *row)
{
    const armilla_code_set *set = armilla_codes_row(index);
    if (set) *row = (armilla_table_row){set->name, set->alias, set->meaning};
    return set != NULL;
}

static bool solver_row(size_t index, armilla_table_row *row)
{
    const armilla_solver *solver = armilla_solvers_row(index);
    if (solver) *row = (armilla_table_row){solver->name, "", solver->meaning};
    return solver != NULL;
}

static bool start_row(size_t index, armilla_table_row *row)
{
    const armilla_start *start = armilla_starts_row(index);
    if (start) *row = (armilla_table_row){start->name, "", start->meaning};
    return start != NULL;
}

static bool format_row(size_t index, armilla_table_row *row)
{
    const armilla_format *format = armilla_formats_row(index);
    if (format) *row = (armilla_table_row){format->name, format->endings, format->meaning};
    return format != NULL;
}

static bool model_row(size_t index, armilla_table_row *row)
{
    const armilla_named_model *model = armilla_models_row(index);
    if (model) *row = (armilla_table_row){model->name, model->pair, model->meaning};
    return model != NULL;
}

static const struct {
    const char *name;
    bool (*get)(size_t index, armilla_table_row *row);
} tables[ARMILLA_TABLE_COUNT] = {
    [ARMILLA_TABLE_BASIS] = {"basis", basis_row},      [ARMILLA_TABLE_CODES] = {"codes", codes_row},
    [ARMILLA_TABLE_SOLVERS] = {"solvers", solver_row}, [ARMILLA_TABLE_STARTS] = {"starts", start_row},
    [ARMILLA_TABLE_FORMATS] = {"formats", format_row}, [ARMILLA_TABLE_MODELS] = {"models", model_row},
};

const char *armilla_table_name(armilla_table table)
{
    return (unsigned)table < ARMILLA_TABLE_COUNT ? tables[table].name : NULL;
}

bool armilla_table_get(armilla_table table, size_t index, armilla_table_row *row)
{
    return (unsigned)table < ARMILLA_TABLE_COUNT && tables[table].get(index, row);
}
