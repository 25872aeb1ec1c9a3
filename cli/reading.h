/* Data files: the options that say how they are read, the same for every command that reads one. */
#ifndef ARMILLA_CLI_READING_H
#define ARMILLA_CLI_READING_H

#include "command.h"

/* For settings; ends with a row whose name is NULL. */
extern const armilla_option reading_options[];

/* A file that is being read, and how far that has come, in bytes: a line on the terminal. */
typedef struct cli_reading cli_reading;
void reading_show(cli_reading *reading, int64_t done, int64_t total);

#endif
