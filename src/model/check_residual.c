/* ||X||^2 and ||X - UV||^2 of the data as fitted, for the check: sample after sample in plain loops. The mean is one
 * atom more: with [U mean] and the coefficients [v; 1/d] a centred sample is its entries less a combination of atoms,
 * and nothing sparse is made dense. Atoms are scaled by powers of two to entries up to 1, samples likewise, so that
 * data of any size neither overflow nor underflow.
 *
 * The residual of a sparse sample is summed on its entries; elsewhere it is ||[U mean]w||^2 less the part that lies on
 * the entries. The sample is expanded where that cancels. */
#include "model/check.h"

#include "base/team.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Beyond this fraction of what was added up a difference has lost half of its digits. */
#define CANCELLED 1e-6

enum { LOGARITHM_LOSS = 2 };

/* Sums over the samples of one block. */
typedef struct block {
    armilla_sum squared_norm, objective, data_rounding, rounding, cancelling, magnitude;
    uint64_t fingerprint;
    int64_t zeros_least, zeros_most, bad_sample;
    int64_t unread; /* 1 + the sample that could not be read, or 0 */
} block;

typedef struct pass {
    const armilla_source *source;
    const armilla_model *model;
    armilla_check_steps steps;
    int64_t atoms; /* r, and 1 where there is a mean */
    bool rescales, exact;
    int exponent;                   /* of the unit that squares are added in */
    double *weights;                /* m, of the features; or NULL */
    double *U;                      /* m x atoms, scaled */
    double *norms;                  /* of these, atoms */
    int *exponents;                 /* of the scales, atoms */
    double *by_feature;             /* the same by feature, where the data are sparse */
    double *gram;                   /* their products, atoms x atoms */
    double *sizes;                  /* and these in absolute value */
    uint64_t *keys;                 /* m, of the fingerprint */
    double *columns;                /* per thread 2m + 2*atoms */
    int64_t *rows;                  /* per thread m */
    armilla_source_reader *readers; /* one per thread */
    int64_t threads;
    block *blocks;
    atomic_llong next;
} pass;

/* One sample as fitted, in a thread's workspace. */
typedef struct sample {
    int64_t count;
    int64_t *rows;
    double *x, *expanded; /* entries, and all features where they are needed */
    double *w;            /* coefficients of the atoms */
    double *held;         /* atoms numbers */
    double size;          /* ||entries|| + ||mean|| before centring, after the scaling to unit length */
} sample;

/* x_i = entries less [U mean]w, all features. */
static double expanded_square(const pass *p, const sample *s)
{
    const int64_t m = p->source->m;
    double *restrict x = s->expanded;
    memset(x, 0, (size_t)m * sizeof *x);
    for (int64_t i = 0; i < s->count; i++) x[p->source->sparse ? s->rows[i] : i] = s->x[i];
    for (int64_t k = 0; k < p->atoms; k++) {
        const double *restrict u = p->U + k * m, w = s->w[k];
        for (int64_t i = 0; i < m && w != 0; i++) x[i] -= w * u[i];
    }
    return armilla_check_dot(m, x, x);
}

/* |w|'|H||w|: what is added up, absolute values, for ||[U mean]w||^2 = w'Hw. */
static double added_square(const pass *p, const sample *s)
{
    const int64_t atoms = p->atoms;
    double sum = 0;
    for (int64_t k = 0; k < atoms; k++) s->held[k] = fabs(s->w[k]);
    for (int64_t k = 0; k < atoms; k++)
        if (s->w[k] != 0) sum += s->held[k] * armilla_check_dot(atoms, p->sizes + k * atoms, s->held);
    return sum;
}

/* ||entries - [U mean]w||^2 */
static double square(const pass *p, const sample *s)
{
    const int64_t atoms = p->atoms;
    armilla_sum on = {0, 0}, covered = {0, 0}, own = {0, 0};
    double product_square = 0;
    if (!p->source->sparse) return expanded_square(p, s);
    for (int64_t k = 0; k < atoms; k++)
        if (s->w[k] != 0) product_square += s->w[k] * armilla_check_dot(atoms, p->gram + k * atoms, s->w);
    for (int64_t i = 0; i < s->count; i++) {
        const double *u = p->by_feature + s->rows[i] * atoms;
        double at = 0;
        for (int64_t k = 0; k < atoms; k++) at += u[k] * s->w[k];
        armilla_sum_add(&on, (s->x[i] - at) * (s->x[i] - at));
        armilla_sum_add(&covered, at * at);
        armilla_sum_add(&own, s->x[i] * s->x[i]);
    }
    const double found = armilla_sum_value(on) + fmax(product_square - armilla_sum_value(covered), 0);
    return found > CANCELLED * (armilla_sum_value(own) + added_square(p, s)) ? found : expanded_square(p, s);
}

/* The finaliser of splitmix64, of which the fingerprint is made (docs/model-file.md). */
static uint64_t spread_bits(uint64_t z)
{
    z ^= z >> 30;
    z *= 0xbf58476d1ce4e5b9u;
    z ^= z >> 27;
    z *= 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t fingerprint(const pass *p, const sample *s, int64_t j)
{
    const bool rounds = p->exact && p->model->summary.precision == ARMILLA_F32; /* not prepared: as it is fitted */
    uint64_t sum = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const double value = (rounds ? (double)(float)s->x[i] : s->x[i]) + 0.0;
        uint64_t bits = 0;
        memcpy(&bits, &value, sizeof bits);
        sum += spread_bits(bits) * p->keys[p->source->sparse ? s->rows[i] : i];
    }
    return spread_bits(sum + spread_bits((uint64_t)j + 1));
}

/* Total, logarithm and weights. */
static void weigh(const pass *p, sample *s)
{
    if (p->steps.total > 0) armilla_check_total(s->count, p->steps.total, s->x);
    for (int64_t i = 0; i < s->count && p->steps.entry; i++) s->x[i] = p->steps.entry(s->x[i]);
    for (int64_t i = 0; i < s->count && p->weights; i++) s->x[i] *= p->weights[p->source->sparse ? s->rows[i] : i];
}

static bool is_finite(const sample *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->count; i++) sum += s->x[i] * 0;
    return sum == 0;
}

/* x = 2^exponent x, also where that power is no number. */
static void shift(int64_t count, double *x, int exponent)
{
    const double factor = ldexp(1, exponent);
    const bool plain = factor >= DBL_MIN && factor <= DBL_MAX;
    for (int64_t i = 0; i < count && plain; i++) x[i] *= factor;
    for (int64_t i = 0; i < count && !plain; i++) x[i] = ldexp(x[i], exponent);
}

/* Length 1 up to the rounding of the data's own type stays as it is where scaling is all that is done. */
static double own_length(const pass *p, double length, int exponent)
{
    const double rounding = 4 * (p->source->type == ARMILLA_F64 ? DBL_EPSILON : FLT_EPSILON);
    return p->rescales && fabs(ldexp(length, exponent) - 1) <= rounding ? ldexp(1, -exponent) : length;
}

/* A total is divided by a sum of all entries. */
static double total_loss(const pass *p)
{
    return p->steps.total > 0 ? (double)p->source->m * DBL_EPSILON : 0;
}

/* Whether a sample has no direction: certainly, or where rounding decides. least: what underflows. */
static void count_zero(const pass *p, const sample *s, double length, double least, block *b)
{
    const armilla_model_summary *m = &p->model->summary;
    const bool centred = p->atoms > m->rank, is_f32 = m->precision == ARMILLA_F32 && !p->steps.unit;
    /* Sparse entries are rounded to single precision before the mean is subtracted. */
    const double blur = ((is_f32 ? 2 * FLT_EPSILON : 16 * DBL_EPSILON) + total_loss(p)) * s->size;
    const bool exact = !centred || (!is_f32 && !p->steps.entry);
    b->zeros_most += length <= (centred ? blur : 0) || (!p->steps.unit && length <= sqrt((double)m->m) * least);
    b->zeros_least +=
        s->size == 0 || (exact && length == 0) || (p->steps.unit && centred && length <= 4 * DBL_EPSILON * s->size);
}

/* 2 to this is the unit that a sample is worked in: that of its entries or of the mean, whichever is larger. */
static int unit_of(const pass *p, const sample *s, bool centred)
{
    const int own = armilla_check_exponent(s->count, s->x), mean = centred ? p->exponents[p->model->summary.rank] : own;
    bool any = false;
    for (int64_t i = 0; i < s->count && !any; i++) any = s->x[i] != 0;
    return any && own > mean ? own : mean;
}

/* The weighed entries become the sample as fitted, w the mean's coefficient (0 for every atom); ||.||^2 of it. */
static double settle(const pass *p, sample *s, block *b)
{
    const int64_t r = p->model->summary.rank;
    const bool centred = p->atoms > r, is_f32 = p->model->summary.precision == ARMILLA_F32;
    const int exponent = unit_of(p, s, centred);
    memset(s->w, 0, (size_t)p->atoms * sizeof *s->w);
    shift(s->count, s->x, -exponent);
    const double before = sqrt(armilla_check_dot(s->count, s->x, s->x));
    if (centred) s->w[r] = ldexp(1, p->exponents[r] - exponent);
    double length = centred ? sqrt(square(p, s)) : before;
    s->size = before + (centred ? s->w[r] * p->norms[r] : 0);
    count_zero(p, s, length, ldexp(is_f32 ? FLT_TRUE_MIN : DBL_TRUE_MIN, -exponent), b);
    /* What is left of a sample that equals the mean is rounding. */
    if (p->steps.unit && centred && length <= (8 * DBL_EPSILON + total_loss(p)) * before) length = 0;
    const double factor = !p->steps.unit ? ldexp(1, exponent - p->exponent)
                          : length > 0   ? 1 / own_length(p, length, exponent)
                                         : 0;
    for (int64_t i = 0; i < s->count; i++) s->x[i] *= factor;
    if (centred) s->w[r] *= factor;
    s->size = p->steps.unit && length == 0 ? (centred ? 1 / DBL_EPSILON : 0) : s->size * factor;
    return (length * factor) * (length * factor);
}

/* How far the sample as fitted may be from ours: roundings of single precision, where there were any, and of double. */
static double blur_of(const pass *p, const sample *s)
{
    const double double_loss = (double)(p->source->m + p->model->summary.rank + 16 + LOGARITHM_LOSS) * DBL_EPSILON;
    const bool is_f32 = p->model->summary.precision == ARMILLA_F32 && !(p->exact && p->source->type != ARMILLA_F64);
    const double least = is_f32 ? ldexp(FLT_TRUE_MIN, p->steps.unit ? 0 : -p->exponent) : 0;
    const double loss = is_f32 ? 1.5 * FLT_EPSILON + double_loss : double_loss;
    /* Rounding may turn a sample of unit length around, and no more. */
    return fmin(loss * s->size, p->steps.unit ? 2 : INFINITY) + least * sqrt((double)p->source->m);
}

static double code_at(const armilla_model *model, int64_t i)
{
    return model->summary.precision == ARMILLA_F32 ? (double)((const float *)model->V)[i]
                                                   : ((const double *)model->V)[i];
}

/* The sample that was read. */
static void visit_sample(const pass *p, sample *s, int64_t j, block *b)
{
    const int64_t r = p->model->summary.rank;
    double product_square = 0;
    b->fingerprint += fingerprint(p, s, j);
    weigh(p, s);
    if (!is_finite(s)) {
        if (b->bad_sample < 0) b->bad_sample = j;
        return;
    }
    armilla_sum_add(&b->squared_norm, settle(p, s, b));
    for (int64_t k = 0; k < r; k++) {
        s->w[k] = ldexp(code_at(p->model, j * r + k), p->exponents[k] - p->exponent);
        product_square += fabs(s->w[k]) * p->norms[k];
    }
    const double blur = blur_of(p, s), loss = (double)(r + 16) * DBL_EPSILON * product_square;
    const double residual = square(p, s), added = s->size * s->size + added_square(p, s);
    armilla_sum_add(&b->objective, residual);
    armilla_sum_add(&b->data_rounding, blur * blur);
    armilla_sum_add(&b->rounding, (blur + loss) * (blur + loss));
    armilla_sum_add(&b->cancelling, fmin(added, residual / CANCELLED));
    armilla_sum_add(&b->magnitude, added);
}

/* Samples first ... last-1; false where the check is to end, or one cannot be read. */
static bool visit_block(pass *p, int thread, sample *s, const int64_t ends[2], block *b)
{
    armilla_source_reader *reader = &p->readers[thread];
    reader->end = ends[1];
    b->bad_sample = -1;
    for (int64_t j = ends[0]; j < ends[1]; j++) {
        if (armilla_check_ask(p->source->context, thread, j, p->source->n) != ARMILLA_OK) return false;
        b->unread = j + 1;
        if (armilla_source_read(reader, j, s->rows, s->x, &s->count) != ARMILLA_OK) return false;
        b->unread = 0;
        visit_sample(p, s, j, b);
    }
    return true;
}

static void visit_blocks(void *self, int thread)
{
    pass *p = self;
    armilla_context *context = p->source->context;
    const int64_t m = p->source->m, n = p->source->n;
    double *column = p->columns + thread * (2 * m + 2 * p->atoms);
    sample s = {.rows = p->rows + thread * m, .x = column, .expanded = column + m, .w = column + 2 * m};
    s.held = s.w + p->atoms;
    for (;;) {
        const int64_t i = atomic_fetch_add(&p->next, 1);
        if (i >= p->source->last_block) return;
        const int64_t *ends = &p->source->blocks.first_of[i];
        if (armilla_call_pass(context, thread, ends[0], n) != ARMILLA_OK) return;
        if (!visit_block(p, thread, &s, ends, &p->blocks[i])) break;
    }
    if (!armilla_call_stopped(context, NULL))
        atomic_store(&p->next, p->source->last_block); /* the others need not go on */
}

/* Atom k scaled to entries up to 1. */
static void set_atom(pass *p, int64_t k)
{
    const int64_t m = p->source->m, at = k * m;
    const armilla_model *model = p->model;
    double *u = p->U + at;
    for (int64_t i = 0; i < m; i++)
        u[i] = k == model->summary.rank                  ? p->steps.mean[i]
               : model->summary.precision == ARMILLA_F32 ? (double)((const float *)model->U)[at + i]
                                                         : ((const double *)model->U)[at + i];
    p->exponents[k] = armilla_check_exponent(m, u);
    shift(m, u, -p->exponents[k]);
    p->norms[k] = sqrt(armilla_check_dot(m, u, u));
}

static armilla_status set_atoms(pass *p)
{
    const int64_t m = p->source->m, atoms = p->atoms;
    armilla_call_step(p->source->context, ARMILLA_CHECK_ATOMS, ARMILLA_CHECK_STEPS);
    for (int64_t k = 0; k < atoms; k++) set_atom(p, k);
    for (int64_t i = 0; i < m && p->weights; i++) p->weights[i] = armilla_check_weight(p->model, ARMILLA_STEP_COUNT, i);
    for (int64_t i = 0; i < m; i++) p->keys[i] = spread_bits((uint64_t)i + 0x9e3779b97f4a7c15u) | 1;
    for (int64_t k = 0; k < atoms; k++) {
        const armilla_status status = armilla_call_pass(p->source->context, 0, k * (k + 1), atoms * (atoms + 1));
        if (status != ARMILLA_OK) return status;
        for (int64_t i = 0; i < m && p->by_feature; i++) p->by_feature[i * atoms + k] = p->U[k * m + i];
        for (int64_t l = 0; l <= k; l++)
            p->gram[k * atoms + l] = p->gram[l * atoms + k] = armilla_check_dot(m, p->U + k * m, p->U + l * m);
    }
    for (int64_t k = 0; k < atoms * atoms; k++) p->sizes[k] = fabs(p->gram[k]);
    return ARMILLA_OK;
}

/* The unit: 1 for samples of unit length, else a power of two above every entry and the mean's. */
static armilla_status set_exponent(pass *p)
{
    const int64_t r = p->model->summary.rank;
    armilla_status status = ARMILLA_OK;
    sample s = {.rows = p->rows, .x = p->columns};
    double most = p->atoms > r ? ldexp(1, p->exponents[r]) : 0;
    armilla_call_step(p->source->context, ARMILLA_CHECK_UNIT, ARMILLA_CHECK_STEPS);
    for (int64_t j = p->source->first; j < p->source->last && !p->steps.unit; j++) {
        if ((status = armilla_check_ask(p->source->context, 0, j, p->source->n)) != ARMILLA_OK) break;
        if ((status = armilla_source_read(p->readers, j, s.rows, s.x, &s.count)) != ARMILLA_OK) break;
        weigh(p, &s);
        for (int64_t i = 0; i < s.count; i++)
            if (fabs(s.x[i]) > most && isfinite(s.x[i])) most = fabs(s.x[i]);
    }
    status = armilla_ranks_most(p->source->context, status, &most);
    p->exponent = p->steps.unit ? 0 : armilla_check_exponent(1, &most);
    return status;
}

/* Blocks are taken in order, so that the first sample that cannot be read does not depend on the threads: it is read
 * again, for its message. */
static armilla_status tell_unread(const pass *p)
{
    int64_t count = 0, failed = 0;
    for (int64_t i = p->source->first_block; i < p->source->last_block && failed == 0; i++)
        failed = p->blocks[i].unread;
    if (failed == 0) return ARMILLA_OK;
    p->readers->end = failed;
    p->readers->last = p->readers->first;
    const armilla_status status = armilla_source_read(p->readers, failed - 1, p->rows, p->columns, &count);
    if (status != ARMILLA_OK) return status;
    return armilla_fail(p->source->context, ARMILLA_IO_ERROR,
                        "sample %lld (counted from 1) could not be read once, and then could; check again",
                        (long long)failed);
}

/* Every sample, on some rank, or ARMILLA_STOPPED. */
static armilla_status visit_all(pass *p, const armilla_team *team)
{
    armilla_context *context = p->source->context;
    armilla_call_step(context, ARMILLA_CHECK_RESIDUAL, ARMILLA_CHECK_STEPS);
    atomic_store(&p->next, p->source->first_block);
    armilla_team_run(team, visit_blocks, p);
    armilla_status status = armilla_call_pass(context, 0, p->source->n, p->source->n);
    if (status == ARMILLA_OK) status = tell_unread(p);
    const int64_t bytes = (int64_t)sizeof *p->blocks;
    const armilla_byte_range range = {p->blocks, p->source->first_block * bytes, p->source->last_block * bytes,
                                      p->source->blocks.count * bytes, .all = true};
    return armilla_ranks_gather(context, status, &range);
}

static armilla_status take_readers(pass *p)
{
    armilla_status status = armilla_take(p->source->context, p->threads, sizeof *p->readers, &p->readers);
    for (int64_t i = 0; i < p->threads && status == ARMILLA_OK; i++)
        status = armilla_source_reader_open(p->source, &p->readers[i]);
    return status;
}

static armilla_status take_pass(pass *p)
{
    armilla_context *context = p->source->context;
    const int64_t m = p->source->m, atoms = p->atoms;
    armilla_status status = armilla_take(context, m * atoms, sizeof *p->U, &p->U);
    if (status == ARMILLA_OK) status = armilla_take(context, atoms, sizeof *p->norms, &p->norms);
    if (status == ARMILLA_OK) status = armilla_take(context, atoms, sizeof *p->exponents, &p->exponents);
    if (status == ARMILLA_OK && p->steps.weighs) status = armilla_take(context, m, sizeof *p->weights, &p->weights);
    if (status == ARMILLA_OK) status = armilla_take(context, m, sizeof *p->keys, &p->keys);
    if (status == ARMILLA_OK)
        status = armilla_take(context, p->threads * (2 * m + 2 * atoms), sizeof *p->columns, &p->columns);
    if (status == ARMILLA_OK) status = armilla_take(context, p->threads * m, sizeof *p->rows, &p->rows);
    if (status == ARMILLA_OK) status = armilla_take(context, p->source->blocks.count, sizeof *p->blocks, &p->blocks);
    if (status == ARMILLA_OK) status = armilla_take(context, atoms * atoms, sizeof *p->gram, &p->gram);
    if (status == ARMILLA_OK) status = armilla_take(context, atoms * atoms, sizeof *p->sizes, &p->sizes);
    if (status == ARMILLA_OK) status = take_readers(p);
    if (status != ARMILLA_OK || !p->source->sparse) return status;
    return armilla_take(context, m * atoms, sizeof *p->by_feature, &p->by_feature);
}

static void free_pass(pass *p)
{
    for (int64_t i = 0; i < p->threads && p->readers; i++) armilla_source_reader_close(&p->readers[i]);
    void *const taken[] = {p->sizes, p->gram,    p->by_feature, p->blocks, p->rows, p->columns,
                           p->keys,  p->weights, p->exponents,  p->norms,  p->U,    p->readers};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) armilla_release(p->source->context, taken[i]);
}

/* In the order of the blocks, whoever made them. */
static void gather(const pass *p, armilla_findings *found)
{
    block all = {.bad_sample = -1};
    for (int64_t i = 0; i < p->source->blocks.count; i++) {
        const block *b = &p->blocks[i];
        armilla_sum_add(&all.squared_norm, armilla_sum_value(b->squared_norm));
        armilla_sum_add(&all.objective, armilla_sum_value(b->objective));
        armilla_sum_add(&all.data_rounding, armilla_sum_value(b->data_rounding));
        armilla_sum_add(&all.rounding, armilla_sum_value(b->rounding));
        armilla_sum_add(&all.cancelling, armilla_sum_value(b->cancelling));
        armilla_sum_add(&all.magnitude, armilla_sum_value(b->magnitude));
        all.fingerprint += b->fingerprint;
        all.zeros_least += b->zeros_least;
        all.zeros_most += b->zeros_most;
        if (all.bad_sample < 0) all.bad_sample = b->bad_sample;
    }
    *found = (armilla_findings){
        .exponent = p->exponent,
        .squared_norm = armilla_sum_value(all.squared_norm),
        .objective = armilla_sum_value(all.objective),
        .data_rounding = sqrt(armilla_sum_value(all.data_rounding)),
        .rounding = sqrt(armilla_sum_value(all.rounding)),
        .cancelling = armilla_sum_value(all.cancelling),
        .magnitude = armilla_sum_value(all.magnitude),
        .fingerprint = spread_bits(all.fingerprint + spread_bits((uint64_t)p->source->m) +
                                   3 * spread_bits((uint64_t)p->source->n)),
        .zeros_least = all.zeros_least,
        .zeros_most = all.zeros_most,
        .bad_sample = all.bad_sample,
    };
}

armilla_status armilla_check_residual(const armilla_source *source, const armilla_model *model,
                                      armilla_findings *findings)
{
    const armilla_team team = armilla_team_of(source->context, source->n);
    pass p = {.source = source, .model = model, .threads = team.threads, .steps = armilla_check_steps_of(model)};
    const armilla_check_steps *steps = &p.steps;
    const bool changes = steps->total > 0 || steps->entry || steps->weighs || steps->mean;
    p.atoms = model->summary.rank + (steps->mean != NULL);
    p.rescales = steps->unit && !changes;
    p.exact = !steps->unit && !changes;
    armilla_status status = take_pass(&p);
    if (status == ARMILLA_OK) status = set_atoms(&p);
    if (status == ARMILLA_OK) status = set_exponent(&p);
    if (status == ARMILLA_OK) status = visit_all(&p, &team);
    if (status == ARMILLA_OK) gather(&p, findings);
    free_pass(&p);
    return status;
}
