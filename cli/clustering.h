/* What armilla cluster has found, and how it is reported. */
#ifndef CLI_CLUSTERING_H
#define CLI_CLUSTERING_H

#include "command.h"

#include <armilla/armilla.h>

/* What is at work in one run. */
typedef struct cli_clustering {
    armilla_data *X;
    armilla_model *model;
    armilla_clustering *clustering;
    armilla_labels truth;
    armilla_scores scores;
    bool scored;
    armilla_cluster_quality quality;
    armilla_structure structure;
    double begun;
} cli_clustering;

/* The summary for people. */
void clustering_report(cli_session *session, const cli_clustering *work);
/* And for programs, on standard output. */
armilla_status clustering_print_json(cli_session *session, const cli_clustering *work);

#endif
