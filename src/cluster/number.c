/* As many clusters as there are: communities at the resolution whose communities are found again in parts of the samples,
 * and are clear. Resolutions fall: of many samples the communities at each begin from those at the one above, of which
 * they are mostly unions, in the whole and in each part by itself. No such rule is reliable (docs/clustering.md), so all that were looked at are kept with their scores. */
#include "cluster/partition.h"

#include "base/random.h"
#include "base/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Resolutions 2^(t/2) for t from the highest to the lowest; parts of the samples, and what share each has. */
enum { HIGHEST = 6, LOWEST = -9, RESOLUTIONS = HIGHEST - LOWEST + 1, PARTS = 3 };
#define PART 0.8
/* What a run that begins from communities takes of one that begins from single samples. */
#define CHAINED_COST 0.18

/* The graph of some of the samples. */
typedef struct part {
    armilla_level level;
    bool sought;     /* communities, at a higher resolution */
    int64_t *places; /* of its nodes in the whole; */
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
    const armilla_level *fine; /* the graph */
    bool chained;              /* runs begin from the communities at the resolution above */
    part parts[PARTS];
    trial last, next;
    int64_t first; /* communities at the highest resolution */
    armilla_cluster_number found[RESOLUTIONS];
    int64_t count;
    double runs;             /* of communities so far */
    armilla_partition *best; /* with the largest score so far */
    double score;
} counting;

/* row[i] = where sample i is among those drawn, -1: nowhere. */
static int64_t draw_part(const counting *s, int index, int32_t *row)
{
    int32_t count = 0;
    for (int64_t i = 0; i < s->samples->n; i++) {
        const uint64_t place = (uint64_t)index * (uint64_t)s->samples->n + (uint64_t)i;
        const bool drawn = armilla_random_uniform(s->samples->seed, ARMILLA_STREAM_PARTS, place) < PART;
        row[i] = drawn ? count++ : -1;
    }
    return count;
}

static armilla_status make_part(const counting *s, int index, part *made)
{
    armilla_context *context = s->samples->context;
    int32_t *row = NULL;
    int64_t count = 0;
    armilla_status status = armilla_take(context, s->samples->n, sizeof *row, &row);
    if (status == ARMILLA_OK) count = draw_part(s, index, row);
    if (status == ARMILLA_OK) status = armilla_level_of_part(context, s->fine, row, count, &made->level);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *made->places, &made->places);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *made->labels, &made->labels);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *made->whole, &made->whole);
    for (int64_t i = 0; i < s->samples->n && status == ARMILLA_OK; i++)
        if (row[i] >= 0) made->places[row[i]] = i;
    armilla_release(context, row);
    return status;
}

static void release_part(armilla_context *context, part *made)
{
    armilla_level_release(context, &made->level);
    armilla_release(context, made->places);
    armilla_release(context, made->labels);
    armilla_release(context, made->whole);
}

/* The communities of the last resolution in a part. */
static armilla_communities_task seek_in_part(counting *s, int index)
{
    part *own = &s->parts[index];
    const int64_t *from = s->chained && own->sought ? own->labels : NULL;
    own->sought = true;
    return (armilla_communities_task){.fine = &own->level,
                                      .from = from,
                                      .options = {s->last.resolution, s->samples->seed + 1 + (uint64_t)index},
                                      .labels = own->labels};
}

/* The communities of the next resolution in the whole. */
static armilla_communities_task seek_in_whole(const counting *s)
{
    const int64_t *from = s->chained && s->last.resolution > 0 ? s->last.labels : NULL;
    return (armilla_communities_task){
        .fine = s->fine, .from = from, .options = {s->next.resolution, s->samples->seed}, .labels = s->next.labels};
}

/* The communities of the last resolution in the parts, where they are worth it, and those of the next in the whole,
 * where there is one. */
static armilla_status seek(counting *s)
{
    armilla_communities_task tasks[PARTS + 1];
    const bool compares = armilla_decide_is_number(s->last.count, s->samples->n);
    int count = 0, done = 0;
    for (int p = 0; p < PARTS && compares; p++) tasks[count++] = seek_in_part(s, p);
    if (s->next.resolution > 0) tasks[count++] = seek_in_whole(s);
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
        for (int64_t i = 0; i < own->level.nodes; i++) own->whole[i] = s->last.labels[own->places[i]];
        status = armilla_adjusted_rand(s->samples->context, own->level.nodes, own->labels, own->whole, &same);
        *stability += same / PARTS;
    }
    return status;
}

/* The better one of two with the same number is kept, of equals the one with the lower resolution; they come with falling
 * resolution. */
static void note(counting *s, const armilla_cluster_number *number)
{
    int64_t at = 0;
    while (at < s->count && s->found[at].k != number->k) at++;
    if (at == s->count || number->score >= s->found[at].score) s->found[at] = *number;
    s->count = armilla_max64(s->count, at + 1);
}

static armilla_status measure(const counting *s, const int64_t *labels, armilla_labels_evidence *found)
{
    double *sums = NULL;
    const armilla_status status = armilla_take(s->samples->context, found->count, sizeof *sums, &sums);
    if (status != ARMILLA_OK) return status;
    found->modularity = armilla_level_modularity(s->fine, labels, found->count, 1, sums, &found->coverage);
    armilla_release(s->samples->context, sums);
    return status;
}

static armilla_status judge(counting *s)
{
    armilla_partition partition = {
        .labels = s->last.labels, .found = {.count = s->last.count}, .resolution = s->last.resolution};
    double stability = 0;
    if (!armilla_decide_is_number(partition.found.count, s->samples->n)) return ARMILLA_OK;
    armilla_status status = compare_parts(s, &stability);
    if (status == ARMILLA_OK) status = measure(s, partition.labels, &partition.found);
    if (status != ARMILLA_OK) return status;
    const double score = armilla_decide_number_score(stability, partition.found.modularity);
    const armilla_cluster_number number = {.size = sizeof number,
                                           .k = partition.found.count,
                                           .resolution = partition.resolution,
                                           .stability = stability,
                                           .modularity = partition.found.modularity,
                                           .score = score};
    note(s, &number);
    if (s->best->found.count > 0 && score < s->score) return status;
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

/* What the runs of a step take, in runs from single samples: those in the parts, and that in the whole. */
static double cost_of_step(const counting *s, bool parts, bool whole)
{
    const double in_parts = s->chained && s->parts[0].sought ? CHAINED_COST : 1;
    const double in_whole = s->chained && s->last.resolution > 0 ? CHAINED_COST : 1;
    return (parts ? PARTS * in_parts : 0) + (whole ? in_whole : 0);
}

/* Steps after this one. A chain ends at one community, where the logarithm of their number goes on falling as it has. */
static double steps_after(const counting *s, int t)
{
    enum { ENOUGH = 3 };
    const double all = t - LOWEST, done = HIGHEST - 1 - t, last = (double)s->last.count, first = (double)s->first;
    if (!s->chained || done < ENOUGH || last <= 1 || last >= first) return all;
    return fmin(all, done * log(last) / log(first / last));
}

/* Progress counts runs of communities, since a step has one to four of them: samples without communities have one in each of
 * the many steps at low resolutions. Every later step is expected to have four. */
static void tell_step(counting *s, int t)
{
    const bool whole = s->next.resolution > 0;
    const double now = cost_of_step(s, armilla_decide_is_number(s->last.count, s->samples->n), whole);
    const double later = s->chained ? CHAINED_COST : 1;
    const double all = s->runs + now + (whole ? later * (steps_after(s, t) * (PARTS + 1) + PARTS) : 0);
    armilla_call_step(s->samples->context, HIGHEST - t, RESOLUTIONS + 1);
    if (all > 0) armilla_call_guess(s->samples->context, s->runs / all, (s->runs + now) / all);
    s->runs += now;
}

/* 0: there is no next. One community stays one at every lower resolution. */
static double next_resolution(const counting *s, int t)
{
    return t < LOWEST || (s->chained && s->last.count == 1) ? 0 : exp2(t / 2.0);
}

static armilla_status try_all(counting *s)
{
    armilla_status status = ARMILLA_OK;
    armilla_call_phase(s->samples->context, ARMILLA_PHASE_NUMBER);
    for (int p = 0; p < PARTS && status == ARMILLA_OK; p++) status = make_part(s, p, &s->parts[p]);
    for (int t = HIGHEST; t >= LOWEST - 1 && status == ARMILLA_OK; t--) {
        int64_t *const labels = s->last.labels;
        s->next.resolution = next_resolution(s, t);
        tell_step(s, t);
        status = seek(s);
        if (status == ARMILLA_OK) status = judge(s);
        if (s->next.resolution == 0) break;
        s->last = s->next;
        if (t == HIGHEST) s->first = s->last.count;
        s->next = (trial){.labels = labels};
    }
    if (s->count > 0) qsort(s->found, (size_t)s->count, sizeof *s->found, by_count);
    return status;
}

armilla_status armilla_partition_number(const armilla_graph_samples *samples, const armilla_level *fine,
                                        armilla_partition *best, armilla_cluster_number **looked_at, int64_t *count)
{
    armilla_context *context = samples->context;
    counting s = {.samples = samples,
                  .fine = fine,
                  .chained = samples->n > armilla_thresholds_default.separate_samples,
                  .best = best};
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
    armilla_release(context, labels);
    return status;
}
