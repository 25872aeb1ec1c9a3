/* What armilla cluster has found, and how it is reported. */
#ifndef CLI_CLUSTERING_H
#define CLI_CLUSTERING_H

#include "reading.h"

/* Settings of `armilla cluster`. */
typedef struct cluster_settings {
    cli_settings common;
    reading_settings reading;
    armilla_options fit;
    armilla_cluster_options cluster;
    const char *model_out, *truth, *on, *prepare;
    bool names;
} cluster_settings;

/* Of settings of command_cluster. */
cluster_settings *cluster_settings_of(cli_settings *settings);

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
