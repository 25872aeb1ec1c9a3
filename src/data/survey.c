/* What one read of the data tells: norms, signs, zeros, the first bad value, and a fingerprint; and sums over samples
 * for centring and tf-idf. */
#include "data/traverse.h"

#include "base/threads.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* Additive facts, at the head of the sums; behind them in how many samples each feature is nonzero. */
enum { SQUARED_NORM, ZEROS, NEGATIVES, ZERO_SAMPLES, FACTS };

/* Facts that are not sums; one per thread, combined at the end, by rules in which order does not matter. */
typedef struct extremes {
    double smallest, largest, norm_low, norm_high; /* the norms are squared here */
    int64_t bad_sample, bad_feature;
    uint64_t fingerprint;
    double *column; /* m */
} extremes;

typedef struct survey {
    const uint64_t *keys; /* one odd number per feature */
    extremes *by_thread;
    double *squared_norms;
} survey;

/* A bijection that spreads every bit (the finaliser of splitmix64). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* sum_i bits(x_i)*key_i, mixed with the place of the sample. Zeros add nothing, so a sparse form of the same matrix
 * has the same fingerprint; and the sum over samples wraps, so order does not matter. */
static uint64_t column_fingerprint(int64_t m, const double *x, const uint64_t *keys, int64_t sample)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < m; i++) {
        const double value = x[i] + 0.0; /* -0 and 0 are one number */
        uint64_t bits = 0;
        memcpy(&bits, &value, sizeof bits);
        sum += bits * keys[i];
    }
    return mix(sum + mix((uint64_t)sample + 1));
}

static void note_bad(extremes *e, int64_t m, const double *x, int64_t sample)
{
    if (e->bad_sample >= 0 && e->bad_sample < sample) return;
    for (int64_t i = 0; i < m; i++)
        if (!isfinite(x[i])) {
            e->bad_sample = sample;
            e->bad_feature = i;
            return;
        }
}

static double survey_column(extremes *e, int64_t m, const double *x, double *sums)
{
    const double squared = armilla_dot(m, x, x);
    double smallest = e->smallest, largest = e->largest;
    int64_t zeros = 0, negatives = 0;
    for (int64_t i = 0; i < m; i++) {
        zeros += x[i] == 0;
        negatives += x[i] < 0;
        sums[FACTS + i] += x[i] != 0;
        /* NaN is below and above nothing, so it is passed over. */
        smallest = x[i] < smallest ? x[i] : smallest;
        largest = x[i] > largest ? x[i] : largest;
    }
    e->smallest = smallest;
    e->largest = largest;
    sums[ZEROS] += (double)zeros;
    sums[NEGATIVES] += (double)negatives;
    sums[ZERO_SAMPLES] += zeros == m;
    sums[SQUARED_NORM] += squared;
    return squared;
}

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const survey *s = self;
    extremes *e = &s->by_thread[thread];
    const int64_t m = panel->data->m;
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t sample = panel->first + j;
        panel->data->ops->expand(panel, j, e->column);
        const double squared = survey_column(e, m, e->column, sums);
        if (!isfinite(squared)) note_bad(e, m, e->column, sample);
        if (squared > 0) {
            e->norm_low = fmin(e->norm_low, squared);
            e->norm_high = fmax(e->norm_high, squared);
        }
        e->fingerprint += column_fingerprint(m, e->column, s->keys, sample);
        if (s->squared_norms) s->squared_norms[sample] = squared;
    }
    return ARMILLA_OK;
}

static void combine(int threads, const extremes *by_thread, extremes *all)
{
    *all = by_thread[0];
    for (int t = 1; t < threads; t++) {
        const extremes *e = &by_thread[t];
        all->smallest = fmin(all->smallest, e->smallest);
        all->largest = fmax(all->largest, e->largest);
        all->norm_low = fmin(all->norm_low, e->norm_low);
        all->norm_high = fmax(all->norm_high, e->norm_high);
        all->fingerprint += e->fingerprint;
        if (e->bad_sample >= 0 && (all->bad_sample < 0 || e->bad_sample < all->bad_sample)) {
            all->bad_sample = e->bad_sample;
            all->bad_feature = e->bad_feature;
        }
    }
}

static void fill_facts(const armilla_data *X, const double *sums, const extremes *all, armilla_data_facts *facts)
{
    *facts = (armilla_data_facts){
        .squared_norm = sums[SQUARED_NORM],
        .smallest = all->smallest,
        .largest = all->largest,
        .norm_low = all->norm_high > 0 ? sqrt(all->norm_low) : 0,
        .norm_high = sqrt(all->norm_high),
        .zeros = (int64_t)sums[ZEROS],
        .negatives = (int64_t)sums[NEGATIVES],
        .zero_samples = (int64_t)sums[ZERO_SAMPLES],
        .fingerprint = mix(all->fingerprint + mix((uint64_t)X->m) + 3 * mix((uint64_t)X->n)),
        .bad_sample = all->bad_sample,
        .bad_feature = all->bad_feature,
    };
    for (int64_t i = 0; i < X->m; i++) facts->zero_features += sums[FACTS + i] == 0;
}

armilla_status armilla_survey(armilla_context *context, const armilla_data *X, armilla_type work, int threads,
                              armilla_data_facts *facts, double *squared_norms)
{
    armilla_traversal *traversal = NULL;
    extremes *by_thread = NULL, all;
    uint64_t *keys = NULL;
    double *sums = NULL, *columns = NULL;
    int used = 0;
    armilla_status status =
        armilla_traversal_new(context, X, armilla_kernels_for(context, work), threads, FACTS + X->m, &traversal);
    if (status != ARMILLA_OK) goto done;
    used = armilla_traversal_threads(traversal);
    if ((status = armilla_take(context, used, sizeof *by_thread, &by_thread)) != ARMILLA_OK) goto done;
    if ((status = armilla_take(context, used * X->m, sizeof *columns, &columns)) != ARMILLA_OK) goto done;
    if ((status = armilla_take(context, X->m, sizeof *keys, &keys)) != ARMILLA_OK) goto done;
    if ((status = armilla_take(context, FACTS + X->m, sizeof *sums, &sums)) != ARMILLA_OK) goto done;
    for (int64_t i = 0; i < X->m; i++) keys[i] = mix((uint64_t)i + 0x9e3779b97f4a7c15u) | 1;
    for (int t = 0; t < used; t++)
        by_thread[t] = (extremes){INFINITY, -INFINITY, INFINITY, 0, -1, -1, 0, columns + t * X->m};
    survey s = {keys, by_thread, squared_norms};
    status = armilla_traverse(traversal, FACTS + X->m, visit, &s, sums);
    if (status != ARMILLA_OK) goto done;
    combine(used, by_thread, &all);
    fill_facts(X, sums, &all, facts);
done:
    armilla_release(context, sums);
    armilla_release(context, keys);
    armilla_release(context, columns);
    armilla_release(context, by_thread);
    armilla_traversal_free(traversal);
    return status;
}

armilla_status armilla_data_survey(armilla_context *context, const armilla_data *data, int threads,
                                   armilla_data_facts *facts)
{
    return armilla_survey(context, data, armilla_type_precision(data->type), threads, facts, NULL);
}

/* Sums over samples of each feature's value, or of whether it is nonzero. */
typedef struct feature_sums {
    double *columns; /* m per thread */
    bool count;
} feature_sums;

static armilla_status visit_features(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const feature_sums *f = self;
    const int64_t m = panel->data->m;
    double *x = f->columns + thread * m;
    for (int64_t j = 0; j < panel->count; j++) {
        panel->data->ops->expand(panel, j, x);
        for (int64_t i = 0; i < m; i++) sums[i] += f->count ? x[i] != 0 : x[i];
    }
    return ARMILLA_OK;
}

static armilla_status sum_features(armilla_context *context, const armilla_data *X, int threads, bool count,
                                   double *sums)
{
    feature_sums f = {.count = count};
    armilla_status status =
        armilla_take(context, armilla_threads_choose(threads) * X->m, sizeof *f.columns, &f.columns);
    if (status == ARMILLA_OK)
        status =
            armilla_traverse_once(context, X, armilla_type_precision(X->type), threads, X->m, visit_features, &f, sums);
    armilla_release(context, f.columns);
    return status;
}

armilla_status armilla_feature_means(armilla_context *context, const armilla_data *X, int threads, double *means)
{
    const armilla_status status = sum_features(context, X, threads, false, means);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) means[i] /= (double)X->n;
    return status;
}

armilla_status armilla_feature_counts(armilla_context *context, const armilla_data *X, int threads, double *counts)
{
    return sum_features(context, X, threads, true, counts);
}
