/* armilla demo: the first experiment of the paper, as the first command that a user runs. The others are scripts
 * (experiments/). */
#include "demo.h"
#include "outputs.h"
#include "plot.h"
#include "settings.h"
#include "signals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const char *const files[] = {"data.csv", "labels.txt", "clusters.csv", "draws.csv", "model.npz", "trace.csv"};

/* Pictures of the model, KIND.svg; what `armilla plot` leaves of each. */
static const struct {
    const char *kind, *labels;
} pictures[] = {{"sphere", "labels.txt"}, {"convergence", NULL}};
static const char *const endings[] = {".svg", ".gp", ".dat"};

enum { MOST_FILES = COUNT(files) + COUNT(pictures) * COUNT(endings) };

static const char *demo_choice(size_t index)
{
    return index == 0 ? "cones" : NULL;
}

/* Experiments of the paper that are scripts of the source. */
static armilla_status refuse_demo(cli_session *session, const char *name)
{
    static const char *const scripts[] = {"convergence", "mnist", "clustering"};
    for (size_t i = 0; i < COUNT(scripts); i++)
        if (strcmp(scripts[i], name) == 0)
            return fail(session, ARMILLA_BAD_ARGUMENT,
                        "demo: '%s' is an experiment of Armilla's source: make experiments ARGS=%s runs it", name,
                        name);
    return ARMILLA_OK;
}

static const armilla_option options[] = {
    OPTION_OUT("DIR", "write the files there; default armilla-demo"),
    {OPTION("seed", INTEGER, demo_settings, seed), .preset = "0", .low = 0, .high = 9e18, .value = "N",
     .help = "of the data that are made and of the starts"},
    {OPTION("seeds", INTEGER, demo_settings, seeds), .preset = "1", .low = 1, .high = 1e6, .value = "N",
     .help = "repeat with so many seeds, from --seed on"},
    OPTION_FLAG("no-pictures", demo_settings, no_pictures, "draw nothing: data, models and tables alone"),
    OPTION_MEMORY,
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_END,
};

const char *demo_path(const demo_job *job, const char *name, char buffer[PATH_MAX])
{
    snprintf(buffer, PATH_MAX, "%s/%s", job->folder, name);
    return buffer;
}

armilla_status demo_output(const demo_job *job, const char *name, armilla_output **output)
{
    char path[PATH_MAX];
    return armilla_output_new(job->session->context, demo_path(job, name, path), job->session->settings->force, output);
}

armilla_status demo_finish(const demo_job *job, armilla_output *output, armilla_status status)
{
    if (status == ARMILLA_OK && !job->session->exit) status = armilla_output_commit(output);
    armilla_output_free(output);
    return status;
}

/* The names of all files that the demo may write; returns how many. */
static size_t list_files(const demo_job *job, char paths[MOST_FILES][PATH_MAX])
{
    size_t count = 0;
    for (; count < COUNT(files); count++) (void)demo_path(job, files[count], paths[count]);
    for (size_t i = 0; i < COUNT(pictures) * COUNT(endings) && !job->settings->no_pictures; i++)
        snprintf(paths[count++], PATH_MAX, "%s/%s%s", job->folder, pictures[i / COUNT(endings)].kind,
                 endings[i % COUNT(endings)]);
    return count;
}

/* The folder may exist: only a file that would be replaced is refused. */
static armilla_status make_folder(const demo_job *job)
{
    cli_session *session = job->session;
    char(*paths)[PATH_MAX] = NULL;
    output_path outputs[MOST_FILES];
    if (strlen(job->folder) + NAME_MAX + 1 >= PATH_MAX)
        return fail(session, ARMILLA_BAD_ARGUMENT, "--out: the name is too long");
    if (mkdir(job->folder, 0777) != 0 && errno != EEXIST)
        return fail(session, ARMILLA_CANNOT_CREATE, "%s: cannot be created: %s; choose another directory (--out)",
                    job->folder, strerror(errno));
    if (!(paths = calloc(MOST_FILES, sizeof *paths))) return fail(session, ARMILLA_NO_MEMORY, "demo: out of memory");
    const size_t count = list_files(job, paths);
    for (size_t i = 0; i < count; i++) outputs[i] = (output_path){"--out", paths[i], NULL, NULL};
    const armilla_status status = outputs_check(session, outputs, count);
    free(paths);
    return status;
}

/* A picture of the model, whatever file it replaces: that was settled by make_folder. */
static armilla_status draw(const demo_job *job, const char *kind, const char *labels)
{
    char model[PATH_MAX], classes[PATH_MAX], file[PATH_MAX];
    plot_settings settings;
    settings_default(&command_plot, &settings.common);
    snprintf(file, sizeof file, "%s/%s.svg", job->folder, kind);
    settings.kind = kind;
    settings.common.operands[0] = demo_path(job, "model.npz", model);
    settings.labels = labels ? demo_path(job, labels, classes) : NULL;
    settings.common.out = file;
    settings.common.force = settings.common.quiet = true;
    return run_inside(job->session, &command_plot, &settings.common);
}

/* A missing gnuplot is reported once and is no failure. */
static armilla_status draw_all(const demo_job *job)
{
    cli_session *session = job->session;
    armilla_status status = ARMILLA_OK;
    for (size_t i = 0; i < COUNT(pictures) && status == ARMILLA_OK && !session->exit; i++)
        status = draw(job, pictures[i].kind, pictures[i].labels);
    if (status != ARMILLA_NOT_BUILT) return status;
    message_line(&session->messages, "pictures  none: %s", session->error);
    session->error[0] = '\0';
    return ARMILLA_OK;
}

/* What to try next. */
static void suggest(const demo_job *job)
{
    char path[PATH_MAX], data[PATH_MAX], model[PATH_MAX];
    const cli_session *session = job->session;
    message_quote(demo_path(job, "data.csv", path), data, sizeof data);
    message_quote(demo_path(job, "model.npz", path), model, sizeof model);
    message_line(&job->session->messages, "try       %s check %s %s", session->program, model, data);
    message_line(&job->session->messages, "          %s info %s", session->program, model);
    message_line(&job->session->messages,
                 "          %s fit %s --rank 2 --codes nonneg-sphere --normalize l2   (directions alone)",
                 session->program, data);
}

static armilla_status run(cli_session *session)
{
    const cli_settings *given = session->settings;
    const demo_job job = {session, (const demo_settings *)given, given->out ? given->out : "armilla-demo"};
    armilla_status status = make_folder(&job);
    if (status != ARMILLA_OK) return status;
    signals_defer();
    status = demo_cones(&job);
    if (status == ARMILLA_OK && !job.settings->no_pictures) status = draw_all(&job);
    if (status == ARMILLA_OK && !session->exit) suggest(&job);
    if (session->exit == 0) session->exit = signals_exit();
    if (status == ARMILLA_OK && session->exit == 0) message_line(&session->messages, "written   %s", job.folder);
    return status;
}

const cli_command command_demo = {
    .name = "demo",
    .synopsis = "[cones] [--out DIR] [options]",
    .meaning = "an experiment of the paper; leaves its data, model, tables and pictures in a directory",
    .operands = {"NAME"},
    .choice = demo_choice,
    .refuse = refuse_demo,
    .settings_size = sizeof(demo_settings),
    .options = options,
    .notes =
        "cones is 200 points in two groups that differ in direction, not in distance. Pictures are drawn where gnuplot\n"
        "is installed. The paper's other experiments, convergence, mnist and clustering, are scripts of the source,\n"
        "which `make experiments` runs.\n\n"
        "examples:\n"
        "  armilla demo --out cones\n"
        "  armilla demo --seeds 20 --no-pictures --out draws\n",
    .run = run,
};
