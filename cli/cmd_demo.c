/* armilla demo: embedded experiments, one row each. They do with files and public calls what a user would do. */
#include "cones.h"
#include "fitting.h"
#include "outputs.h"
#include "signals.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const armilla_option options[] = {
    OPTION_PATH("out", out, "DIR", "write the files there; default armilla-demo"),
    {.name = "seed",
     .kind = ARMILLA_OPTION_INTEGER,
     .offset = offsetof(cli_settings, fit.seed),
     .preset = "0",
     .low = 0,
     .high = 9e18,
     .value = "N",
     .help = "another set of points and another start"},
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_END,
};

/* The files of a demo, in its directory. */
enum { DATA, LABELS, MODEL, TRACE, FILES };
static const char *const file_names[FILES] = {"data.csv", "labels.txt", "model.npz", "trace.csv"};

typedef struct cli_place {
    const char *directory;
    char paths[FILES][PATH_MAX];
} cli_place;

static armilla_status make_place(cli_session *session, cli_place *place)
{
    output_path outputs[FILES];
    place->directory = session->settings.out ? session->settings.out : "armilla-demo";
    if (mkdir(place->directory, 0777) != 0 && errno != EEXIST)
        return fail(session, ARMILLA_CANNOT_CREATE, "%s: cannot be created: %s; choose another directory (--out)",
                    place->directory, strerror(errno));
    for (int i = 0; i < FILES; i++) {
        const int length = snprintf(place->paths[i], PATH_MAX, "%s/%s", place->directory, file_names[i]);
        if (length >= PATH_MAX) return fail(session, ARMILLA_BAD_ARGUMENT, "--out: the name is too long");
        outputs[i] = (output_path){"--out", place->paths[i], NULL};
    }
    return outputs_check(session, outputs, FILES);
}

static armilla_status write_points(cli_session *session, const char *path, uint64_t seed)
{
    armilla_output *output = NULL;
    armilla_status status = armilla_output_new(session->context, path, session->settings.force, &output);
    if (status == ARMILLA_OK) status = armilla_output_print(output, "x,y,z\n");
    for (size_t i = 0; i < CONES_POINTS && status == ARMILLA_OK; i++) {
        double point[3];
        cones_point(seed, i, point);
        status = armilla_output_print(output, "%.6f,%.6f,%.6f\n", point[0], point[1], point[2]);
    }
    if (status == ARMILLA_OK) status = armilla_output_commit(output);
    armilla_output_free(output);
    return status;
}

static armilla_status write_labels(cli_session *session, const char *path)
{
    armilla_output *output = NULL;
    armilla_status status = armilla_output_new(session->context, path, session->settings.force, &output);
    for (size_t i = 0; i < CONES_POINTS && status == ARMILLA_OK; i++)
        status = armilla_output_print(output, "%d\n", cones_label(i));
    if (status == ARMILLA_OK) status = armilla_output_commit(output);
    armilla_output_free(output);
    return status;
}

/* The same 2-means on the points and on their codes. The codes' larger entry would not do: the points fill only 60
 * degrees of the quadrant that nonnegative codes span, so U may turn in its plane at no cost and the diagonal is not
 * where the groups meet; angles between codes do not change with such a turn. */
static void compare(cli_session *session, const armilla_model *model)
{
    const uint64_t seed = (uint64_t)session->settings.fit.seed;
    const double *codes = armilla_model_codes(model);
    double points[CONES_POINTS][3];
    int labels[CONES_POINTS];
    for (size_t i = 0; i < CONES_POINTS; i++) cones_point(seed, i, points[i]);
    cones_two_means(seed, points, labels);
    report_line(&session->report, "clusters  2-means on the points finds %5.1f %% of the groups",
                100 * cones_accuracy(labels));
    for (size_t i = 0; i < CONES_POINTS; i++) {
        points[i][0] = codes[2 * i];
        points[i][1] = codes[2 * i + 1];
        points[i][2] = 0;
    }
    cones_two_means(seed, points, labels);
    report_line(&session->report, "          2-means on the codes  finds %5.1f %%", 100 * cones_accuracy(labels));
}

static void show_next(cli_session *session, const cli_place *place)
{
    char data[PATH_MAX], model[PATH_MAX];
    cli_report *report = &session->report;
    report_quote(place->paths[DATA], data, sizeof data);
    report_quote(place->paths[MODEL], model, sizeof model);
    report_line(report, "written   %s: %s, %s, %s, %s", place->directory, file_names[DATA], file_names[LABELS],
                file_names[MODEL], file_names[TRACE]);
    report_line(report, "try       %s check %s %s", session->program, model, data);
    report_line(report, "          %s info %s", session->program, model);
    report_line(report, "          %s fit %s --rank 2 --codes nonneg-sphere --normalize l2   (directions alone)",
                session->program, data);
}

static armilla_status run_cones(cli_session *session)
{
    armilla_options *fit = &session->settings.fit;
    armilla_data *X = NULL;
    armilla_model *model = NULL;
    cli_place place;
    armilla_status status = make_place(session, &place);
    signals_defer();
    if (status == ARMILLA_OK) status = write_points(session, place.paths[DATA], (uint64_t)fit->seed);
    if (status == ARMILLA_OK) status = write_labels(session, place.paths[LABELS]);
    if (status == ARMILLA_OK) status = open_data(session, place.paths[DATA], &X, NULL);
    if (status != ARMILLA_OK) goto done;
    fit->rank = 2;
    fit->basis = "orthonormal";
    fit->codes = "nonneg-sphere";
    fit->precision = "f64";
    /* The library would warn that lengths differ: here they are meant to. */
    armilla_context_set_log(session->context, NULL, NULL);
    status = fitting_run(session, X, &model);
    if (status == ARMILLA_OK) status = fitting_save(session, model, place.paths[MODEL], place.paths[TRACE]);
    if (status != ARMILLA_OK) goto done;
    report_line(&session->report,
                "cones     200 points near the Z axis, 100 leaning to X and 100 to Y, at any distance");
    report_summary(&session->report, model, fit);
    compare(session, model);
    show_next(session, &place);
done:
    armilla_model_free(model);
    armilla_data_free(X);
    return status;
}

static const struct {
    const char *name;
    armilla_status (*run)(cli_session *session);
} demos[] = {{"cones", run_cones}};

static const char *demo_choice(size_t index)
{
    return index < sizeof demos / sizeof *demos ? demos[index].name : NULL;
}

static armilla_status run(cli_session *session)
{
    const char *wanted = session->settings.operands[0];
    for (size_t i = 1; wanted && demo_choice(i); i++)
        if (strcmp(demo_choice(i), wanted) == 0) return demos[i].run(session);
    return demos[0].run(session);
}

const cli_command command_demo = {
    .name = "demo",
    .synopsis = "[NAME] [--out DIR] [options]",
    .meaning = "an experiment on made data; leaves the data, a model and its trace in a directory",
    .operands = {"NAME"},
    .choice = demo_choice,
    .options = options,
    .notes = "cones: the paper's 200 points whose groups differ in direction, not in distance (the default).\n",
    .run = run,
};
