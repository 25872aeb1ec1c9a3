/* Features that set clusters apart. Samples are read one by one, and their entries put in the order of features, as many
 * features at a time as fit: then each feature is compared inside and outside of every cluster. */
#include "cluster/top.h"

#include "base/size.h"
#include "data/column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ENTRIES = 1 << 23 }; /* in memory at a time, unless one feature has more */

typedef struct markers {
    armilla_context *context;
    const armilla_data *raw, *X; /* as given, and as compared */
    const int64_t *labels;
    armilla_top *top;
    int64_t k, n, m;
    bool counts;                    /* whole numbers, none negative */
    int64_t *entries;               /* m + 1: how many stand before each feature's */
    int64_t *filled;                /* m, in the block */
    armilla_keyed *block;           /* entries of a feature, with the clusters of their samples */
    double *sums, *squares, *ranks; /* k each: about the mean of all */
    int64_t *present;               /* k: entries that are not 0 */
    double *p;                      /* m x k, by cluster; where they are counts */
} markers;

/* Entries that are not 0, and whether all are counts. */
static armilla_status count_entries(markers *f)
{
    armilla_column_reader reader = {0};
    armilla_status status = armilla_column_reader_open(f->context, f->raw, ARMILLA_F64, &reader);
    f->counts = true;
    for (int64_t j = 0; j < f->n && status == ARMILLA_OK; j++) {
        armilla_column x;
        status = armilla_column_read(&reader, j, &x);
        for (int64_t i = 0; status == ARMILLA_OK && i < x.count; i++) {
            if (x.values[i] == 0) continue;
            f->entries[armilla_column_feature(&x, i) + 1]++;
            f->counts &= x.values[i] > 0 && x.values[i] == floor(x.values[i]);
        }
    }
    for (int64_t i = 0; i < f->m && status == ARMILLA_OK; i++) f->entries[i + 1] += f->entries[i];
    armilla_column_reader_close(&reader);
    return status;
}

/* The entries of features first ... last-1, one feature after the other. */
static armilla_status fill_block(markers *f, int64_t first, int64_t last)
{
    armilla_column_reader reader = {0};
    armilla_status status = armilla_column_reader_open(f->context, f->X, ARMILLA_F64, &reader);
    memset(f->filled, 0, (size_t)f->m * sizeof *f->filled);
    for (int64_t j = 0; j < f->n && status == ARMILLA_OK; j++) {
        armilla_column x;
        status = armilla_column_read(&reader, j, &x);
        for (int64_t i = 0; status == ARMILLA_OK && i < x.count; i++) {
            const int64_t feature = armilla_column_feature(&x, i);
            if (feature < first || feature >= last || x.values[i] == 0) continue;
            const int64_t at = f->entries[feature] + f->filled[feature]++;
            if (at < f->entries[feature + 1])
                f->block[at - f->entries[first]] = (armilla_keyed){x.values[i], f->labels[j]};
        }
        if (status == ARMILLA_OK && armilla_call_reached(f->context, j, f->n))
            status = armilla_call_explain(f->context);
    }
    armilla_column_reader_close(&reader);
    return status;
}

/* Sums and squares of each cluster about the mean of all samples, zeros included. */
static double add_up(markers *f, const armilla_keyed *entries, int64_t count)
{
    double mean = 0;
    for (int64_t i = 0; i < count; i++) mean += entries[i].key;
    mean /= (double)f->n;
    memset(f->sums, 0, (size_t)f->k * sizeof *f->sums);
    memset(f->squares, 0, (size_t)f->k * sizeof *f->squares);
    memset(f->present, 0, (size_t)f->k * sizeof *f->present);
    for (int64_t i = 0; i < count; i++) {
        const double difference = entries[i].key - mean;
        f->sums[entries[i].index] += difference;
        f->squares[entries[i].index] += difference * difference;
        f->present[entries[i].index]++;
    }
    for (int64_t c = 0; c < f->k; c++) {
        const double absent = (double)(f->top->group[c].samples - f->present[c]);
        f->sums[c] -= absent * mean;
        f->squares[c] += absent * mean * mean;
    }
    return mean;
}

/* The rank sums of clusters, of sorted entries none of which is negative: zeros come first. Returns the sum of t^3 - t
 * over ties. */
static double rank(markers *f, const armilla_keyed *entries, int64_t count)
{
    const double zeros = (double)(f->n - count);
    double before = zeros, ties = zeros * zeros * zeros - zeros;
    for (int64_t c = 0; c < f->k; c++)
        f->ranks[c] = (double)(f->top->group[c].samples - f->present[c]) * (zeros + 1) / 2;
    for (int64_t i = 0, last = 0; i < count; i = last) {
        while (last < count && entries[last].key == entries[i].key) last++;
        const double tied = (double)(last - i), middle = before + (tied + 1) / 2;
        for (int64_t e = i; e < last; e++) f->ranks[entries[e].index] += middle;
        ties += tied * tied * tied - tied;
        before += tied;
    }
    return ties;
}

/* Cohen's d: the difference of means in units of the pooled standard deviation. */
static double effect(const double sums[2], const double squares[2], const double sizes[2])
{
    double within = 0;
    for (int i = 0; i < 2; i++) within += fmax(squares[i] - sums[i] * sums[i] / sizes[i], 0);
    const double difference = sums[0] / sizes[0] - sums[1] / sizes[1];
    const double deviation = sizes[0] + sizes[1] > 2 ? sqrt(within / (sizes[0] + sizes[1] - 2)) : 0;
    return deviation > 0 ? difference / deviation : difference > 0 ? INFINITY : 0;
}

static void compare(markers *f, int64_t feature, const armilla_keyed *entries, int64_t count)
{
    const double mean = add_up(f, entries, count), ties = f->counts ? rank(f, entries, count) : 0;
    double sum = 0, square = 0;
    for (int64_t c = 0; c < f->k; c++) sum += f->sums[c], square += f->squares[c];
    for (int64_t c = 0; c < f->k; c++) {
        const double inside = (double)f->top->group[c].samples, sizes[2] = {inside, (double)f->n - inside};
        const double sums[2] = {f->sums[c], sum - f->sums[c]}, squares[2] = {f->squares[c], square - f->squares[c]};
        armilla_top_entry entry = armilla_top_entry_new(feature);
        if (sizes[1] == 0) continue; /* the only cluster: nothing is outside */
        if (f->counts) f->p[c * f->m + feature] = armilla_rank_test(f->top->group[c].samples, f->n, f->ranks[c], ties);
        entry.inside = f->present[c] > 0 ? mean + sums[0] / sizes[0] : 0; /* of zeros alone it has no rounding */
        entry.outside = f->present[c] < count ? mean + sums[1] / sizes[1] : 0;
        entry.effect = effect(sums, squares, sizes);
        if (entry.effect > 0)
            armilla_best_offer(armilla_top_best(f->top, c, ARMILLA_TOP_FEATURES), entry.effect, &entry);
    }
}

/* p of the listed features, after the correction for all of them. */
static armilla_status correct(markers *f)
{
    const armilla_status status = armilla_grow(f->context, f->m, sizeof *f->block, &f->block);
    if (status != ARMILLA_OK) return status;
    for (int64_t c = 0; c < f->k; c++) {
        armilla_best *list = armilla_top_best(f->top, c, ARMILLA_TOP_FEATURES);
        armilla_correct_many(f->m, f->p + c * f->m, f->block);
        for (int64_t i = 0; i < list->count; i++) list->entries[i].p = f->p[c * f->m + list->entries[i].index];
    }
    return status;
}

static armilla_status go_through(markers *f)
{
    armilla_status status = ARMILLA_OK;
    for (int64_t first = 0, last = 0; first < f->m && status == ARMILLA_OK; first = last) {
        for (last = first + 1; last < f->m && f->entries[last + 1] - f->entries[first] <= MOST_ENTRIES;) last++;
        status = armilla_grow(f->context, f->entries[last] - f->entries[first], sizeof *f->block, &f->block);
        if (status == ARMILLA_OK) status = fill_block(f, first, last);
        for (int64_t i = first; i < last && status == ARMILLA_OK; i++) {
            armilla_keyed *entries = f->block + (f->entries[i] - f->entries[first]);
            const int64_t count = armilla_min64(f->filled[i], f->entries[i + 1] - f->entries[i]);
            qsort(entries, (size_t)count, sizeof *entries, armilla_by_rising);
            compare(f, i, entries, count);
        }
    }
    return status == ARMILLA_OK && f->counts ? correct(f) : status;
}

static armilla_status take(markers *f)
{
    armilla_context *context = f->context;
    armilla_status status = armilla_take(context, f->m + 1, sizeof *f->entries, &f->entries);
    if (status == ARMILLA_OK) status = armilla_take(context, f->m, sizeof *f->filled, &f->filled);
    if (status == ARMILLA_OK) status = armilla_take(context, f->k, sizeof *f->sums, &f->sums);
    if (status == ARMILLA_OK) status = armilla_take(context, f->k, sizeof *f->squares, &f->squares);
    if (status == ARMILLA_OK) status = armilla_take(context, f->k, sizeof *f->ranks, &f->ranks);
    if (status == ARMILLA_OK) status = armilla_take(context, f->k, sizeof *f->present, &f->present);
    return status;
}

armilla_status armilla_markers_find(armilla_context *context, const armilla_model *model, const armilla_data *raw,
                                    const int64_t *labels, armilla_top *top)
{
    armilla_preparation uncentred = model->preparation; /* whose arrays stay the model's */
    armilla_data *prepared = NULL;
    markers f = {
        .context = context, .raw = raw, .labels = labels, .top = top, .k = top->groups, .n = raw->n, .m = raw->m};
    uncentred.taken[ARMILLA_STEP_CENTER] = false;
    armilla_status status = armilla_preparation_view(context, &uncentred, raw, &prepared);
    f.X = prepared ? prepared : raw;
    if (status == ARMILLA_OK) status = take(&f);
    if (status == ARMILLA_OK) status = count_entries(&f);
    if (status == ARMILLA_OK && f.counts) status = armilla_take(context, f.k, (size_t)f.m * sizeof *f.p, &f.p);
    if (status == ARMILLA_OK) status = go_through(&f);
    armilla_release(context, f.p);
    armilla_release(context, f.block);
    armilla_release(context, f.present);
    armilla_release(context, f.ranks);
    armilla_release(context, f.squares);
    armilla_release(context, f.sums);
    armilla_release(context, f.filled);
    armilla_release(context, f.entries);
    armilla_data_free(prepared);
    return status;
}
