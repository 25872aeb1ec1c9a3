/* What atoms and clusters are about, at length: the work of armilla top, and how it is shown. */
#ifndef ARMILLA_CLI_DESCRIBING_H
#define ARMILLA_CLI_DESCRIBING_H

#include "tops.h"

typedef enum top_kind { TOP_ATOMS, TOP_CLUSTERS, TOP_KINDS } top_kind;

/* What is at work in one run. */
typedef struct describing {
    cli_session *session;
    const char *listed[TOP_KINDS]; /* which of each kind are shown: a list with commas; NULL: all */
    armilla_model *model;
    armilla_data *X;       /* NULL: the samples are the fit's */
    armilla_data *carrier; /* has the labels' texts */
    armilla_labels labels;
    int64_t *first;              /* of each cluster: a sample that is in it */
    armilla_top *top[TOP_KINDS]; /* NULL of clusters where there are none */
} describing;

/* Opens the labels of the samples of the data, or of the fit: those of the file, or where path is NULL the clusters that
 * the model keeps. */
armilla_status describing_open_clusters(describing *d, const char *path);

/* Every word of the list has to be one of `count` atoms or clusters. */
armilla_status describing_check(const describing *d, top_kind kind, int64_t count);

/* Whether the k-th is among those that are listed. */
bool describing_shows(const describing *d, top_kind kind, int64_t k);
/* What it is called: an atom by its number, a cluster by its label. */
const char *describing_name(const describing *d, top_kind kind, int64_t k, char buffer[TOP_NAME]);
/* Samples without a label are the last cluster. */
bool describing_is_missing(const describing *d, top_kind kind, int64_t k);

/* Samples that are 0. */
int64_t describing_zeros(const describing *d);

armilla_status describing_print_json(const describing *d);
void describing_print(const describing *d);
/* To --out. */
armilla_status describing_write(const describing *d);

void describing_free(describing *d);

#endif
