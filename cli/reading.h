/* Data files: the options that say how they are read, the same for every command that reads one. */
#ifndef ARMILLA_CLI_READING_H
#define ARMILLA_CLI_READING_H

#include "command.h"

#include <stdio.h>

/* For settings; ends with a row whose name is NULL. */
const armilla_option *reading_table(void);

/* The options of the table that were given, each with a blank before it, as they are typed for another command. */
void reading_print(const cli_session *session, FILE *stream);

/* ARMILLA_BAD_ARGUMENT where one of them was given but no data are read, because the operand is a model; `but` those in the
 * list, which ends with NULL (NULL: none). */
armilla_status reading_refuse(cli_session *session, const char *model, const char *const *but, const char *advice);

/* A file that is being read, and how far that has come, in bytes: a line on the terminal. */
typedef struct cli_reading cli_reading;
void reading_show(cli_reading *reading, int64_t done, int64_t total);

#endif
