/* What the demos share. A demo is one file and one row: it makes or finds its data, and does with them what a user
 * would do, by commands that run inside this process and by public calls. */
#ifndef ARMILLA_CLI_DEMO_H
#define ARMILLA_CLI_DEMO_H

#include "clustering.h"
#include "fitting.h"
#include "plot.h"

#include <limits.h>

enum { DEMO_FILES = 64, DEMO_NAMED = 3 };

/* Settings of `armilla demo`. */
typedef struct demo_settings {
    cli_settings common;
    const char *folder; /* of --data */
    int64_t seed, seeds;
    bool no_pictures;
} demo_settings;

typedef struct demo_job {
    cli_session *session;
    demo_settings *settings;
    const char *folder;       /* of --out */
    char inputs[2][PATH_MAX]; /* data that it has found, and their labels */
    bool undrawn;             /* there is no gnuplot, and that has been said */

    /* The command that is made ready: its settings, and the files of the folder that they name. */
    const cli_command *command;
    union {
        cli_settings common;
        fit_settings fit;
        cluster_settings cluster;
        plot_settings plot;
    } inner;
    char named[DEMO_NAMED][PATH_MAX];
    size_t named_count;
} demo_job;

/* A picture, KIND.svg, of a model in the folder; what is NULL is not given. */
typedef struct demo_picture {
    const char *kind, *model, *labels;
} demo_picture;

typedef struct demo {
    const char *name;
    const char *const *files;     /* that it writes whatever the data, ends with NULL */
    const demo_picture *pictures; /* that are drawn when it has run; ends with a row without a kind */
    const char *data;             /* where its data are without --data; NULL: it takes no --data, "": none are needed */
    int64_t seeds;                /* how many without --seeds; 0: it has no use for them */
    armilla_status (*find)(demo_job *job); /* its inputs, before anything is made; NULL: it has none */
    armilla_status (*run)(demo_job *job);
    void (*suggest)(demo_job *job); /* what to try next, at the end; NULL: nothing */
} demo;

extern const demo demo_cones, demo_convergence, demo_mnist, demo_clustering;

/* The path of a file in the demo's folder; returns buffer. */
const char *demo_path(const demo_job *job, const char *name, char buffer[PATH_MAX]);

/* Begins a file in the demo's folder. */
armilla_status demo_output(const demo_job *job, const char *name, armilla_output **output);
/* Commits it where status is OK and no signal came, and frees it; returns what failed first. */
armilla_status demo_finish(const demo_job *job, armilla_output *output, armilla_status status);

/* Makes a command ready, one of those that job->inner has settings for: its defaults, to be filled. */
cli_settings *demo_begin(demo_job *job, const cli_command *command);
/* The path of a file in the demo's folder for these settings; DEMO_NAMED at most, which last until the next command. */
const char *demo_name(demo_job *job, const char *name);
/* Runs it, quietly, and replaces what it finds. */
armilla_status demo_run(demo_job *job);
/* The same for a picture: where gnuplot is missing, that is said once and is no failure. */
armilla_status demo_draw(demo_job *job, const demo_picture *picture);

/* A number in [low, high) that depends on seed and index alone. */
double demo_uniform(uint64_t seed, uint64_t index, double low, double high);

/* Data and labels of the cones (demo_cones.c) as files of the folder. */
armilla_status demo_write_cones(demo_job *job, uint64_t seed);

#endif
