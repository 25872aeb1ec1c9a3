/* A fit under the command's eyes: progress on a terminal, signals, and the files that it leaves. */
#ifndef ARMILLA_CLI_FITTING_H
#define ARMILLA_CLI_FITTING_H

#include "command.h"

/* Runs session->settings.fit on the data. After a signal the fit stops, the model is what it has, and the session's
 * exit status says so. */
armilla_status fitting_run(cli_session *session, const armilla_data *X, armilla_model **model);

/* Saves the model and its trace; either path may be NULL. */
armilla_status fitting_save(cli_session *session, const armilla_model *model, const char *out, const char *trace);

/* A fit of data of that shape is going to be made. */
void fitting_announce(cli_session *session, const cli_shape *shape, int64_t rank);

#endif
