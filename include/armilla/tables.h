/* The tables of sets, solvers, starts, formats and named models, for listings and enumerations. */
#ifndef ARMILLA_TABLES_H
#define ARMILLA_TABLES_H

#include <armilla/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum armilla_table {
    ARMILLA_TABLE_BASIS,
    ARMILLA_TABLE_CODES,
    ARMILLA_TABLE_SOLVERS,
    ARMILLA_TABLE_STARTS,
    ARMILLA_TABLE_FORMATS,
    ARMILLA_TABLE_MODELS,
    ARMILLA_TABLE_COUNT
} armilla_table;

typedef struct armilla_table_row {
    size_t size;
    const char *name;
    const char *alias;   /* the paper's name, a file ending or what a model stands for; "" where there is none */
    const char *meaning; /* one line */
    const char *use;     /* of a format: "read", "written" or "read, written"; else "" */
    const char *sign;    /* of a constraint set's entries: "any" or "nonnegative"; else "" */
} armilla_table_row;

/* "basis", "codes", "solvers", "starts", "formats", "models"; NULL past the last. */
ARMILLA_API const char *armilla_table_name(armilla_table table);
ARMILLA_API bool armilla_table_get_sized(armilla_table table, size_t index, armilla_table_row *row, size_t size);
/* false past the last row. */
static inline bool armilla_table_get(armilla_table table, size_t index, armilla_table_row *row)
{
    return armilla_table_get_sized(table, index, row, sizeof *row);
}

#ifdef __cplusplus
}
#endif

#endif
