/* Randomly drawn samples: as atoms, and for sketches. They are drawn by number, in memory that grows with how many are
 * drawn and not with how many there are. */
#include "start/start.h"

#include "base/random.h"
#include "base/ranks.h"
#include "base/size.h"
#include "data/column.h"

#include <stdlib.h>

/* A permutation of 0, 1, 2 ... of which only what has moved is kept: open addressing, -1 where a place is free. */
typedef struct moved {
    int64_t mask;
    int64_t (*entries)[2]; /* where, and what stands there */
} moved;

static int64_t *place_of(const moved *from, int64_t where)
{
    int64_t slot = where & from->mask;
    while (from->entries[slot][0] >= 0 && from->entries[slot][0] != where) slot = (slot + 1) & from->mask;
    return from->entries[slot];
}

static int64_t read_moved(const moved *from, int64_t where)
{
    const int64_t *entry = place_of(from, where);
    return entry[0] >= 0 ? entry[1] : where;
}

/* drawn[j] = the j-th of a random order of 0 ... of-1 (Fisher and Yates). */
static armilla_status draw_numbers(armilla_context *context, uint64_t seed, int64_t of, int64_t count, int64_t *drawn)
{
    moved order = {.mask = 15};
    while (order.mask < 2 * count) order.mask = 2 * order.mask + 1;
    const armilla_status status = armilla_take(context, order.mask + 1, sizeof *order.entries, &order.entries);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i <= order.mask; i++) order.entries[i][0] = -1;
    for (int64_t j = 0; j < count; j++) {
        const uint64_t left = (uint64_t)(of - j);
        const int64_t other = j + (int64_t)(armilla_random_bits(seed, ARMILLA_STREAM_SAMPLES, (uint64_t)j) % left);
        const int64_t here = read_moved(&order, j);
        drawn[j] = read_moved(&order, other);
        int64_t *entry = place_of(&order, other);
        entry[0] = other;
        entry[1] = here;
    }
    armilla_release(context, order.entries);
    return ARMILLA_OK;
}

/* A number that was drawn, and its place among those drawn; then the sample that it stands for. */
typedef struct drawing {
    int64_t number, place;
} drawing;

static int rising(const void *a, const void *b)
{
    const int64_t x = ((const drawing *)a)->number, y = ((const drawing *)b)->number;
    return (x > y) - (x < y);
}

/* The samples with a direction, or those without; and how many of them the ranks before this one have. */
typedef struct kind {
    const armilla_problem *problem;
    bool directed;
    int64_t before;
} kind;

static bool is_one(const kind *k, int64_t sample)
{
    return (k->problem->squared_norms[sample] > 0) == k->directed;
}

/* Numbers of that kind, rising, become samples: each rank finds its own, and all get them. O(n) on all ranks together. */
static armilla_status find_samples(const kind *k, int64_t count, drawing *drawings)
{
    const armilla_samples *share = &k->problem->share;
    int64_t next = 0, number = k->before;
    while (next < count && drawings[next].number < k->before) next++;
    const int64_t first = next;
    for (int64_t j = share->first; j < share->last && next < count; j++) {
        if (!is_one(k, j)) continue;
        if (drawings[next].number == number++) drawings[next++].number = j;
    }
    const int64_t bytes = (int64_t)sizeof *drawings;
    const armilla_byte_range range = {drawings, first * bytes, next * bytes, count * bytes, .all = true};
    return armilla_ranks_gather(k->problem->context, ARMILLA_OK, &range);
}

/* How many samples have a direction: on the ranks before this one, and on all. */
static armilla_status count_directed(const armilla_problem *p, kind *directed, int64_t *all)
{
    const int size = armilla_ranks_size(p->context), rank = armilla_ranks_rank(p->context);
    const int64_t bytes = (int64_t)sizeof(int64_t);
    int64_t *counts = NULL;
    armilla_status status = armilla_take(p->context, size, sizeof *counts, &counts);
    *directed = (kind){.problem = p, .directed = true};
    for (int64_t j = p->share.first; j < p->share.last && status == ARMILLA_OK; j++)
        counts[rank] += p->squared_norms[j] > 0;
    const armilla_byte_range range = {counts, rank * bytes, (rank + 1) * bytes, size * bytes, .all = true};
    status = armilla_ranks_gather(p->context, status, &range);
    *all = 0;
    for (int i = 0; i < size && status == ARMILLA_OK; i++) {
        if (i < rank) directed->before += counts[i];
        *all += counts[i];
    }
    armilla_release(p->context, counts);
    return status;
}

armilla_status armilla_draw_samples(armilla_problem *problem, uint64_t seed, int64_t count, int64_t *samples)
{
    armilla_context *context = problem->context;
    kind directed;
    drawing *drawings = NULL;
    int64_t all = 0;
    armilla_status status = count_directed(problem, &directed, &all);
    const int64_t some = armilla_min64(count, all);
    if (status == ARMILLA_OK) status = draw_numbers(context, seed, all, some, samples);
    for (int64_t j = some; j < count; j++) samples[j] = j - some; /* those without a direction, in their order */
    if (status != ARMILLA_OK || all == problem->n) return status;
    status = armilla_take(context, count, sizeof *drawings, &drawings);
    if (status != ARMILLA_OK) return status;
    for (int64_t j = 0; j < count; j++) drawings[j] = (drawing){samples[j], j};
    qsort(drawings, (size_t)some, sizeof *drawings, rising);
    const kind others = {.problem = problem, .before = problem->share.first - directed.before};
    status = find_samples(&directed, some, drawings);
    if (status == ARMILLA_OK) status = find_samples(&others, count - some, drawings + some);
    for (int64_t j = 0; j < count && status == ARMILLA_OK; j++) samples[drawings[j].place] = drawings[j].number;
    armilla_release(context, drawings);
    return status;
}

static armilla_status make(armilla_problem *problem, uint64_t seed, double *U)
{
    const int64_t count = armilla_min64(problem->r, problem->n);
    int64_t *drawn = NULL;
    armilla_status status = armilla_take(problem->context, count, sizeof *drawn, &drawn);
    if (status == ARMILLA_OK) status = armilla_draw_samples(problem, seed, count, drawn);
    if (status == ARMILLA_OK)
        status = armilla_data_gather(problem->context, problem->X, problem->options.type, count, drawn, U);
    armilla_release(problem->context, drawn);
    return status;
}

const armilla_start armilla_start_samples = {
    .name = "samples",
    .meaning = "randomly drawn samples",
    .make = make,
};
