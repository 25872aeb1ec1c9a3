/* The command line of one command, by its row's tables. */
#ifndef ARMILLA_CLI_PARSE_H
#define ARMILLA_CLI_PARSE_H

#include "command.h"

/* An option table and the struct that it fills. */
typedef struct option_group {
    const char *title;
    const armilla_option *table;
    void *target;
} option_group;

enum { OPTION_GROUPS = 5 };

/* The tables of a command, its own last; returns how many. */
size_t option_groups(const cli_command *command, cli_settings *settings, option_group groups[OPTION_GROUPS]);

/* What a command does where nothing is given. */
void parse_defaults(const cli_command *command, cli_settings *settings);

/* Whether the option is among those that were given: a bit for each row of its table. */
bool parse_given(const armilla_option *table, uint64_t given, const char *name);

/* True where -h or --help stands before any `--`: it wins over whatever else is wrong. */
bool parse_wants_help(char *const *arguments);

/* Fills session->settings from the arguments, which end with NULL and are borrowed. Options and operands come in any
 * order, `--` ends the options, the last of repeated options wins. */
armilla_status parse_arguments(cli_session *session, const cli_command *command, char *const *arguments);

#endif
