/* The leading left singular vectors of X by a randomised block Krylov method (Musco and Musco, 2015): from the range of
 * X*Omega (Halko, Martinsson and Tropp, 2011) every further pass over X multiplies an orthonormal block Q_i by XX', and
 * the vectors are those of XX' on the span of all blocks (Rayleigh and Ritz), not of the last alone. Four passes. */
#include "start/start.h"

#include "base/random.h"
#include "base/size.h"

#include <math.h>
#include <string.h>

enum { OVERSAMPLING = 10, BLOCKS = 3 };

/* Blocks are orthonormal and orthogonal to each other, so that S'S = I but for columns of 0, where nothing was left. */
#define LEAST_INDEPENDENCE 0.5

typedef struct finder {
    armilla_problem *problem;
    int64_t k;      /* columns of a block: r and some more */
    int64_t blocks; /* as many as there is space for in m dimensions */
    uint64_t seed;
    double scale; /* 1/||X||, so that nothing overflows */
    armilla_algebra *algebra, *small;
    armilla_sweep *sweep;
    double *S, *A;     /* the blocks side by side, and XX' times them: m x (blocks*k) */
    double *product;   /* m x k */
    double *square[3]; /* (blocks*k)^2 numbers each */
    double *values;    /* blocks*k */
    void *typed;       /* a block in the working type */
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
    armilla_status status = armilla_algebra_new(context, p->m, f->k, &f->algebra);
    if (status == ARMILLA_OK) status = armilla_algebra_new(context, all, all, &f->small);
    if (status == ARMILLA_OK) status = armilla_sweep_new(context, p->X, p->options.type, f->k, 0, &f->sweep);
    if (status == ARMILLA_OK) armilla_algebra_set_team(f->algebra, armilla_sweep_team(f->sweep));
    if (status == ARMILLA_OK) status = armilla_take(context, p->m * all, sizeof(double), &f->S);
    if (status == ARMILLA_OK) status = armilla_take(context, p->m * all, sizeof(double), &f->A);
    if (status == ARMILLA_OK) status = armilla_take(context, p->m * f->k, sizeof(double), &f->product);
    for (int i = 0; i < 3 && status == ARMILLA_OK; i++)
        status = armilla_take(context, all * all, sizeof(double), &f->square[i]);
    if (status == ARMILLA_OK) status = armilla_take(context, all, sizeof(double), &f->values);
    if (status == ARMILLA_OK)
        status = armilla_take(context, p->m * f->k, armilla_type_size(p->options.type), &f->typed);
    return status;
}

static void free_finder(finder *f)
{
    armilla_context *context = f->problem->context;
    if (f->sweep) f->problem->extra_sweeps += armilla_sweep_count(f->sweep);
    armilla_release(context, f->typed);
    armilla_release(context, f->values);
    for (int i = 0; i < 3; i++) armilla_release(context, f->square[i]);
    armilla_release(context, f->product);
    armilla_release(context, f->A);
    armilla_release(context, f->S);
    armilla_sweep_free(f->sweep);
    armilla_algebra_free(f->small);
    armilla_algebra_free(f->algebra);
}

/* Q <- an orthonormal basis of the span of its columns, from Q'Q = PDP' by QPD^(-1/2); directions with D < least become
 * columns of 0. */
static armilla_status orthonormalise(finder *f, double *Q, double least)
{
    const int64_t m = f->problem->m, k = f->k;
    double *P = f->square[0];
    armilla_gram_by_rows(f->algebra, Q, P);
    const armilla_status status = armilla_eigen(f->algebra, k, P, f->values, P);
    if (status != ARMILLA_OK) return status;
    for (int64_t c = 0; c < k; c++) {
        const double factor = f->values[c] > least ? 1 / sqrt(f->values[c]) : 0;
        for (int64_t i = 0; i < k; i++) P[c * k + i] *= factor;
    }
    armilla_multiply(m, k, k, 1, Q, P, 0, f->product);
    memcpy(Q, f->product, (size_t)(m * k) * sizeof *Q);
    return ARMILLA_OK;
}

/* Block i: an orthonormal basis of what is new in the sweep's A, then A_i = XX'Q_i. What is rounding beside A is left
 * out. The second round takes off what rounding left of the first. */
static armilla_status add_block(finder *f, int64_t i)
{
    const int64_t m = f->problem->m, k = f->k, place = i * m * k;
    const armilla_sweep_plan plan = {.U = f->typed, .sums = true, .step = own_codes, .self = f};
    const double rounding = fmax(64 * armilla_epsilon(f->problem->options.type), 1e-6);
    double *Q = f->S + place;
    armilla_status status = ARMILLA_OK;
    memcpy(Q, armilla_sweep_A(f->sweep), (size_t)(m * k) * sizeof *Q);
    const double size = armilla_norm(m * k, Q);
    for (int round = 0; round < 2 && status == ARMILLA_OK; round++) {
        if (i > 0) { /* Q - SS'Q */
            armilla_inner(m, i * k, k, f->S, Q, f->square[0]);
            armilla_multiply(m, i * k, k, -1, f->S, f->square[0], 1, Q);
        }
        status = orthonormalise(f, Q, round == 0 ? rounding * rounding * size * size : LEAST_INDEPENDENCE);
    }
    if (status != ARMILLA_OK) return status;
    armilla_store(f->problem->options.type, m * k, Q, f->typed);
    status = armilla_sweep_run(f->sweep, &plan);
    if (status == ARMILLA_OK) memcpy(f->A + place, armilla_sweep_A(f->sweep), (size_t)(m * k) * sizeof(double));
    return status;
}

/* B (all x *kept): SB is an orthonormal basis of the span of S, from S'S = PDP' by PD^(-1/2). */
static armilla_status whiten(finder *f, double *B, int64_t *kept)
{
    const int64_t all = f->blocks * f->k;
    double *gram = f->square[0];
    armilla_gram(f->problem->m, all, f->S, gram);
    const armilla_status status = armilla_eigen(f->small, all, gram, f->values, gram);
    *kept = 0;
    for (int64_t c = 0; c < all && status == ARMILLA_OK; c++) {
        if (f->values[c] < LEAST_INDEPENDENCE) continue;
        const double length = sqrt(f->values[c]);
        for (int64_t i = 0; i < all; i++) B[*kept * all + i] = gram[c * all + i] / length;
        ++*kept;
    }
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

/* The leading vectors of XX' on the span of S: B'(S'A)B = ZLZ', U = SBZ. */
static armilla_status project(finder *f, int64_t wanted, double *U)
{
    const int64_t m = f->problem->m, all = f->blocks * f->k;
    double *B = f->square[1], *T = f->square[0], *Z = f->square[2];
    int64_t kept = 0;
    armilla_status status = whiten(f, B, &kept);
    if (status != ARMILLA_OK) return status;
    armilla_inner(m, all, all, f->S, f->A, T);
    armilla_multiply(all, all, kept, 1, T, B, 0, Z);
    armilla_inner(all, kept, kept, B, Z, T);
    for (int64_t i = 0; i < kept; i++)
        for (int64_t j = 0; j < i; j++) T[i * kept + j] = T[j * kept + i] = (T[i * kept + j] + T[j * kept + i]) / 2;
    status = armilla_eigen(f->small, kept, T, f->values, T);
    if (status != ARMILLA_OK) return status;
    /* Eigenvalues rise: the leading ones are the last columns, put first here. */
    for (int64_t c = 0; c < armilla_min64(wanted, kept); c++) {
        armilla_multiply(all, kept, 1, 1, B, T + (kept - 1 - c) * kept, 0, Z);
        armilla_multiply(m, all, 1, 1, f->S, Z, 0, U + c * m);
        turn(m, U + c * m);
    }
    return ARMILLA_OK;
}

armilla_status armilla_leading_directions(armilla_problem *problem, uint64_t seed, double *U)
{
    finder f = {.problem = problem, .seed = seed, .scale = 1 / sqrt(problem->squared_norm)};
    /* X has no more directions than samples: blocks beyond those would be vectors of m zeros. */
    f.k = armilla_min64(problem->r + OVERSAMPLING, armilla_min64(problem->m, problem->n));
    f.blocks = armilla_min64(BLOCKS, armilla_min64(problem->m / f.k, (problem->n + f.k - 1) / f.k));
    const armilla_sweep_plan range = {.sums = true, .step = random_codes, .self = &f};
    armilla_status status = take_finder(&f);
    armilla_call_step(problem->context, 0, 1 + BLOCKS);
    if (status == ARMILLA_OK) status = armilla_sweep_run(f.sweep, &range); /* A = X*Omega */
    /* Where there is no space for all blocks the first is improved instead. */
    for (int64_t pass = 0; pass < BLOCKS && status == ARMILLA_OK; pass++) {
        armilla_call_step(problem->context, 1 + pass, 1 + BLOCKS);
        status = add_block(&f, armilla_max64(f.blocks - BLOCKS + pass, 0));
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
