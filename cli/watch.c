/* What a terminal shows while the library works, and the answer to its question whether to go on. */
#include "watch.h"

#include "command.h"
#include "reading.h"
#include "signals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Seconds between two lines: more cannot be read, and what ends at once needs none. */
#define PAUSE 0.1

void watch_describe(cli_report *report, const char *text)
{
    snprintf(report->described, sizeof report->described, "%s", text);
}

static void describe_stage(const cli_report *report, const armilla_progress *progress, char *line, size_t size)
{
    char left[32];
    if (progress->stage == ARMILLA_STAGE_ITERATIONS && report->described[0]) {
        snprintf(line, size, "%s", report->described);
        return;
    }
    report_seconds(isfinite(progress->remaining) ? progress->remaining : -1, left, sizeof left);
    snprintf(line, size, "%s  %.0f %%  ~ %s left", armilla_stage_word(progress->stage), 100 * progress->fraction, left);
}

static void show(cli_report *report, const armilla_progress *progress, bool stopping)
{
    const bool news = stopping && !report->stopping;
    char stage[256], line[300];
    if (!report->terminal || report->quiet) return;
    const double clock = now();
    if (report->shown == 0) report->shown = clock;
    if (!news && clock - report->shown < PAUSE) return;
    describe_stage(report, progress, stage, sizeof stage);
    snprintf(line, sizeof line, "%s%s", stopping ? "stopping: " : "", stage);
    report_progress(report, line);
    report->shown = clock;
    report->stopping = stopping;
}

int watch_call(void *user, const armilla_progress *progress)
{
    cli_report *report = user;
    const bool asked = signals_exit() != 0;
    if (progress->stage != ARMILLA_STAGE_READING)
        show(report, progress, asked || progress->stopping);
    else if (report->reading)
        reading_show(report->reading, progress->done, progress->total);
    return asked;
}
