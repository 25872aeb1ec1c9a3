/* The command line of one command, by its row's tables. */
#ifndef ARMILLA_CLI_PARSE_H
#define ARMILLA_CLI_PARSE_H

#include "command.h"

/* True where -h or --help stands before any `--`: it wins over whatever else is wrong. */
bool parse_wants_help(char *const *arguments);

/* Fills session->settings, which are those of the session's command, from the arguments, which end with NULL and are
 * borrowed. Options and operands come in any order, `--` ends the options, the last of repeated options wins. */
armilla_status parse_arguments(cli_session *session, char *const *arguments);

#endif
