/* armilla fit: everything that can be refused is refused before the data are touched, then the data, then the fit. */
#include "announcing.h"
#include "fitting.h"
#include "json.h"
#include "outputs.h"
#include "resuming.h"
#include "start.h"
#include "tops.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const armilla_option options[] = {
    OPTION_OUT("MODEL.npz", "write the model there"),
    OPTION_PATH("trace", fit_settings, trace, "FILE.csv", "write the objective of every iteration there"),
    OPTION_CHECKPOINT(fit_settings),
    OPTION_CHECKPOINT_EVERY(fit_settings),
    OPTION_RESUME(fit_settings),
    OPTION_MISSING_FEATURES(fit_settings),
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_FLAG("dry-run", fit_settings, dry_run, "check everything, say what would be done, and stop"),
    OPTION_END,
};

static fit_settings *settings_of(const cli_session *session)
{
    return (fit_settings *)session->settings;
}

static void set_defaults(cli_settings *settings)
{
    armilla_checkpoint_default(settings_at(settings, offsetof(fit_settings, checkpoint)));
}

static armilla_status check_request(cli_session *session)
{
    const fit_settings *settings = settings_of(session);
    const armilla_checkpoint *checkpoint = &settings->checkpoint;
    const output_path outputs[] = {{"--out", settings->common.out, ".npz", NULL},
                                   {"--trace", settings->trace, ".csv", NULL},
                                   {"--checkpoint", checkpoint->path, ".checkpoint", checkpoint->resume}};
    armilla_status status = armilla_options_check(session->context, &settings->fit);
    if (status == ARMILLA_OK) status = start_check(session);
    if (status == ARMILLA_OK) status = resuming_check(session, checkpoint);
    if (status == ARMILLA_OK) status = outputs_check(session, outputs, sizeof outputs / sizeof *outputs);
    return status;
}

static void report_written(cli_session *session)
{
    const fit_settings *settings = settings_of(session);
    const char *out = settings->common.out, *trace = settings->trace;
    const char *written = settings->dry_run ? "writes " : "written";
    if (out || trace)
        message_line(&session->messages, "%s   %s%s%s", written, out ? out : "", out && trace ? ", " : "",
                     trace ? trace : "");
    else
        message_line(&session->messages, "%s   nothing; --out MODEL.npz keeps the model", written);
}

static void show_plan(cli_session *session, const armilla_data *X)
{
    const armilla_options *fit = settings_fit(session);
    char pair[128], threads[48] = "as many threads as this process may use";
    cli_messages *messages = &session->messages;
    /* The defaults are promises of the interface. */
    if (fit->model)
        snprintf(pair, sizeof pair, "%s", fit->model);
    else
        snprintf(pair, sizeof pair, "%s x %s", fit->basis ? fit->basis : "orthonormal",
                 fit->codes ? fit->codes : "sphere");
    if (fit->threads > 0) snprintf(threads, sizeof threads, "%" PRId64 " threads", fit->threads);
    message_line(messages, "plan      %s, rank %" PRId64 ", not fitted because of --dry-run", pair, fit->rank);
    message_line(messages, "data      %s: %" PRId64 " features x %" PRId64 " samples, %s",
                 session->settings->operands[0], armilla_data_features(X), armilla_data_samples(X),
                 armilla_data_storage(X));
    message_line(messages, "solver    %s, at most %" PRId64 " iterations; %s, %s", fit->solver, fit->max_iter,
                 fit->precision ? fit->precision : armilla_type_word(armilla_type_precision(armilla_data_type(X))),
                 threads);
    report_written(session);
}

static armilla_status print_json(cli_session *session, const armilla_model *model, const armilla_data *X,
                                 double seconds_reading)
{
    armilla_model_summary summary;
    json_t *object = json_object();
    armilla_model_summarize(model, &summary);
    json_put_summary(object, &summary);
    json_put_count(object, "passes", summary.passes);
    json_put_count(object, "passes_before", summary.passes_before);
    json_put_flag(object, "streamed", armilla_data_bytes_read(X) >= 0);
    json_put_count(object, "bytes_read", armilla_data_bytes_read(X));
    json_put_number(object, "seconds_reading", seconds_reading);
    json_put_peak_memory(object);
    json_put_text(object, "out", session->settings->out);
    return json_print(session, object);
}

/* The plan as the object that the fit would print, with null for what only the fit can tell. */
static armilla_status print_plan(cli_session *session, const armilla_data *X, double seconds_reading)
{
    const armilla_options *fit = settings_fit(session);
    json_t *object = json_object();
    json_put_text(object, "model", fit->model);
    json_put_text(object, "basis", fit->model ? NULL : fit->basis ? fit->basis : "orthonormal");
    json_put_text(object, "codes", fit->model ? NULL : fit->codes ? fit->codes : "sphere");
    json_put_count(object, "sparsity", fit->sparsity > 0 ? fit->sparsity : -1);
    json_put_count(object, "rank", fit->rank);
    json_put_count(object, "m", armilla_data_features(X));
    json_put_count(object, "n", armilla_data_samples(X));
    json_put_count(object, "nnz", armilla_data_stored(X));
    json_put_text(object, "solver", fit->solver);
    json_put_text(object, "start", fit->start);
    json_put_count(object, "seed", fit->seed);
    json_put_text(object, "precision",
                  fit->precision ? fit->precision : armilla_type_word(armilla_type_precision(armilla_data_type(X))));
    json_put_count(object, "iterations", 0);
    json_put_text(object, "stop", NULL);
    json_put_text(object, "objective", NULL);
    json_put_number(object, "seconds_reading", seconds_reading);
    json_put_text(object, "out", session->settings->out);
    return json_print(session, object);
}

static armilla_status tell_plan(cli_session *session, const armilla_data *X, double seconds_reading)
{
    show_plan(session, X);
    return session->settings->json ? print_plan(session, X, seconds_reading) : ARMILLA_OK;
}

static armilla_status fit_and_tell(cli_session *session, const armilla_data *X, double seconds_reading)
{
    fit_settings *settings = settings_of(session);
    armilla_checkpoint *checkpoint = &settings->checkpoint;
    armilla_model *model = NULL;
    armilla_model_summary summary;
    const cli_left left = {checkpoint, settings->common.out, settings->trace};
    armilla_status status =
        resuming_about(session, checkpoint, fitting_run(session, X, &settings->fit, checkpoint, &model));
    if (status == ARMILLA_STOPPED && checkpoint->path) resuming_report(session, &left);
    if (status != ARMILLA_OK) goto done;
    message_summary(&session->messages, model, &settings->fit);
    status = fitting_save(session, model, settings->common.out, settings->trace);
    if (status == ARMILLA_OK) status = tops_report_atoms(session, model);
    if (status != ARMILLA_OK) goto done;
    report_written(session);
    armilla_model_summarize(model, &summary);
    if (summary.stop == ARMILLA_STOP_INTERRUPTED || (summary.stop == ARMILLA_STOP_TIME_LIMIT && checkpoint->path))
        resuming_report(session, &left);
    if (settings->common.json) status = print_json(session, model, X, seconds_reading);
    if (status == ARMILLA_OK) status = resuming_finish(session, checkpoint);
done:
    armilla_model_free(model);
    return status;
}

static void expect(cli_session *session, const cli_shape *shape)
{
    const int64_t rank = settings_fit(session)->rank;
    fitting_announce(session, shape, rank);
    if (session->settings->out) announce_numbers(session, 8.0 * (double)(shape->samples * rank));
}

static armilla_status run(cli_session *session)
{
    const char *path = session->settings->operands[0];
    armilla_data *X = NULL;
    start_file start = {.model = NULL};
    double seconds_reading = 0;
    armilla_status status = start_take_options(session, &start);
    if (status == ARMILLA_OK) status = check_request(session);
    if (status == ARMILLA_OK) status = open_data(session, path, &X, &seconds_reading);
    if (status == ARMILLA_OK) status = start_open(session, &X, &start);
    if (status == ARMILLA_OK)
        status = about(session, path, armilla_fit_check(session->context, X, settings_fit(session)));
    if (status == ARMILLA_OK) start_report(session, &start);
    if (status == ARMILLA_OK)
        status = (settings_of(session)->dry_run ? tell_plan : fit_and_tell)(session, X, seconds_reading);
    start_free(session, &start);
    armilla_data_free(X);
    return status;
}

const cli_command command_fit = {
    .name = "fit",
    .synopsis = "DATA --rank R [options]",
    .meaning = "factorise data: learn the basis U, the codes V and their radius",
    .operands = {"DATA"},
    .required = 1,
    .settings_size = sizeof(fit_settings),
    .options = options,
    .groups = {{&group_fit, offsetof(fit_settings, fit)}, {&group_reading, offsetof(fit_settings, reading)}},
    .output = offsetof(fit_settings, trace),
    .defaults = set_defaults,
    .notes =
        "DATA has one sample per row unless --samples columns is given; armilla list formats names the formats.\n"
        "Outputs are never overwritten without --force and appear whole or not at all. INT, TERM and --time-limit\n"
        "end the fit within about two passes over the data and save the best model so far; a second signal ends it\n"
        "at once. The summary says where its codes are then not sealed.\n"
        "--start MODEL goes on with the model's own rank, sets, preparation, solver and precision; an option that is\n"
        "given counts instead, and one of sets, of preparation or of the solver instead of all of its kind.\n"
        "--checkpoint keeps the state of the fit in a file, from which --resume goes on after it was ended or killed,\n"
        "on any number of threads; with --checkpoint a signal lets the step in progress end first.\n\n"
        "examples:\n"
        "  armilla fit images.npy --rank 10 --normalize l2 --out model.npz --trace trace.csv\n"
        "  armilla fit counts.csv --rank 20 --basis nonnegative --codes nonneg-sparse-sphere --sparsity 3 --json\n"
        "  armilla fit images.npy --start model.npz --max-iter 2000 --out longer.npz\n"
        "  armilla fit images.npy --rank 10 --out model.npz --checkpoint fit.ckpt --resume fit.ckpt\n",
    .together = true,
    .run = run,
    .expect = expect,
};
