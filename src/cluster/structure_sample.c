/* The samples and features that are looked at for groups. */
#include "cluster/structure.h"

#include "base/order.h"
#include "base/random.h"
#include "base/size.h"
#include "data/column.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Coordinates that differ by less are the same: numbers are near 1. */
#define SAME 1e-9

/* What a pass over the drawn samples does with them. */
typedef struct drawing {
    armilla_structure_sample *sample;
    armilla_keyed *spreads; /* m features of the data; after the first pass those of the sample first, rising */
    double *means;          /* m of the data */
    int64_t m, seen;
    bool finite;
} drawing;

/* Mean, and distances from it as it is so far: sums of squares would overflow sooner than the numbers. */
static void add_spread(void *self, int64_t place, double *column)
{
    drawing *s = self;
    (void)place;
    s->seen++;
    for (int64_t i = 0; i < s->m; i++) {
        const double off = column[i] - s->means[i];
        s->means[i] += off / (double)s->seen;
        s->spreads[i].key += fabs(off);
        s->finite = s->finite && isfinite(s->spreads[i].key);
    }
}

static void keep_column(void *self, int64_t place, double *column)
{
    const drawing *s = self;
    double *to = s->sample->X + place * s->sample->m;
    for (int64_t i = 0; i < s->sample->m; i++) to[i] = column[s->spreads[i].index];
}

static armilla_status read_twice(armilla_context *context, const armilla_data *X, const int64_t *drawn, drawing *s)
{
    armilla_structure_sample *sample = s->sample;
    armilla_gathering pass = {X, ARMILLA_F64, sample->n, drawn, add_spread, s};
    armilla_status status = armilla_data_visit(context, &pass);
    if (status != ARMILLA_OK || !s->finite) return status;
    qsort(s->spreads, (size_t)s->m, sizeof *s->spreads, armilla_by_falling);
    qsort(s->spreads, (size_t)sample->m, sizeof *s->spreads, armilla_by_index);
    pass.visit = keep_column;
    return armilla_data_visit(context, &pass);
}

/* Numbers near 1, offsets with them, so that no square leaves the range. */
static bool bring_near_one(armilla_structure_sample *sample)
{
    const int64_t count = sample->m * sample->n;
    const double scale = fmax(armilla_safe_scale(count, sample->X, NULL), 0);
    if (!isfinite(scale)) return false;
    for (int64_t i = 0; i < count; i++) sample->X[i] *= scale;
    for (int64_t i = 0; i < sample->m; i++) sample->offsets[i] *= scale;
    return true;
}

static void fill_rest(armilla_structure_sample *sample)
{
    int64_t zeros = 0;
    for (int64_t i = 0; i < sample->m * sample->n; i++) zeros += sample->X[i] == 0;
    sample->sparse = 2 * zeros >= sample->m * sample->n;
    armilla_structure_place_all(sample, sample->places);
}

static armilla_status take_sample(armilla_context *context, armilla_structure_sample *sample)
{
    const int64_t numbers = sample->m * sample->n;
    armilla_status status = armilla_take(context, numbers, sizeof *sample->X, &sample->X);
    if (status == ARMILLA_OK) status = armilla_take(context, numbers, sizeof *sample->places, &sample->places);
    if (status == ARMILLA_OK) status = armilla_take(context, sample->m, sizeof *sample->offsets, &sample->offsets);
    return status;
}

static armilla_status fill(armilla_context *context, const armilla_structure_source *source, const armilla_data *X,
                           armilla_structure_sample *sample)
{
    const double *means = source->preparation->learned[ARMILLA_STEP_CENTER];
    int64_t *drawn = NULL;
    drawing s = {.sample = sample, .m = X->m, .finite = true};
    armilla_status status = armilla_take(context, sample->n, sizeof *drawn, &drawn);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *s.spreads, &s.spreads);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *s.means, &s.means);
    if (status == ARMILLA_OK) status = take_sample(context, sample);
    if (status == ARMILLA_OK) {
        armilla_draw_stratified(X->n, sample->n, source->seed, ARMILLA_STREAM_STRUCTURE, drawn);
        for (int64_t i = 0; i < X->m; i++) s.spreads[i].index = i;
        status = read_twice(context, X, drawn, &s);
    }
    for (int64_t i = 0; i < sample->m && status == ARMILLA_OK && means; i++)
        sample->offsets[i] = means[s.spreads[i].index];
    if (status == ARMILLA_OK && s.finite && bring_near_one(sample))
        fill_rest(sample);
    else
        sample->n = 0;
    armilla_release(context, s.means);
    armilla_release(context, s.spreads);
    armilla_release(context, drawn);
    return status;
}

/* Bytes that all of it takes, the nulls included. */
static double bytes_needed(const armilla_structure_sample *sample, int64_t features)
{
    const double m = (double)sample->m, n = (double)sample->n;
    return 8 * (6 * m * n + 4 * fmin(m, n) * fmin(m, n) + 130 * m + 400 * n + 8 * (double)features) + 0x1p20;
}

armilla_status armilla_structure_draw(armilla_context *context, const armilla_structure_source *source,
                                      armilla_structure_sample *sample)
{
    armilla_preparation steps = *source->preparation; /* borrowed */
    armilla_data *view = NULL;
    *sample = (armilla_structure_sample){.m = armilla_min64(source->raw->m, ARMILLA_STRUCTURE_FEATURES),
                                         .n = armilla_min64(source->raw->n, ARMILLA_STRUCTURE_MOST),
                                         .unit = source->unit};
    if (bytes_needed(sample, source->raw->m) > (double)armilla_memory_left(context)) {
        sample->n = 0;
        return ARMILLA_OK;
    }
    steps.taken[ARMILLA_STEP_CENTER] = steps.taken[ARMILLA_STEP_NORMALIZE] = false;
    armilla_status status = armilla_preparation_view(context, &steps, source->raw, &view);
    if (status == ARMILLA_OK) status = fill(context, source, view ? view : source->raw, sample);
    armilla_data_free(view);
    return status;
}

void armilla_structure_release(armilla_context *context, armilla_structure_sample *sample)
{
    armilla_release(context, sample->places);
    armilla_release(context, sample->offsets);
    armilla_release(context, sample->X);
    *sample = (armilla_structure_sample){.n = 0};
}

bool armilla_structure_place(const armilla_structure_sample *sample, double *column)
{
    double square = 0;
    for (int64_t i = 0; i < sample->m; i++) {
        column[i] -= sample->offsets[i];
        square += column[i] * column[i];
    }
    for (int64_t i = 0; i < sample->m && sample->unit && square > 0; i++) column[i] /= sqrt(square);
    return square > 0;
}

void armilla_structure_place_all(const armilla_structure_sample *sample, double *places)
{
    memcpy(places, sample->X, (size_t)(sample->m * sample->n) * sizeof *places);
    for (int64_t j = 0; j < sample->n; j++) (void)armilla_structure_place(sample, places + j * sample->m);
}

armilla_structure_sample armilla_structure_plain(const armilla_structure_sample *sample)
{
    armilla_structure_sample plain = *sample;
    plain.unit = false;
    plain.places = NULL;
    return plain;
}

static bool is_same(int64_t m, const double *a, const double *b)
{
    for (int64_t i = 0; i < m; i++)
        if (fabs(a[i] - b[i]) > SAME) return false;
    return true;
}

static bool is_new(const armilla_structure_sample *s, int64_t kept, const double *place)
{
    bool any = !s->unit;
    for (int64_t i = 0; i < s->m && !any; i++) any = place[i] != 0;
    for (int64_t j = 0; j < kept && any; j++)
        if (is_same(s->m, s->places + j * s->m, place)) return false;
    return any;
}

void armilla_structure_distinct(armilla_structure_sample *s)
{
    const size_t bytes = (size_t)s->m * sizeof *s->X;
    int64_t kept = 0;
    for (int64_t j = 0; j < s->n; j++) {
        if (!is_new(s, kept, s->places + j * s->m)) continue;
        memmove(s->X + kept * s->m, s->X + j * s->m, bytes);
        memmove(s->places + kept * s->m, s->places + j * s->m, bytes);
        kept++;
    }
    s->n = kept;
}
