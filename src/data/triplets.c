/* Entries to compressed columns by counting. Each thread has a range of the entries and counts how many of them every
 * sample has; sums over the ranges before it tell it where its entries go, so that those of a sample keep their order
 * whatever the ranges. Files are mostly in order already; columns that are not are sorted one by one, byte by byte of
 * the feature (a radix sort, which keeps the order of equals). */
#include "data/triplets.h"

#include "base/size.h"
#include "linalg/sparse_kernels.h"

#include <string.h>

enum { DIGIT = 8, BUCKETS = 1 << DIGIT, FEW = 24 };

typedef struct compressing {
    const armilla_triplets *from;
    const int32_t *features;
    const double *given;
    bool disordered; /* entries do not rise by sample and feature; atomic */
    armilla_sparse_matrix *to;
    int ranges;
    int64_t *places;                    /* ranges x n: counts, then where the next entry goes */
    int64_t unsorted, longest, repeats; /* columns, the entries of the longest of them, equal neighbours; atomic */
    int64_t next_column;
    int64_t capacity; /* of each thread's scratch */
    int sorters;
    uint32_t *keys;
    double *values;
} compressing;

static void count_range(const compressing *c, int range)
{
    const armilla_triplets *from = c->from;
    int64_t *counts = c->places + range * from->n;
    const int64_t last = armilla_part_start(c->from->count, c->ranges, range + 1);
    for (int64_t k = armilla_part_start(c->from->count, c->ranges, range); k < last; k++) counts[from->samples[k]]++;
    if (from->mirror == 0) return;
    for (int64_t k = armilla_part_start(c->from->count, c->ranges, range); k < last; k++)
        if (from->samples[k] != c->features[k]) counts[c->features[k]]++;
}

static void count_ranges(void *self, int64_t first, int64_t last)
{
    for (int64_t range = first; range < last; range++) count_range(self, (int)range);
}

/* Counts become places; the number of all entries. */
static int64_t place_ranges(const compressing *c)
{
    const int64_t n = c->from->n;
    int64_t place = 0;
    for (int64_t j = 0; j < n; j++)
        for (int range = 0; range < c->ranges; range++) {
            const int64_t count = c->places[range * n + j];
            c->places[range * n + j] = place;
            place += count;
        }
    return place;
}

static void put_entry(const compressing *c, int64_t *places, int64_t feature, int64_t sample, double value)
{
    const int64_t place = places[sample]++;
    armilla_index_put(c->to->index64, c->to->rows, place, feature);
    ((double *)c->to->values)[place] = value;
}

static void scatter_range(const compressing *c, int range)
{
    const armilla_triplets *from = c->from;
    int64_t *places = c->places + range * from->n;
    const int64_t last = armilla_part_start(c->from->count, c->ranges, range + 1);
    for (int64_t k = armilla_part_start(c->from->count, c->ranges, range); k < last; k++) {
        const int64_t feature = c->features[k], sample = from->samples[k];
        put_entry(c, places, feature, sample, c->given[k]);
        if (from->mirror != 0 && feature != sample) put_entry(c, places, sample, feature, from->mirror * c->given[k]);
    }
}

static void scatter_ranges(void *self, int64_t first, int64_t last)
{
    for (int64_t range = first; range < last; range++) scatter_range(self, (int)range);
}

/* The last range's places have become the ends of the columns. */
static void set_starts(const compressing *c)
{
    const int64_t n = c->from->n, *ends = c->places + (c->ranges - 1) * n;
    armilla_index_put(c->to->index64, c->to->starts, 0, 0);
    for (int64_t j = 0; j < n; j++) armilla_index_put(c->to->index64, c->to->starts, j + 1, ends[j]);
}

static void look_for_disorder(void *self, int64_t first, int64_t last)
{
    compressing *c = self;
    const int32_t *samples = c->from->samples, *features = c->features;
    for (int64_t k = armilla_max64(first, 1); k < last; k++) {
        if (samples[k] > samples[k - 1] || (samples[k] == samples[k - 1] && features[k] > features[k - 1])) continue;
        __atomic_store_n(&c->disordered, true, __ATOMIC_RELAXED);
        return;
    }
}

/* Entries that rise are the matrix, but for where its columns start. */
static armilla_status keep_order(armilla_context *context, const compressing *c)
{
    const armilla_triplets *from = c->from;
    armilla_sparse_matrix made = {.type = ARMILLA_F64, .m = from->m, .n = from->n};
    const armilla_status status = armilla_grow(context, from->n + 1, sizeof(int32_t), &made.starts);
    if (status != ARMILLA_OK) return status;
    int32_t *starts = made.starts;
    int64_t j = 0;
    for (int64_t k = 0; k < from->count; k++)
        while (j <= from->samples[k]) starts[j++] = (int32_t)k;
    while (j <= from->n) starts[j++] = (int32_t)from->count;
    armilla_triplets_hand_over(from, &made);
    *c->to = made;
    return ARMILLA_OK;
}

static void look_at_columns(void *self, int64_t first, int64_t last)
{
    compressing *c = self;
    const armilla_sparse_matrix *to = c->to;
    int64_t unsorted = 0, longest = 0, repeats = 0;
    for (int64_t j = first; j < last; j++) {
        const int64_t begin = armilla_index_at(to->index64, to->starts, j),
                      end = armilla_index_at(to->index64, to->starts, j + 1);
        bool falls = false;
        for (int64_t k = begin + 1; k < end; k++) {
            const int64_t step =
                armilla_index_at(to->index64, to->rows, k) - armilla_index_at(to->index64, to->rows, k - 1);
            falls = falls || step < 0;
            repeats += step == 0;
        }
        unsorted += falls;
        if (falls) longest = armilla_max64(longest, end - begin);
    }
    __atomic_add_fetch(&c->unsorted, unsorted, __ATOMIC_RELAXED);
    __atomic_add_fetch(&c->repeats, repeats, __ATOMIC_RELAXED);
    int64_t known = __atomic_load_n(&c->longest, __ATOMIC_RELAXED);
    while (longest > known &&
           !__atomic_compare_exchange_n(&c->longest, &known, longest, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static void insert_sort(int64_t count, uint32_t *keys, double *values)
{
    for (int64_t i = 1; i < count; i++) {
        const uint32_t key = keys[i];
        const double value = values[i];
        int64_t k = i;
        for (; k > 0 && keys[k - 1] > key; k--) {
            keys[k] = keys[k - 1];
            values[k] = values[k - 1];
        }
        keys[k] = key;
        values[k] = value;
    }
}

/* One digit of the keys decides; from and to have count keys and values each. */
static void sort_digit(int64_t count, int shift, const uint32_t *keys, const double *values, uint32_t *to_keys,
                       double *to_values)
{
    int64_t places[BUCKETS + 1] = {0};
    for (int64_t i = 0; i < count; i++) places[(keys[i] >> shift & (BUCKETS - 1)) + 1]++;
    for (int bucket = 0; bucket < BUCKETS; bucket++) places[bucket + 1] += places[bucket];
    for (int64_t i = 0; i < count; i++) {
        const int64_t place = places[keys[i] >> shift & (BUCKETS - 1)]++;
        to_keys[place] = keys[i];
        to_values[place] = values[i];
    }
}

/* keys and values have space for twice the column; the sorted half's offset is returned. */
static int64_t sort_keys(const compressing *c, int64_t count, uint32_t *keys, double *values)
{
    int64_t half = 0;
    if (count <= FEW) {
        insert_sort(count, keys, values);
        return 0;
    }
    for (int shift = 0; shift < 32 && (c->from->m - 1) >> shift > 0; shift += DIGIT) {
        const int64_t other = c->capacity - half;
        sort_digit(count, shift, keys + half, values + half, keys + other, values + other);
        half = other;
    }
    return half;
}

static bool falls_somewhere(const armilla_sparse_matrix *to, int64_t begin, int64_t end)
{
    for (int64_t k = begin + 1; k < end; k++)
        if (armilla_index_at(to->index64, to->rows, k) < armilla_index_at(to->index64, to->rows, k - 1)) return true;
    return false;
}

static int64_t sort_column(const compressing *c, int64_t j, uint32_t *keys, double *values)
{
    const armilla_sparse_matrix *to = c->to;
    const int64_t begin = armilla_index_at(to->index64, to->starts, j),
                  end = armilla_index_at(to->index64, to->starts, j + 1);
    double *own = (double *)to->values + begin;
    int64_t repeats = 0;
    if (!falls_somewhere(to, begin, end)) return 0;
    for (int64_t k = begin; k < end; k++) keys[k - begin] = (uint32_t)armilla_index_at(to->index64, to->rows, k);
    memcpy(values, own, (size_t)(end - begin) * sizeof *values);
    const int64_t half = sort_keys(c, end - begin, keys, values);
    memcpy(own, values + half, (size_t)(end - begin) * sizeof *values);
    for (int64_t k = begin; k < end; k++) {
        armilla_index_put(to->index64, to->rows, k, keys[half + k - begin]);
        repeats += k > begin && keys[half + k - begin] == keys[half + k - begin - 1];
    }
    return repeats;
}

static void sort_columns(void *self, int thread)
{
    enum { AT_ONCE = 64 };
    compressing *c = self;
    int64_t repeats = 0;
    if (thread >= c->sorters) return;
    for (;;) {
        const int64_t first = __atomic_fetch_add(&c->next_column, AT_ONCE, __ATOMIC_RELAXED);
        if (first >= c->from->n) break;
        for (int64_t j = first; j < armilla_min64(first + AT_ONCE, c->from->n); j++)
            repeats += sort_column(c, j, c->keys + 2 * c->capacity * thread, c->values + 2 * c->capacity * thread);
    }
    __atomic_add_fetch(&c->repeats, repeats, __ATOMIC_RELAXED);
}

/* Scratch for as many threads as fit into the size of the matrix itself. */
static armilla_status sort_unsorted(armilla_context *context, const armilla_team *team, compressing *c)
{
    if (c->unsorted == 0) return ARMILLA_OK;
    c->capacity = c->longest;
    c->sorters = (int)armilla_min64(team->threads, armilla_max64(1, armilla_sparse_entries(c->to) / c->longest));
    armilla_status status = armilla_grow(context, 2 * c->capacity * c->sorters, sizeof *c->keys, &c->keys);
    if (status == ARMILLA_OK)
        status = armilla_grow(context, 2 * c->capacity * c->sorters, sizeof *c->values, &c->values);
    if (status == ARMILLA_OK) armilla_team_run(team, sort_columns, c);
    armilla_release(context, c->keys);
    armilla_release(context, c->values);
    return status;
}

/* As armilla_sparse_take, but without zeros: every number is written by the threads. */
static armilla_status take_unset(armilla_context *context, const armilla_triplets *from, int64_t entries,
                                 armilla_sparse_matrix *made)
{
    armilla_sparse_matrix taken = {.type = ARMILLA_F64,
                                   .index64 = armilla_sparse_needs_index64(context, from->m, from->n, entries),
                                   .m = from->m,
                                   .n = from->n};
    const size_t index = taken.index64 ? sizeof(int64_t) : sizeof(int32_t);
    armilla_status status = armilla_grow(context, entries, sizeof(double), &taken.values);
    if (status == ARMILLA_OK) status = armilla_grow(context, entries, index, &taken.rows);
    if (status == ARMILLA_OK) status = armilla_grow(context, from->n + 1, index, &taken.starts);
    if (status != ARMILLA_OK) armilla_sparse_release(context, &taken);
    *made = taken;
    return status;
}

/* Entries in any order; c->to is released by the caller where this fails. */
static armilla_status distribute(armilla_context *context, const armilla_team *team, compressing *c)
{
    int64_t counters = 0;
    if (!armilla_size_area(c->ranges, c->from->n, &counters)) counters = INT64_MAX;
    armilla_status status = armilla_take(context, counters, sizeof *c->places, &c->places);
    if (status != ARMILLA_OK) return status;
    armilla_team_share(team, c->ranges, count_ranges, c);
    status = take_unset(context, c->from, place_ranges(c), c->to);
    if (status == ARMILLA_OK) {
        armilla_team_share(team, c->ranges, scatter_ranges, c);
        set_starts(c);
        armilla_team_share(team, c->from->n, look_at_columns, c);
        status = sort_unsorted(context, team, c);
    }
    if (status == ARMILLA_OK && c->repeats > 0) armilla_sparse_add_up(c->to);
    armilla_release(context, c->places);
    return status;
}

armilla_status armilla_triplets_compress(armilla_context *context, const armilla_team *team,
                                         const armilla_triplets *from, armilla_sparse_matrix *made)
{
    if (armilla_spill_owns(context, *from->values)) return armilla_triplets_spill(context, team, from, made);
    armilla_sparse_matrix matrix = {.m = 0};
    compressing c = {.from = from, .to = &matrix, .features = *from->features, .given = *from->values};
    /* The counts of all ranges take no more memory than the entries do. */
    c.ranges = (int)armilla_max64(1, armilla_min64(team->threads, from->count / from->n));
    const bool plain = from->mirror == 0 && !armilla_sparse_needs_index64(context, from->m, from->n, from->count);
    bool done = false;
    c.disordered = !plain;
    if (plain) armilla_team_share(team, from->count, look_for_disorder, &c);
    armilla_status status = ARMILLA_OK;
    if (!c.disordered) status = keep_order(context, &c);
    if (c.disordered && plain) status = armilla_triplets_block(context, team, from, &matrix, &done);
    if (c.disordered && !done && status == ARMILLA_OK) status = distribute(context, team, &c);
    if (status == ARMILLA_OK)
        *made = matrix;
    else
        armilla_sparse_release(context, &matrix);
    return status;
}
