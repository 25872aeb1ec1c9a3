/* What can be said about data by a look at them: which commands suit them, and that they may lie the other way. */
#ifndef ARMILLA_CLI_ADVICE_H
#define ARMILLA_CLI_ADVICE_H

#include "command.h"

#include <jansson.h>

/* Adds two complete commands, with every option of reading that was given: for clusters, and for atoms that can be read. */
armilla_status advice_put(cli_session *session, const armilla_data *X, bool mixed, json_t *hints);

/* text = what suggests that the samples are the file's columns; "" where nothing does, or --samples is given. */
armilla_status advice_orientation(const cli_session *session, const armilla_data *X, char *text, size_t size);

/* Columns of a table for --json and for people: their names, what they are used for, types, missing and distinct values;
 * NULL of data that are none. */
armilla_status advice_columns(const cli_session *session, const armilla_data *X, json_t **columns);

#endif
