/* A block is made by Gram and Schmidt with matrices: one pass over the rows for S'A and A'A, from which the Gram matrix
 * of A - SS'A follows, and one for the block. A second round, with the block in place of A, follows where so much
 * cancels that rounding shows. */
#include "linalg/span.h"

#include "base/size.h"
#include "linalg/algebra.h"
#include "linalg/blas.h"
#include "linalg/small.h"

#include <math.h>
#include <string.h>

/* What is left of A, as a square beside A's, that one round makes orthogonal: blocks are rounded to the type, which shows
 * where there are blocks before. */
#define ENOUGH 1e-5
#define ENOUGH_BESIDE_F32 1e-4
/* The same where a few digits are enough. */
#define ENOUGH_ROUGH 1e-9
#define ENOUGH_ROUGH_F32 1e-6
/* The least squared length that the second round may leave of a unit column. */
#define LEAST_LEFT 0.5

enum { LEAST_SHARED = 4096 }; /* features of columns that more than one thread looks at */

struct armilla_span {
    armilla_context *context;
    armilla_span_plan plan;
    armilla_algebra *small; /* k x k */
    char **S;               /* blocks of m x k, each taken when it is made */
    double *sums;           /* of each part: S'A and A'A */
    double *rows;           /* of each part: a block of rows of S, of A, and of what is made */
    double *c, *gram, *K, *cK;
    double *values;
};

/* A pass over the rows. */
typedef struct pass {
    const armilla_span *span;
    int64_t before; /* columns of the blocks before */
    const double *A;
    double scale; /* of A; 0: the source is the block itself */
    int64_t columns;
    const double *Y, *Z; /* of what is combined */
    double *U;
} pass;

static int64_t sum_numbers(const armilla_span_plan *plan)
{
    return (plan->blocks + 1) * plan->k * plan->k;
}

static int64_t row_numbers(const armilla_span_plan *plan)
{
    return armilla_min64(plan->m, ARMILLA_TALL_ROWS) * (plan->blocks + 2) * plan->k;
}

armilla_status armilla_span_new(armilla_context *context, const armilla_span_plan *plan, armilla_span **span)
{
    const int64_t k = plan->k, all = plan->blocks * k, parts = armilla_tall_parts(plan->m);
    armilla_span *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    made->plan = *plan;
    if (!armilla_is_small(plan->m, all)) status = armilla_blas_load(context, 1);
    if (status == ARMILLA_OK) status = armilla_algebra_new(context, k, k, &made->small);
    if (status == ARMILLA_OK) status = armilla_take(context, plan->blocks, sizeof *made->S, &made->S);
    if (status == ARMILLA_OK) status = armilla_take(context, parts * sum_numbers(plan), sizeof(double), &made->sums);
    if (status == ARMILLA_OK) status = armilla_take(context, parts * row_numbers(plan), sizeof(double), &made->rows);
    if (status == ARMILLA_OK) status = armilla_take(context, all * k, sizeof(double), &made->c);
    if (status == ARMILLA_OK) status = armilla_take(context, all * k, sizeof(double), &made->cK);
    if (status == ARMILLA_OK) status = armilla_take(context, k * k, sizeof(double), &made->gram);
    if (status == ARMILLA_OK) status = armilla_take(context, k * k, sizeof(double), &made->K);
    if (status == ARMILLA_OK) status = armilla_take(context, k, sizeof(double), &made->values);
    if (status == ARMILLA_OK)
        *span = made;
    else
        armilla_span_free(made);
    return status;
}

void armilla_span_free(armilla_span *span)
{
    if (!span) return;
    armilla_context *context = span->context;
    armilla_release(context, span->values);
    armilla_release(context, span->K);
    armilla_release(context, span->gram);
    armilla_release(context, span->cK);
    armilla_release(context, span->c);
    armilla_release(context, span->rows);
    armilla_release(context, span->sums);
    for (int64_t i = 0; span->S && i < span->plan.blocks; i++) armilla_release(context, span->S[i]);
    armilla_release(context, span->S);
    armilla_algebra_free(span->small);
    armilla_release(context, span);
}

static char *column_at(const armilla_span *span, int64_t column, int64_t row)
{
    const int64_t k = span->plan.k, place = column % k * span->plan.m + row;
    return span->S[column / k] + (size_t)place * armilla_type_size(span->plan.type);
}

const void *armilla_span_block(const armilla_span *span, int64_t i)
{
    return column_at(span, i * span->plan.k, 0);
}

/* Rows of a pass: of the blocks before, of the source and of the result. */
typedef struct block {
    int64_t at, rows;
    double *S, *D, *Q;
} block;

static block load_block(const pass *p, int64_t part, int64_t at, int64_t end)
{
    const armilla_span *span = p->span;
    const int64_t m = span->plan.m, k = span->plan.k;
    block b = {.at = at, .rows = armilla_min64(ARMILLA_TALL_ROWS, end - at)};
    b.S = span->rows + part * row_numbers(&span->plan);
    b.D = b.S + b.rows * p->before;
    b.Q = b.D + b.rows * k;
    for (int64_t c = 0; c < p->before; c++)
        armilla_fetch(span->plan.type, b.rows, column_at(span, c, at), b.S + c * b.rows);
    for (int64_t c = 0; c < k && !p->U; c++) {
        double *to = b.D + c * b.rows;
        if (p->scale == 0) armilla_fetch(span->plan.type, b.rows, column_at(span, p->before + c, at), to);
        for (int64_t i = 0; i < b.rows && p->scale != 0; i++) to[i] = p->scale * p->A[c * m + at + i];
    }
    return b;
}

static bool is_small(const armilla_span *span)
{
    return armilla_is_small(span->plan.m, span->plan.blocks * span->plan.k);
}

/* Z = alpha*B'C + beta*Z for B of `rows` x b and C of `rows` x c, without BLAS. */
static void multiply_inner(int64_t rows, int64_t b, int64_t c, double alpha, const double *B, const double *C,
                           double beta, double *Z)
{
    for (int64_t j = 0; j < c; j++)
        for (int64_t i = 0; i < b; i++) {
            double *z = Z + j * b + i;
            *z = alpha * armilla_dot(rows, B + i * rows, C + j * rows) + (beta == 0 ? 0 : beta * *z);
        }
}

/* S'A and A'A. */
static void measure(const pass *p, const block *b, double *sums, bool opens)
{
    const int rows = (int)b->rows, before = (int)p->before, k = (int)p->span->plan.k;
    const double beta = opens ? 0 : 1;
    if (is_small(p->span)) {
        multiply_inner(rows, before, k, 1, b->S, b->D, beta, sums);
        multiply_inner(rows, k, k, 1, b->D, b->D, beta, sums + p->before * k);
        return;
    }
    if (before > 0) armilla_dgemm('T', 'N', before, k, rows, 1, b->S, rows, b->D, rows, beta, sums, before);
    armilla_dsyrk('U', 'T', k, rows, 1, b->D, rows, beta, sums + p->before * k, k);
}

/* Z = alpha*B*K + beta*Z. */
static void multiply(const pass *p, const armilla_thin_product *by, int64_t rows)
{
    if (is_small(p->span))
        armilla_thin_kernels_best()->multiply(by, rows);
    else
        armilla_dgemm('N', 'N', (int)rows, (int)by->c, (int)by->r, by->alpha, by->B, (int)by->stride, by->K, (int)by->r,
                      by->beta, by->Z, (int)by->to);
}

/* Q = AK - S(cK), in the place of the block. */
static void make(const pass *p, const block *b)
{
    const armilla_span *span = p->span;
    const int64_t rows = b->rows, before = p->before, k = span->plan.k;
    multiply(p, &(armilla_thin_product){k, k, 1, 0, b->D, span->K, b->Q, rows, rows}, rows);
    if (before > 0) multiply(p, &(armilla_thin_product){before, k, -1, 1, b->S, span->cK, b->Q, rows, rows}, rows);
    for (int64_t c = 0; c < k; c++)
        armilla_store(span->plan.type, rows, b->Q + c * rows, column_at(span, p->before + c, b->at));
}

/* U = SY + AZ */
static void combine(const pass *p, const block *b)
{
    const int64_t rows = b->rows, k = p->span->plan.k, m = p->span->plan.m;
    double *U = p->U + b->at;
    multiply(p, &(armilla_thin_product){p->before, p->columns, 1, 0, b->S, p->Y, U, rows, m}, rows);
    if (p->A) multiply(p, &(armilla_thin_product){k, p->columns, 1, 1, p->A + b->at, p->Z, U, m, m}, rows);
}

static void measure_parts(void *self, int64_t first, int64_t last)
{
    const pass *p = self;
    for (int64_t part = first; part < last; part++) {
        const int64_t start = armilla_tall_start(p->span->plan.m, part);
        const int64_t end = armilla_tall_start(p->span->plan.m, part + 1);
        for (int64_t at = start; at < end; at += ARMILLA_TALL_ROWS) {
            const block b = load_block(p, part, at, end);
            measure(p, &b, p->span->sums + part * sum_numbers(&p->span->plan), at == start);
        }
    }
}

static void make_parts(void *self, int64_t first, int64_t last)
{
    const pass *p = self;
    const int64_t m = p->span->plan.m;
    for (int64_t part = first; part < last; part++) {
        const int64_t end = armilla_tall_start(m, part + 1);
        for (int64_t at = armilla_tall_start(m, part); at < end; at += ARMILLA_TALL_ROWS) {
            const block b = load_block(p, part, at, end);
            if (p->U)
                combine(p, &b);
            else
                make(p, &b);
        }
    }
}

static void run(pass *p, armilla_share body)
{
    armilla_team_share(p->span->plan.team, armilla_tall_parts(p->span->plan.m), body, p);
}

/* c = S'A, and the Gram matrix of A - Sc; returns ||A||^2. */
static double add_parts(const pass *p)
{
    const armilla_span *span = p->span;
    const int64_t k = span->plan.k, before = p->before, parts = armilla_tall_parts(span->plan.m);
    double square = 0;
    for (int64_t i = 0; i < (before + k) * k; i++) {
        double sum = 0;
        for (int64_t part = 0; part < parts; part++) sum += span->sums[part * sum_numbers(&span->plan) + i];
        *(i < before * k ? span->c + i : span->gram + i - before * k) = sum;
    }
    for (int64_t i = 0; i < k; i++) square += span->gram[i * k + i];
    if (is_small(span))
        multiply_inner(before, k, k, -1, span->c, span->c, 1, span->gram);
    else if (before > 0)
        armilla_dsyrk('U', 'T', (int)k, (int)before, -1, span->c, (int)before, 1, span->gram, (int)k);
    return square;
}

/* From the Gram matrix PDP': K = PD^(-1/2), the columns of directions with D <= least being 0, R = D^(1/2)P', and the
 * least D that is above. */
static armilla_status factor(armilla_span *span, double least, double *R, double *smallest)
{
    const int64_t k = span->plan.k;
    double *P = span->gram;
    const armilla_status status = armilla_eigen(span->small, k, P, span->values, P);
    *smallest = INFINITY;
    for (int64_t c = 0; c < k && status == ARMILLA_OK; c++) {
        const bool kept = span->values[c] > least;
        const double root = kept ? sqrt(span->values[c]) : 0;
        if (kept) *smallest = fmin(*smallest, span->values[c]);
        for (int64_t i = 0; i < k; i++) {
            span->K[c * k + i] = kept ? P[c * k + i] / root : 0;
            R[i * k + c] = root * P[c * k + i];
        }
    }
    return status;
}

/* One round; what it finds is added to the split, which is that of A in units of the scale. */
static armilla_status make_round(armilla_span *span, pass *p, double least, const armilla_split *split, double *left)
{
    const int64_t k = span->plan.k, before = p->before;
    const bool again = p->scale == 0;
    double *R = span->cK, smallest = 0; /* space that is not needed yet */
    double *old = span->sums;
    run(p, measure_parts);
    const double square = add_parts(p), limit = again ? LEAST_LEFT : least * least * square;
    if (!isfinite(square))
        return armilla_fail(span->context, ARMILLA_BAD_DATA,
                            "products with the data are not finite; scale the data nearer to 1");
    armilla_status status = factor(span, limit, R, &smallest);
    if (status != ARMILLA_OK) return status;
    *left = smallest / square;
    memcpy(old, split->R, (size_t)(k * k) * sizeof *old);
    if (again) {
        armilla_multiply(k, k, k, 1, R, old, 0, split->R);
        if (before > 0) armilla_multiply(before, k, k, 1, span->c, old, 1, split->B);
    } else {
        memcpy(split->R, R, (size_t)(k * k) * sizeof *R);
        memcpy(split->B, span->c, (size_t)(before * k) * sizeof *R);
    }
    if (before > 0) armilla_multiply(before, k, k, 1, span->c, span->K, 0, span->cK);
    run(p, make_parts);
    return ARMILLA_OK;
}

static void find_largest(void *self, int64_t first, int64_t last)
{
    const pass *p = self;
    const int64_t m = p->span->plan.m;
    for (int64_t c = first; c < last; c++) {
        double largest = 0;
        for (int64_t i = 0; i < m; i++) {
            const double size = fabs(p->A[c * m + i]);
            largest = size > largest ? size : largest;
        }
        p->span->values[c] = largest;
    }
}

/* A power of two that leaves the squares of A in range; what is not finite shows in them. */
static double find_scale(pass *p)
{
    double largest = 0;
    int exponent = 0;
    if (p->span->plan.m < LEAST_SHARED)
        find_largest(p, 0, p->span->plan.k);
    else
        armilla_team_share(p->span->plan.team, p->span->plan.k, find_largest, p);
    for (int64_t c = 0; c < p->span->plan.k; c++) largest = fmax(largest, p->span->values[c]);
    if (isfinite(largest)) (void)frexp(largest, &exponent);
    return ldexp(1, (int)-armilla_max64(-1000, armilla_min64(exponent, 1000)));
}

static double enough_for(const armilla_span_plan *plan, int64_t i)
{
    const bool rounded = i > 0 && plan->type == ARMILLA_F32; /* blocks before */
    if (plan->rough) return rounded ? ENOUGH_ROUGH_F32 : ENOUGH_ROUGH;
    return rounded ? ENOUGH_BESIDE_F32 : ENOUGH;
}

armilla_status armilla_span_add(armilla_span *span, int64_t i, const double *A, double least,
                                const armilla_split *split)
{
    const int64_t k = span->plan.k;
    const double enough = enough_for(&span->plan, i);
    double left = 0;
    pass p = {.span = span, .before = i * k, .A = A};
    armilla_status status = ARMILLA_OK;
    if (!span->S[i])
        status = armilla_grow(span->context, span->plan.m * k, armilla_type_size(span->plan.type), &span->S[i]);
    if (status != ARMILLA_OK) return status;
    const double scale = p.scale = find_scale(&p);
    status = make_round(span, &p, least, split, &left);
    p.scale = 0;
    if (status == ARMILLA_OK && left < enough) status = make_round(span, &p, 0, split, &left);
    for (int64_t n = 0; n < k * k; n++) split->R[n] /= scale;
    for (int64_t n = 0; n < i * k * k; n++) split->B[n] /= scale;
    return status;
}

void armilla_span_combine(const armilla_span *span, int64_t blocks, int64_t columns, const double *Y, const double *A,
                          const double *Z, double *U)
{
    pass p = {.span = span, .before = blocks * span->plan.k, .A = A, .columns = columns, .Y = Y, .Z = Z, .U = U};
    run(&p, make_parts);
}
