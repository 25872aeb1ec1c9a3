/* The leading left singular vectors of X by a randomised block Krylov method (Musco and Musco, 2015): from the range of
 * X*Omega (Halko, Martinsson and Tropp, 2011) every further pass over X multiplies an orthonormal block Q_i by XX', and
 * the vectors are those of XX' on the span of all blocks (Rayleigh and Ritz), not of the last alone.
 *
 * XX'Q_i lies in the span of the blocks up to the next, which is made from it: what XX' is on the span, T, follows from how
 * these products were split (Golub and Underwood, 1977), and of the last block from its codes. So no product is kept.
 *
 * As a start for an iteration three blocks of r columns and some more are enough: four passes, whose number counts where
 * the data are read from a disk. Iterations over an orthonormal basis multiply by XX' too, so that two blocks are enough
 * there, whose vectors are multiplied by XX' once more. That takes no pass, for it follows from T and the product of the
 * last block. Blocks are narrow where the vectors are the result, as in PCA, because a polynomial of higher degree gains
 * more than columns do, and are added until the next would gain nothing that matters.
 *
 * XX' itself is less work where features are few, and is tried first for PCA (start/gram.c). */
#include "start/start.h"

#include "base/random.h"
#include "base/ranks.h"
#include "base/size.h"
#include "linalg/span.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { OVERSAMPLING = 8, STEP = 8, BLOCKS = 3, FEW_BLOCKS = 2 }; /* STEP: whole vectors of numbers */
/* Vectors that are the result: columns of a block, or half of r where that is more; blocks there must be space for;
 * columns of all beside four times r. */
enum { NARROW = 16, LEAST_BLOCKS = 4, MOST_BESIDE = 64 };
/* Blocks that PCA mostly takes; and what the eigenvectors of XX' take beside m^3 multiplications of panels. */
enum { USUAL_BLOCKS = 6, EIGEN = 16 };
/* The part of ||X||^2, in units of the type's epsilon, that counts as 0. */
#define ROUNDING 64

typedef struct finder {
    armilla_problem *problem;
    int64_t k;       /* columns of a block */
    int64_t blocks;  /* as many as there is space for in m dimensions */
    int64_t passes;  /* after the first, at most; where there are more than blocks the first is improved instead */
    int64_t made;    /* blocks so far */
    bool result;     /* the vectors are the result: as many passes as it takes */
    bool multiplies; /* them by XX' once more */
    bool settled;    /* and they were enough, */
    bool unresolved; /* or rounding hides whether they are */
    double left[3];  /* of ||X||^2 = 1, outside the leading r vectors of the last three spans */
    double least;    /* part of a product that is left out of a block as rounding */
    uint64_t seed;
    double scale; /* 1/||X||: of the codes, so that nothing overflows */
    armilla_algebra *small;
    armilla_sweep *sweep;
    armilla_span *span;
    double *T, *Y;       /* (blocks*k)^2: XX'/||X||^2 on the span, its leading vectors */
    double *image;       /* what XX' makes of these: twice blocks*k*r */
    double *values;      /* blocks*k */
    armilla_split split; /* of the last product */
} finder;

static void random_codes(void *self, const armilla_code_panel *panel)
{
    const finder *f = self;
    const int64_t count = panel->r * panel->count;
    const uint64_t first = (uint64_t)(panel->first * panel->r);
    /* As good as normal numbers, and a fraction of the work. */
    armilla_random_symmetric(f->seed, ARMILLA_STREAM_RANGE, first, count, panel->W);
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
    armilla_span_plan plan = {.type = p->options.type, .m = p->m, .k = f->k, .blocks = f->blocks, .rough = !f->result};
    armilla_status status = armilla_algebra_new_eigen(context, all, &f->small);
    if (status == ARMILLA_OK) status = armilla_sweep_new_beside(p->sweep, f->k, &f->sweep);
    if (status != ARMILLA_OK) return status;
    plan.team = armilla_sweep_team(f->sweep);
    status = armilla_span_new(context, &plan, &f->span);
    if (status == ARMILLA_OK) status = armilla_take(context, all * all, sizeof(double), &f->T);
    if (status == ARMILLA_OK) status = armilla_take(context, all * all, sizeof(double), &f->Y);
    if (status == ARMILLA_OK && f->multiplies)
        status = armilla_take(context, 2 * all * p->r, sizeof(double), &f->image);
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
    armilla_release(context, f->image);
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
    armilla_status status = armilla_span_add(f->span, i, armilla_sweep_A(f->sweep), f->least, &f->split);
    if (status != ARMILLA_OK) return status;
    const armilla_sweep_plan plan = {
        .U = armilla_span_block(f->span, i), .sums = true, .gram_alone = last, .step = own_codes, .self = f};
    if (i > 0) {
        put_block(f, i - 1, i - 1, f->scale, f->split.B + (i - 1) * f->k, i * f->k);
        put_block(f, i, i - 1, f->scale, f->split.R, f->k);
    }
    status = armilla_sweep_run(f->sweep, &plan);
    if (status == ARMILLA_OK) put_block(f, i, i, 1, armilla_sweep_G(f->sweep), f->k);
    f->made = i + 1;
    return status;
}

/* Y = T of the blocks so far. */
static int64_t take_T(finder *f)
{
    const int64_t all = f->blocks * f->k, now = f->made * f->k;
    for (int64_t c = 0; c < now; c++) memcpy(f->Y + c * now, f->T + c * all, (size_t)now * sizeof *f->Y);
    return now;
}

/* Whether the last block has lowered h by no more than is allowed, or all further ones would not, if h went on falling as it
 * did: by the same factor at each block, where in truth it falls ever faster. */
static bool promises_nothing(const finder *f)
{
    const double *h = f->left, before = h[0] - h[1], now = h[1] - h[2];
    const armilla_stop_rule *rule = &f->problem->options.stop;
    if (now <= armilla_stop_allowance(rule, h[1])) return true;
    /* now*q/(1 - q), q = now/before */
    return now < before && now * now <= armilla_stop_allowance(rule, h[2]) * (before - now);
}

/* Whether the last block has columns of 0. Unless the span is then all of X, X has more equal singular values than blocks
 * have columns, and these see no more than as many of their directions. */
static bool is_short(const finder *f)
{
    for (int64_t row = 0; row < f->k; row++) {
        bool any = false;
        for (int64_t c = 0; c < f->k && !any; c++) any = f->split.R[c * f->k + row] != 0;
        if (!any) return true;
    }
    return false;
}

/* Values nearer to each other than this part of them are as good as equal. */
#define NEARLY_EQUAL 0.01

/* Whether as many of the leading values as a block has columns are nearly equal: there may be more of them, which the blocks
 * so far cannot show, so that h seems to have settled. values: of T, rising. */
static bool hides_directions(const finder *f, const double *values, int64_t count)
{
    const double rounding = ROUNDING * armilla_epsilon(f->problem->options.type);
    for (int64_t first = count - f->problem->r; first + f->k <= count; first++) {
        const double least = values[first], most = values[first + f->k - 1];
        if (most > rounding && most - least <= NEARLY_EQUAL * most) return true;
    }
    return false;
}

/* What the span so far leaves of X. */
static armilla_status judge(finder *f)
{
    const int64_t r = f->problem->r, now = take_T(f);
    const double rounding = ROUNDING * armilla_epsilon(f->problem->options.type);
    double left = 1, outside = 1;
    if (now < r) return ARMILLA_OK;
    const armilla_status status = armilla_eigenvalues(f->small, now, f->Y, f->values);
    if (status != ARMILLA_OK) return status;
    for (int64_t c = 0; c < r; c++) left -= f->values[now - 1 - c];
    for (int64_t c = 0; c < now; c++) outside -= f->values[c];
    f->left[0] = f->left[1];
    f->left[1] = f->left[2];
    f->left[2] = fmax(left, 0);
    /* What is left out of blocks can be as much of h, beside the last of the leading vectors. */
    const double noise = f->least * f->least / fmax(f->values[now - r], DBL_MIN);
    const double matters = armilla_stop_allowance(&f->problem->options.stop, f->left[2]);
    f->unresolved = noise > matters || (is_short(f) && outside > matters + rounding);
    const bool seems = isfinite(f->left[0]) && promises_nothing(f);
    f->unresolved |= seems && hides_directions(f, f->values, now);
    f->settled = seems && !f->unresolved;
    return ARMILLA_OK;
}

/* Takes the one of u and -u whose positive part is longer: otherwise rounding, which decides the sign of an
 * eigenvector, would decide what a nonnegative basis keeps of it. */
static void turn(int64_t m, double *u)
{
    double balance = 0;
    for (int64_t i = 0; i < m; i++) balance += u[i] * fabs(u[i]);
    for (int64_t i = 0; i < m && balance < 0; i++) u[i] = -u[i];
}

/* The same as models have it. */
void armilla_point_up(int64_t m, double *u)
{
    int64_t top = 0;
    for (int64_t i = 1; i < m; i++)
        if (fabs(u[i]) > fabs(u[top])) top = i;
    const bool down = u[top] < 0;
    for (int64_t i = 0; i < m && down; i++) u[i] = -u[i];
}

typedef struct turning {
    int64_t m;
    double *U;
    void (*one)(int64_t m, double *u);
    bool scales; /* to length 1 */
} turning;

static void turn_columns(void *self, int64_t first, int64_t last)
{
    const turning *t = self;
    for (int64_t c = first; c < last; c++) {
        if (t->scales) (void)armilla_unit(t->m, t->U + c * t->m, t->U + c * t->m);
        t->one(t->m, t->U + c * t->m);
    }
}

/* U = XX'SZ for the leading columns z of Z, which the columns of T are before eigenvalues, from the last on: of all blocks
 * but the last XX'S = ST, and of the last it is in the sweep. A little of SZ is added, so that vectors that XX' makes
 * nothing but rounding of stay. */
static void multiply_once_more(const finder *f, double scale, int64_t wanted, double *U)
{
    const int64_t k = f->k, all = f->made * k, before = all - k;
    const double least = ROUNDING * armilla_epsilon(f->problem->options.type) * f->values[all - 1];
    double *Y = f->image, *inner = Y + all * wanted, *last = inner + before * wanted;
    for (int64_t c = 0; c < wanted; c++) {
        const double *z = f->T + (all - 1 - c) * all;
        memcpy(inner + c * before, z, (size_t)before * sizeof *z);
        for (int64_t i = 0; i < k; i++) last[c * k + i] = scale * f->scale * z[before + i];
        for (int64_t i = 0; i < all; i++) Y[c * all + i] = least * z[i];
    }
    /* f->Y has T still */
    if (before > 0) armilla_multiply(all, before, wanted, scale, f->Y, inner, 1, Y);
    armilla_span_combine(f->span, f->made, wanted, Y, armilla_sweep_A(f->sweep), last, U);
}

/* The leading vectors of XX' on the span: T = ZLZ', U = SZ, or XX'SZ. */
static armilla_status project(finder *f, double *U)
{
    const int64_t all = take_T(f), wanted = armilla_min64(f->problem->r, all);
    turning t = {f->problem->m, U, f->result ? armilla_point_up : turn, f->multiplies};
    /* Only directions are wanted, and LAPACK scales by other factors. */
    const double scale = armilla_safe_scale(all * all, f->Y, NULL);
    for (int64_t i = 0; i < all * all; i++) f->T[i] = scale * f->Y[i];
    const armilla_status status = armilla_eigen(f->small, all, f->T, f->values, f->T);
    if (status != ARMILLA_OK) return status;
    /* Eigenvalues rise: the leading ones are the last columns, put first here. */
    for (int64_t c = 0; c < wanted && !f->multiplies; c++)
        memcpy(f->Y + c * all, f->T + (all - 1 - c) * all, (size_t)all * sizeof *f->Y);
    if (f->multiplies)
        multiply_once_more(f, scale, wanted, U);
    else
        armilla_span_combine(f->span, f->made, wanted, f->Y, NULL, NULL, U);
    armilla_team_share(armilla_sweep_team(f->sweep), wanted, turn_columns, &t);
    return ARMILLA_OK;
}

static armilla_status find(finder *f, double *U)
{
    armilla_problem *problem = f->problem;
    const armilla_sweep_plan range = {.sums = true, .step = random_codes, .self = f};
    f->scale = 1 / sqrt(problem->squared_norm);
    f->least = fmax(ROUNDING * armilla_epsilon(problem->options.type), 1e-6);
    for (size_t i = 0; i < sizeof f->left / sizeof f->left[0]; i++) f->left[i] = INFINITY;
    armilla_status status = take_finder(f);
    armilla_call_step(problem->context, 0, 1 + f->passes);
    if (status == ARMILLA_OK) status = armilla_sweep_run(f->sweep, &range); /* A = X*Omega */
    for (int64_t pass = 0; pass < f->passes && !f->settled && !f->unresolved && status == ARMILLA_OK; pass++) {
        armilla_call_step(problem->context, 1 + pass, 1 + f->passes);
        status = add_block(f, armilla_max64(f->blocks - f->passes + pass, 0), !f->multiplies && pass + 1 == f->passes);
        if (status == ARMILLA_OK && f->result) status = judge(f);
        /* Each rank has judged by itself, and all have to go on together. */
        if (f->result) status = armilla_ranks_meet(problem->context, status, 2U * f->unresolved + f->settled, NULL);
    }
    if (status == ARMILLA_OK && !f->unresolved) status = project(f, U);
    free_finder(f);
    return status;
}

armilla_status armilla_leading_directions(armilla_problem *problem, uint64_t seed, double *U)
{
    const armilla_basis_set *basis = problem->options.basis;
    finder f = {.problem = problem, .seed = seed};
    f.multiplies = basis->gram_is_identity && basis->is_signed && !armilla_pair_is_pca(basis, problem->options.codes);
    f.passes = f.multiplies ? FEW_BLOCKS : BLOCKS;
    /* X has no more directions than samples: blocks beyond those would be vectors of m zeros. */
    const int64_t wanted = (problem->r + OVERSAMPLING + STEP - 1) / STEP * STEP;
    f.k = armilla_min64(wanted, armilla_min64(problem->m, problem->n));
    f.blocks = armilla_min64(f.passes, armilla_min64(problem->m / f.k, (problem->n + f.k - 1) / f.k));
    return find(&f, U);
}

/* Whether XX' and its eigenvectors are less work than X and X' times the blocks: m^2 n/2 + EIGEN m^3 against 2mkn for
 * each of these. */
static bool gram_pays(const finder *f)
{
    const double m = (double)f->problem->m, n = (double)f->problem->n;
    return m * n / 2 + EIGEN * m * m <= 2.0 * USUAL_BLOCKS * (double)f->k * n;
}

/* PCA is those vectors, so that a solver that takes a start for its result has nothing left to do. */
static armilla_status make(armilla_problem *problem, uint64_t seed, double *U)
{
    const armilla_problem_options *o = &problem->options;
    finder f = {.problem = problem, .seed = seed, .result = true};
    const bool settles = o->settles && o->stop.tol > 0 && armilla_pair_is_pca(o->basis, o->codes);
    armilla_status status = ARMILLA_OK;
    f.k = ((problem->r + 1) / 2 + NARROW - 1) / NARROW * NARROW;
    if (settles && gram_pays(&f)) status = armilla_gram_directions(problem, U, &problem->settled);
    if (status != ARMILLA_OK || problem->settled) return status;
    const int64_t space = armilla_min64(problem->m, problem->n) / f.k;
    f.passes = f.blocks = armilla_min64(space, (4 * problem->r + MOST_BESIDE) / f.k);
    if (!settles || f.blocks < LEAST_BLOCKS) return armilla_leading_directions(problem, seed, U);
    status = find(&f, U);
    problem->settled = status == ARMILLA_OK && f.settled;
    /* Narrow blocks find a direction only if it is seen beside all that are longer. */
    return status == ARMILLA_OK && f.unresolved ? armilla_leading_directions(problem, seed, U) : status;
}

const armilla_start armilla_start_svd = {
    .name = "svd",
    .meaning = "leading singular vectors, by a randomised block Krylov method",
    .make = make,
};
