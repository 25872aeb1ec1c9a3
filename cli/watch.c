/* What a terminal shows while the library works, and the answer to its question whether to go on. */
#include "watch.h"

#include "command.h"
#include "signals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Seconds between two lines: more cannot be read, and what ends at once needs none. */
#define PAUSE 0.1
/* One number is within a factor of two of what is farther away than that by no more than the square of it; below some
 * seconds nobody asks. */
#define WIDE 4.0
#define SHORT 3.0

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

/* "~ 40 s", or "10 s to 3 min" where the end is that open. */
static void describe_left(const armilla_progress *progress, char *text, size_t size)
{
    char low[32], high[32];
    const bool open = progress->latest > WIDE * progress->soonest && progress->latest >= SHORT;
    message_seconds(isfinite(progress->left) ? open ? progress->soonest : progress->left : -1, low, sizeof low);
    message_seconds(progress->latest, high, sizeof high);
    if (open && strcmp(low, high) != 0)
        snprintf(text, size, "%s to %s", low, high);
    else
        snprintf(text, size, "~ %s", low);
}

/* How far the whole command is, then what it is at. */
static void describe(const cli_messages *messages, const armilla_progress *progress, char *line, size_t size)
{
    char left[80], phase[512];
    describe_left(progress, left, sizeof left);
    describe_phase(messages, progress, phase, sizeof phase);
    snprintf(line, size, "%2.0f %%  %s left  %s", floor(100 * progress->whole), left, phase);
}

static void show(cli_messages *messages, const armilla_progress *progress, bool stopping)
{
    const bool news = stopping && !messages->stopping;
    char text[640], line[660];
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
