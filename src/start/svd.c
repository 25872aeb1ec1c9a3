/* The leading left singular vectors of X by a randomised block Krylov method (Musco and Musco, 2015): from the range of
 * X*Omega (Halko, Martinsson and Tropp, 2011) every further pass over X multiplies an orthonormal block Q_i by XX', and
 * the vectors are those of XX' on the span of all blocks (Rayleigh and Ritz), not of the last alone. Four passes.
 *
 * XX'Q_i lies in the span of the blocks up to the next, which is made from it: what XX' is on the span, T, follows from how
 * these products were split (Golub and Underwood, 1977), and of the last block from its codes. So no product is kept, and
 * the last is not formed. */
#include "start/start.h"

#include "base/random.h"
#include "base/size.h"
#include "linalg/span.h"

#include <math.h>
#include <string.h>

enum { OVERSAMPLING = 8, STEP = 8, BLOCKS = 3 }; /* STEP: whole vectors of numbers */

typedef struct finder {
    armilla_problem *problem;
    int64_t k;      /* columns of a block: r and some more */
    int64_t blocks; /* as many as there is space for in m dimensions */
    uint64_t seed;
    double scale; /* 1/||X||: of the codes, so that nothing overflows */
    armilla_algebra *small;
    armilla_sweep *sweep;
    armilla_span *span;
    double *T, *Y;       /* (blocks*k)^2: XX'/||X||^2 on the span, its leading vectors */
    double *values;      /* blocks*k */
    armilla_split split; /* of the last product */
} finder;

static void random_codes(void *self, const armilla_code_panel *panel)
{
    const finder *f = self;
    for (int64_t i = 0; i < panel->r * panel->count; i++)
        panel->W[i] = armilla_random_normal(f->seed, ARMILLA_STREAM_RANGE, (uint64_t)(panel->first * panel->r + i));
}

static void own_codes(void *self, const armilla_code_panel *panel)
{
    const finder *f = self;
    for (int64_t i = 0; i < panel->r * panel->count; i++) panel->W[i] = f->scale * panel->C[i];
}

static armilla_status take_finder(finder *f)
{
    const armilla_problem *p = f->problem;
    armilla_context *context = p->context;
    const int64_t all = f->blocks * f->k;
    armilla_span_plan plan = {.type = p->options.type, .m = p->m, .k = f->k, .blocks = f->blocks};
    armilla_status status = armilla_algebra_new(context, all, all, &f->small);
    if (status == ARMILLA_OK) status = armilla_sweep_new_beside(p->sweep, f->k, &f->sweep);
    if (status != ARMILLA_OK) return status;
    plan.team = armilla_sweep_team(f->sweep);
    status = armilla_span_new(context, &plan, &f->span);
    if (status == ARMILLA_OK) status = armilla_take(context, all * all, sizeof(double), &f->T);
    if (status == ARMILLA_OK) status = armilla_take(context, all * all, sizeof(double), &f->Y);
    if (status == ARMILLA_OK) status = armilla_take(context, all, sizeof(double), &f->values);
    if (status == ARMILLA_OK) status = armilla_take(context, all * f->k, sizeof(double), &f->split.B);
    if (status == ARMILLA_OK) status = armilla_take(context, f->k * f->k, sizeof(double), &f->split.R);
    return status;
}

static void free_finder(finder *f)
{
    armilla_context *context = f->problem->context;
    if (f->sweep) f->problem->extra_sweeps += armilla_sweep_count(f->sweep);
    armilla_release(context, f->split.R);
    armilla_release(context, f->split.B);
    armilla_release(context, f->values);
    armilla_release(context, f->Y);
    armilla_release(context, f->T);
    armilla_span_free(f->span);
    armilla_sweep_free(f->sweep);
    armilla_algebra_free(f->small);
}

/* T of block (a, b), and of (b, a): scale * B (k x k, `stride` from one column to the next). */
static void put_block(finder *f, int64_t a, int64_t b, double scale, const double *B, int64_t stride)
{
    const int64_t k = f->k, all = f->blocks * k;
    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i < k; i++)
            f->T[(b * k + j) * all + a * k + i] = f->T[(a * k + i) * all + b * k + j] = scale * B[j * stride + i];
}

/* Block i: what is new in the sweep's A, which is XX'Q_(i-1)/||X|| but for the first. What is rounding beside A is left
 * out. Then the product of the block, unless it is the last. */
static armilla_status add_block(finder *f, int64_t i, bool last)
{
    const double rounding = fmax(64 * armilla_epsilon(f->problem->options.type), 1e-6);
    const armilla_sweep_plan plan = {
        .U = armilla_span_block(f->span, i), .sums = true, .gram_alone = last, .step = own_codes, .self = f};
    armilla_status status = armilla_span_add(f->span, i, armilla_sweep_A(f->sweep), rounding, &f->split);
    if (status != ARMILLA_OK) return status;
    if (i > 0) {
        put_block(f, i - 1, i - 1, f->scale, f->split.B + (i - 1) * f->k, i * f->k);
        put_block(f, i, i - 1, f->scale, f->split.R, f->k);
    }
    status = armilla_sweep_run(f->sweep, &plan);
    if (status == ARMILLA_OK && last) put_block(f, i, i, 1, armilla_sweep_G(f->sweep), f->k);
    return status;
}

/* Of u and -u the one whose positive part is the longer: what rounding makes of an eigenvector's sign would decide what
 * a nonnegative basis keeps of it. */
static void turn(int64_t m, double *u)
{
    double balance = 0;
    for (int64_t i = 0; i < m; i++) balance += u[i] * fabs(u[i]);
    for (int64_t i = 0; i < m && balance < 0; i++) u[i] = -u[i];
}

typedef struct turning {
    int64_t m;
    double *U;
} turning;

static void turn_columns(void *self, int64_t first, int64_t last)
{
    const turning *t = self;
    for (int64_t c = first; c < last; c++) turn(t->m, t->U + c * t->m);
}

/* The leading vectors of XX' on the span: T = ZLZ', U = SZ. */
static armilla_status project(finder *f, int64_t wanted, double *U)
{
    const int64_t all = f->blocks * f->k;
    turning t = {f->problem->m, U};
    /* Only directions are wanted, and LAPACK scales by other factors. */
    (void)armilla_scale_near_one(all * all, f->T, f->T);
    const armilla_status status = armilla_eigen(f->small, all, f->T, f->values, f->T);
    if (status != ARMILLA_OK) return status;
    /* Eigenvalues rise: the leading ones are the last columns, put first here. */
    for (int64_t c = 0; c < wanted; c++) memcpy(f->Y + c * all, f->T + (all - 1 - c) * all, (size_t)all * sizeof *f->Y);
    armilla_span_combine(f->span, f->blocks, wanted, f->Y, U);
    armilla_team_share(armilla_sweep_team(f->sweep), wanted, turn_columns, &t);
    return ARMILLA_OK;
}

armilla_status armilla_leading_directions(armilla_problem *problem, uint64_t seed, double *U)
{
    finder f = {.problem = problem, .seed = seed, .scale = 1 / sqrt(problem->squared_norm)};
    /* X has no more directions than samples: blocks beyond those would be vectors of m zeros. */
    const int64_t wanted = (problem->r + OVERSAMPLING + STEP - 1) / STEP * STEP;
    f.k = armilla_min64(wanted, armilla_min64(problem->m, problem->n));
    f.blocks = armilla_min64(BLOCKS, armilla_min64(problem->m / f.k, (problem->n + f.k - 1) / f.k));
    const armilla_sweep_plan range = {.sums = true, .step = random_codes, .self = &f};
    armilla_status status = take_finder(&f);
    armilla_call_step(problem->context, 0, 1 + BLOCKS);
    if (status == ARMILLA_OK) status = armilla_sweep_run(f.sweep, &range); /* A = X*Omega */
    /* Where there is no space for all blocks the first is improved instead. */
    for (int64_t pass = 0; pass < BLOCKS && status == ARMILLA_OK; pass++) {
        armilla_call_step(problem->context, 1 + pass, 1 + BLOCKS);
        status = add_block(&f, armilla_max64(f.blocks - BLOCKS + pass, 0), pass + 1 == BLOCKS);
    }
    if (status == ARMILLA_OK) status = project(&f, armilla_min64(problem->r, f.k), U);
    free_finder(&f);
    return status;
}

const armilla_start armilla_start_svd = {
    .name = "svd",
    .meaning = "leading singular vectors, by a randomised block Krylov method",
    .make = armilla_leading_directions,
};
