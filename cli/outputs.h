/* Outputs: refused before any work where they cannot or may not be written. */
#ifndef ARMILLA_CLI_OUTPUTS_H
#define ARMILLA_CLI_OUTPUTS_H

#include "command.h"

typedef struct output_path {
    const char *option;  /* how it was given: "--out" */
    const char *path;    /* NULL: not wanted */
    const char *ending;  /* what it will be, ".npz"; NULL: any name will do */
    const char *resumed; /* the input that it may replace; NULL: none */
} output_path;

/* ARMILLA_BAD_ARGUMENT where two outputs, or an output and an operand or the file of any other option, are one file, or
 * a name says another kind of file than it will be; ARMILLA_CANNOT_CREATE where one exists without --force, or its
 * directory does not take files. */
armilla_status outputs_check(cli_session *session, const output_path *outputs, size_t count);

/* The ending of the path if it is one of the endings, ".csv .tsv", in letters of either case; else NULL. */
const char *outputs_ending(const char *path, const char *endings);

/* Arrays that do not fit into memory are in files beside that output, and where it is NULL in TMPDIR or /var/tmp. */
armilla_status outputs_choose_temporary(cli_session *session, const char *path);

/* ARMILLA_BAD_ARGUMENT where --out, which the command cannot do without, is missing. */
armilla_status outputs_require(cli_session *session, const char *command, const char *called);

/* Whether --out ends as a format does that is written with names, such as .csv; else it is an .npy. */
bool outputs_by_format(const cli_session *session);

/* What a table of numbers is called: the name of a feature or sample or a label, or NULL where there is none. */
typedef struct output_names {
    const char *(*name)(const void *source, armilla_naming kind, int64_t index);
    const void *source;
    const char *stem; /* features without names are called this and their number; NULL: nothing */
} output_names;

/* Numbers that come sample by sample. */
typedef struct output_array {
    armilla_type type;
    int64_t samples, width;
    bool sample_columns; /* of what is written */
} output_array;

/* Writes data whole, or nothing where a signal came: the session's exit status says so then. */
armilla_status outputs_write_data(cli_session *session, const armilla_data *data, const char *path,
                                  const armilla_write_options *options);

/* Writes the values to --out in the format that it ends as. */
armilla_status outputs_write_table(cli_session *session, const output_array *array, const void *values,
                                   const output_names *names);

/* A 2-d .npy: samples x width in C order, or with samples in columns the same bytes as width x samples. After the header
 * the rows follow by armilla_output_write. */
armilla_status outputs_begin_array(cli_session *session, const output_array *array, armilla_output **output);

/* Commits, unless a signal came: then nothing is left behind and the session's exit status says so. */
armilla_status outputs_finish(cli_session *session, armilla_output *output);

#endif
