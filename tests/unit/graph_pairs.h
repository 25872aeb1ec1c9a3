/* Graphs of a few nodes for tests, each beside its full matrix. */
#ifndef UNIT_GRAPH_PAIRS_H
#define UNIT_GRAPH_PAIRS_H

#include "reference/reference.h"
#include "unit/fixture.h"

#include "graph/communities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 120 };

/* A full matrix and the same as a graph. */
typedef struct pair {
    int64_t n;
    double W[MOST * MOST];
    armilla_graph graph;
} pair;

static void to_graph(pair *p)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++) entries += p->W[i * MOST + j] > 0;
    support_ok(context, armilla_graph_take(context, p->n, p->n, entries, &p->graph));
    entries = 0;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t j = 0; j < p->n; j++)
            if (p->W[i * MOST + j] > 0) {
                p->graph.targets[entries] = j;
                p->graph.weights[entries++] = (float)p->W[i * MOST + j];
            }
        p->graph.starts[i + 1] = entries;
    }
}

/* n nodes in `groups` groups, edges within them by the first chance and between them by the second; groups 0: one. */
static void draw(pair *p, uint64_t *random, int64_t n, int64_t groups, const double chances[2])
{
    memset(p->W, 0, sizeof p->W);
    p->n = n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const bool same = groups < 1 || i % groups == j % groups;
            const double weight = (double)(float)(0.25 + 0.75 * reference_uniform(random));
            if (reference_uniform(random) < chances[!same]) p->W[i * MOST + j] = p->W[j * MOST + i] = weight;
        }
    to_graph(p);
}

/* A task by itself: k communities, or with 0 those at the resolution of the options. */
static armilla_status find_communities(const armilla_graph *graph, int64_t k, armilla_communities_options *options,
                                       int64_t *labels, int64_t *count)
{
    armilla_communities_task task = {.graph = graph, .k = k, .options = *options, .labels = labels};
    int done = 0;
    const armilla_status status = armilla_communities_share(context, &task, 1, false, &done);
    *count = task.count;
    *options = task.options;
    return status;
}

#endif
