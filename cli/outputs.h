/* Outputs: refused before any work where they cannot or may not be written. */
#ifndef ARMILLA_CLI_OUTPUTS_H
#define ARMILLA_CLI_OUTPUTS_H

#include "command.h"

typedef struct output_path {
    const char *option; /* how it was given: "--out" */
    const char *path;   /* NULL: not wanted */
    const char *ending; /* what it will be, ".npz"; NULL: any name will do */
} output_path;

/* ARMILLA_BAD_ARGUMENT where two outputs, or an output and an operand, are one file, or a name says another kind of
 * file than it will be; ARMILLA_CANNOT_CREATE where one
 * exists without --force, or its directory does not take files. */
armilla_status outputs_check(cli_session *session, const output_path *outputs, size_t count);

/* ARMILLA_BAD_ARGUMENT where --out, which the command cannot do without, is missing. */
armilla_status outputs_require(cli_session *session, const char *command, const char *called);

/* A 2-d .npy whose numbers come sample by sample: samples x width in C order, or with --samples columns the same
 * bytes as width x samples. After the header the rows follow by armilla_output_write. */
armilla_status outputs_begin_array(cli_session *session, armilla_type type, int64_t samples, int64_t width,
                                   armilla_output **output);

/* Commits, unless a signal came: then nothing is left behind and the session's exit status says so. */
armilla_status outputs_finish(cli_session *session, armilla_output *output);

#endif
