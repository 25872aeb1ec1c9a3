/* The leading left singular vectors of X by a randomised range finder (Halko, Martinsson and Tropp, 2011) with two
 * power iterations: four passes over X. */
#include "start/start.h"

#include "base/random.h"
#include "base/size.h"

#include <math.h>
#include <string.h>

enum { OVERSAMPLING = 10, POWER_ITERATIONS = 2 };

typedef struct finder {
    armilla_problem *problem;
    int64_t k; /* columns: r and some more */
    uint64_t seed;
    double scale; /* 1/||X||, so that nothing overflows */
    armilla_algebra *algebra;
    armilla_sweep *sweep;
    double *Q, *Z, *values; /* m x k, k x k, k */
    void *typed;            /* Q in the working type */
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
    armilla_status status = armilla_algebra_new(context, p->m, f->k, &f->algebra);
    if (status == ARMILLA_OK)
        status = armilla_sweep_new(context, p->X, p->options.type, f->k, 0, p->options.threads, &f->sweep);
    if (status == ARMILLA_OK) status = armilla_take(context, p->m * f->k, sizeof(double), &f->Q);
    if (status == ARMILLA_OK) status = armilla_take(context, f->k * f->k, sizeof(double), &f->Z);
    if (status == ARMILLA_OK) status = armilla_take(context, f->k, sizeof(double), &f->values);
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
    armilla_release(context, f->Z);
    armilla_release(context, f->Q);
    armilla_sweep_free(f->sweep);
    armilla_algebra_free(f->algebra);
}

/* Q = an orthonormal basis of the sweep's A, then A = XX'Q and G = Q'XX'Q. */
static armilla_status refine(finder *f)
{
    const armilla_sweep_plan plan = {.U = f->typed, .sums = true, .step = own_codes, .self = f};
    const armilla_status status = armilla_polar(f->algebra, armilla_sweep_A(f->sweep), f->Q);
    if (status != ARMILLA_OK) return status;
    armilla_store(f->problem->options.type, f->problem->m * f->k, f->Q, f->typed);
    return armilla_sweep_run(f->sweep, &plan);
}

armilla_status armilla_leading_directions(armilla_problem *problem, uint64_t seed, double *U)
{
    finder f = {.problem = problem, .seed = seed, .scale = 1 / sqrt(problem->squared_norm)};
    f.k = armilla_min64(problem->r + OVERSAMPLING, problem->m);
    const int64_t kept = armilla_min64(problem->r, f.k);
    const armilla_sweep_plan range = {.sums = true, .step = random_codes, .self = &f};
    armilla_status status = take_finder(&f);
    if (status == ARMILLA_OK) status = armilla_sweep_run(f.sweep, &range); /* A = X*Omega */
    for (int power = 0; power <= POWER_ITERATIONS && status == ARMILLA_OK; power++) status = refine(&f);
    if (status == ARMILLA_OK) status = armilla_eigen(f.algebra, f.k, armilla_sweep_G(f.sweep), f.values, f.Z);
    if (status == ARMILLA_OK) {
        /* Eigenvalues rise: the leading ones are the last columns of Z, put first here. */
        for (int64_t k = 0; k < kept; k++)
            armilla_multiply(problem->m, f.k, 1, 1, f.Q, f.Z + (f.k - 1 - k) * f.k, 0, U + k * problem->m);
    }
    free_finder(&f);
    return status;
}

const armilla_start armilla_start_svd = {
    .name = "svd",
    .meaning = "leading singular vectors, by a randomised range finder",
    .make = armilla_leading_directions,
};
