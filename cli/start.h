/* `fit --start FILE`: a model, or a basis as an array. */
#ifndef ARMILLA_CLI_START_H
#define ARMILLA_CLI_START_H

#include "settings.h"

#include <jansson.h>

typedef struct start_file {
    armilla_model *model;
    double *basis;
    json_t *options;  /* the model's, where they were taken: texts in the settings are its */
    char taken[1024]; /* these as they would be typed, "" where there are none */
} start_file;

/* Whether --start is given and no row of the starts table. */
bool start_is_file(const cli_session *session);
/* Opens --start where it is a model, and takes over the options of its fit, except those that were given. */
armilla_status start_take_options(cli_session *session, start_file *start);
/* Says what was taken. */
void start_report(cli_session *session, const start_file *start);

/* Whether --start is a row of the starts table or a file that is there. */
armilla_status start_check(cli_session *session);
/* Opens --start where it is a file, checks that it fits the data and the rank, and hands it to the options of the fit.
 * The start file must outlive the fit. Features are matched with those of a model with names: *X becomes data with the
 * model's. */
armilla_status start_open(cli_session *session, armilla_data **X, start_file *start);
void start_free(cli_session *session, start_file *start);

#endif
