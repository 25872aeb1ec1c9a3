/* `fit --start FILE`: a model, or a basis as an array. */
#ifndef ARMILLA_CLI_START_H
#define ARMILLA_CLI_START_H

#include "command.h"

typedef struct start_file {
    armilla_model *model;
    double *basis;
} start_file;

/* Whether --start is a row of the starts table or a file that is there. */
armilla_status start_check(cli_session *session);
/* Where it is a file: opens it, checks that it fits the data and the rank, and hands it to session->settings.fit. The
 * start file must outlive the fit. Of a model with names the features are matched: *X becomes data with the model's. */
armilla_status start_open(cli_session *session, armilla_data **X, start_file *start);
void start_free(cli_session *session, start_file *start);

#endif
