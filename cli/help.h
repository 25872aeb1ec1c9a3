/* Help, generated from the commands' rows and the option tables. */
#ifndef ARMILLA_CLI_HELP_H
#define ARMILLA_CLI_HELP_H

#include "command.h"

#include <stdio.h>

void help_usage(FILE *stream);
void help_all(FILE *stream, const cli_command *const *commands);
void help_command(FILE *stream, const cli_command *command);

/* The help of an option, with what its table says about its values. */
enum { HELP_TEXT = 1024 };
void help_describe(const armilla_option *row, char *buffer, size_t size);

#endif
