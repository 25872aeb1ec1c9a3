/* The demo and its folder: what cmd_demo.c gives to the computation, which demo_cones.c is. */
#ifndef ARMILLA_CLI_DEMO_H
#define ARMILLA_CLI_DEMO_H

#include "command.h"

#include <limits.h>

/* Settings of `armilla demo`. */
typedef struct demo_settings {
    cli_settings common;
    int64_t seed, seeds;
    bool no_pictures;
} demo_settings;

typedef struct demo_job {
    cli_session *session;
    const demo_settings *settings;
    const char *folder; /* of --out */
} demo_job;

/* The path of a file in the demo's folder; returns buffer. */
const char *demo_path(const demo_job *job, const char *name, char buffer[PATH_MAX]);

/* Begins a file in the demo's folder. */
armilla_status demo_output(const demo_job *job, const char *name, armilla_output **output);
/* Commits it where status is OK and no signal came, and frees it; returns what failed first. */
armilla_status demo_finish(const demo_job *job, armilla_output *output, armilla_status status);

/* Makes data.csv, labels.txt, clusters.csv, draws.csv, model.npz and trace.csv in the folder. */
armilla_status demo_cones(const demo_job *job);

#endif
