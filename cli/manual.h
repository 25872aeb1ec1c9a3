/* Manual pages and shell completion, made from the tables of commands and options. */
#ifndef ARMILLA_CLI_MANUAL_H
#define ARMILLA_CLI_MANUAL_H

#include "command.h"

#include <stdio.h>

/* armilla.1, of all commands, which end with NULL. */
void manual_all(FILE *stream, const cli_command *const *commands);
/* armilla-COMMAND.1 */
void manual_command(FILE *stream, const cli_command *command);

/* The completion for that shell; false where there is none. */
bool completion_print(FILE *stream, const char *shell, const cli_command *const *commands);

#endif
