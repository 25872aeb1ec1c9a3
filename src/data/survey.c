/* What one read of the data tells: norms, signs, zeros, bad values, and a fingerprint. */
#include "data/traverse.h"

#include "base/size.h"
#include "base/sized.h"
#include "base/team.h"
#include "data/column.h"
#include "linalg/column_kernels.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* Additive facts, at the head of the sums; behind them in how many samples each feature is nonzero. */
enum { SQUARED_NORM, ZEROS, NEGATIVES, ZERO_SAMPLES, SHIFTED_SAMPLES, SQUARED_SHIFTS, FACTS };

/* Facts that are not sums of doubles, behind those in the vector: a member of the struct is an element there. */
typedef struct extremes {
    double smallest, norm_low;         /* ARMILLA_LEAST */
    double largest, norm_high;         /* ARMILLA_MOST */
    uint64_t fingerprint, bad_entries; /* ARMILLA_WRAP */
    int64_t bad_place;                 /* ARMILLA_FIRST: sample*m + feature */
} extremes;

enum { LEASTS = 2, MOSTS = 2, WRAPS = 2, FIRSTS = 1, EXTREMES = LEASTS + MOSTS + WRAPS + FIRSTS };
_Static_assert(sizeof(extremes) == EXTREMES * sizeof(double), "the struct is the elements");

/* What centring puts where a sparse column has no entry: minus these, times the column's shift. */
typedef struct background {
    double low, high;
    int64_t zeros, positives;
} background;

typedef struct survey {
    const armilla_column_kernels *kernels;
    const uint64_t *keys; /* one odd number per feature */
    armilla_column_buffers buffers;
    double *squared_norms;
    background behind;
} survey;

/* sum_i mix(bits(x_i))*key_i, mixed with the place of the sample. mix(0) = 0: zeros add nothing, so a sparse form of
 * the same matrix has the same fingerprint; and the sum over samples wraps, so order does not matter. */
static uint64_t column_fingerprint(const survey *s, const armilla_column *x, int64_t sample)
{
    uint64_t sum = 0;
    if (!x->rows) sum = s->kernels->fingerprint(x->m, x->values, s->keys);
    for (int64_t i = 0; i < x->count && x->rows; i++) sum += armilla_spread_bits(x->values[i]) * s->keys[x->rows[i]];
    return armilla_mix(sum + armilla_mix((uint64_t)sample + 1));
}

/* The squares of a column did not add up to a number: because of its entries, unless they are only large. */
static void note_bad(extremes *e, armilla_column_buffer buffer, const armilla_panel *panel, int64_t j)
{
    const armilla_column x = armilla_panel_whole_column(panel, j, buffer);
    for (int64_t i = 0; i < x.m; i++) {
        if (isfinite(x.values[i])) continue;
        e->bad_place = armilla_min64(e->bad_place, (panel->first + j) * x.m + i);
        e->bad_entries++;
    }
}

static extremes *extremes_in(double *sums, int64_t m)
{
    return (extremes *)(void *)(sums + FACTS + m);
}

/* The entries that are stored of a column, less the mean. */
static void look_at_entries(const armilla_column *x, double *used, armilla_looked *f)
{
    const double *mean = x->mean;
    for (int64_t i = 0; i < x->count; i++) {
        const int64_t feature = armilla_column_feature(x, i);
        const double value = mean ? x->values[i] - x->shift * mean[feature] : x->values[i];
        f->zeros += (value == 0) - (mean && mean[feature] == 0);
        f->negatives += (value < 0) - (mean && mean[feature] > 0);
        used[feature] += (value != 0) - (mean && mean[feature] != 0);
        f->smallest = value < f->smallest ? value : f->smallest;
        f->largest = value > f->largest ? value : f->largest;
    }
}

/* From the numbers that are stored of a column and what stands behind them. Only smallest and largest are not exact
 * where sparse data are centred: they are bounds then. Comparisons pass over NaN, which is below and above nothing. */
static double survey_column(const survey *s, const armilla_column *x, double *sums)
{
    const background *behind = &s->behind;
    extremes *e = extremes_in(sums, x->m);
    const double squared = armilla_column_square(x), *mean = x->mean;
    armilla_looked f = {.smallest = e->smallest, .largest = e->largest};
    f.zeros = mean ? behind->zeros : x->m - x->count;
    f.negatives = mean ? behind->positives : 0;
    if (!mean && !x->rows)
        s->kernels->look(x->m, x->values, sums + FACTS, &f);
    else
        look_at_entries(x, sums + FACTS, &f);
    if (x->count < x->m) {
        f.smallest = fmin(f.smallest, mean ? -x->shift * behind->high : 0);
        f.largest = fmax(f.largest, mean ? -x->shift * behind->low : 0);
    }
    e->smallest = f.smallest;
    e->largest = f.largest;
    sums[ZEROS] += (double)f.zeros;
    sums[NEGATIVES] += (double)f.negatives;
    sums[ZERO_SAMPLES] += f.zeros == x->m;
    sums[SHIFTED_SAMPLES] += mean != NULL;
    sums[SQUARED_SHIFTS] += x->shift * x->shift;
    sums[SQUARED_NORM] += squared;
    return squared;
}

static background look_behind(int64_t m, const double *mean)
{
    background found = {.low = INFINITY, .high = -INFINITY};
    for (int64_t i = 0; mean && i < m; i++) {
        found.low = fmin(found.low, mean[i]);
        found.high = fmax(found.high, mean[i]);
        found.zeros += mean[i] == 0;
        found.positives += mean[i] > 0;
    }
    return found;
}

/* The length of sample j, whose square was found: the root of that where it has all digits. */
static double sample_length(armilla_column_buffer buffer, const armilla_panel *panel, int64_t j, double squared)
{
    if (armilla_square_holds(squared)) return sqrt(squared);
    armilla_column x = armilla_panel_column(panel, j, buffer);
    if (x.mean) x = armilla_panel_whole_column(panel, j, buffer);
    const armilla_length found = armilla_length_of(x.count, x.rows, x.values);
    return found.value / found.scale;
}

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const survey *s = self;
    const armilla_column_buffer buffer = armilla_column_buffer_of(&s->buffers, thread);
    extremes *e = extremes_in(sums, panel->data->m);
    for (int64_t j = 0; j < panel->count; j++) {
        armilla_column x = armilla_panel_column(panel, j, buffer);
        const double squared = survey_column(s, &x, sums);
        /* The data before any preparation: centred sparse data would have to be expanded otherwise. */
        if (!panel->raw) e->fingerprint += column_fingerprint(s, &x, panel->first + j);
        if (!isfinite(squared)) note_bad(e, buffer, panel, j);
        const double length = sample_length(buffer, panel, j, squared);
        if (length > 0) {
            e->norm_low = fmin(e->norm_low, length);
            e->norm_high = fmax(e->norm_high, length);
        }
        if (s->squared_norms) s->squared_norms[panel->first + j] = squared;
        if (!panel->raw) continue;
        x = armilla_panel_column(panel->raw, j, buffer);
        e->fingerprint += column_fingerprint(s, &x, panel->first + j);
    }
    return ARMILLA_OK;
}

/* The mean of centred sparse data, which stands where they have no entry; else NULL. */
static const double *mean_behind(const armilla_data *X)
{
    const armilla_sparse_data *sparse = armilla_sparse_of(X);
    return sparse ? sparse->mean : NULL;
}

/* ||what centring subtracts|| / ||what it leaves||: how many times larger an error of the entries is beside that. */
static double cancellation(const armilla_data *X, const double *sums)
{
    const armilla_sparse_data *sparse = armilla_sparse_of(X);
    if (!sparse || !sparse->mean || !(sums[SQUARED_NORM] > 0)) return 0;
    return sqrt(sums[SQUARED_SHIFTS]) * sqrt(sparse->mean_squared) / sqrt(sums[SQUARED_NORM]);
}

static void fill_facts(const armilla_data *X, const double *sums, const extremes *all, armilla_data_facts *facts)
{
    const double *mean = mean_behind(X);
    const bool bad = all->bad_place < INT64_MAX;
    *facts = (armilla_data_facts){
        .squared_norm = sums[SQUARED_NORM],
        .smallest = all->smallest,
        .largest = all->largest,
        .norm_low = all->norm_high > 0 ? all->norm_low : 0,
        .norm_high = fmax(all->norm_high, 0),
        .zeros = (int64_t)sums[ZEROS],
        .negatives = (int64_t)sums[NEGATIVES],
        .zero_samples = (int64_t)sums[ZERO_SAMPLES],
        .fingerprint = armilla_mix(all->fingerprint + armilla_mix((uint64_t)X->m) + 3 * armilla_mix((uint64_t)X->n)),
        .bad_sample = bad ? all->bad_place / X->m : -1,
        .bad_feature = bad ? all->bad_place % X->m : -1,
        .bad_entries = (int64_t)all->bad_entries,
        .cancellation = cancellation(X, sums),
    };
    for (int64_t i = 0; i < X->m; i++) {
        const bool behind = mean && mean[i] != 0;
        facts->zero_features += sums[FACTS + i] + (behind ? sums[SHIFTED_SAMPLES] : 0) == 0;
    }
}

/* The pass; sums: FACTS + m. */
static armilla_status look_at_all(armilla_traversal *traversal, survey *s, int64_t m, double *sums, extremes *all)
{
    const armilla_segment segments[] = {
        {.kind = ARMILLA_SUM, .count = FACTS + m, .result = sums},
        {.kind = ARMILLA_LEAST, .count = LEASTS, .result = &all->smallest},
        {.kind = ARMILLA_MOST, .count = MOSTS, .result = &all->largest},
        {.kind = ARMILLA_WRAP, .count = WRAPS, .result = &all->fingerprint},
        {.kind = ARMILLA_FIRST, .count = FIRSTS, .result = &all->bad_place},
    };
    return armilla_traverse_into(traversal, segments, sizeof segments / sizeof *segments, visit, s);
}

armilla_status armilla_survey(armilla_context *context, const armilla_data *X, armilla_type work,
                              armilla_data_facts *facts, double *squared_norms)
{
    const armilla_traversal_plan plan = {
        .X = X, .kernels = armilla_kernels_for(context, work), .length = FACTS + X->m + EXTREMES};
    survey s = {.kernels = armilla_column_kernels_for(context),
                .squared_norms = squared_norms,
                .behind = look_behind(X->m, mean_behind(X))};
    armilla_traversal *traversal = NULL;
    extremes all;
    uint64_t *keys = NULL;
    double *sums = NULL;
    armilla_status status = armilla_traversal_new(context, &plan, &traversal);
    if (status == ARMILLA_OK)
        status = armilla_column_buffers_take(context, X, armilla_traversal_threads(traversal), &s.buffers);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *keys, &keys);
    if (status == ARMILLA_OK) status = armilla_take(context, FACTS + X->m, sizeof *sums, &sums);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++)
        keys[i] = armilla_mix((uint64_t)i + 0x9e3779b97f4a7c15u) | 1;
    s.keys = keys;
    if (status == ARMILLA_OK) status = look_at_all(traversal, &s, X->m, sums, &all);
    if (status == ARMILLA_OK) fill_facts(X, sums, &all, facts);
    armilla_release(context, sums);
    armilla_release(context, keys);
    armilla_column_buffers_release(context, &s.buffers);
    armilla_traversal_free(traversal);
    return status;
}

armilla_status armilla_data_survey_sized(armilla_context *context, const armilla_data *data, int threads,
                                         armilla_data_facts *facts, size_t size)
{
    armilla_data_facts whole = {.size = sizeof whole};
    armilla_status status = ARMILLA_NOT_NULL(context, data, facts);
    if (status == ARMILLA_OK) status = armilla_call_enter_together(context, threads);
    if (status != ARMILLA_OK) return status;
    status = armilla_survey(context, data, armilla_type_precision(data->type), &whole, NULL);
    status = armilla_call_leave_together(context, status);
    if (status == ARMILLA_OK) armilla_sized_write(&whole, sizeof whole, facts, size);
    return status;
}
