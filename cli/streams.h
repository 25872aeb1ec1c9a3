/* `-` for standard input and output. */
#ifndef ARMILLA_CLI_STREAMS_H
#define ARMILLA_CLI_STREAMS_H

#include "command.h"

/* Operands and the input of the command's row that are `-` become the path of standard input: the file that it is, or one
 * without a name that what comes through it is copied into, so that all formats and models can be read. Outputs that are
 * `-` become that of standard output. */
armilla_status streams_open(cli_session *session);

/* A path as it was given: - for standard input. */
const char *streams_given(const cli_session *session, const char *path);

/* Whether a path is of a stream that is open already, such as /dev/stdout. */
bool streams_is(const char *path);

/* Whether it is that of standard output. */
bool streams_standard(const char *path);

#endif
