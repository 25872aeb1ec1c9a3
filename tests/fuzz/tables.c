/* The commands' rows and option tables as JSON. */
#include "tables.h"

#include "json.h"
#include "settings.h"

static const char *const kinds[] = {
    [ARMILLA_OPTION_FLAG] = "flag",         [ARMILLA_OPTION_INTEGER] = "integer",   [ARMILLA_OPTION_REAL] = "real",
    [ARMILLA_OPTION_POSITIVE] = "positive", [ARMILLA_OPTION_MULTIPLE] = "multiple", [ARMILLA_OPTION_WORD] = "word",
    [ARMILLA_OPTION_TEXT] = "text",         [ARMILLA_OPTION_SIZE] = "size",
};

static json_t *words_of(const char *(*choice)(size_t index))
{
    json_t *words = json_array();
    for (size_t i = 0; choice && choice(i); i++) json_array_append_new(words, json_string(choice(i)));
    return words;
}

static json_t *option_of(const option_table *table, const armilla_option *row)
{
    json_t *made = json_object();
    json_put_text(made, "group", table->title);
    json_put_text(made, "name", row->name);
    json_put_text(made, "kind", kinds[row->kind]);
    json_put_text(made, "preset", row->preset);
    json_put_text(made, "automatic", row->automatic);
    json_put_text(made, "value", row->value);
    json_put_flag(made, "open", row->open);
    json_put_number(made, "low", row->low);
    json_put_number(made, "high", row->high);
    json_object_set_new(made, "choices", words_of(row->choice));
    return made;
}

static json_t *options_of(const cli_command *command)
{
    option_table tables[OPTION_TABLES];
    const size_t count = settings_tables(command, tables);
    json_t *made = json_array();
    for (size_t t = 0; t < count; t++)
        for (const armilla_option *row = tables[t].rows; row->name; row = armilla_option_next(row))
            json_array_append_new(made, option_of(&tables[t], row));
    return made;
}

static json_t *command_of(const cli_command *command)
{
    json_t *made = json_object();
    size_t operands = 0;
    while (operands < 2 && command->operands[operands]) operands++;
    json_put_text(made, "name", command->name);
    json_put_list(made, "operands", command->operands, operands);
    json_put_count(made, "required", (int64_t)command->required);
    json_object_set_new(made, "choices", words_of(command->choice));
    json_object_set_new(made, "options", options_of(command));
    return made;
}

int tables_print(FILE *stream)
{
    json_t *made = json_array();
    for (const cli_command *const *row = cli_commands; *row; row++) json_array_append_new(made, command_of(*row));
    const int failed = json_dumpf(made, stream, JSON_COMPACT);
    json_decref(made);
    return failed ? 1 : 0;
}
