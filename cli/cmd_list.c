/* armilla list: the library's tables. */
#include "command.h"
#include "wording.h"

#include <stdio.h>
#include <string.h>

static const armilla_option options[] = {OPTION_END};

static const char *table_choice(size_t index)
{
    return index < ARMILLA_TABLE_COUNT ? armilla_table_name((armilla_table)index) : NULL;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void print_table(armilla_table table, const char *margin)
{
    armilla_table_row row;
    char meaning[512];
    size_t name = 0, alias = 0, use = 0;
    for (size_t i = 0; armilla_table_get(table, i, &row); i++) {
        name = larger(name, strlen(row.name));
        alias = larger(alias, strlen(row.alias));
        use = larger(use, strlen(row.use));
    }
    for (size_t i = 0; armilla_table_get(table, i, &row); i++)
        printf("%s%-*s  %-*s%s%-*s%s%s\n", margin, (int)name, row.name, (int)alias, row.alias, alias ? "  " : "",
               (int)use, row.use, use ? "  " : "", wording_apply(row.meaning, meaning, sizeof meaning));
}

static armilla_status run(cli_session *session)
{
    const char *wanted = session->settings->operands[0];
    for (size_t i = 0; table_choice(i); i++) {
        if (wanted && strcmp(table_choice(i), wanted) != 0) continue;
        if (!wanted) printf("%s%s\n", i ? "\n" : "", table_choice(i));
        print_table((armilla_table)i, wanted ? "" : "  ");
    }
    return ARMILLA_OK;
}

const cli_command command_list = {
    .name = "list",
    .synopsis = "[TABLE]",
    .meaning = "constraint sets, solvers, starts, formats and named models",
    .operands = {"TABLE"},
    .choice = table_choice,
    .settings_size = sizeof(cli_settings),
    .options = options,
    .run = run,
};
