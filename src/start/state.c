/* From a basis to a state: feasible U, signs, codes, radius. */
#include "start/start.h"

#include "base/number.h"
#include "base/random.h"
#include "base/ranks.h"
#include "sets/column.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sums of C that are this small beside the sum of its absolute values are rounding (centred data). */
#define NOISE_FACTOR 100

static void tally_rows(void *self, const armilla_code_panel *panel)
{
    const double *scale = self;
    for (int64_t j = 0; j < panel->count; j++)
        for (int64_t k = 0; k < panel->r; k++) {
            const double c = *scale * panel->C[j * panel->r + k];
            double *row = panel->tally + ARMILLA_TALLY_PER_ROW * k;
            row[0] += c;
            row[1] += fabs(c);
            row[2 + (c < 0)] += c * c;
            panel->W[j * panel->r + k] = 0; /* no codes come of this pass */
        }
}

armilla_status armilla_row_sums_of(armilla_sweep *sweep, int64_t r, const void *U, double norm, armilla_row_sums *sums)
{
    double scale = 1 / norm;
    const armilla_sweep_plan plan = {.U = U, .tally = ARMILLA_TALLY_PER_ROW * r, .step = tally_rows, .self = &scale};
    const armilla_status status = armilla_sweep_run(sweep, &plan);
    const double *tally = armilla_sweep_tally(sweep);
    for (int64_t k = 0; k < r && status == ARMILLA_OK; k++, tally += ARMILLA_TALLY_PER_ROW)
        sums[k] = (armilla_row_sums){tally[0], tally[1], tally[2], tally[3]};
    return status;
}

/* Atoms that samples are assigned to are where they are meant to be. Codes of both signs take either sign of an atom, which
 * is left to the canonical form where the fit ends in that. */
static bool has_free_signs(const armilla_problem *p)
{
    const armilla_basis_set *basis = p->options.basis;
    const armilla_code_set *codes = p->options.codes;
    const bool matters = codes->nonnegative || (!p->options.seals && !armilla_pair_is_pca(basis, codes));
    return basis->is_signed && matters && !armilla_pair_assigns(basis, codes, p->options.s);
}

/* Whether u_k should point the other way (docs/algorithm.md#signs): sum_j C_kj >= 0 makes <X,UV> > 0 for nonnegative
 * codes too. */
static bool should_flip(const armilla_row_sums *row, double epsilon)
{
    if (fabs(row->sum) > NOISE_FACTOR * epsilon * row->absolute) return row->sum < 0;
    return row->positive_squares < row->negative_squares;
}

static armilla_status choose_signs(armilla_problem *p)
{
    armilla_row_sums *sums = NULL;
    armilla_status status = armilla_take(p->context, p->r, sizeof *sums, &sums);
    if (status == ARMILLA_OK) status = armilla_row_sums_of(p->sweep, p->r, p->U_typed, sqrt(p->squared_norm), sums);
    if (status == ARMILLA_OK) {
        for (int64_t k = 0; k < p->r; k++) {
            const double sign = should_flip(&sums[k], armilla_epsilon(p->options.type)) ? -1 : 1;
            for (int64_t i = 0; i < p->m; i++) p->U_next[k * p->m + i] = sign * p->U[k * p->m + i];
        }
        armilla_problem_set_basis(p, p->U_next, NULL);
    }
    armilla_release(p->context, sums);
    return status;
}

static bool is_zero(int64_t m, const double *u)
{
    for (int64_t i = 0; i < m; i++)
        if (u[i] != 0) return false;
    return true;
}

/* The common length of the atoms that are there, for those that are not. */
static double mean_length(const armilla_problem *p, const double *U)
{
    double sum = 0;
    int64_t atoms = 0;
    for (int64_t k = 0; k < p->r; k++)
        if (!is_zero(p->m, U + k * p->m)) {
            sum += armilla_norm(p->m, U + k * p->m);
            atoms++;
        }
    return atoms ? sum / (double)atoms : 1;
}

static void fill_zero_atoms(const armilla_problem *p, uint64_t seed, double *U)
{
    const bool is_signed = p->options.basis->is_signed;
    const double length = mean_length(p, U);
    for (int64_t k = 0; k < p->r; k++) {
        double *u = U + k * p->m;
        if (!is_zero(p->m, u)) continue;
        for (int64_t i = 0; i < p->m; i++) {
            const uint64_t index = (uint64_t)(k * p->m + i);
            u[i] = is_signed ? armilla_random_normal(seed, ARMILLA_STREAM_BASIS, index)
                             : armilla_random_uniform(seed, ARMILLA_STREAM_BASIS, index);
        }
        const double own = armilla_norm(p->m, u);
        for (int64_t i = 0; i < p->m; i++) u[i] *= length / own;
    }
}

/* w = Proj(c), or the first axis where c = 0. Without a sphere: one step from 0, which lowers h, or the code itself
 * where it is an assignment to an atom. */
static void first_codes(void *self, const armilla_code_panel *panel)
{
    const armilla_problem *p = self;
    const armilla_code_set *codes = p->options.codes;
    const armilla_column_problem column = {.codes = codes, .r = p->r, .s = p->options.s, .H = p->H};
    for (int64_t j = 0; j < panel->count; j++) {
        const double *c = panel->C + j * p->r;
        double *w = panel->W + j * p->r, *q = panel->scratch;
        if (!codes->spherical && !codes->conic) {
            codes->solve(&column, c, w, panel->scratch);
            continue;
        }
        for (int64_t k = 0; k < p->r; k++) q[k] = p->code_scale * c[k];
        if (!codes->project(p->r, p->options.s, q, w)) armilla_axis(p->r, 0, w);
    }
}

/* Given codes: their direction, made feasible; those without a direction as first_codes. */
static void given_codes(void *self, const armilla_code_panel *panel)
{
    const armilla_problem *p = self;
    for (int64_t j = 0; j < panel->count; j++) {
        double *w = panel->W + j * p->r;
        memcpy(panel->scratch, w, (size_t)p->r * sizeof *w);
        if (!p->options.codes->project(p->r, p->options.s, panel->scratch, w)) armilla_axis(p->r, 0, w);
    }
}

/* What <X,UW> can be by rounding alone. */
static double cross_noise(const armilla_problem *p)
{
    double longest = 0;
    for (int64_t k = 0; k < p->r; k++) longest = fmax(longest, p->H[k * p->r + k]);
    return 64 * armilla_epsilon(p->options.type) * sqrt((double)p->n * longest) * sqrt(p->squared_norm);
}

static armilla_status no_radius(armilla_problem *p)
{
    return armilla_fail(
        p->context, ARMILLA_BAD_DATA,
        "no positive radius exists for this start: no %s combination of the atoms points towards the "
        "data; use " ARMILLA_FIELD("basis orthonormal") " or " ARMILLA_FIELD("codes sphere") ", a higher " ARMILLA_FIELD(
            "rank") ", another " ARMILLA_FIELD("start") " or " ARMILLA_FIELD("seed") ", "
                                                                                     "or do not centre",
        p->options.codes->nonnegative ? "nonnegative" : "feasible");
}

/* l0 = <X,UW>/<UW,UW>, or what is given. */
static armilla_status first_radius(armilla_problem *p, double given)
{
    const double cross = armilla_sweep_cross(p->sweep), product_square = armilla_problem_product_square(p);
    p->l = 1;
    if (!p->options.codes->spherical) return ARMILLA_OK;
    if (!(cross > cross_noise(p)) || !(product_square > 0)) return no_radius(p);
    p->l = given > 0 ? given : cross / product_square;
    return ARMILLA_OK;
}

/* 1/sigma_1(H), the length of a code's first step; 1 on a sphere, where Proj does not see it. */
static armilla_status set_code_scale(armilla_problem *p)
{
    double sigma = 1;
    armilla_status status = ARMILLA_OK;
    if (p->options.codes->conic && !p->options.basis->gram_is_identity)
        status = armilla_largest_eigenvalue(p->algebra, p->r, p->H, &sigma);
    p->code_scale = sigma > 0 ? 1 / sigma : 0;
    return status;
}

static armilla_status run_codes(armilla_problem *p, armilla_code_step step)
{
    /* Codes that were given are made feasible; of others there are none before. */
    const armilla_sweep_plan plan = {.U = p->U_typed,
                                     .previous = step == given_codes ? p->W : NULL,
                                     .codes = p->W,
                                     .sums = true,
                                     .gram_alone = p->settled,
                                     .step = step,
                                     .self = p};
    const armilla_status status = set_code_scale(p);
    return status == ARMILLA_OK ? armilla_problem_sweep(p, &plan) : status;
}

/* With a fixed radius and a basis of free scale: U <- cU. The codes stay, for Proj does not see the scale. */
static armilla_status fit_scale(armilla_problem *p, armilla_code_step step)
{
    const double c = armilla_sweep_cross(p->sweep) / armilla_problem_product_square(p) / p->l;
    for (int64_t i = 0; i < p->m * p->r; i++) p->U_next[i] = c * p->U[i];
    armilla_problem_set_basis(p, p->U_next, NULL);
    return run_codes(p, step);
}

static double longest_of(int64_t count, int64_t stride, const double *squares)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, squares[i * stride]);
    return sqrt(most);
}

/* The length of the longest sample of all ranks. */
static armilla_status longest_sample(const armilla_problem *p, double *length)
{
    *length = longest_of(p->share.last - p->share.first, 1, p->squared_norms + p->share.first);
    return armilla_ranks_most(p->context, ARMILLA_OK, length);
}

static armilla_status out_of_range(armilla_problem *p, double longest)
{
    const bool is_f32 = p->options.type == ARMILLA_F32, fixed = p->options.codes->spherical && p->options.radius > 0;
    const bool small = longest < 1;
    char radius[64] = "";
    if (fixed)
        (void)armilla_plain_print(radius, sizeof radius, " with " ARMILLA_FIELD("radius %.3g"), p->options.radius);
    return armilla_fail(p->context, ARMILLA_BAD_DATA,
                        "the entries are too %s for their products with the factors to be added in %s%s; %s%s",
                        small ? "small" : "large", armilla_type_word(p->options.type), radius,
                        is_f32 ? "use " ARMILLA_FIELD("precision f64") " or " : "",
                        fixed   ? "a radius nearer to the samples' length"
                        : small ? "multiply the data by a power of ten"
                                : "divide the data by a power of ten");
}

/* A sweep adds products of U, X and W in the working type: those of the longest must have all their digits there, and
 * so must the factors as they are stored. What overflows later is seen in the objective. */
static armilla_status check_range(armilla_problem *p)
{
    const bool is_f32 = p->options.type == ARMILLA_F32, spherical = p->options.codes->spherical;
    const double least = is_f32 ? (double)FLT_MIN : DBL_MIN, most = is_f32 ? (double)FLT_MAX : DBL_MAX;
    const double u = longest_of(p->r, p->r + 1, p->H);
    double x = 0;
    const armilla_status status = longest_sample(p, &x);
    if (status != ARMILLA_OK) return status;
    const double w = p->options.codes->conic ? longest_of(p->r, p->r + 1, armilla_sweep_G(p->sweep)) : 1;
    const double products[] = {u, u * x, p->l, w * x, w * w};
    bool holds = !spherical || (u * u >= DBL_MIN && u * x / p->l <= DBL_MAX); /* H and d of the column problem */
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        const bool none = products[i] == 0 && !spherical && (u == 0 || w == 0); /* such codes, and atoms, may be 0 */
        holds = holds && (none || (products[i] >= least && products[i] <= most));
    }
    return holds ? ARMILLA_OK : out_of_range(p, x);
}

/* V0 and l0 for the basis that is set. */
static armilla_status finish(armilla_problem *p, armilla_code_step step, double radius)
{
    const double fixed = p->options.radius;
    const bool free_scale = p->options.basis->scalable && p->options.codes->spherical;
    armilla_status status = run_codes(p, step);
    /* A given state that has the fixed radius already goes on as it is, whatever it points to. */
    const bool stays = fixed > 0 && fixed == radius;
    if (stays) p->l = radius;
    if (status == ARMILLA_OK && !stays) status = first_radius(p, fixed > 0 ? fixed : radius);
    if (status == ARMILLA_OK && !stays && fixed > 0 && free_scale) status = fit_scale(p, step);
    return status == ARMILLA_OK ? check_range(p) : status;
}

/* A free scale is left to the radius: atoms have length 1 in the mean, whatever the data's scale. */
static void scale_atoms(const armilla_problem *p, double *U)
{
    const double length = mean_length(p, U);
    for (int64_t i = 0; i < p->m * p->r; i++) U[i] /= length;
}

static armilla_status make_feasible(armilla_problem *p, uint64_t seed)
{
    const armilla_basis_set *basis = p->options.basis;
    fill_zero_atoms(p, seed, p->U_next);
    armilla_status status = basis->nearest(p->algebra, p->m, p->r, p->U_next);
    if (status != ARMILLA_OK) return status;
    fill_zero_atoms(p, seed, p->U_next); /* of nonpositive samples nothing is left */
    if (basis->scalable && (p->options.codes->spherical || p->options.codes->conic)) scale_atoms(p, p->U_next);
    armilla_problem_set_basis(p, p->U_next, NULL);
    return ARMILLA_OK;
}

/* A start with an empty trace. */
static void begin_start(armilla_problem *p, bool given, bool screened)
{
    p->given = given;
    p->screened = screened;
    p->settled = false;
    p->trace->count = 0;
}

uint64_t armilla_start_seed(uint64_t seed, int64_t i)
{
    return i == 0 ? seed : armilla_random_bits(seed, ARMILLA_STREAM_RESTART, (uint64_t)i);
}

static armilla_status make_bases(armilla_problem *p, const armilla_start *start, uint64_t seed, int64_t count,
                                 double *U)
{
    armilla_status status = ARMILLA_OK;
    if (start->make_several) return start->make_several(p, seed, count, U);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++)
        status = start->make(p, armilla_start_seed(seed, i), U + i * p->m * p->r);
    return status;
}

armilla_status armilla_start_bases(armilla_problem *p, const armilla_start *start, uint64_t seed, int64_t count,
                                   double *U)
{
    const size_t basis = (size_t)(p->m * p->r);
    memset(U, 0, (size_t)count * basis * sizeof *U);
    armilla_status status = make_bases(p, start, seed, count, U);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++) {
        memcpy(p->U_next, U + (size_t)i * basis, basis * sizeof *U);
        status = make_feasible(p, armilla_start_seed(seed, i));
        memcpy(U + (size_t)i * basis, p->U, basis * sizeof *U);
    }
    return status;
}

armilla_status armilla_start_from_row(armilla_problem *p, const armilla_start *start, uint64_t seed)
{
    begin_start(p, false, false);
    memset(p->U_next, 0, (size_t)(p->m * p->r) * sizeof *p->U_next);
    armilla_status status = start->make(p, seed, p->U_next);
    if (status == ARMILLA_OK) status = make_feasible(p, seed);
    if (status == ARMILLA_OK && has_free_signs(p)) status = choose_signs(p);
    return status == ARMILLA_OK ? finish(p, first_codes, 0) : status;
}

/* With signs only where it does not do without: they cost another sweep. */
armilla_status armilla_start_at_once(armilla_problem *p, const armilla_start *start, uint64_t seed)
{
    begin_start(p, false, false);
    memset(p->U_next, 0, (size_t)(p->m * p->r) * sizeof *p->U_next);
    armilla_call_uninterrupted_enter(p->context);
    armilla_status status = start->make(p, seed, p->U_next);
    if (status == ARMILLA_OK) status = make_feasible(p, seed);
    if (status == ARMILLA_OK) status = finish(p, first_codes, 0);
    if (status == ARMILLA_BAD_DATA && has_free_signs(p)) {
        status = choose_signs(p);
        if (status == ARMILLA_OK) status = finish(p, first_codes, 0);
    }
    armilla_call_uninterrupted_leave(p->context);
    return status;
}

/* A basis that is feasible already is kept to the last bit. */
static armilla_status take_basis(armilla_problem *p, const double *U)
{
    const double slack = 30 * sqrt((double)p->m) * armilla_epsilon(p->options.type);
    const int64_t count = p->m * p->r;
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(U[i]))
            return armilla_fail(p->context, ARMILLA_BAD_DATA, "the given start has a value that is not finite");
    memcpy(p->U_next, U, (size_t)count * sizeof *U);
    if (p->options.basis->violation(p->m, p->r, U) > (p->options.basis->scalable ? 0 : slack))
        return make_feasible(p, 0);
    armilla_problem_set_basis(p, p->U_next, NULL);
    return ARMILLA_OK;
}

armilla_status armilla_start_from_basis(armilla_problem *p, const double *U)
{
    armilla_status status = take_basis(p, U);
    begin_start(p, true, false);
    armilla_call_uninterrupted_enter(p->context);
    if (status == ARMILLA_OK && has_free_signs(p)) status = choose_signs(p);
    if (status == ARMILLA_OK) status = finish(p, first_codes, 0);
    armilla_call_uninterrupted_leave(p->context);
    return status;
}

armilla_status armilla_start_from_sketch(armilla_problem *p, const double *U, double radius)
{
    const armilla_status status = take_basis(p, U);
    begin_start(p, false, true);
    return status == ARMILLA_OK ? finish(p, first_codes, radius) : status;
}

armilla_status armilla_start_from_codes(armilla_problem *p, const double *U, const void *V, double radius)
{
    const armilla_status status = take_basis(p, U);
    begin_start(p, true, false);
    if (status != ARMILLA_OK) return status;
    const size_t code = (size_t)p->r * armilla_type_size(p->options.type);
    memcpy((char *)p->W + (size_t)p->share.first * code, V, (size_t)(p->share.last - p->share.first) * code);
    return finish(p, given_codes, radius);
}
