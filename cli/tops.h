/* What atoms and clusters are about, in words: shared by `top`, and by the summaries of `fit` and `cluster`. */
#ifndef ARMILLA_CLI_TOPS_H
#define ARMILLA_CLI_TOPS_H

#include "command.h"

/* Names of features and samples: the model's, else the data's (may be NULL), else numbers from 1 in the buffer. */
enum { TOP_NAME = 32 };
const char *top_name(const armilla_model *model, const armilla_data *X, armilla_naming kind, int64_t index,
                     char buffer[TOP_NAME]);

/* A line with the first five features of each atom, or of each cluster of the clustering; nothing where the model's
 * features have no names, or nobody reads it. */
armilla_status tops_report_atoms(cli_session *session, const armilla_model *model);
armilla_status tops_report_clusters(cli_session *session, const armilla_model *model,
                                    const armilla_clustering *clustering);

#endif
