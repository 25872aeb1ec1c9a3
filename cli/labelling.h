/* Labels of samples as commands write them. */
#ifndef ARMILLA_CLI_LABELLING_H
#define ARMILLA_CLI_LABELLING_H

#include "outputs.h"

/* Labels, and what their samples are called. */
typedef struct cli_labelled {
    const int64_t *labels;
    int64_t count;
    const armilla_model *model; /* may be NULL */
    const armilla_data *X;      /* may be NULL */
    bool named;                 /* --names */
    bool summarized;            /* the summary has a table of the clusters, which a terminal shows instead */
} cli_labelled;

/* What pictures and lines for people call the class of missing labels; and a line that says how many there are. */
#define LABEL_MISSING "(missing)"
void labelling_say_missing(cli_session *session, int64_t missing, int64_t count);

/* The row of --names, for a member `names` of settings of that type. */
#define OPTION_NAMES(type)                                                                                             \
    OPTION_FLAG("names", type, names,                                                                                  \
                "labels beside the names of the samples, in any file and on standard output (not in --json)")

/* *carrier = samples without numbers, called as those of the data or, where X is NULL, of the model, which have the labels of
 * the file: by name where both have names. */
armilla_status labelling_open(cli_session *session, const char *path, const armilla_model *model, const armilla_data *X,
                              armilla_data **carrier);

/* --out as an output that labels go to: a table where it ends in .csv, else text. */
output_path labelling_output(const cli_session *session);

/* One label per line to --out, or with --names, or where that ends in .csv, a table with the samples' names, which are
 * numbers from 1 where they have none. To standard output where there is no --out, nor --json. */
armilla_status labelling_write(cli_session *session, const cli_labelled *labelled);

/* Whether labels, with names or without, would go to a terminal that shows the summary: there a table of the clusters says
 * more. */
bool labelling_spares(const cli_session *session, bool named);

#endif
