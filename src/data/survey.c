/* What one read of the data tells: norms, signs, zeros, bad values, and a fingerprint. */
#include "data/traverse.h"

#include "base/size.h"
#include "base/team.h"
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

/* One thread's numbers. */
typedef struct workspace {
    double *column; /* m */
    int64_t *rows;  /* m */
} workspace;

/* What centring puts where a sparse column has no entry: minus these, times the column's shift. */
typedef struct background {
    const double *mean; /* NULL: nothing is there but 0 */
    double low, high;
    int64_t zeros, positives;
} background;

typedef struct survey {
    const uint64_t *keys; /* one odd number per feature */
    const workspace *by_thread;
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
static uint64_t column_fingerprint(const armilla_panel *panel, int64_t j, const workspace *room, const uint64_t *keys)
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
static void note_bad(extremes *e, const workspace *w, const armilla_panel *panel, int64_t j)
{
    const int64_t m = panel->data->m;
    panel->data->ops->expand(panel, j, w->column);
    for (int64_t i = 0; i < m; i++) {
        if (isfinite(w->column[i])) continue;
        e->bad_place = armilla_min64(e->bad_place, (panel->first + j) * m + i);
        e->bad_entries++;
    }
}

static extremes *extremes_in(double *sums, int64_t m)
{
    return (extremes *)(void *)(sums + FACTS + m);
}

static double survey_column(int64_t m, const double *x, double *sums)
{
    extremes *e = extremes_in(sums, m);
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
static double survey_entries(const workspace *w, const background *behind, const armilla_panel *panel, int64_t j,
                             double *sums)
{
    const armilla_data *X = panel->data;
    extremes *e = extremes_in(sums, X->m);
    double *x = w->column, shift = 0;
    const int64_t count = X->ops->entries(panel, j, w->rows, x, &shift);
    const double squared = armilla_shifted_square(X, count, w->rows, x, shift);
    const bool shifted = shift != 0; /* and then it is positive */
    int64_t zeros = shifted ? behind->zeros : X->m, negatives = shifted ? behind->positives : 0;
    for (int64_t i = 0; i < count; i++) {
        const double mean = shifted ? behind->mean[w->rows[i]] : 0, value = x[i] - shift * mean;
        zeros += (value == 0) - (mean == 0);
        negatives += (value < 0) - (mean > 0);
        sums[FACTS + w->rows[i]] += (value != 0) - (mean != 0);
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

static double survey_sample(const survey *s, const workspace *w, const armilla_panel *panel, int64_t j, double *sums)
{
    if (panel->data->ops->entries) return survey_entries(w, &s->behind, panel, j, sums);
    panel->data->ops->expand(panel, j, w->column);
    return survey_column(panel->data->m, w->column, sums);
}

/* The length of sample j, whose square was found: the root of that where it has all digits. */
static double sample_length(const workspace *w, const armilla_panel *panel, int64_t j, double squared)
{
    const armilla_data_ops *ops = panel->data->ops;
    double shift = 0;
    if (armilla_square_holds(squared)) return sqrt(squared);
    const int64_t count = ops->entries ? ops->entries(panel, j, w->rows, w->column, &shift) : panel->data->m;
    const bool by_entries = ops->entries && shift == 0;
    if (!by_entries) ops->expand(panel, j, w->column);
    const armilla_length found =
        armilla_length_of(by_entries ? count : panel->data->m, by_entries ? w->rows : NULL, w->column);
    return found.value / found.scale;
}

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const survey *s = self;
    const workspace *w = &s->by_thread[thread];
    extremes *e = extremes_in(sums, panel->data->m);
    for (int64_t j = 0; j < panel->count; j++) {
        const double squared = survey_sample(s, w, panel, j, sums);
        if (!isfinite(squared)) note_bad(e, w, panel, j);
        const double length = sample_length(w, panel, j, squared);
        if (length > 0) {
            e->norm_low = fmin(e->norm_low, length);
            e->norm_high = fmax(e->norm_high, length);
        }
        e->fingerprint += column_fingerprint(panel, j, w, s->keys);
        if (s->squared_norms) s->squared_norms[panel->first + j] = squared;
    }
    return ARMILLA_OK;
}

/* ||what centring subtracts|| / ||what it leaves||: how many times larger an error of the entries is beside that. */
static double cancellation(const armilla_data *X, const double *sums)
{
    if (!X->mean || !(sums[SQUARED_NORM] > 0)) return 0;
    return sqrt(sums[SQUARED_SHIFTS]) * sqrt(X->mean_squared) / sqrt(sums[SQUARED_NORM]);
}

static void fill_facts(const armilla_data *X, const double *sums, const extremes *all, armilla_data_facts *facts)
{
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
        .fingerprint = mix(all->fingerprint + mix((uint64_t)X->m) + 3 * mix((uint64_t)X->n)),
        .bad_sample = bad ? all->bad_place / X->m : -1,
        .bad_feature = bad ? all->bad_place % X->m : -1,
        .bad_entries = (int64_t)all->bad_entries,
        .cancellation = cancellation(X, sums),
    };
    for (int64_t i = 0; i < X->m; i++) {
        const bool behind = X->mean && X->mean[i] != 0;
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
    armilla_traversal *traversal = NULL;
    workspace *by_thread = NULL;
    extremes all;
    uint64_t *keys = NULL;
    int64_t *rows = NULL;
    double *sums = NULL, *columns = NULL;
    int used = 0;
    armilla_status status = armilla_traversal_new(context, &plan, &traversal);
    if (status != ARMILLA_OK) goto done;
    used = armilla_traversal_threads(traversal);
    if ((status = armilla_take(context, used, sizeof *by_thread, &by_thread)) != ARMILLA_OK) goto done;
    if ((status = armilla_take(context, used * X->m, sizeof *columns, &columns)) != ARMILLA_OK) goto done;
    if ((status = armilla_take(context, used * X->m, sizeof *rows, &rows)) != ARMILLA_OK) goto done;
    if ((status = armilla_take(context, X->m, sizeof *keys, &keys)) != ARMILLA_OK) goto done;
    if ((status = armilla_take(context, FACTS + X->m, sizeof *sums, &sums)) != ARMILLA_OK) goto done;
    for (int64_t i = 0; i < X->m; i++) keys[i] = mix((uint64_t)i + 0x9e3779b97f4a7c15u) | 1;
    for (int t = 0; t < used; t++) by_thread[t] = (workspace){columns + t * X->m, rows + t * X->m};
    survey s = {keys, by_thread, squared_norms, look_behind(X)};
    status = look_at_all(traversal, &s, X->m, sums, &all);
    if (status == ARMILLA_OK) fill_facts(X, sums, &all, facts);
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
    armilla_status status = armilla_call_enter(context, threads);
    if (status != ARMILLA_OK) return status;
    status = armilla_survey(context, data, armilla_type_precision(data->type), facts, NULL);
    return armilla_call_leave_together(context, status);
}
