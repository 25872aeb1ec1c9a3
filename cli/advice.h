/* What can be said about data by a look at them: which commands suit them, and that they may lie the other way. */
#ifndef ARMILLA_CLI_ADVICE_H
#define ARMILLA_CLI_ADVICE_H

#include "command.h"

#include <jansson.h>

/* Adds a line. */
void advice_hint(json_t *hints, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds two complete commands, with every option of reading that was given: for clusters, and for atoms that can be read. */
armilla_status advice_put(cli_session *session, const armilla_data *X, bool mixed, json_t *hints);

/* text = what suggests that the samples are the file's columns; "" where nothing does, or --samples is given. */
armilla_status advice_orientation(const cli_session *session, const armilla_data *X, char *text, size_t size);

/* Columns of a table for --json and for people: their names, what they are used for, types, missing and distinct
 * values. */
json_t *advice_columns(const cli_session *session, const armilla_table_facts *facts);

/* How a table with text can be read: the options become the session's. */
typedef struct cli_texts {
    int64_t numbers;        /* columns that are left */
    char *label, *left_out; /* values of the options */
} cli_texts;

/* Says in hints what the columns of text could be, and chooses. What it holds is freed by advice_texts_free, when the
 * session reads no more. */
armilla_status advice_texts(cli_session *session, const armilla_table_facts *facts, json_t *hints, cli_texts *chosen);
void advice_texts_free(cli_texts *chosen);

#endif
