/* What a model learned from its data (mean, idf, scale), learned again. Three plain passes: the largest entry of each
 * feature, which gives it a unit in which no sum or square overflows or underflows; sums and counts; squares about the
 * mean. */
#include "model/check.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LEAST_EXPONENT = -1022 }; /* 2 to its negative is a number */

/* What one pass adds up, for each feature; ranks each have that of their samples before it is everybody's. */
typedef struct additions {
    int64_t m;
    double *most;            /* the largest |x| */
    double *count, *entries; /* how many are not 0, how many are stored */
    double *size;            /* sum |x| */
    armilla_sum *sums;
} additions;

typedef struct moments {
    const armilla_source *source;
    armilla_source_reader reader;
    bool log1p;
    double total; /* what samples add up to, or 0 */
    int64_t *rows;
    double *values;          /* of one sample */
    double *unit;            /* m, as all below: 1/2^e with 2^e just above the largest |x| */
    double *count, *entries; /* how many are not 0, how many are stored */
    double *mean, *spread;   /* in units of 2^e: sum x/n, and sqrt(sum (x - mean)^2/n) */
    double *size;            /* sum |x|/n, in the same unit */
    double *block;           /* what the additions lie in, their number of features before them */
    additions now;           /* of the pass in progress */
} moments;

/* The arrays of a block of 1 + 6m numbers. */
static additions additions_in(double *block)
{
    const int64_t m = (int64_t)block[0];
    double *at = block + 1;
    return (additions){m, at, at + m, at + 2 * m, at + 3 * m, (armilla_sum *)(void *)(at + 4 * m)};
}

/* Both are blocks. Sums keep what their additions round away, so that the ranks that made them hardly matter. */
static void join(void *left, const void *right)
{
    const additions own = additions_in(left);
    const double *block = right;
    const additions other = additions_in((double *)block);
    for (int64_t i = 0; i < own.m; i++) {
        own.most[i] = fmax(own.most[i], other.most[i]);
        own.count[i] += other.count[i];
        own.entries[i] += other.entries[i];
        own.size[i] += other.size[i];
        armilla_sum_add(&own.sums[i], other.sums[i].high);
        own.sums[i].low += other.sums[i].low;
    }
}

typedef void (*entry_step)(moments *f, int64_t i, double x);

static void note_size(moments *f, int64_t i, double x)
{
    f->now.most[i] = fmax(f->now.most[i], fabs(x));
    f->now.count[i] += x != 0;
    f->now.entries[i] += 1;
}

static void add_value(moments *f, int64_t i, double x)
{
    const double value = x * f->unit[i];
    armilla_sum_add(&f->now.sums[i], value);
    f->now.size[i] += fabs(value);
}

static void add_square(moments *f, int64_t i, double x)
{
    const double rest = x * f->unit[i] - f->mean[i];
    armilla_sum_add(&f->now.sums[i], rest * rest);
}

/* A pass over all samples, each on the rank that has it. */
static armilla_status visit(moments *f, entry_step step)
{
    const armilla_source *source = f->source;
    const size_t bytes = (size_t)(1 + 6 * source->m) * sizeof(double);
    armilla_status status = ARMILLA_OK;
    memset(f->block, 0, bytes);
    f->block[0] = (double)source->m;
    f->now = additions_in(f->block);
    for (int64_t j = source->first; j < source->last && status == ARMILLA_OK; j++) {
        if ((status = armilla_check_ask(source->context, 0, j, source->n)) != ARMILLA_OK) break;
        int64_t count = 0;
        status = armilla_source_read(&f->reader, j, f->rows, f->values, &count);
        if (status == ARMILLA_OK && f->total > 0) armilla_check_total(count, f->total, f->values);
        for (int64_t i = 0; i < count; i++)
            step(f, source->sparse ? f->rows[i] : i, f->log1p ? log1p(f->values[i]) : f->values[i]);
    }
    return armilla_ranks_combine(source->context, status, f->block, bytes, join);
}

static armilla_status find_moments(moments *f)
{
    armilla_context *context = f->source->context;
    const double n = (double)f->source->n;
    armilla_call_step(context, ARMILLA_CHECK_SIZES, ARMILLA_CHECK_STEPS);
    armilla_status status = visit(f, note_size);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < f->source->m; i++) {
        const int exponent = armilla_check_exponent(1, &f->now.most[i]);
        f->unit[i] = ldexp(1, -(exponent < LEAST_EXPONENT ? LEAST_EXPONENT : exponent));
        f->count[i] = f->now.count[i];
        f->entries[i] = f->now.entries[i];
    }
    armilla_call_step(context, ARMILLA_CHECK_SUMS, ARMILLA_CHECK_STEPS);
    if ((status = visit(f, add_value)) != ARMILLA_OK) return status;
    for (int64_t i = 0; i < f->source->m; i++) {
        f->mean[i] = armilla_sum_value(f->now.sums[i]) / n;
        f->size[i] = f->now.size[i] / n;
    }
    armilla_call_step(context, ARMILLA_CHECK_SQUARES, ARMILLA_CHECK_STEPS);
    if ((status = visit(f, add_square)) != ARMILLA_OK) return status;
    for (int64_t i = 0; i < f->source->m; i++) {
        armilla_sum *sum = &f->now.sums[i];
        armilla_sum_add(sum, (n - f->entries[i]) * f->mean[i] * f->mean[i]); /* where nothing is stored */
        f->spread[i] = sqrt(armilla_sum_value(*sum) / n);
    }
    return ARMILLA_OK;
}

/* How many times the tolerance the difference is; infinite where it is no number. */
static double excess(double stated, double found, double tolerance)
{
    const double ratio = fabs(stated - found) / tolerance;
    return stated == found ? 0 : isnan(ratio) ? INFINITY : ratio;
}

/* Entries that were divided by sums of m numbers have lost as much as such a sum. */
static double entry_loss(const moments *f)
{
    return (f->total > 0 ? (double)f->source->m : 0) + (f->log1p ? 3 : 0);
}

/* A sum of n numbers loses at most n*eps/2 of the sum of their sizes, in any order; 16 is for all that is done once. */
static double loss(const moments *f)
{
    return ((double)f->source->n + 16 + entry_loss(f)) * DBL_EPSILON;
}

/* 1/(sd*idf), or 1 where a feature does not vary by more than the rounding of its mean, or was not chosen. Logarithms of
 * two makes differ in their last bit or two, and the deviation by no more than they do. */
static double scale_excess(const moments *f, int64_t i, double idf, double stated)
{
    const double sd = f->spread[i], blur = DBL_EPSILON * fabs(f->mean[i]);
    const bool constant = stated == 1 && (sd <= 16 * blur || idf == 0), varies = sd > 4 * blur;
    const double cancelled = 64 * (blur / sd) * (blur / sd), entries = entry_loss(f) * blur / sd;
    const double found = 1 / (sd / f->unit[i] * idf);
    if (constant || (sd == 0 && stated == 1)) return 0;
    return varies ? excess(stated, found, found * (loss(f) + cancelled + entries)) : INFINITY;
}

static void compare(const moments *f, const armilla_model *model, armilla_learned *learned)
{
    const double n = (double)f->source->n, *means = armilla_check_stated(model, ARMILLA_STEP_CENTER);
    const double *idfs = armilla_check_stated(model, ARMILLA_STEP_TFIDF);
    const double *scales = armilla_check_stated(model, ARMILLA_STEP_SCALE);
    const double *top = armilla_check_stated(model, ARMILLA_STEP_TOP);
    const bool plain = armilla_options_plain_idf(model->options_text);
    for (int64_t i = 0; i < f->source->m; i++) {
        const double idf = plain ? log(n / fmax(f->count[i], 1)) : log((1 + n) / (1 + f->count[i])) + 1;
        const bool chosen = !top || top[i] != 0;
        const double weight = (idfs ? idfs[i] : 1) * (scales ? scales[i] : 1) * (chosen ? 1 : 0);
        const double mean_loss = loss(f) * f->size[i] / f->unit[i] * fabs(weight) + DBL_MIN;
        if (idfs) learned->idf = fmax(learned->idf, excess(idfs[i], idf, 8 * DBL_EPSILON * (idf + plain)));
        if (scales && chosen) learned->scale = fmax(learned->scale, scale_excess(f, i, idfs ? idfs[i] : 1, scales[i]));
        if (scales && !chosen && scales[i] != 1) learned->scale = INFINITY;
        if (means) learned->mean = fmax(learned->mean, excess(means[i], f->mean[i] / f->unit[i] * weight, mean_loss));
    }
}

static bool learns_of_features(const armilla_model *model)
{
    static const armilla_step steps[] = {ARMILLA_STEP_TOP, ARMILLA_STEP_TFIDF, ARMILLA_STEP_SCALE, ARMILLA_STEP_CENTER};
    bool any = false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) any |= armilla_check_stated(model, steps[i]) != NULL;
    return any;
}

armilla_status armilla_check_learned(const armilla_source *source, const armilla_model *model, armilla_learned *learned)
{
    moments f = {
        .source = source, .log1p = model->preparation.taken[ARMILLA_STEP_LOG1P], .total = model->summary.total};
    armilla_context *context = source->context;
    const int64_t m = source->m;
    double *numbers = NULL;
    *learned = (armilla_learned){0, 0, 0, 0, 0};
    if (model->past.A) return ARMILLA_OK; /* from samples that are no longer there */
    armilla_status status = armilla_check_sums(source, model, &learned->total);
    if (status != ARMILLA_OK || !learns_of_features(model)) return status;
    status = armilla_take(context, 7 * m, sizeof *numbers, &numbers);
    if (status == ARMILLA_OK) status = armilla_take(context, m, sizeof *f.rows, &f.rows);
    if (status == ARMILLA_OK) status = armilla_take(context, 1 + 6 * m, sizeof *f.block, &f.block);
    if (status == ARMILLA_OK) status = armilla_source_reader_open(source, &f.reader);
    if (status == ARMILLA_OK) {
        double **const arrays[] = {&f.values, &f.unit, &f.count, &f.entries, &f.mean, &f.spread, &f.size};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = numbers + (int64_t)i * m;
        status = find_moments(&f);
    }
    if (status == ARMILLA_OK) compare(&f, model, learned);
    if (status == ARMILLA_OK)
        status = armilla_check_top(source, model, &(armilla_feature_moments){f.unit, f.mean, f.spread}, &learned->top);
    armilla_source_reader_close(&f.reader);
    armilla_release(context, f.block);
    armilla_release(context, f.rows);
    armilla_release(context, numbers);
    return status;
}
