/* Communities of the graph of samples, and how good labels are in its eyes. */
#include "cluster/partition.h"

#include "base/size.h"

#include <string.h>

/* Orders in which communities are sought. */
enum { ORDERS = ARMILLA_PARTITION_ORDERS };

/* Runs in several orders. */
typedef struct ordered {
    int64_t *labels;       /* n of each order */
    int64_t *runs[ORDERS]; /* of those with k communities */
    int found;             /* how many these are */
} ordered;

/* How well each run agrees with the others: sums[i] over them. */
static armilla_status compare_runs(const armilla_graph_samples *samples, const ordered *all, double *sums)
{
    armilla_status status = ARMILLA_OK;
    for (int i = 0; i < all->found; i++) sums[i] = 0;
    for (int i = 1; i < all->found; i++)
        for (int j = 0; j < i && status == ARMILLA_OK; j++) {
            double same = 0;
            status = armilla_agreement(samples->context, samples->n, all->runs[i], all->runs[j], &same);
            sums[i] += same;
            sums[j] += same;
        }
    return status;
}

/* What a task that is done has found. */
static void keep_run(const armilla_communities_task *task, ordered *all, armilla_partition *partition)
{
    if (task->count != task->k) return;
    partition->resolution = task->options.resolution;
    all->runs[all->found++] = task->labels;
}

/* The search of each order begins at the resolution where that of the one before has ended, which mostly is where it
 * began: so all orders that are left are taken to begin there, at the same time, and those that should not have are
 * searched again. There is no other search where the first has not k communities. */
static armilla_status run_orders(const armilla_graph_samples *samples, const armilla_graph *graph,
                                 const armilla_level *fine, ordered *all, armilla_partition *partition)
{
    armilla_communities_task tasks[ORDERS];
    double resolution = 1;
    armilla_status status = ARMILLA_OK;
    for (int first = 0, done = 0; first < ORDERS && status == ARMILLA_OK; first += done) {
        armilla_call_step(samples->context, first, ORDERS + 1);
        armilla_call_rest(samples->context);
        for (int order = first; order < ORDERS; order++)
            tasks[order] = (armilla_communities_task){.graph = graph,
                                                      .fine = fine,
                                                      .k = samples->k,
                                                      .options = {resolution, samples->seed * ORDERS + (uint64_t)order},
                                                      .labels = all->labels + order * samples->n};
        status = armilla_communities_share(samples->context, tasks + first, ORDERS - first, true, &done);
        for (int i = first; i < first + done && status == ARMILLA_OK; i++) keep_run(&tasks[i], all, partition);
        resolution = tasks[first + done - 1].options.resolution;
        if (first == 0) partition->found.count = tasks[0].count;
        if (first == 0 && partition->found.count != samples->k) break;
    }
    return status;
}

armilla_status armilla_partition_find(const armilla_graph_samples *samples, const armilla_graph *graph,
                                      armilla_partition *partition)
{
    ordered all = {.found = 0};
    armilla_level fine = {.nodes = 0};
    int64_t numbers = 0;
    double sums[ORDERS];
    int best = 0;
    if (!armilla_size_area(ORDERS, samples->n, &numbers)) numbers = -1;
    armilla_status status = armilla_take(samples->context, numbers, sizeof *all.labels, &all.labels);
    if (status == ARMILLA_OK) status = armilla_level_of_graph(samples->context, graph, &fine);
    armilla_call_phase(samples->context, ARMILLA_PHASE_COMMUNITIES);
    if (status == ARMILLA_OK) status = run_orders(samples, graph, &fine, &all, partition);
    armilla_level_release(samples->context, &fine);
    if (status == ARMILLA_OK) status = compare_runs(samples, &all, sums);
    if (status == ARMILLA_OK && all.found > 0) {
        double sum = 0;
        for (int i = 0; i < all.found; i++) {
            sum += sums[i];
            if (sums[i] > sums[best]) best = i;
        }
        partition->stability = all.found > 1 ? sum / (all.found * (all.found - 1)) : 1;
        memcpy(partition->labels, all.runs[best], (size_t)samples->n * sizeof *partition->labels);
    }
    armilla_release(samples->context, all.labels);
    return status;
}

armilla_status armilla_partition_measure(armilla_context *context, const armilla_graph *graph, const int64_t *labels,
                                         armilla_labels_evidence *evidence)
{
    double *sums = NULL;
    const armilla_status status = armilla_take(context, evidence->count, sizeof *sums, &sums);
    if (status != ARMILLA_OK) return status;
    evidence->modularity = armilla_modularity(graph, labels, evidence->count, 1, sums, &evidence->coverage);
    armilla_release(context, sums);
    return status;
}
