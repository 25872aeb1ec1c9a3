/* Files, commands and random numbers for the demos. */
#include "demo.h"

#include "settings.h"

#include <stdio.h>

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

cli_settings *demo_begin(demo_job *job, const cli_command *command)
{
    job->command = command;
    job->named_count = 0;
    settings_default(command, &job->inner.common);
    return &job->inner.common;
}

const char *demo_name(demo_job *job, const char *name)
{
    return demo_path(job, name, job->named[job->named_count++ % DEMO_NAMED]);
}

/* What the demo may write was settled when it began (cmd_demo.c): hence force. */
armilla_status demo_run(demo_job *job)
{
    job->inner.common.force = job->inner.common.quiet = true;
    return run_inside(job->session, job->command, &job->inner.common);
}

armilla_status demo_draw(demo_job *job, const demo_picture *picture)
{
    char file[64];
    if (job->undrawn || job->settings->no_pictures || job->session->exit) return ARMILLA_OK;
    plot_settings *settings = plot_settings_of(demo_begin(job, &command_plot));
    snprintf(file, sizeof file, "%s.svg", picture->kind);
    settings->kind = picture->kind;
    settings->common.operands[0] = demo_name(job, picture->model);
    settings->labels = picture->labels ? demo_name(job, picture->labels) : NULL;
    settings->common.out = demo_name(job, file);
    const armilla_status status = demo_run(job);
    if (status != ARMILLA_NOT_BUILT) return status;
    message_line(&job->session->messages, "pictures  none: %s", job->session->error);
    job->session->error[0] = '\0';
    job->undrawn = true;
    return ARMILLA_OK;
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* splitmix64 of (seed, index). */
double demo_uniform(uint64_t seed, uint64_t index, double low, double high)
{
    const uint64_t bits = mix(mix(seed + 0x9e3779b97f4a7c15u) + (index + 1) * 0x9e3779b97f4a7c15u);
    return low + (high - low) * ((double)(bits >> 11) * 0x1p-53);
}
