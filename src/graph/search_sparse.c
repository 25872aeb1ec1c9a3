/* Products of sparse samples: the block is an index of its queries by feature, so that a column meets the entries that
 * it has features in common with, and no others. Sums are in double, by rising feature: of two samples they do not depend
 * on which is the query. */
#include "graph/search.h"

#include "base/size.h"
#include "data/sparse.h"

#include <math.h>
#include <string.h>

enum {
    MOST_QUERIES = 4096,    /* whose sums stay in the first caches */
    MOST_ENTRIES = 1 << 19, /* of as many queries, at 28 bytes each: a block is no second copy of the data */
    STREAM_QUERIES = 1 << 15,
    WHOLE_ENTRIES = 1 << 22, /* of a block of dense queries, */
    LEAST_QUERIES = 16       /* but no fewer than these */
};

/* Entries in common of a query: in the order of columns as they are placed, then by feature. */
typedef struct sparse_block {
    int64_t capacity;
    /* As they are placed: query q has lengths[q] entries from before[q] on. */
    int64_t *before, *lengths;
    int64_t *features;
    double *values;
    double *shifts, *along; /* of centred data: q is its entries less shifts[q] times the mean, which they have this
                               product with */
    /* By feature. */
    int64_t *starts; /* m + 1 */
    int32_t *owners;
    double *weights;
    armilla_column_buffers columns; /* of each thread */
} sparse_block;

static int64_t most(const armilla_search *s)
{
    if (!armilla_sparse_of(s->queries))
        return armilla_min64(MOST_QUERIES, armilla_max64(LEAST_QUERIES, WHOLE_ENTRIES / s->X->m));
    const int64_t each = armilla_data_stored(s->queries) / armilla_max64(s->queries->n, 1);
    const int64_t queries = armilla_max64(LEAST_QUERIES, MOST_ENTRIES / armilla_max64(each, 1));
    return s->X->blocks ? STREAM_QUERIES : armilla_min64(MOST_QUERIES, queries);
}

/* Entries of the queries before q at most; dense ones may have all. */
static int64_t entries_before(const armilla_search *s, int64_t q)
{
    return armilla_sparse_of(s->queries) ? armilla_sparse_before(s->queries, q) : q * s->queries->m;
}

/* The entries of the block that has most of them. */
static int64_t most_entries(const armilla_search *s)
{
    int64_t entries = 1;
    for (int64_t first = 0; first < s->queries->n; first += s->most) {
        const int64_t last = armilla_min64(s->queries->n, first + s->most);
        entries = armilla_max64(entries, entries_before(s, last) - entries_before(s, first));
    }
    return entries;
}

static armilla_status take_entries(armilla_search *s, sparse_block *b)
{
    armilla_context *context = s->context;
    const int64_t entries = b->capacity;
    armilla_status status = armilla_take(context, entries, sizeof *b->features, &b->features);
    if (status == ARMILLA_OK) status = armilla_take(context, entries, sizeof *b->values, &b->values);
    if (status == ARMILLA_OK) status = armilla_take(context, entries, sizeof *b->owners, &b->owners);
    if (status == ARMILLA_OK) status = armilla_take(context, entries, sizeof *b->weights, &b->weights);
    return status;
}

static armilla_status take(armilla_search *s)
{
    armilla_context *context = s->context;
    armilla_status status = armilla_take(context, 1, sizeof(sparse_block), &s->block);
    if (status != ARMILLA_OK) return status;
    sparse_block *b = s->block;
    b->capacity = most_entries(s);
    status = take_entries(s, b);
    if (status == ARMILLA_OK) status = armilla_take(context, s->most, sizeof *b->before, &b->before);
    if (status == ARMILLA_OK) status = armilla_take(context, s->most, sizeof *b->lengths, &b->lengths);
    if (status == ARMILLA_OK) status = armilla_take(context, s->most, sizeof *b->shifts, &b->shifts);
    if (status == ARMILLA_OK) status = armilla_take(context, s->most, sizeof *b->along, &b->along);
    if (status == ARMILLA_OK) status = armilla_take(context, s->X->m + 2, sizeof *b->starts, &b->starts);
    const int64_t threads = armilla_max64(s->threads, armilla_traversal_threads(s->asking));
    if (status == ARMILLA_OK) status = armilla_column_buffers_take(context, s->X, threads, &b->columns);
    return status;
}

static void release(armilla_search *s)
{
    armilla_context *context = s->context;
    sparse_block *b = s->block;
    if (!b) return;
    armilla_column_buffers_release(context, &b->columns);
    armilla_release(context, b->starts);
    armilla_release(context, b->along);
    armilla_release(context, b->shifts);
    armilla_release(context, b->lengths);
    armilla_release(context, b->before);
    armilla_release(context, b->weights);
    armilla_release(context, b->owners);
    armilla_release(context, b->values);
    armilla_release(context, b->features);
    armilla_release(context, b);
}

/* The product of a column's entries with the mean of X, where that is centred. */
static double along_mean(const armilla_search *s, const armilla_column *x)
{
    const double *mean = armilla_sparse_of(s->X)->mean;
    double sum = 0;
    for (int64_t i = 0; i < x->count && mean; i++) sum += x->values[i] * mean[armilla_column_feature(x, i)];
    return sum;
}

static void place_query(const armilla_search *s, sparse_block *b, int64_t q, const armilla_column *x)
{
    int64_t at = entries_before(s, s->first + q) - entries_before(s, s->first);
    b->before[q] = at;
    b->shifts[q] = x->shift;
    b->along[q] = along_mean(s, x);
    for (int64_t i = 0; i < x->count; i++) {
        if (x->values[i] == 0) continue;
        b->features[at] = armilla_column_feature(x, i);
        b->values[at++] = x->values[i];
    }
    b->lengths[q] = at - b->before[q];
}

static armilla_status place(void *self, const armilla_panel *panel, int thread, double *sums)
{
    armilla_search *s = self;
    sparse_block *b = s->block;
    (void)sums;
    for (int64_t j = 0; j < panel->count; j++) {
        const armilla_column x = armilla_panel_column(panel, j, armilla_column_buffer_of(&b->columns, thread));
        place_query(s, b, panel->first + j - s->first, &x);
    }
    return ARMILLA_OK;
}

/* The index: entries sorted by feature, queries rising. */
static void ready(armilla_search *s)
{
    sparse_block *b = s->block;
    const int64_t m = s->X->m;
    int64_t *next = b->starts + 1;
    memset(b->starts, 0, (size_t)(m + 2) * sizeof *b->starts);
    for (int64_t q = 0; q < s->last - s->first; q++)
        for (int64_t i = b->before[q]; i < b->before[q] + b->lengths[q]; i++) next[b->features[i] + 1]++;
    for (int64_t f = 0; f < m; f++) next[f + 1] += next[f];
    /* next[f] is where the entries of f go, and becomes where they end: starts[f] is then where they begin. */
    for (int64_t q = 0; q < s->last - s->first; q++)
        for (int64_t i = b->before[q]; i < b->before[q] + b->lengths[q]; i++) {
            const int64_t at = next[b->features[i]]++;
            b->owners[at] = (int32_t)q;
            b->weights[at] = b->values[i];
        }
}

/* sums[q] = the product of query q of the block, 0 ... queries-1, and the column. */
static void multiply(const armilla_search *s, const armilla_column *x, int64_t queries, double *sums)
{
    const sparse_block *b = s->block;
    memset(sums, 0, (size_t)queries * sizeof *sums);
    for (int64_t i = 0; i < x->count; i++) {
        const double value = x->values[i];
        const int64_t first = b->starts[x->rows[i]], last = b->starts[x->rows[i] + 1];
        for (int64_t e = first; e < last && b->owners[e] < queries; e++) sums[b->owners[e]] += value * b->weights[e];
    }
    if (!x->mean) return;
    /* (e - s mu)'(f - t mu) = e'f - (s mu'f + t mu'e) + s t mu'mu */
    const double along = along_mean(s, x);
    for (int64_t q = 0; q < queries; q++)
        sums[q] += b->shifts[q] * x->shift * x->mean_squared - (b->shifts[q] * along + x->shift * b->along[q]);
}

/* Sums and places of a thread. */
static size_t workspace(const armilla_search *s)
{
    return (size_t)s->most * (sizeof(double) + sizeof(int32_t));
}

/* The products of the block's first queries with a column are ranked, for both. */
static void rank_column(armilla_search *s, int thread, int64_t column, int64_t queries, const double *sums)
{
    const bool same = armilla_search_same(s);
    int32_t *places = (int32_t *)(void *)((double *)armilla_search_workspace(s, thread) + s->most);
    double *floors = armilla_search_floors(s, thread);
    const double floor = same ? armilla_ranking_floor(&s->found, column) : (double)INFINITY;
    const int64_t found = s->kernels->above(queries, sums, floor, floors, places);
    for (int64_t i = 0; i < found; i++) {
        const int64_t q = places[i];
        if (sums[q] > floors[q]) (void)armilla_search_put(s, thread, q, sums[q], column);
        if (same && sums[q] > armilla_ranking_floor(&s->found, column))
            armilla_ranking_put(&s->found, column, sums[q], s->first + q);
    }
}

static armilla_status meet(void *self, const armilla_panel *panel, int thread, double *sums)
{
    armilla_search *s = self;
    const sparse_block *b = s->block;
    const armilla_column_buffer buffer = armilla_column_buffer_of(&b->columns, thread);
    double *products = armilla_search_workspace(s, thread);
    (void)sums;
    for (int64_t j = 0; j < panel->count; j++) {
        const armilla_column x = armilla_panel_column(panel, j, buffer);
        const int64_t column = panel->first + j;
        const int64_t last = armilla_search_same(s) ? armilla_min64(s->last, column) : s->last;
        multiply(s, &x, last - s->first, products);
        rank_column(s, thread, column, last - s->first, products);
    }
    return ARMILLA_OK;
}

const armilla_search_form armilla_search_sparse = {
    .most = most,
    .take = take,
    .release = release,
    .workspace = workspace,
    .place = place,
    .ready = ready,
    .meet = meet,
};
