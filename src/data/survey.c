/* What one read of the data tells: norms, signs, zeros, bad values, and a fingerprint. */
#include "data/traverse.h"

#include "base/team.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* Additive facts, at the head of the sums; behind them in how many samples each feature is nonzero. */
enum { SQUARED_NORM, ZEROS, NEGATIVES, ZERO_SAMPLES, SHIFTED_SAMPLES, SQUARED_SHIFTS, FACTS };

/* Facts that are not sums; one per thread, combined at the end, by rules in which order does not matter. */
typedef struct extremes {
    double smallest, largest, norm_low, norm_high;
    int64_t bad_sample, bad_feature, bad_entries;
    uint64_t fingerprint;
    double *column; /* m */
    int64_t *rows;  /* m */
} extremes;

/* What centring puts where a sparse column has no entry: minus these, times the column's shift. */
typedef struct background {
    const double *mean; /* NULL: nothing is there but 0 */
    double low, high;
    int64_t zeros, positives;
} background;

typedef struct survey {
    const uint64_t *keys; /* one odd number per feature */
    extremes *by_thread;
    double *squared_norms;
    background behind;
} survey;

/* A bijection that spreads every bit (the finaliser of splitmix64). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t value_bits(double x)
{
    const double value = x + 0.0; /* -0 and 0 are one number */
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* sum_i mix(bits(x_i))*key_i, mixed with the place of the sample. mix(0) = 0: zeros add nothing, so a sparse form of
 * the same matrix has the same fingerprint; and the sum over samples wraps, so order does not matter. It is of the data
 * before any preparation: centred sparse data would have to be expanded otherwise. */
static uint64_t column_fingerprint(const armilla_panel *panel, int64_t j, const extremes *room, const uint64_t *keys)
{
    const armilla_panel *stored = panel->raw ? panel->raw : panel;
    const armilla_data_ops *ops = stored->data->ops;
    uint64_t sum = 0;
    if (ops->entries) {
        double shift = 0;
        const int64_t count = ops->entries(stored, j, room->rows, room->column, &shift);
        for (int64_t i = 0; i < count; i++) sum += mix(value_bits(room->column[i])) * keys[room->rows[i]];
    } else {
        ops->expand(stored, j, room->column);
        for (int64_t i = 0; i < stored->data->m; i++) sum += mix(value_bits(room->column[i])) * keys[i];
    }
    return mix(sum + mix((uint64_t)(panel->first + j) + 1));
}

/* The squares of a column did not add up to a number: because of its entries, unless they are only large. */
static void note_bad(extremes *e, const armilla_panel *panel, int64_t j)
{
    const int64_t sample = panel->first + j;
    int64_t first = -1, count = 0;
    panel->data->ops->expand(panel, j, e->column);
    for (int64_t i = panel->data->m - 1; i >= 0; i--)
        if (!isfinite(e->column[i])) {
            first = i;
            count++;
        }
    e->bad_entries += count;
    if (first < 0 || (e->bad_sample >= 0 && e->bad_sample < sample)) return;
    e->bad_sample = sample;
    e->bad_feature = first;
}

static double survey_column(extremes *e, int64_t m, const double *x, double *sums)
{
    const double squared = armilla_square(m, x);
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

/* The same from the entries of a sparse column and what stands behind them. Only smallest and largest are not exact
 * where the data are centred: they are bounds then. */
static double survey_entries(extremes *e, const background *behind, const armilla_panel *panel, int64_t j, double *sums)
{
    const armilla_data *X = panel->data;
    double *x = e->column, shift = 0;
    const int64_t count = X->ops->entries(panel, j, e->rows, x, &shift);
    const double squared = armilla_shifted_square(X, count, e->rows, x, shift);
    const bool shifted = shift != 0; /* and then it is positive */
    int64_t zeros = shifted ? behind->zeros : X->m, negatives = shifted ? behind->positives : 0;
    for (int64_t i = 0; i < count; i++) {
        const double mean = shifted ? behind->mean[e->rows[i]] : 0, value = x[i] - shift * mean;
        zeros += (value == 0) - (mean == 0);
        negatives += (value < 0) - (mean > 0);
        sums[FACTS + e->rows[i]] += (value != 0) - (mean != 0);
        e->smallest = fmin(e->smallest, value);
        e->largest = fmax(e->largest, value);
    }
    if (count < X->m) {
        e->smallest = fmin(e->smallest, shifted ? -shift * behind->high : 0);
        e->largest = fmax(e->largest, shifted ? -shift * behind->low : 0);
    }
    sums[ZEROS] += (double)zeros;
    sums[NEGATIVES] += (double)negatives;
    sums[ZERO_SAMPLES] += zeros == X->m;
    sums[SHIFTED_SAMPLES] += shifted;
    sums[SQUARED_SHIFTS] += shift * shift;
    sums[SQUARED_NORM] += squared;
    return squared;
}

static background look_behind(const armilla_data *X)
{
    background found = {.mean = X->mean, .low = INFINITY, .high = -INFINITY};
    for (int64_t i = 0; X->mean && i < X->m; i++) {
        found.low = fmin(found.low, X->mean[i]);
        found.high = fmax(found.high, X->mean[i]);
        found.zeros += X->mean[i] == 0;
        found.positives += X->mean[i] > 0;
    }
    return found;
}

static double survey_sample(const survey *s, extremes *e, const armilla_panel *panel, int64_t j, double *sums)
{
    if (panel->data->ops->entries) return survey_entries(e, &s->behind, panel, j, sums);
    panel->data->ops->expand(panel, j, e->column);
    return survey_column(e, panel->data->m, e->column, sums);
}

/* The length of sample j, whose square was found: the root of that where it has all digits. */
static double sample_length(extremes *e, const armilla_panel *panel, int64_t j, double squared)
{
    const armilla_data_ops *ops = panel->data->ops;
    double shift = 0;
    if (armilla_square_holds(squared)) return sqrt(squared);
    const int64_t count = ops->entries ? ops->entries(panel, j, e->rows, e->column, &shift) : panel->data->m;
    const bool by_entries = ops->entries && shift == 0;
    if (!by_entries) ops->expand(panel, j, e->column);
    const armilla_length found =
        armilla_length_of(by_entries ? count : panel->data->m, by_entries ? e->rows : NULL, e->column);
    return found.value / found.scale;
}

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const survey *s = self;
    extremes *e = &s->by_thread[thread];
    for (int64_t j = 0; j < panel->count; j++) {
        const double squared = survey_sample(s, e, panel, j, sums);
        if (!isfinite(squared)) note_bad(e, panel, j);
        const double length = sample_length(e, panel, j, squared);
        if (length > 0) {
            e->norm_low = fmin(e->norm_low, length);
            e->norm_high = fmax(e->norm_high, length);
        }
        e->fingerprint += column_fingerprint(panel, j, e, s->keys);
        if (s->squared_norms) s->squared_norms[panel->first + j] = squared;
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
        all->bad_entries += e->bad_entries;
        if (e->bad_sample >= 0 && (all->bad_sample < 0 || e->bad_sample < all->bad_sample)) {
            all->bad_sample = e->bad_sample;
            all->bad_feature = e->bad_feature;
        }
    }
}

/* ||what centring subtracts|| / ||what it leaves||: how many times larger an error of the entries is beside that. */
static double cancellation(const armilla_data *X, const double *sums)
{
    if (!X->mean || !(sums[SQUARED_NORM] > 0)) return 0;
    return sqrt(sums[SQUARED_SHIFTS]) * sqrt(X->mean_squared) / sqrt(sums[SQUARED_NORM]);
}

static void fill_facts(const armilla_data *X, const double *sums, const extremes *all, armilla_data_facts *facts)
{
    *facts = (armilla_data_facts){
        .squared_norm = sums[SQUARED_NORM],
        .smallest = all->smallest,
        .largest = all->largest,
        .norm_low = all->norm_high > 0 ? all->norm_low : 0,
        .norm_high = all->norm_high,
        .zeros = (int64_t)sums[ZEROS],
        .negatives = (int64_t)sums[NEGATIVES],
        .zero_samples = (int64_t)sums[ZERO_SAMPLES],
        .fingerprint = mix(all->fingerprint + mix((uint64_t)X->m) + 3 * mix((uint64_t)X->n)),
        .bad_sample = all->bad_sample,
        .bad_feature = all->bad_feature,
        .bad_entries = all->bad_entries,
        .cancellation = cancellation(X, sums),
    };
    for (int64_t i = 0; i < X->m; i++) {
        const bool behind = X->mean && X->mean[i] != 0;
        facts->zero_features += sums[FACTS + i] + (behind ? sums[SHIFTED_SAMPLES] : 0) == 0;
    }
}

armilla_status armilla_survey(armilla_context *context, const armilla_data *X, armilla_type work, int threads,
                              armilla_data_facts *facts, double *squared_norms)
{
    armilla_traversal *traversal = NULL;
    extremes *by_thread = NULL, all;
    uint64_t *keys = NULL;
    int64_t *rows = NULL;
    double *sums = NULL, *columns = NULL;
    int used = 0;
    armilla_status status =
        armilla_traversal_new(context, X, armilla_kernels_for(context, work), threads, FACTS + X->m, &traversal);
    if (status != ARMILLA_OK) goto done;
    used = armilla_traversal_threads(traversal);
    if ((status = armilla_take(context, used, sizeof *by_thread, &by_thread)) != ARMILLA_OK) goto done;
    if ((status = armilla_take(context, used * X->m, sizeof *columns, &columns)) != ARMILLA_OK) goto done;
    if ((status = armilla_take(context, used * X->m, sizeof *rows, &rows)) != ARMILLA_OK) goto done;
    if ((status = armilla_take(context, X->m, sizeof *keys, &keys)) != ARMILLA_OK) goto done;
    if ((status = armilla_take(context, FACTS + X->m, sizeof *sums, &sums)) != ARMILLA_OK) goto done;
    for (int64_t i = 0; i < X->m; i++) keys[i] = mix((uint64_t)i + 0x9e3779b97f4a7c15u) | 1;
    for (int t = 0; t < used; t++)
        by_thread[t] = (extremes){INFINITY, -INFINITY, INFINITY, 0, -1, -1, 0, 0, columns + t * X->m, rows + t * X->m};
    survey s = {keys, by_thread, squared_norms, look_behind(X)};
    status = armilla_traverse(traversal, FACTS + X->m, visit, &s, sums);
    if (status != ARMILLA_OK) goto done;
    combine(used, by_thread, &all);
    fill_facts(X, sums, &all, facts);
done:
    armilla_release(context, sums);
    armilla_release(context, keys);
    armilla_release(context, rows);
    armilla_release(context, columns);
    armilla_release(context, by_thread);
    armilla_traversal_free(traversal);
    return status;
}

armilla_status armilla_data_survey(armilla_context *context, const armilla_data *data, int threads,
                                   armilla_data_facts *facts)
{
    armilla_call_enter(context);
    const armilla_status status =
        armilla_survey(context, data, armilla_type_precision(data->type), armilla_threads_choose(threads), facts, NULL);
    armilla_call_leave(context);
    return status;
}
