/* Data files: the options that say how they are read, the same for every command that reads one. */
#ifndef ARMILLA_CLI_READING_H
#define ARMILLA_CLI_READING_H

#include "command.h"

#include <jansson.h>

#include <stdio.h>

/* For settings; ends with a row whose name is NULL. */
const armilla_option *reading_table(void);

/* Whether the option of that name was given. */
bool reading_is_given(const cli_session *session, const char *name);

/* As if the option, which takes a text, had been given with the value, which is borrowed. */
void reading_give(cli_session *session, const char *name, const char *value);

/* The options of the table that were given, each with a blank before it, as they are typed for another command. */
void reading_print(const cli_session *session, FILE *stream);

/* ARMILLA_BAD_ARGUMENT where one of them was given but no data are read, because the operand is a model; `but` those in the
 * list, which ends with NULL (NULL: none). */
armilla_status reading_refuse(cli_session *session, const char *model, const char *const *but, const char *advice);

/* Options that a model's data were read with. */
typedef struct cli_recalled {
    json_t *object; /* has the texts */
    cli_settings settings;
    int64_t columns;
} cli_recalled;

/* From here on the session's data are read as those of the model were, but for options that were given: of those rows that
 * are for other files too, if the file is of the same format. */
armilla_status reading_recall(cli_session *session, const armilla_model *model);
/* They become the settings, and are said, once a file of that format is being read. */
void reading_adopt(cli_session *session);
/* A file that cannot be read by them: the message says so. Returns status. */
armilla_status reading_blame(cli_session *session, armilla_status status);
/* The model gets those that the session's data were read with. */
armilla_status reading_remember(cli_session *session, armilla_model *model);
void reading_forget(cli_session *session);

#endif
