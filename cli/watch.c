/* What a terminal shows while the library works, and the answer to its question whether to go on. */
#include "watch.h"

#include "command.h"
#include "signals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Seconds between two lines: more cannot be read, and what ends at once needs none. */
#define PAUSE 0.1

void watch_describe(cli_messages *messages, const char *text)
{
    snprintf(messages->described, sizeof messages->described, "%s", text);
}

/* What is in progress, in words. */
static void describe_phase(const cli_messages *messages, const armilla_progress *progress, char *line, size_t size)
{
    const double megabytes = 1e-6 * (double)progress->total;
    if (progress->stage == ARMILLA_STAGE_ITERATIONS && messages->described[0])
        snprintf(line, size, "%s", messages->described);
    else if (progress->stage == ARMILLA_STAGE_READING && messages->reading && progress->total > 0)
        snprintf(line, size, "reading %s  %.0f %% of %.0f MB", messages->reading,
                 100 * (double)progress->done / (double)progress->total, megabytes);
    else
        snprintf(line, size, "%s  %.0f %%", progress->phase, 100 * progress->fraction);
}

/* How far the whole command is, then what it is at. */
static void describe(const cli_messages *messages, const armilla_progress *progress, char *line, size_t size)
{
    char left[32], phase[512];
    message_seconds(isfinite(progress->left) ? progress->left : -1, left, sizeof left);
    describe_phase(messages, progress, phase, sizeof phase);
    snprintf(line, size, "%2.0f %%  ~ %s left  %s", floor(100 * progress->whole), left, phase);
}

static void show(cli_messages *messages, const armilla_progress *progress, bool stopping)
{
    const bool news = stopping && !messages->stopping;
    char text[600], line[620];
    if (!messages->terminal || messages->quiet) return;
    const double clock = now();
    if (messages->shown == 0) messages->shown = clock;
    if (!news && clock - messages->shown < PAUSE) return;
    describe(messages, progress, text, sizeof text);
    snprintf(line, sizeof line, "%s%s", stopping ? "stopping: " : "", text);
    message_progress(messages, line);
    messages->shown = clock;
    messages->stopping = stopping;
}

int watch_call(void *user, const armilla_progress *progress)
{
    cli_messages *messages = user;
    const bool asked = signals_exit() != 0;
    show(messages, progress, asked || progress->stopping);
    return asked;
}
