/* Command lines: `--name value`, `--name=value`, flags and operands, over any option tables. */
#include "parse.h"

#include "guess.h"
#include "settings.h"

#include <stdio.h>
#include <string.h>

typedef struct cli_parser {
    cli_session *session;
    const cli_command *command;
    option_table tables[OPTION_TABLES];
    size_t table_count;
    char *const *next;
    size_t operand_count;
} cli_parser;

bool parse_wants_help(char *const *arguments)
{
    for (; *arguments && strcmp(*arguments, "--") != 0; arguments++)
        if (strcmp(*arguments, "--help") == 0 || strcmp(*arguments, "-h") == 0) return true;
    return false;
}

/* One letter is short for the first option that begins with it, unless there is one of that letter. */
static void offer(cli_guess *guess, const armilla_option *row)
{
    const char letter = guess->word[0], small = letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
    if (strlen(guess->word) != 1)
        guess_offer(guess, "--", row->name);
    else if (row->name[0] == small && (!guess->best || row->name[1] == '\0'))
        guess_take(guess, "--", row->name);
}

static armilla_status refuse_option(const cli_parser *parser, const char *word, const char *name)
{
    cli_guess guess;
    guess_begin(&guess, name);
    for (size_t t = 0; t < parser->table_count; t++)
        for (const armilla_option *row = parser->tables[t].rows; row->name; row = armilla_option_next(row))
            offer(&guess, row);
    return fail(parser->session, ARMILLA_BAD_ARGUMENT, "unknown option '%s'%s (see armilla %s --help)", word,
                guess.hint, parser->command->name);
}

/* The value of an option: behind '=', or the next argument unless that is an option too. */
static armilla_status take_value(cli_parser *parser, const armilla_option *row, const char *equals, const char **value)
{
    const bool flag = row->kind == ARMILLA_OPTION_FLAG;
    if (flag && equals)
        return fail(parser->session, ARMILLA_BAD_ARGUMENT, "--%s is a flag and takes no value; leave out '%s'",
                    row->name, equals);
    if (flag) return ARMILLA_OK;
    if (equals) {
        *value = equals + 1;
        return ARMILLA_OK;
    }
    if (!*parser->next || strncmp(*parser->next, "--", 2) == 0)
        return fail(parser->session, ARMILLA_BAD_ARGUMENT, "--%s needs a value: --%s %s", row->name, row->name,
                    row->value ? row->value : "VALUE");
    *value = *parser->next++;
    return ARMILLA_OK;
}

static void note_given(cli_settings *settings, const option_table *tables, size_t t, const armilla_option *row)
{
    uint64_t bit = 1;
    for (const armilla_option *at = tables[t].rows; at != row; at = armilla_option_next(at)) bit <<= 1;
    settings->given[t] |= bit;
}

static armilla_status take_option(cli_parser *parser, const char *word)
{
    char name[64] = "";
    const char *equals = strchr(word, '='), *value = NULL;
    if (strncmp(word, "--", 2) != 0) return refuse_option(parser, word, word + 1);
    const size_t length = strcspn(word + 2, "=");
    if (length < sizeof name) memcpy(name, word + 2, length);
    for (size_t t = 0; t < parser->table_count; t++) {
        cli_settings *settings = parser->session->settings;
        const armilla_option *row = armilla_option_find(parser->tables[t].rows, name);
        if (!row) continue;
        const armilla_status status = take_value(parser, row, equals, &value);
        if (status != ARMILLA_OK) return status;
        note_given(settings, parser->tables, t, row);
        return armilla_option_set(parser->session->context, row, settings_at(settings, parser->tables[t].offset),
                                  value);
    }
    return refuse_option(parser, word, name);
}

static armilla_status take_operand(cli_parser *parser, const char *word)
{
    const size_t most = sizeof parser->command->operands / sizeof *parser->command->operands;
    if (parser->operand_count >= most || !parser->command->operands[parser->operand_count])
        return fail(parser->session, ARMILLA_BAD_ARGUMENT, "'%s' is one argument too many; usage: armilla %s %s", word,
                    parser->command->name, parser->command->synopsis);
    parser->session->settings->operands[parser->operand_count++] = word;
    return ARMILLA_OK;
}

static armilla_status check_choice(cli_session *session, const cli_command *command)
{
    const char *word = session->settings->operands[0];
    cli_guess guess;
    if (!command->choice || !word) return ARMILLA_OK;
    guess_begin(&guess, word);
    for (size_t i = 0; command->choice(i); i++) {
        if (strcmp(command->choice(i), word) == 0) return ARMILLA_OK;
        guess_offer(&guess, "", command->choice(i));
    }
    char all[256] = "";
    size_t used = 0;
    const armilla_status refused = command->refuse ? command->refuse(session, word) : ARMILLA_OK;
    if (refused != ARMILLA_OK) return refused;
    if (guess.best)
        return fail(session, ARMILLA_BAD_ARGUMENT, "%s: '%s' is unknown%s (see armilla %s --help)", command->name, word,
                    guess.hint, command->name);
    for (size_t i = 0; command->choice(i) && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", command->choice(i));
    return fail(session, ARMILLA_BAD_ARGUMENT, "%s: '%s' is unknown; choices: %s", command->name, word, all);
}

static armilla_status check_operands(const cli_parser *parser)
{
    if (parser->operand_count < parser->command->required)
        return fail(parser->session, ARMILLA_BAD_ARGUMENT, "%s is missing; usage: armilla %s %s",
                    parser->command->operands[parser->operand_count], parser->command->name, parser->command->synopsis);
    return check_choice(parser->session, parser->command);
}

armilla_status parse_arguments(cli_session *session, char *const *arguments)
{
    cli_parser parser = {.session = session, .command = session->command, .next = arguments};
    armilla_status status = ARMILLA_OK;
    bool options_ended = false;
    settings_default(session->command, session->settings);
    parser.table_count = settings_tables(session->command, parser.tables);
    while (status == ARMILLA_OK && *parser.next) {
        const char *word = *parser.next++;
        if (options_ended || word[0] != '-' || word[1] == '\0')
            status = take_operand(&parser, word);
        else if (strcmp(word, "--") == 0)
            options_ended = true;
        else
            status = take_option(&parser, word);
    }
    settings_share(session->command, session->settings);
    return status == ARMILLA_OK ? check_operands(&parser) : status;
}
