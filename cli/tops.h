/* What atoms and clusters are about, in words: shared by `top`, and by the summaries of `fit` and `cluster`. */
#ifndef ARMILLA_CLI_TOPS_H
#define ARMILLA_CLI_TOPS_H

#include "command.h"

/* Names of features and samples: the model's, else the data's (may be NULL), else numbers from 1 in the buffer. */
enum { TOP_NAME = 32 };
const char *top_name(const armilla_model *model, const armilla_data *X, armilla_naming kind, int64_t index,
                     char buffer[TOP_NAME]);

/* A line for each atom with its first five features, where they have names; a line for each cluster with its size, and
 * its first five features where the model, which may be NULL, has names. Nothing where nobody reads it. */
armilla_status tops_report_atoms(cli_session *session, const armilla_model *model);
armilla_status tops_report_clusters(cli_session *session, const armilla_model *model,
                                    const armilla_clustering *clustering);

#endif
