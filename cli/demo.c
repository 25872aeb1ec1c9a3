/* Files, command lines and random numbers for the demos. */
#include "demo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *demo_path(const demo_job *job, const char *name, char buffer[PATH_MAX])
{
    snprintf(buffer, PATH_MAX, "%s/%s", job->folder, name);
    return buffer;
}

armilla_status demo_output(const demo_job *job, const char *name, armilla_output **output)
{
    char path[PATH_MAX];
    return armilla_output_new(job->session->context, demo_path(job, name, path), job->session->settings.force, output);
}

armilla_status demo_finish(const demo_job *job, armilla_output *output, armilla_status status)
{
    if (status == ARMILLA_OK && !job->session->exit) status = armilla_output_commit(output);
    armilla_output_free(output);
    return status;
}

/* What the demo may write was settled when it began (cmd_demo.c): hence --force. */
armilla_status demo_run(demo_job *job, const char *format, ...)
{
    enum { WORDS = 64, PATHS = 8 };
    char line[2048], (*paths)[PATH_MAX] = calloc(PATHS, sizeof *paths), *words[WORDS + 3], *rest = NULL;
    size_t count = 0, path_count = 0;
    va_list arguments;
    if (!paths) return fail(job->session, ARMILLA_NO_MEMORY, "demo: out of memory");
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *word = strtok_r(line, " ", &rest); word && count < WORDS; word = strtok_r(NULL, " ", &rest)) {
        if (*word == '@' && path_count < PATHS) {
            words[count++] = paths[path_count];
            (void)demo_path(job, word + 1, paths[path_count++]);
        } else {
            words[count++] = *word == '%' ? job->inputs[word[1] - '1'] : word;
        }
    }
    words[count++] = "--force";
    words[count++] = "--quiet";
    words[count] = NULL;
    const armilla_status status = run_inside(job->session, words);
    free(paths);
    return status;
}

armilla_status demo_draw(demo_job *job, const char *line)
{
    if (job->undrawn || job->session->settings.no_pictures || job->session->exit) return ARMILLA_OK;
    const armilla_status status = demo_run(job, "%s", line);
    if (status != ARMILLA_NOT_BUILT) return status;
    report_line(&job->session->report, "pictures  none: %s", job->session->error);
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
