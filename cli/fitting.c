/* Runs fits. The remaining time is what --max-iter and --time-limit leave at the present rate, an upper bound: most
 * fits converge before. */
#include "fitting.h"

#include "reading.h"
#include "signals.h"
#include "watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct cli_watcher {
    cli_report *report;
    const armilla_options *options;
    double begun;  /* clock of the first call */
    int64_t round; /* which of the restarts */
    int64_t done;  /* iterations of all of them */
} cli_watcher;

/* Seconds that are left at most, or a negative number where nothing limits them yet. */
static double remaining(const cli_watcher *watcher, const armilla_trace_entry *entry, double rate)
{
    const armilla_options *options = watcher->options;
    const double rounds = (double)(options->restarts > watcher->round ? options->restarts - watcher->round : 0);
    const double iterations = rounds * (double)options->max_iter + (double)(options->max_iter - entry->iteration);
    double left = rate > 0 ? iterations / rate : INFINITY;
    if (options->time_limit > 0) left = fmin(left, fmax(options->time_limit - entry->seconds, 0));
    return isfinite(left) ? left : -1;
}

static void describe(cli_watcher *watcher, const armilla_trace_entry *entry, double clock)
{
    const double elapsed = clock - watcher->begun, rate = elapsed > 0 ? (double)watcher->done / elapsed : 0;
    char start[64] = "", radius[48] = "", left[32], line[256];
    if (isfinite(entry->radius)) snprintf(radius, sizeof radius, "  radius %.4g", entry->radius);
    report_seconds(remaining(watcher, entry, rate), left, sizeof left);
    if (watcher->options->restarts > 1)
        snprintf(start, sizeof start, "start %" PRId64 " of at most %" PRId64 "  ", watcher->round,
                 watcher->options->restarts);
    snprintf(line, sizeof line, "%siter %" PRId64 "/%" PRId64 "  error %.6f%s  %.3g it/s  < %s left", start,
             entry->iteration, watcher->options->max_iter, entry->relative_error, radius, rate, left);
    watch_describe(watcher->report, line);
}

static int on_iteration(void *user, const armilla_trace_entry *entry)
{
    cli_watcher *watcher = user;
    const double clock = now();
    if (watcher->begun == 0) watcher->begun = clock;
    if (entry->iteration == 0)
        watcher->round++;
    else
        watcher->done++;
    if (watcher->report->terminal && !watcher->report->quiet) describe(watcher, entry, clock);
    return 0;
}

armilla_status fitting_run(cli_session *session, const armilla_data *X, armilla_model **model)
{
    armilla_options options = session->settings.fit;
    cli_watcher watcher = {.report = &session->report, .options = &options};
    options.callback = on_iteration;
    options.callback_user = &watcher;
    signals_defer();
    session->settings.checkpoint.overwrite = session->settings.force;
    const armilla_status status =
        armilla_fit_checkpointed(session->context, X, &options, &session->settings.checkpoint, model);
    watch_describe(&session->report, "");
    report_erase(&session->report);
    session->exit = signals_exit();
    return status == ARMILLA_OK ? reading_remember(session, *model) : status;
}

armilla_status fitting_save(cli_session *session, const armilla_model *model, const char *out, const char *trace)
{
    const bool force = session->settings.force;
    armilla_status status = ARMILLA_OK;
    if (out) status = armilla_model_save(session->context, model, out, force);
    if (status == ARMILLA_OK && trace) status = armilla_model_save_trace(session->context, model, trace, force);
    /* A signal that came while saving counts too. */
    session->exit = signals_exit();
    return status;
}
