/* What a model learned from its data, learned again. Three plain passes: the largest entry of each
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
    const armilla_model *model;
    armilla_source_reader reader;
    armilla_check_steps steps;
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
        if (status == ARMILLA_OK && f->steps.total > 0) armilla_check_total(count, f->steps.total, f->values);
        for (int64_t i = 0; i < count; i++)
            step(f, source->sparse ? f->rows[i] : i, f->steps.entry ? f->steps.entry(f->values[i]) : f->values[i]);
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
    return (f->steps.total > 0 ? (double)f->source->m : 0) + (f->steps.entry ? 3 : 0);
}

/* A sum of n numbers loses at most n*eps/2 of the sum of their sizes, in any order; 16 is for all that is done once. */
static double loss(const moments *f)
{
    return ((double)f->source->n + 16 + entry_loss(f)) * DBL_EPSILON;
}

/* ln((1+n)/(1+n_i)) + 1, or ln(n/n_i) in the plain form */
static double idf_excess(const moments *f, int64_t i, double stated)
{
    const bool plain = f->model->preparation.form[ARMILLA_STEP_TFIDF] == 1;
    const double n = (double)f->source->n;
    const double idf = plain ? log(n / fmax(f->count[i], 1)) : log((1 + n) / (1 + f->count[i])) + 1;
    return excess(stated, idf, 8 * DBL_EPSILON * (idf + plain));
}

/* 1/(sd*weight), or 1 where a feature does not vary by more than the rounding of its mean, or was not chosen. Logarithms
 * of two makes differ in their last bit or two, and the deviation by no more than they do. */
static double scale_excess(const moments *f, int64_t i, double stated)
{
    const double weight = armilla_check_weight(f->model, ARMILLA_STEP_SCALE, i);
    const double sd = f->spread[i], blur = DBL_EPSILON * fabs(f->mean[i]);
    const bool constant = stated == 1 && (sd <= 16 * blur || weight == 0), varies = sd > 4 * blur;
    const double cancelled = 64 * (blur / sd) * (blur / sd), entries = entry_loss(f) * blur / sd;
    const double found = 1 / (sd / f->unit[i] * weight);
    if (constant || (sd == 0 && stated == 1)) return 0;
    return varies ? excess(stated, found, found * (loss(f) + cancelled + entries)) : INFINITY;
}

/* The mean of the weighted entries. */
static double mean_excess(const moments *f, int64_t i, double stated)
{
    const double weight = armilla_check_weight(f->model, ARMILLA_STEP_CENTER, i);
    const double mean_loss = loss(f) * f->size[i] / f->unit[i] * fabs(weight) + DBL_MIN;
    return excess(stated, f->mean[i] / f->unit[i] * weight, mean_loss);
}

/* How a step is learned again: from the moments of one feature at a time, or of everything. */
typedef struct relearning {
    const char *wrong;
    double (*feature)(const moments *f, int64_t i, double stated);
    armilla_status (*all)(const armilla_source *source, const armilla_model *model, const armilla_feature_moments *of,
                          double *excess);
} relearning;

static const relearning relearnings[ARMILLA_STEP_COUNT] = {
    [ARMILLA_STEP_TOTAL] = {"the total is not what the data or the options say", .all = armilla_check_sums},
    [ARMILLA_STEP_TOP] = {"the features that were chosen are not those that vary most", .all = armilla_check_top},
    [ARMILLA_STEP_TFIDF] = {"the weights of tf-idf are not those of the data", .feature = idf_excess},
    [ARMILLA_STEP_SCALE] = {"the scales are not those of the data", .feature = scale_excess},
    [ARMILLA_STEP_CENTER] = {"the mean is not that of the data", .feature = mean_excess},
};

const char *armilla_check_learned_wrong(armilla_step step)
{
    return relearnings[step].wrong;
}

/* Compares the steps that learn one number, or those that learn one for each feature, from moments. */
static armilla_status compare(const moments *f, bool single, armilla_learned *learned)
{
    const armilla_feature_moments of = {f->unit, f->mean, f->spread};
    armilla_status status = ARMILLA_OK;
    for (int step = 0; step < ARMILLA_STEP_COUNT && status == ARMILLA_OK; step++) {
        const double *stated = armilla_check_stated(f->model, (armilla_step)step);
        const relearning *by = &relearnings[step];
        double *worst = &learned->excess[step];
        if (!stated || armilla_steps[step].single != single) continue;
        if (by->all) status = by->all(f->source, f->model, &of, worst);
        for (int64_t i = 0; i < f->source->m && by->feature; i++) *worst = fmax(*worst, by->feature(f, i, stated[i]));
        if (!by->wrong) *worst = INFINITY;
    }
    return status;
}

static bool learns_of_features(const armilla_model *model)
{
    bool any = false;
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++)
        any |= !armilla_steps[step].single && armilla_check_stated(model, (armilla_step)step);
    return any;
}

double armilla_check_weight(const armilla_model *model, armilla_step step, int64_t i)
{
    double weight = 1;
    for (int before = 0; before < (int)step; before++) {
        const double *stated = armilla_check_stated(model, (armilla_step)before);
        if (stated && armilla_steps[before].kind == ARMILLA_STEP_FACTOR) weight *= stated[i];
    }
    return weight;
}

armilla_check_steps armilla_check_steps_of(const armilla_model *model)
{
    armilla_check_steps found = {0};
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++) {
        const armilla_step_kind kind = armilla_steps[step].kind;
        const double *stated = armilla_check_stated(model, (armilla_step)step);
        if (!model->preparation.taken[step]) continue;
        if (kind == ARMILLA_STEP_SUM && stated) found.total = *stated;
        if (kind == ARMILLA_STEP_ENTRIES) found.entry = armilla_steps[step].plain;
        if (kind == ARMILLA_STEP_FACTOR) found.weighs = true;
        if (kind == ARMILLA_STEP_OFFSET) found.mean = stated;
        if (kind == ARMILLA_STEP_LENGTH) found.unit = true;
    }
    return found;
}

armilla_status armilla_check_learned(const armilla_source *source, const armilla_model *model, armilla_learned *learned)
{
    moments f = {.source = source, .model = model, .steps = armilla_check_steps_of(model)};
    armilla_context *context = source->context;
    const int64_t m = source->m;
    double *numbers = NULL;
    *learned = (armilla_learned){.excess = {0}};
    if (model->past.A) return ARMILLA_OK; /* from samples that are no longer there */
    armilla_status status = compare(&f, true, learned);
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
    if (status == ARMILLA_OK) status = compare(&f, false, learned);
    armilla_source_reader_close(&f.reader);
    armilla_release(context, f.block);
    armilla_release(context, f.rows);
    armilla_release(context, numbers);
    return status;
}
