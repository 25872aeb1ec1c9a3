/* How far the reading of a file has come. */
#include "reading.h"

#include "command.h"

#include <stdio.h>

#define PATIENCE 1.0 /* seconds before anything is shown */
#define PAUSE 0.2    /* between two lines */

void reading_progress(void *user, int64_t done, int64_t total)
{
    cli_reading *reading = user;
    const double clock = now(), elapsed = clock - reading->begun;
    char left[32], line[512];
    if (elapsed < PATIENCE || clock - reading->shown < PAUSE || done <= 0 || total <= 0) return;
    report_seconds(elapsed * (double)(total - done) / (double)done, left, sizeof left);
    snprintf(line, sizeof line, "reading %s  %.0f %% of %.0f MB  < %s left", reading->path,
             100 * (double)done / (double)total, 1e-6 * (double)total, left);
    report_progress(reading->report, line);
    reading->shown = clock;
}
