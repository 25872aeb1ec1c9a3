/* Data without groups, made from samples: each kind keeps something that alone makes no groups, and nothing else. */
#include "cluster/structure.h"

#include "base/order.h"
#include "base/random.h"
#include "base/size.h"
#include "base/team.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples that a new one with the features' correlations is put together from. */
enum { COMBINED = 64 };
/* Part of the largest variance below which a direction is rounding. */
#define LEAST_VARIANCE 1e-12
/* Offsets of the random numbers of a run, and within it of a sample and of permutations. */
enum { RUN_BITS = 40, SAMPLE_BITS = 10, ORDER_BIT = 39 };

/* Points as an ellipsoid: the mean, its axes as they are long, and how far out each point is. */
typedef struct ellipse {
    int64_t d, axes;
    double *mean;  /* d */
    double *A;     /* d x axes */
    double *radii; /* n */
    double *along; /* n: the length of each point; */
    double *rest;  /* n: and of what it has beside these d numbers */
} ellipse;

struct armilla_structure_nulls {
    armilla_context *context;
    const armilla_structure_sample *sample;
    const armilla_structure_space *space;
    uint64_t seed;
    ellipse places, raw;
    double *scores;     /* m x n: centred ranks of each feature; NULL: not wanted */
    double *deviations; /* m, of these */
    double *quantiles;  /* m x ARMILLA_QUANTILES */
    double *Y;          /* m x n */
    double *weights;    /* m */
    int64_t *entries;   /* m*n */
    int64_t *orders[2]; /* n */
    uint64_t first;     /* random number of the run in progress */
};

typedef armilla_structure_nulls nulls;

static uint64_t place_of(const nulls *s, int64_t sample, int64_t index)
{
    return s->first + ((uint64_t)sample << SAMPLE_BITS) + (uint64_t)index;
}

static double normal(const nulls *s, int64_t sample, int64_t index)
{
    return armilla_random_normal(s->seed, ARMILLA_STREAM_STRUCTURE, place_of(s, sample, index));
}

static double uniform(const nulls *s, int64_t sample, int64_t index)
{
    return armilla_random_uniform(s->seed, ARMILLA_STREAM_STRUCTURE, place_of(s, sample, index));
}

/* A random order of the samples, of which a run has two. */
static void draw_order(const nulls *s, int which, int64_t *order)
{
    const uint64_t first = s->first + ((uint64_t)(1 + which) << ORDER_BIT) / 2;
    for (int64_t i = 0; i < s->sample->n; i++) order[i] = i;
    for (int64_t i = s->sample->n - 1; i > 0; i--) {
        const double where = armilla_random_uniform(s->seed, ARMILLA_STREAM_STRUCTURE, first + (uint64_t)i);
        const int64_t other = armilla_min64((int64_t)(where * (double)(i + 1)), i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

/* code = V'column. */
static void project(const nulls *s, const double *column, double *code)
{
    const int64_t m = s->sample->m;
    for (int64_t c = 0; c < s->space->d; c++) code[c] = armilla_dot(m, s->space->V + c * m, column);
}

static armilla_status take_ellipse(armilla_context *context, int64_t d, int64_t n, ellipse *e)
{
    e->d = d;
    armilla_status status = armilla_take(context, d, sizeof *e->mean, &e->mean);
    if (status == ARMILLA_OK) status = armilla_take(context, d * d, sizeof *e->A, &e->A);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *e->radii, &e->radii);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *e->along, &e->along);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *e->rest, &e->rest);
    return status;
}

static void release_ellipse(armilla_context *context, ellipse *e)
{
    armilla_release(context, e->rest);
    armilla_release(context, e->along);
    armilla_release(context, e->radii);
    armilla_release(context, e->A);
    armilla_release(context, e->mean);
}

/* A = the covariance. */
static void find_covariance(int64_t n, const double *points, ellipse *e)
{
    const int64_t d = e->d;
    armilla_structure_mean(d, n, points, e->mean);
    for (int64_t j = 0; j < n; j++) {
        const double *x = points + j * d;
        for (int64_t i = 0; i < d; i++)
            for (int64_t k = 0; k < d; k++) e->A[i * d + k] += (x[i] - e->mean[i]) * (x[k] - e->mean[k]) / (double)n;
    }
}

/* Radii in units of the axes, which begin with the longest. */
static void measure_points(int64_t n, const double *points, const double *values, ellipse *e)
{
    const int64_t d = e->d;
    for (int64_t j = 0; j < n; j++) {
        const double *x = points + j * d;
        double square = 0;
        for (int64_t a = 0; a < e->axes; a++) {
            double along = 0;
            for (int64_t i = 0; i < d; i++) along += e->A[a * d + i] * (x[i] - e->mean[i]);
            square += along * along / values[a];
        }
        e->radii[j] = sqrt(square);
        e->along[j] = armilla_norm(d, x);
    }
}

static armilla_status fit_ellipse(armilla_context *context, int64_t n, const double *points, ellipse *e)
{
    const int64_t d = e->d;
    armilla_algebra *algebra = NULL;
    double *values = NULL, *vectors = NULL;
    armilla_status status = armilla_algebra_new_eigen(context, d, &algebra);
    if (status == ARMILLA_OK) status = armilla_take(context, d, sizeof *values, &values);
    if (status == ARMILLA_OK) status = armilla_take(context, d * d, sizeof *vectors, &vectors);
    if (status == ARMILLA_OK) {
        find_covariance(n, points, e);
        status = armilla_eigen(algebra, d, e->A, values, vectors);
    }
    for (int64_t a = 0; a < d && status == ARMILLA_OK; a++) { /* eigenvalues rise */
        const double value = values[d - 1 - a];
        if (!(value > LEAST_VARIANCE * values[d - 1])) break;
        memcpy(e->A + a * d, vectors + (d - 1 - a) * d, (size_t)d * sizeof *vectors);
        e->axes++;
    }
    for (int64_t a = 0; 2 * a < d - 1 && status == ARMILLA_OK; a++) { /* in the order of the axes */
        const double kept = values[a];
        values[a] = values[d - 1 - a];
        values[d - 1 - a] = kept;
    }
    if (status == ARMILLA_OK) measure_points(n, points, values, e);
    for (int64_t a = 0; a < e->axes && status == ARMILLA_OK; a++)
        for (int64_t i = 0; i < d; i++) e->A[a * d + i] *= sqrt(values[a]);
    armilla_release(context, vectors);
    armilla_release(context, values);
    armilla_algebra_free(algebra);
    return status;
}

/* code = a point of the ellipsoid, as far out as sample `as` is. */
static void draw_point(const nulls *s, const ellipse *e, int64_t sample, int64_t as, double *code)
{
    double axes[16], square = 0;
    for (int64_t a = 0; a < e->axes; a++) {
        axes[a] = normal(s, sample, a);
        square += axes[a] * axes[a];
    }
    const double factor = square > 0 ? e->radii[as] / sqrt(square) : 0;
    memcpy(code, e->mean, (size_t)e->d * sizeof *code);
    for (int64_t a = 0; a < e->axes; a++)
        for (int64_t i = 0; i < e->d; i++) code[i] += factor * axes[a] * e->A[a * e->d + i];
}

static void scale_to(int64_t d, double length, double *code)
{
    const double own = armilla_norm(d, code);
    for (int64_t i = 0; i < d && own > 0; i++) code[i] *= length / own;
}

/* An ellipsoid of the places' covariance and distances; on the sphere where they are. */
static void make_ellipse(nulls *s, double *codes)
{
    const ellipse *e = &s->places;
    for (int64_t j = 0; j < s->sample->n; j++) {
        draw_point(s, e, j, s->orders[0][j], codes + j * e->d);
        if (s->sample->unit) scale_to(e->d, e->along[s->orders[1][j]], codes + j * e->d);
    }
}

/* The same before samples get length 1. */
static void make_raw_ellipse(nulls *s, double *codes)
{
    const ellipse *e = &s->raw;
    for (int64_t j = 0; j < s->sample->n; j++) {
        double *code = codes + j * e->d;
        const int64_t as = s->orders[0][j];
        draw_point(s, e, j, as, code);
        const double own = armilla_norm(e->d, code), whole = sqrt(own * own + e->rest[as] * e->rest[as]);
        for (int64_t i = 0; i < e->d && whole > 0; i++) code[i] /= whole;
    }
}

/* Column j of Y: a random combination of the samples' ranks, normal with their correlations, at each feature's quantiles. */
static void combine(const nulls *s, int64_t j, double *y)
{
    const int64_t m = s->sample->m, n = s->sample->n, many = armilla_min64(COMBINED, n);
    memset(y, 0, (size_t)m * sizeof *y);
    for (int64_t c = 0; c < many; c++) {
        const int64_t from = armilla_min64((int64_t)(uniform(s, j, 2 * c) * (double)n), n - 1);
        const double weight = normal(s, j, 2 * c + 1) / sqrt((double)many), *ranks = s->scores + from * m;
        for (int64_t i = 0; i < m; i++) y[i] += weight * ranks[i];
    }
    for (int64_t i = 0; i < m; i++) {
        const double *quantiles = s->quantiles + i * ARMILLA_QUANTILES;
        const double z = s->deviations[i] > 0 ? y[i] / s->deviations[i] : 0;
        const double at = (ARMILLA_QUANTILES - 1) * erfc(-z * sqrt(0.5)) / 2;
        const int64_t below = armilla_min64((int64_t)at, ARMILLA_QUANTILES - 2);
        y[i] = quantiles[below] + (at - (double)below) * (quantiles[below + 1] - quantiles[below]);
    }
}

typedef struct combining {
    const nulls *nulls;
    double *codes;
    bool make; /* the columns too */
} combining;

static void place_columns(void *self, int64_t first, int64_t last)
{
    const combining *c = self;
    const nulls *s = c->nulls;
    for (int64_t j = first; j < last; j++) {
        double *y = s->Y + j * s->sample->m;
        if (c->make) combine(s, j, y);
        (void)armilla_structure_place(s->sample, y);
        project(s, y, c->codes + j * s->space->d);
    }
}

/* Features with their correlations, and with densities of one mode each. */
static void make_margins(nulls *s, double *codes)
{
    combining job = {s, codes, true};
    const armilla_team team = armilla_team_of(s->context, s->sample->n);
    armilla_team_share(&team, s->sample->n, place_columns, &job);
}

/* Samples and features with as many numbers as they have, put anywhere. */
static void make_shuffled(nulls *s, double *codes)
{
    const armilla_structure_sample *sample = s->sample;
    combining job = {s, codes, false};
    const armilla_structure_shuffling shuffling = {sample->m, sample->n,  true,      s->seed,
                                                   s->first,  s->weights, s->entries};
    const armilla_team team = armilla_team_of(s->context, sample->n);
    memcpy(s->Y, sample->X, (size_t)(sample->m * sample->n) * sizeof *s->Y);
    armilla_structure_shuffle(&shuffling, s->Y);
    armilla_team_share(&team, sample->n, place_columns, &job);
}

static bool suits_all(const armilla_structure_sample *sample)
{
    (void)sample;
    return true;
}

static bool suits_angles(const armilla_structure_sample *sample)
{
    return sample->unit && !sample->sparse;
}

static bool suits_dense(const armilla_structure_sample *sample)
{
    return !sample->sparse;
}

static bool suits_sparse(const armilla_structure_sample *sample)
{
    return sample->sparse;
}

static const struct {
    const char *name;
    bool (*suits)(const armilla_structure_sample *sample);
    void (*make)(nulls *s, double *codes);
} kinds[] = {
    {"ellipsoid", suits_all, make_ellipse},
    {"ellipsoid before unit length", suits_angles, make_raw_ellipse},
    {"correlated features of one mode", suits_dense, make_margins},
    {"shuffled entries", suits_sparse, make_shuffled},
};

bool armilla_structure_null_suits(const armilla_structure_sample *sample, size_t index)
{
    return kinds[index].suits(sample);
}

const char *armilla_structure_null_name(size_t index)
{
    return index < sizeof kinds / sizeof *kinds ? kinds[index].name : NULL;
}

void armilla_structure_null(nulls *s, size_t index, int run, double *codes)
{
    s->first = (uint64_t)(index * ARMILLA_STRUCTURE_RUNS + (size_t)run + 1) << RUN_BITS;
    for (int which = 0; which < 2; which++) draw_order(s, which, s->orders[which]);
    kinds[index].make(s, codes);
}

/* The samples before they get length 1, in the same directions. */
static armilla_status fit_raw(nulls *s)
{
    const int64_t m = s->sample->m, n = s->sample->n, d = s->space->d;
    const armilla_structure_sample plain = armilla_structure_plain(s->sample);
    double *codes = NULL;
    armilla_status status = take_ellipse(s->context, d, n, &s->raw);
    if (status == ARMILLA_OK) status = armilla_take(s->context, d * n, sizeof *codes, &codes);
    armilla_structure_place_all(&plain, s->Y);
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++) {
        project(s, s->Y + j * m, codes + j * d);
        const double all = armilla_norm(m, s->Y + j * m), own = armilla_norm(d, codes + j * d);
        s->raw.rest[j] = sqrt(fmax(all * all - own * own, 0));
    }
    if (status == ARMILLA_OK) status = fit_ellipse(s->context, n, codes, &s->raw);
    armilla_release(s->context, codes);
    return status;
}

/* Ranks of a feature, equal numbers sharing theirs, and its quantiles. */
static void rank_feature(nulls *s, int64_t feature, armilla_keyed *order)
{
    const int64_t m = s->sample->m, n = s->sample->n;
    double *quantiles = s->quantiles + feature * ARMILLA_QUANTILES, square = 0;
    for (int64_t j = 0; j < n; j++) order[j] = (armilla_keyed){s->sample->X[j * m + feature], j};
    qsort(order, (size_t)n, sizeof *order, armilla_by_rising);
    for (int64_t first = 0, last; first < n; first = last) {
        for (last = first + 1; last < n && order[last].key == order[first].key;) last++;
        const double rank = (double)(first + last - n) / (double)n; /* of 1 - n ... n - 1, centred */
        for (int64_t j = first; j < last; j++) s->scores[order[j].index * m + feature] = rank;
        square += (double)(last - first) * rank * rank;
    }
    s->deviations[feature] = sqrt(square / (double)n);
    for (int64_t q = 0; q < ARMILLA_QUANTILES; q++) {
        const double at = (double)(n - 1) * (double)q / (ARMILLA_QUANTILES - 1);
        const int64_t below = armilla_min64((int64_t)at, n - 2);
        quantiles[q] = order[below].key + (at - (double)below) * (order[below + 1].key - order[below].key);
    }
    armilla_structure_one_mode(ARMILLA_QUANTILES, quantiles);
}

static armilla_status fit_margins(nulls *s)
{
    const int64_t m = s->sample->m, n = s->sample->n;
    armilla_keyed *order = NULL;
    armilla_status status = armilla_take(s->context, m * n, sizeof *s->scores, &s->scores);
    if (status == ARMILLA_OK) status = armilla_take(s->context, m, sizeof *s->deviations, &s->deviations);
    if (status == ARMILLA_OK)
        status = armilla_take(s->context, m * ARMILLA_QUANTILES, sizeof *s->quantiles, &s->quantiles);
    if (status == ARMILLA_OK) status = armilla_take(s->context, n, sizeof *order, &order);
    for (int64_t i = 0; i < m && status == ARMILLA_OK; i++) rank_feature(s, i, order);
    armilla_release(s->context, order);
    return status;
}

/* What each kind needs to know of the samples. */
static armilla_status fit_all(nulls *s)
{
    const armilla_structure_sample *sample = s->sample;
    const int64_t n = sample->n;
    armilla_status status = armilla_take(s->context, sample->m * n, sizeof *s->Y, &s->Y);
    for (int which = 0; which < 2 && status == ARMILLA_OK; which++)
        status = armilla_take(s->context, n, sizeof *s->orders[which], &s->orders[which]);
    if (status == ARMILLA_OK) status = take_ellipse(s->context, s->space->d, n, &s->places);
    if (status == ARMILLA_OK) status = fit_ellipse(s->context, n, s->space->codes, &s->places);
    if (status == ARMILLA_OK && suits_angles(sample)) status = fit_raw(s);
    if (status == ARMILLA_OK && suits_dense(sample)) status = fit_margins(s);
    if (status != ARMILLA_OK || suits_dense(sample)) return status;
    status = armilla_take(s->context, sample->m, sizeof *s->weights, &s->weights);
    return status == ARMILLA_OK ? armilla_take(s->context, sample->m * n, sizeof *s->entries, &s->entries) : status;
}

armilla_status armilla_structure_nulls_new(armilla_context *context, const armilla_structure_sample *sample,
                                           const armilla_structure_space *space, uint64_t seed, nulls **made)
{
    nulls *s = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *s, &s);
    if (status != ARMILLA_OK) return status;
    *s = (nulls){.context = context, .sample = sample, .space = space, .seed = seed};
    status = fit_all(s);
    if (status == ARMILLA_OK)
        *made = s;
    else
        armilla_structure_nulls_free(context, s);
    return status;
}

void armilla_structure_nulls_free(armilla_context *context, nulls *s)
{
    if (!s) return;
    for (int which = 0; which < 2; which++) armilla_release(context, s->orders[which]);
    armilla_release(context, s->entries);
    armilla_release(context, s->weights);
    armilla_release(context, s->Y);
    armilla_release(context, s->quantiles);
    armilla_release(context, s->deviations);
    armilla_release(context, s->scores);
    release_ellipse(context, &s->raw);
    release_ellipse(context, &s->places);
    armilla_release(context, s);
}
