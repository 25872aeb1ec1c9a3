/* Data files that are read by another program, armilla-convert: HDF5 (.h5ad, 10x .h5) and MATLAB's .mat. */
#ifndef ARMILLA_CLI_EXTERNAL_H
#define ARMILLA_CLI_EXTERNAL_H

#include "command.h"

/* Runs the program into a nameless temporary file and opens that as the options say. */
armilla_status external_open(cli_session *session, const char *path, const armilla_read_options *options,
                             armilla_data **data);

/* A file that has no name any more, in TMPDIR or /tmp; -1 where none can be made. */
int external_nameless(void);

#endif
