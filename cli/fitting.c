/* Runs fits, and tells of their iterations. */
#include "fitting.h"

#include "announcing.h"
#include "reading.h"
#include "signals.h"
#include "watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct cli_watcher {
    cli_messages *messages;
    const armilla_options *options;
    double begun;  /* clock of the first call */
    int64_t round; /* which of the restarts */
    int64_t done;  /* iterations of all of them */
} cli_watcher;

static void describe(cli_watcher *watcher, const armilla_trace_entry *entry, double clock)
{
    const double elapsed = clock - watcher->begun, rate = elapsed > 0 ? (double)watcher->done / elapsed : 0;
    char start[64] = "", radius[48] = "", line[256];
    if (isfinite(entry->radius)) snprintf(radius, sizeof radius, "  radius %.4g", entry->radius);
    if (watcher->options->restarts > 1)
        snprintf(start, sizeof start, "start %" PRId64 " of at most %" PRId64 "  ", watcher->round,
                 watcher->options->restarts);
    snprintf(line, sizeof line, "%siter %" PRId64 "/%" PRId64 "  error %.6f%s  %.3g it/s", start, entry->iteration,
             watcher->options->max_iter, entry->relative_error, radius, rate);
    watch_describe(watcher->messages, line);
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
    if (watcher->messages->terminal && !watcher->messages->quiet) describe(watcher, entry, clock);
    return 0;
}

void fitting_announce(cli_session *session, const cli_shape *shape, int64_t rank)
{
    const armilla_options *options = settings_fit(session);
    armilla_workload fit = announce_on(session, ARMILLA_WORK_FIT, shape);
    fit.rank = rank;
    fit.restarts = options->restarts;
    fit.max_iter = options->max_iter;
    fit.limit = options->time_limit;
    announce(session, &fit);
}

armilla_status fitting_run(cli_session *session, const armilla_data *X, const armilla_options *options,
                           armilla_checkpoint *checkpoint, armilla_model **model)
{
    armilla_options watched = *options;
    armilla_checkpoint none;
    cli_watcher watcher = {.messages = &session->messages, .options = options};
    watched.callback = on_iteration;
    watched.callback_user = &watcher;
    signals_defer();
    armilla_checkpoint_default(&none);
    if (!checkpoint) checkpoint = &none;
    checkpoint->overwrite = session->settings->force;
    const armilla_status status = armilla_fit_checkpointed(session->context, X, &watched, checkpoint, model);
    watch_describe(&session->messages, "");
    message_erase(&session->messages);
    session->exit = signals_exit();
    return status == ARMILLA_OK ? reading_remember(session, *model) : status;
}

armilla_status fitting_save(cli_session *session, const armilla_model *model, const char *out, const char *trace)
{
    const bool force = session->settings->force;
    armilla_status status = ARMILLA_OK;
    if (out) status = armilla_model_save(session->context, model, out, force);
    if (status == ARMILLA_OK && trace) status = armilla_model_save_trace(session->context, model, trace, force);
    /* A signal that came while saving counts too. */
    session->exit = signals_exit();
    return status;
}
