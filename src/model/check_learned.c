/* What a model learned from its data (mean, idf, scale), learned again. Three plain passes: the largest entry of each
 * feature, which gives it a unit in which no sum or square overflows or underflows; sums and counts; squares about the
 * mean. */
#include "model/check.h"

#include <float.h>
#include <math.h>

enum { LEAST_EXPONENT = -1022 }; /* 2 to its negative is a number */

typedef struct moments {
    const armilla_source *source;
    bool log1p;
    int64_t *rows;
    double *values;          /* of one sample */
    double *unit;            /* m, as all below: the largest |x|, then 1/2^e with 2^e just above that */
    double *count, *entries; /* how many are not 0, how many are stored */
    double *mean, *spread;   /* in units of 2^e: sum x/n, and sqrt(sum (x - mean)^2/n) */
    double *size;            /* sum |x|/n, in the same unit */
    armilla_sum *sums;
} moments;

typedef void (*entry_step)(moments *f, int64_t i, double x);

static void note_size(moments *f, int64_t i, double x)
{
    f->unit[i] = fmax(f->unit[i], fabs(x));
    f->count[i] += x != 0;
    f->entries[i] += 1;
}

static void add_value(moments *f, int64_t i, double x)
{
    const double value = x * f->unit[i];
    armilla_sum_add(&f->sums[i], value);
    f->size[i] += fabs(value);
}

static void add_square(moments *f, int64_t i, double x)
{
    const double rest = x * f->unit[i] - f->mean[i];
    armilla_sum_add(&f->sums[i], rest * rest);
}

static armilla_status visit(moments *f, entry_step step)
{
    const armilla_source *source = f->source;
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; i < source->m; i++) f->sums[i] = (armilla_sum){0, 0};
    for (int64_t j = 0; j < source->n; j++) {
        if ((status = armilla_check_ask(source->context, 0, j, source->n)) != ARMILLA_OK) return status;
        const int64_t count = armilla_source_read(source, j, f->rows, f->values);
        for (int64_t i = 0; i < count; i++)
            step(f, source->sparse ? f->rows[i] : i, f->log1p ? log1p(f->values[i]) : f->values[i]);
    }
    return status;
}

static armilla_status find_moments(moments *f)
{
    armilla_context *context = f->source->context;
    const double n = (double)f->source->n;
    armilla_call_step(context, ARMILLA_CHECK_SIZES, ARMILLA_CHECK_STEPS);
    armilla_status status = visit(f, note_size);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < f->source->m; i++) {
        const int exponent = armilla_check_exponent(1, &f->unit[i]);
        f->unit[i] = ldexp(1, -(exponent < LEAST_EXPONENT ? LEAST_EXPONENT : exponent));
    }
    armilla_call_step(context, ARMILLA_CHECK_SUMS, ARMILLA_CHECK_STEPS);
    if ((status = visit(f, add_value)) != ARMILLA_OK) return status;
    for (int64_t i = 0; i < f->source->m; i++) {
        f->mean[i] = armilla_sum_value(f->sums[i]) / n;
        f->size[i] /= n;
    }
    armilla_call_step(context, ARMILLA_CHECK_SQUARES, ARMILLA_CHECK_STEPS);
    if ((status = visit(f, add_square)) != ARMILLA_OK) return status;
    for (int64_t i = 0; i < f->source->m; i++) {
        armilla_sum_add(&f->sums[i], (n - f->entries[i]) * f->mean[i] * f->mean[i]); /* where nothing is stored */
        f->spread[i] = sqrt(armilla_sum_value(f->sums[i]) / n);
    }
    return ARMILLA_OK;
}

/* How many times the tolerance the difference is; infinite where it is no number. */
static double excess(double stated, double found, double tolerance)
{
    const double ratio = fabs(stated - found) / tolerance;
    return stated == found ? 0 : isnan(ratio) ? INFINITY : ratio;
}

/* A sum of n numbers loses at most n*eps/2 of the sum of their sizes, in any order; 16 is for all that is done once. */
static double loss(const moments *f)
{
    return ((double)f->source->n + 16) * DBL_EPSILON;
}

/* 1/(sd*idf), or 1 where a feature does not vary by more than the rounding of its mean. Logarithms of two makes differ
 * in their last bit or two, and the deviation by no more than they do. */
static double scale_excess(const moments *f, int64_t i, double idf, double stated)
{
    const double sd = f->spread[i], blur = DBL_EPSILON * fabs(f->mean[i]);
    const bool constant = stated == 1 && sd <= 16 * blur, varies = sd > 4 * blur;
    const double cancelled = 64 * (blur / sd) * (blur / sd), logarithms = f->log1p ? 3 * blur / sd : 0;
    const double found = 1 / (sd / f->unit[i] * idf);
    if (constant || (sd == 0 && stated == 1)) return 0;
    return varies ? excess(stated, found, found * (loss(f) + cancelled + logarithms)) : INFINITY;
}

static void compare(const moments *f, const armilla_model *model, armilla_learned *learned)
{
    const double n = (double)f->source->n, *means = armilla_check_stated(model, ARMILLA_STEP_CENTER);
    const double *idfs = armilla_check_stated(model, ARMILLA_STEP_TFIDF);
    const double *scales = armilla_check_stated(model, ARMILLA_STEP_SCALE);
    for (int64_t i = 0; i < f->source->m; i++) {
        const double idf = log((1 + n) / (1 + f->count[i])) + 1;
        const double weight = (idfs ? idfs[i] : 1) * (scales ? scales[i] : 1);
        const double mean_loss = loss(f) * f->size[i] / f->unit[i] * fabs(weight) + DBL_MIN;
        if (idfs) learned->idf = fmax(learned->idf, excess(idfs[i], idf, 8 * DBL_EPSILON * idf));
        if (scales) learned->scale = fmax(learned->scale, scale_excess(f, i, idfs ? idfs[i] : 1, scales[i]));
        if (means) learned->mean = fmax(learned->mean, excess(means[i], f->mean[i] / f->unit[i] * weight, mean_loss));
    }
}

armilla_status armilla_check_learned(const armilla_source *source, const armilla_model *model, armilla_learned *learned)
{
    moments f = {.source = source, .log1p = model->preparation.taken[ARMILLA_STEP_LOG1P]};
    armilla_context *context = source->context;
    const int64_t m = source->m;
    double *numbers = NULL;
    *learned = (armilla_learned){0, 0, 0};
    if (!armilla_check_stated(model, ARMILLA_STEP_CENTER) && !armilla_check_stated(model, ARMILLA_STEP_TFIDF) &&
        !armilla_check_stated(model, ARMILLA_STEP_SCALE))
        return ARMILLA_OK;
    armilla_status status = armilla_take(context, 7 * m, sizeof *numbers, &numbers);
    if (status == ARMILLA_OK) status = armilla_take(context, m, sizeof *f.rows, &f.rows);
    if (status == ARMILLA_OK) status = armilla_take(context, m, sizeof *f.sums, &f.sums);
    if (status == ARMILLA_OK) {
        double **const arrays[] = {&f.values, &f.unit, &f.count, &f.entries, &f.mean, &f.spread, &f.size};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = numbers + (int64_t)i * m;
        status = find_moments(&f);
    }
    if (status == ARMILLA_OK) compare(&f, model, learned);
    armilla_release(context, f.sums);
    armilla_release(context, f.rows);
    armilla_release(context, numbers);
    return status;
}
