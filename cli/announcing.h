/* What a command is going to do is announced to the library before it begins, so that progress is that of the whole command. */
#ifndef ARMILLA_CLI_ANNOUNCING_H
#define ARMILLA_CLI_ANNOUNCING_H

#include "command.h"

/* A call of the library on data of that shape; the rest of the workload is 0. */
armilla_workload announce_on(const cli_session *session, armilla_work work, const cli_shape *shape);
void announce(cli_session *session, const armilla_workload *workload);

/* The file is going to be read, and then what the command expects of data of the shape that it seems to have. */
void announce_reading(cli_session *session, const char *path);
cli_shape announce_shape(const armilla_data *X);
/* And when it has been read. */
void announce_data(cli_session *session, const armilla_data *X);
/* Text that is going to be written: so many fields; or so many bytes of numbers. */
void announce_text(cli_session *session, double fields);
void announce_numbers(cli_session *session, double bytes);

/* What the call would take, in seconds. */
double announce_seconds(cli_session *session, const armilla_workload *workload);

#endif
