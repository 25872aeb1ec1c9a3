/* Data files: the options that say how they are read, the same for every command that reads one. */
#ifndef ARMILLA_CLI_READING_H
#define ARMILLA_CLI_READING_H

#include "settings.h"

#include <jansson.h>

#include <stdio.h>

/* What these options are parsed into. */
typedef struct reading_settings {
    armilla_read_options file; /* spill and keep_missing are set by the command */
    const char *samples;
    armilla_selection keep;
    int64_t memory;
    const char *missing_features; /* OPTION_MISSING_FEATURES; NULL of commands without it */
} reading_settings;

extern const cli_group group_reading;

/* Settings of a command that takes nothing beside these. */
typedef struct reader_settings {
    cli_settings common;
    reading_settings reading;
} reader_settings;

/* The settings of a command that reads; NULL for another. */
reading_settings *reading_of(const cli_session *session);

/* A row of commands that apply a model, whose settings have a member `reading`. */
#define OPTION_MISSING_FEATURES(type)                                                                                  \
    {                                                                                                                  \
        OPTION("missing-features", WORD, type, reading.missing_features),                                              \
            .preset = "error", .choice = missing_choice, .value = "error|zero",                                        \
            .help = "what becomes of features that the model has and the data do "                                     \
                    "not, by name: an error, or zeros"                                                                 \
    }
const char *missing_choice(size_t index);

/* The formats that are written and the two orientations, as armilla_option's choice wants them. */
const char *written_choice(size_t index);
const char *samples_choice(size_t index);

/* Whether that word of samples_choice, which may be NULL, says that a sample is a column. */
bool samples_are_columns(const char *word);
/* Whether --samples says so. */
bool samples_in_columns(const cli_session *session);

/* A data file, read as these options say; *seconds (may be NULL) is how long that took. */
armilla_status open_data(cli_session *session, const char *path, armilla_data **data, double *seconds);
/* The same of data that a model is applied to: read as those of its fit, and with its features in its order. */
armilla_status open_for_model(cli_session *session, const armilla_model *model, const char *path, armilla_data **data);
/* The operands MODEL and DATA; the session knows the model's rank before the data are read. */
armilla_status open_model_and_data(cli_session *session, armilla_model **model, armilla_model_summary *summary,
                                   armilla_data **data);

/* What the columns of a text table hold, read as the settings say. */
armilla_status open_table(cli_session *session, const char *path, armilla_table_facts **facts);

/* Puts *data's features into the model's order, by name, as --missing-features says; the session keeps what they were. */
armilla_status match_features(cli_session *session, const armilla_model *model, const char *path, armilla_data **data);

/* Whether the option of that name, which is about the file, was given. */
bool reading_is_given(const cli_session *session, const char *name);

/* As if the option, which takes a text, had been given with the value, which is borrowed. */
void reading_give(cli_session *session, const char *name, const char *value);

/* Options that choose samples or name them no longer count. */
void reading_drop_samples(reading_settings *reading);

/* The options of the table that were given, each with a blank before it, as they are typed for another command. */
void reading_print(const cli_session *session, FILE *stream);

/* ARMILLA_BAD_ARGUMENT where one of them was given but no data are read, because the operand is a model; `but` those in the
 * list, which ends with NULL (NULL: none). */
armilla_status reading_refuse(cli_session *session, const char *model, const char *const *but, const char *advice);

/* Options that a model's data were read with. */
typedef struct cli_recalled {
    json_t *object; /* has the texts */
    reading_settings reading;
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
