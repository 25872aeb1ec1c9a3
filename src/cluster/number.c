/* As many clusters as there are: communities at the resolution whose communities are found again in parts of the samples,
 * and are clear. No such rule is reliable (docs/clustering.md), so all that were looked at are kept with their scores. */
#include "cluster/partition.h"

#include "base/random.h"
#include "base/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Resolutions 2^(t/2) for t from the first to the last; parts of the samples, and what share each has. */
enum { FIRST = -9, LAST = 6, RESOLUTIONS = LAST - FIRST + 1, PARTS = 3 };
#define PART 0.8

/* The graph of some of the samples. */
typedef struct part {
    armilla_graph graph;
    int64_t *places; /* of its rows in the whole; */
    int64_t *labels; /* what is found there; */
    int64_t *whole;  /* and what the whole has for the same */
} part;

/* What is found at a resolution: beside the communities of one in the parts, those of the next in the whole are sought. */
typedef struct trial {
    double resolution;
    int64_t *labels;
    int64_t count; /* 0: nothing was sought */
} trial;

typedef struct counting {
    const armilla_graph_samples *samples;
    const armilla_graph *graph;
    armilla_level fine; /* the same */
    part parts[PARTS];
    trial last, next;
    armilla_cluster_number found[RESOLUTIONS];
    int64_t count;
    int runs;                /* of communities so far */
    armilla_partition *best; /* with the largest score so far */
    double score;
} counting;

/* row[i] = where sample i is among those drawn, -1: nowhere. */
static int64_t draw_part(const counting *s, int index, int64_t *row)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->samples->n; i++) {
        const uint64_t place = (uint64_t)index * (uint64_t)s->samples->n + (uint64_t)i;
        const bool drawn = armilla_random_uniform(s->samples->seed, ARMILLA_STREAM_PARTS, place) < PART;
        row[i] = drawn ? count++ : -1;
    }
    return count;
}

/* The rows and columns that are drawn. */
static void fill_part(const counting *s, const int64_t *row, part *made)
{
    const armilla_graph *graph = s->graph;
    int64_t entries = 0;
    for (int64_t i = 0; i < graph->rows; i++) {
        if (row[i] < 0) continue;
        made->places[row[i]] = i;
        for (int64_t e = graph->starts[i]; e < graph->starts[i + 1]; e++) {
            if (row[graph->targets[e]] < 0) continue;
            made->graph.targets[entries] = row[graph->targets[e]];
            made->graph.weights[entries++] = graph->weights[e];
        }
        made->graph.starts[row[i] + 1] = entries;
    }
}

static armilla_status make_part(const counting *s, int index, part *made)
{
    armilla_context *context = s->samples->context;
    int64_t *row = NULL, count = 0;
    armilla_status status = armilla_take(context, s->samples->n, sizeof *row, &row);
    if (status == ARMILLA_OK) count = draw_part(s, index, row);
    if (status == ARMILLA_OK)
        status = armilla_graph_take(context, count, count, armilla_graph_entries(s->graph), &made->graph);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *made->places, &made->places);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *made->labels, &made->labels);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *made->whole, &made->whole);
    if (status == ARMILLA_OK) fill_part(s, row, made);
    armilla_release(context, row);
    return status;
}

static void release_part(armilla_context *context, part *made)
{
    armilla_graph_release(context, &made->graph);
    armilla_release(context, made->places);
    armilla_release(context, made->labels);
    armilla_release(context, made->whole);
}

/* The communities of the last resolution in the parts, where they are worth it, and those of the next in the whole,
 * where there is one. */
static armilla_status seek(counting *s)
{
    armilla_communities_task tasks[PARTS + 1];
    int count = 0, done = 0;
    for (int p = 0; p < PARTS && armilla_decide_is_number(s->last.count, s->samples->n); p++)
        tasks[count++] = (armilla_communities_task){.graph = &s->parts[p].graph,
                                                    .options = {s->last.resolution, s->samples->seed + 1 + (uint64_t)p},
                                                    .labels = s->parts[p].labels};
    if (s->next.resolution > 0)
        tasks[count++] = (armilla_communities_task){.graph = s->graph,
                                                    .fine = &s->fine,
                                                    .options = {s->next.resolution, s->samples->seed},
                                                    .labels = s->next.labels};
    const armilla_status status = armilla_communities_share(s->samples->context, tasks, count, false, &done);
    if (status == ARMILLA_OK && s->next.resolution > 0) s->next.count = tasks[count - 1].count;
    return status;
}

/* *stability = how far the parts have the communities of the whole: the mean adjusted Rand index. */
static armilla_status compare_parts(const counting *s, double *stability)
{
    armilla_status status = ARMILLA_OK;
    *stability = 0;
    for (int p = 0; p < PARTS && status == ARMILLA_OK; p++) {
        const part *own = &s->parts[p];
        double same = 0;
        for (int64_t i = 0; i < own->graph.rows; i++) own->whole[i] = s->last.labels[own->places[i]];
        status = armilla_adjusted_rand(s->samples->context, own->graph.rows, own->labels, own->whole, &same);
        *stability += same / PARTS;
    }
    return status;
}

/* The better one of two with the same number is kept; they come with rising resolution. */
static void note(counting *s, const armilla_cluster_number *number)
{
    int64_t at = 0;
    while (at < s->count && s->found[at].k != number->k) at++;
    if (at == s->count || number->score > s->found[at].score) s->found[at] = *number;
    s->count = armilla_max64(s->count, at + 1);
}

static armilla_status judge(counting *s)
{
    armilla_partition partition = {
        .labels = s->last.labels, .found = {.count = s->last.count}, .resolution = s->last.resolution};
    double stability = 0;
    if (!armilla_decide_is_number(partition.found.count, s->samples->n)) return ARMILLA_OK;
    armilla_status status = compare_parts(s, &stability);
    if (status == ARMILLA_OK)
        status = armilla_partition_measure(s->samples->context, s->graph, partition.labels, &partition.found);
    if (status != ARMILLA_OK) return status;
    const double score = armilla_decide_number_score(stability, partition.found.modularity);
    const armilla_cluster_number number = {.size = sizeof number,
                                           .k = partition.found.count,
                                           .resolution = partition.resolution,
                                           .stability = stability,
                                           .modularity = partition.found.modularity,
                                           .score = score};
    note(s, &number);
    if (s->best->found.count > 0 && score <= s->score) return status;
    int64_t *kept = s->best->labels;
    memcpy(kept, partition.labels, (size_t)s->samples->n * sizeof *kept);
    *s->best = partition;
    s->best->labels = kept;
    s->best->stability = stability;
    s->score = score;
    return status;
}

static int by_count(const void *a, const void *b)
{
    const armilla_cluster_number *x = a, *y = b;
    return (x->k > y->k) - (x->k < y->k);
}

/* Progress counts runs of communities, since a step has one to four of them: samples without communities have one in each of
 * the many steps at low resolutions. Every later step is expected to have four. */
static void tell_step(counting *s, int t)
{
    const bool is_last = t > LAST;
    const int now = (armilla_decide_is_number(s->last.count, s->samples->n) ? PARTS : 0) + (is_last ? 0 : 1);
    const double all = s->runs + now + (is_last ? 0 : (LAST - t) * (PARTS + 1) + PARTS);
    armilla_call_step(s->samples->context, t - FIRST, RESOLUTIONS + 1);
    armilla_call_guess(s->samples->context, s->runs / all, (s->runs + now) / all);
    s->runs += now;
}

static armilla_status try_all(counting *s)
{
    armilla_status status = ARMILLA_OK;
    armilla_call_phase(s->samples->context, ARMILLA_PHASE_NUMBER);
    for (int p = 0; p < PARTS && status == ARMILLA_OK; p++) status = make_part(s, p, &s->parts[p]);
    if (status == ARMILLA_OK) status = armilla_level_of_graph(s->samples->context, s->graph, &s->fine);
    for (int t = FIRST; t <= LAST + 1 && status == ARMILLA_OK; t++) {
        int64_t *const labels = s->last.labels;
        tell_step(s, t);
        s->next.resolution = t <= LAST ? exp2(t / 2.0) : 0;
        status = seek(s);
        if (status == ARMILLA_OK) status = judge(s);
        s->last = s->next;
        s->next = (trial){.labels = labels};
    }
    if (s->count > 0) qsort(s->found, (size_t)s->count, sizeof *s->found, by_count);
    return status;
}

armilla_status armilla_partition_number(const armilla_graph_samples *samples, const armilla_graph *graph,
                                        armilla_partition *best, armilla_cluster_number **looked_at, int64_t *count)
{
    armilla_context *context = samples->context;
    counting s = {.samples = samples, .graph = graph, .best = best};
    int64_t numbers = 0, *labels = NULL;
    if (!armilla_size_area(2, samples->n, &numbers)) numbers = -1;
    armilla_status status = armilla_take(context, numbers, sizeof *labels, &labels);
    s.last.labels = labels;
    s.next.labels = labels ? labels + samples->n : NULL;
    if (status == ARMILLA_OK) status = try_all(&s);
    if (status == ARMILLA_OK) status = armilla_take(context, s.count, sizeof **looked_at, looked_at);
    if (status == ARMILLA_OK && s.count > 0) memcpy(*looked_at, s.found, (size_t)s.count * sizeof **looked_at);
    if (status == ARMILLA_OK) *count = s.count;
    for (int p = 0; p < PARTS; p++) release_part(context, &s.parts[p]);
    armilla_level_release(context, &s.fine);
    armilla_release(context, labels);
    return status;
}
