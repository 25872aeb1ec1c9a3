/* Progress of reading, on a terminal: for files that take more than a second. */
#ifndef ARMILLA_CLI_READING_H
#define ARMILLA_CLI_READING_H

#include "report.h"

typedef struct cli_reading {
    cli_report *report;
    const char *path;
    double begun, shown; /* seconds */
} cli_reading;

/* As armilla_read_options wants it; user is a cli_reading. */
void reading_progress(void *user, int64_t done, int64_t total);

#endif
