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
    armilla_checkpoint checkpoint;
    const char *model_out, *truth, *on, *prepare;
    bool names;
} cluster_settings;

/* The settings of a session that runs command_cluster. */
cluster_settings *cluster_of(const cli_session *session);

/* Whether the method is one of a graph of neighbours. */
bool clustering_by_graph(const cluster_settings *settings);

/* What is asked of the library's choice beside the options. */
armilla_cluster_choice clustering_asked(const cluster_settings *settings);

/* What can be refused before anything is read; *fitted = whether the operand is a model. */
armilla_status clustering_check(cli_session *session, bool *fitted);
/* Options of a fit, where the operand is a model. */
armilla_status clustering_refuse_fit(cli_session *session);
/* When the number of samples is known. */
armilla_status clustering_check_data(cli_session *session, int64_t n);
/* When the method is chosen: what several ranks cannot do together. */
armilla_status clustering_check_ranks(cli_session *session);

/* Announces the parts of a clustering of data of that shape (announcing.h): all of them; those that follow the choice of a
 * preparation; and those of a model, whose codes are clustered alone. */
void clustering_expect(cli_session *session, const cli_shape *shape);
void clustering_expect_rest(cli_session *session, const cli_shape *shape);
void clustering_expect_model(cli_session *session, const armilla_model_summary *model);
/* Says what it costs to leave out --k, where that is much. */
void clustering_tell_cost(cli_session *session, const cli_shape *shape);

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
    armilla_cluster_choice choice; /* why the fit and the method are what they are */
    double begun;
} cli_clustering;

/* The summary for people. */
void clustering_report(cli_session *session, const cli_clustering *work);
/* And for programs, on standard output. */
armilla_status clustering_print_json(cli_session *session, const cli_clustering *work);

#endif
