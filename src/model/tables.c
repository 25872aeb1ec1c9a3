/* All tables behind one listing. */
#include "base/sized.h"
#include "files/files.h"
#include "files/write.h"
#include "sets/sets.h"
#include "solve/problem.h"
#include "start/start.h"

#include <armilla/tables.h>

static armilla_table_row row_of(const char *name, const char *alias, const char *meaning, const char *use)
{
    return (armilla_table_row){
        .size = sizeof(armilla_table_row), .name = name, .alias = alias, .meaning = meaning, .use = use, .sign = ""};
}

static const char *sign_of(bool nonnegative)
{
    return nonnegative ? "nonnegative" : "any";
}

#define ROW(of, table, type, alias, sign_text)                                                                         \
    static bool of##_row(size_t index, armilla_table_row *row)                                                         \
    {                                                                                                                  \
        const type *found = armilla_##table##_row(index);                                                              \
        if (!found) return false;                                                                                      \
        *row = row_of(found->name, alias, found->meaning, "");                                                         \
        row->sign = sign_text;                                                                                         \
        return true;                                                                                                   \
    }
ROW(basis, basis, armilla_basis_set, found->alias ? found->alias : "", sign_of(!found->is_signed))
ROW(codes, codes, armilla_code_set, found->alias ? found->alias : "", sign_of(found->nonnegative))
ROW(solver, solvers, armilla_solver, "", "")
ROW(start, starts, armilla_start, "", "")
ROW(model, models, armilla_named_model, found->pair, "")

/* Those that are read first, then those that are only written. */
static const armilla_writer *only_written(size_t index)
{
    for (size_t i = 0; armilla_writers_row(i); i++)
        if (!armilla_formats_find(armilla_writers_row(i)->name) && index-- == 0) return armilla_writers_row(i);
    return NULL;
}

static bool format_row(size_t index, armilla_table_row *row)
{
    size_t read = 0;
    while (armilla_formats_row(read)) read++;
    const armilla_format *format = armilla_formats_row(index);
    const armilla_writer *writer = format ? armilla_writers_find(format->name) : only_written(index - read);
    if (format)
        *row = row_of(format->name, format->endings, format->meaning, writer ? "read, written" : "read");
    else if (writer)
        *row = row_of(writer->name, writer->endings, writer->meaning, "written");
    return format || writer;
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

bool armilla_table_get_sized(armilla_table table, size_t index, armilla_table_row *row, size_t size)
{
    armilla_table_row whole = {.size = 0};
    const bool there = (unsigned)table < ARMILLA_TABLE_COUNT && tables[table].get(index, &whole);
    if (there) armilla_sized_write(&whole, sizeof whole, row, size);
    return there;
}
