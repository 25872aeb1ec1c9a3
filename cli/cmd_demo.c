/* armilla demo: the paper's experiments, one row each. */
#include "demo.h"
#include "outputs.h"
#include "signals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const demo *const demos[] = {&demo_cones, &demo_convergence, &demo_mnist, &demo_clustering, NULL};

static const char *demo_choice(size_t index)
{
    return index < sizeof demos / sizeof *demos && demos[index] ? demos[index]->name : NULL;
}

static const armilla_option options[] = {
    OPTION_OUT("DIR", "write the files there; default armilla-demo"),
    OPTION_PATH("data", demo_settings, folder, "DIR", "mnist: where its files are; clustering: more labelled sets"),
    {OPTION("seed", INTEGER, demo_settings, seed), .preset = "0", .low = 0, .high = 9e18, .value = "N",
     .help = "of the data that are made and of the starts"},
    {OPTION("seeds", INTEGER, demo_settings, seeds), .low = 1, .high = 1e6, .value = "N",
     .help = "cones, clustering: repeat with so many seeds, from --seed on; default 1 and 10"},
    OPTION_FLAG("no-pictures", demo_settings, no_pictures, "draw nothing: data, models and tables alone"),
    OPTION_MEMORY,
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_END,
};

/* Options that say nothing to this demo are a mistake. */
static armilla_status settle_options(demo_job *job, const demo *chosen)
{
    cli_session *session = job->session;
    demo_settings *settings = job->settings;
    if (settings->folder && !chosen->data)
        return fail(session, ARMILLA_BAD_ARGUMENT, "--data: %s makes its own data; leave the option out", chosen->name);
    if (settings->seeds > 0 && chosen->seeds == 0)
        return fail(session, ARMILLA_BAD_ARGUMENT, "--seeds: %s is run once; give --seed for another run",
                    chosen->name);
    if (!settings->folder) settings->folder = chosen->data;
    if (settings->seeds == 0) settings->seeds = chosen->seeds;
    return ARMILLA_OK;
}

/* The names of all files that the demo may write; returns how many. */
static size_t list_files(const demo_job *job, const demo *chosen, char paths[DEMO_FILES][PATH_MAX])
{
    static const char *const endings[] = {".svg", ".gp", ".dat"}; /* that `armilla plot` leaves */
    const size_t ending_count = sizeof endings / sizeof *endings;
    size_t count = 0;
    for (size_t i = 0; chosen->files[i] && count < DEMO_FILES; i++)
        (void)demo_path(job, chosen->files[i], paths[count++]);
    if (job->settings->no_pictures) return count;
    for (size_t i = 0; chosen->pictures[i / ending_count].kind && count < DEMO_FILES; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", chosen->pictures[i / ending_count].kind, endings[i % ending_count]);
        (void)demo_path(job, name, paths[count++]);
    }
    return count;
}

/* The folder may exist: only a file that would be replaced is refused. */
static armilla_status make_folder(demo_job *job, const demo *chosen)
{
    cli_session *session = job->session;
    char(*paths)[PATH_MAX] = NULL;
    output_path outputs[DEMO_FILES];
    if (strlen(job->folder) + NAME_MAX + 1 >= PATH_MAX)
        return fail(session, ARMILLA_BAD_ARGUMENT, "--out: the name is too long");
    if (mkdir(job->folder, 0777) != 0 && errno != EEXIST)
        return fail(session, ARMILLA_CANNOT_CREATE, "%s: cannot be created: %s; choose another directory (--out)",
                    job->folder, strerror(errno));
    if (!(paths = calloc(DEMO_FILES, sizeof *paths))) return fail(session, ARMILLA_NO_MEMORY, "demo: out of memory");
    const size_t count = list_files(job, chosen, paths);
    for (size_t i = 0; i < count; i++) outputs[i] = (output_path){"--out", paths[i], NULL, NULL};
    const armilla_status status = outputs_check(session, outputs, count);
    free(paths);
    return status;
}

/* The demo and its pictures, once it is known that there is a place for them. */
static armilla_status run_demo(demo_job *job, const demo *chosen)
{
    cli_session *session = job->session;
    signals_defer();
    armilla_status status = chosen->run(job);
    for (const demo_picture *picture = chosen->pictures; picture->kind && status == ARMILLA_OK; picture++)
        status = demo_draw(job, picture);
    if (status == ARMILLA_OK && !session->exit && chosen->suggest) chosen->suggest(job);
    if (session->exit == 0) session->exit = signals_exit();
    if (status == ARMILLA_OK && session->exit == 0) message_line(&session->messages, "written   %s", job->folder);
    return status;
}

static armilla_status run(cli_session *session)
{
    const char *wanted = session->settings->operands[0];
    const demo *chosen = &demo_cones;
    demo_job *job = calloc(1, sizeof *job); /* its paths are too much for a small stack */
    if (!job) return fail(session, ARMILLA_NO_MEMORY, "demo: out of memory");
    job->session = session;
    job->settings = (demo_settings *)session->settings;
    job->folder = session->settings->out ? session->settings->out : "armilla-demo";
    for (size_t i = 0; wanted && demos[i]; i++)
        if (strcmp(demos[i]->name, wanted) == 0) chosen = demos[i];
    armilla_status status = settle_options(job, chosen);
    if (status == ARMILLA_OK && chosen->find) status = chosen->find(job);
    if (status == ARMILLA_OK) status = make_folder(job, chosen);
    if (status == ARMILLA_OK) status = run_demo(job, chosen);
    free(job);
    return status;
}

const cli_command command_demo = {
    .name = "demo",
    .synopsis = "[NAME] [--out DIR] [options]",
    .meaning = "an experiment of the paper; leaves its data, models, tables and pictures in a directory",
    .operands = {"NAME"},
    .choice = demo_choice,
    .settings_size = sizeof(demo_settings),
    .options = options,
    .notes =
        "demos:\n"
        "  cones        200 points in two groups that differ in direction, not in distance (the default)\n"
        "  convergence  palm with a safe step weight and one that is too small; all pairs, palm beside fast\n"
        "  mnist        threes in ten directions, two for each image; `make mnist` in the source fetches the files\n"
        "               into build/mnist, which is where they are looked for without --data\n"
        "  clustering   scores of k-means, its relatives and the models on iris, wine and digits, which the program\n"
        "               has, and on the sets of --data: NAME.mtx[.gz] (one sample per column) or NAME.npy with\n"
        "               NAME.labels, NAME-images-idx3-ubyte with NAME-labels-idx1-ubyte, NAME.csv with a column class\n"
        "Pictures are drawn where gnuplot is installed.\n\n"
        "examples:\n"
        "  armilla demo --out cones\n"
        "  armilla demo mnist --data build/mnist --out threes\n"
        "  armilla demo clustering --seeds 3 --out scores\n",
    .run = run,
};
