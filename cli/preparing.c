/* The preparation among the options of a fit. */
#include "preparing.h"

#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 64 };

static const armilla_option *table(void)
{
    static armilla_option rows[MOST_ROWS + 1];
    size_t count = 0;
    for (const armilla_option *row = armilla_option_table(); row->name && count < MOST_ROWS;
         row = armilla_option_next(row))
        if (armilla_option_is_of(row, ARMILLA_PREPARATION) && strcmp(row->name, "normalize") != 0) {
            rows[count] = *row;
            rows[count++].size = sizeof *rows; /* the library's may be longer */
        }
    return rows;
}

static void set_defaults(void *options)
{
    armilla_options_default(options);
}

const cli_group group_preparation = {.title = "preparation ", .table = table, .defaults = set_defaults};

/* What is a number as a text, too, such as a total. */
static void put_word(json_t *object, const char *name, const char *word)
{
    char *end = NULL;
    const double number = word ? strtod(word, &end) : NAN;
    if (word && end != word && *end == '\0')
        json_put_number(object, name, number);
    else
        json_put_text(object, name, word);
}

/* The member is named like the field. */
static void put_row(json_t *object, const armilla_option *row, const armilla_options *fit)
{
    const void *field = (const char *)fit + row->offset;
    char name[64] = "";
    for (size_t i = 0; row->name[i] && i + 1 < sizeof name; i++) name[i] = row->name[i] == '-' ? '_' : row->name[i];
    if (row->kind == ARMILLA_OPTION_FLAG)
        json_put_flag(object, name, *(const bool *)field);
    else if (row->kind == ARMILLA_OPTION_INTEGER)
        json_put_count(object, name, *(const int64_t *)field > 0 ? *(const int64_t *)field : -1);
    else
        put_word(object, name, *(const char *const *)field);
}

void preparing_put(json_t *object, const armilla_options *fit)
{
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row))
        if (armilla_option_is_of(row, ARMILLA_PREPARATION)) put_row(object, row, fit);
}

armilla_options preparing_of_model(const armilla_model *model)
{
    armilla_options prepared;
    armilla_options_default(&prepared);
    armilla_model_preparation(model, &prepared);
    return prepared;
}
