/* The decisions of solver `fast`. */
#include "solve/policy.h"

#include "base/ranks.h"
#include "base/size.h"

#include <math.h>

#define FIRST_BETA 0.5
#define MOST_BETA 3.0
#define BETA_GROWTH 1.1

void armilla_momentum_begin(armilla_momentum *momentum)
{
    momentum->beta = FIRST_BETA;
}

void armilla_momentum_accept(armilla_momentum *momentum)
{
    momentum->beta = fmin(momentum->beta * BETA_GROWTH, MOST_BETA);
}

void armilla_momentum_reject(armilla_momentum *momentum)
{
    momentum->beta /= 2;
}

/* Measured at r = 10, s = 3: four sweeps lead to as good minima as fifteen, which take longer than the iterations. */
int64_t armilla_continuation_sweeps(int64_t r, int64_t s)
{
    const int64_t least = 4, half = (r - s + 1) / 2;
    return half < least ? least : half < ARMILLA_CONTINUATION_SWEEPS ? half : ARMILLA_CONTINUATION_SWEEPS;
}

int64_t armilla_continuation_sparsity(int64_t r, int64_t s, int64_t sweep)
{
    const int64_t sweeps = armilla_continuation_sweeps(r, s);
    if (sweep >= sweeps - 1) return s;
    const double along = (double)sweep / (double)(sweeps - 1);
    return s + (int64_t)ceil((1 - along) * (double)(r - s));
}

#define SLOW_FALL 1e-3

/* Few at first: with codes that run ahead of the basis, as with a basis that runs ahead of the codes, the minimum at
 * the end is a worse one. More where the way down has become slow. */
int armilla_code_steps(double fall)
{
    return fall < SLOW_FALL ? 10 : 6;
}

#define ONE_LENGTH 1.1

static bool is_one_length(double spread)
{
    return spread > 0 && spread <= ONE_LENGTH;
}

/* Measured: one pass limits the progress of a sweep, and further ones cost little beside it; but five fit U closely to codes
 * that have hardly moved, and on a sphere, from starts whose atoms mean something, three do already. */
int armilla_basis_passes(const armilla_code_set *codes, double spread, bool meaningless)
{
    const bool gains = codes->spherical ? meaningless && is_one_length(spread) : codes->descends;
    return gains ? 3 : 1;
}

/* An axis e_k is a local minimum of g wherever H_jk >= d_j for all j: where a sample is short beside l*U nearly every axis
 * is one, and no descent leaves it. Samples of one length are not short. */
bool armilla_descent_suffices(const armilla_code_set *codes, double spread)
{
    return codes->spherical && codes->nonnegative && !codes->sparse && is_one_length(spread);
}

bool armilla_pair_eases(const armilla_basis_set *basis, const armilla_code_set *codes, int64_t s)
{
    return !basis->exact && !armilla_pair_assigns(basis, codes, s);
}

/* Measured on ranks 10 to 40 and sparsities 2 to 8, within a factor of two. */
#define SOLVED_PAIR 1.2e-7

double armilla_codes_seconds(const armilla_basis_set *basis, const armilla_code_set *codes, int64_t r, int64_t s)
{
    const bool cheap = basis->gram_is_identity || codes->solves_cheaply(r, s);
    return cheap ? 0 : SOLVED_PAIR * (double)(r * r) * (1 + (codes->sparse ? (double)s : 0));
}

#define VERY_SLOW_FALL 1e-4
#define FIRST_WAIT 4
#define THOROUGH_WAIT 12

void armilla_polish_begin(armilla_polish *polish, bool descent_suffices)
{
    *polish = (armilla_polish){
        .slow = descent_suffices ? VERY_SLOW_FALL : SLOW_FALL, .last = -FIRST_WAIT, .wait = FIRST_WAIT};
}

bool armilla_polish_due(const armilla_polish *polish, int64_t iteration, double fall)
{
    return (double)(iteration - polish->last) >= polish->wait && fall < polish->slow;
}

void armilla_polish_done(armilla_polish *polish, int64_t iteration, double fall)
{
    const bool little = fall < polish->slow;
    polish->last = iteration;
    polish->wait = little && polish->thorough ? 2 * polish->wait : little ? THOROUGH_WAIT : FIRST_WAIT;
    polish->thorough = little;
}

void armilla_revival_begin(armilla_revival *revival)
{
    *revival = (armilla_revival){.due = 0, .wait = 1};
}

bool armilla_revival_due(const armilla_revival *revival, int64_t iteration)
{
    return iteration >= revival->due;
}

void armilla_revival_done(armilla_revival *revival, int64_t iteration)
{
    revival->due = iteration + revival->wait;
    revival->wait *= 2;
}

void armilla_revival_failed(armilla_revival *revival, int64_t samples)
{
    revival->passed += samples;
}

void armilla_revival_moved(armilla_revival *revival)
{
    revival->passed = 0;
}

/* A sample and its misfit; -1: none. */
typedef struct worst {
    double square;
    int64_t sample;
} worst;

static void keep_worse(void *left, const void *right)
{
    worst *own = left;
    const worst *other = right;
    const bool first = other->square == own->square && other->sample < own->sample && other->sample >= 0;
    if (other->square > own->square || first) *own = *other;
}

armilla_status armilla_misfit_take(const armilla_misfit *misfit, int64_t *sample)
{
    worst found = {.square = 0, .sample = -1};
    for (int64_t j = misfit->share.first; j < misfit->share.last; j++) {
        const double square = misfit->squares[j];
        if (square > found.square && (!misfit->counts || misfit->counts(misfit->self, j, square)))
            found = (worst){square, j};
    }
    const armilla_status status = armilla_ranks_combine(misfit->context, ARMILLA_OK, &found, sizeof found, keep_worse);
    if (status != ARMILLA_OK) return status;
    *sample = found.sample;
    if (found.sample >= misfit->share.first && found.sample < misfit->share.last) misfit->squares[found.sample] = 0;
    return ARMILLA_OK;
}

armilla_status armilla_misfit_share(const armilla_misfit *misfit, int64_t r, const double *sizes, int64_t stride,
                                    int64_t *samples, int64_t *count)
{
    armilla_status status = ARMILLA_OK;
    *count = 0;
    for (int64_t k = 0; k < r && status == ARMILLA_OK; k++) {
        samples[k] = -1;
        if (sizes[k * stride] == 0) status = armilla_misfit_take(misfit, &samples[k]);
        *count += samples[k] >= 0;
    }
    return status;
}

/* Measured: a basis that is not orthonormal with codes that are not the whole sphere ends in minima of all heights,
 * unless the codes are those of NMF: there three starts end within a thousandth of each other. */
armilla_landscape armilla_pair_landscape(const armilla_basis_set *basis, const armilla_code_set *codes)
{
    if (armilla_pair_is_pca(basis, codes)) return ARMILLA_GLOBAL;
    const bool whole = !(codes->nonnegative || codes->sparse);
    if (whole && codes->spherical && basis->gram_is_identity && basis->is_signed) return ARMILLA_SUBSPACE;
    if (basis->gram_is_identity || whole) return ARMILLA_CLOSED;
    return codes->descends ? ARMILLA_CONVEX : ARMILLA_LOCAL_MINIMA;
}

#define LEAST_SKETCH 1000
#define SKETCH_PER_ATOM 50
#define SKETCH_SHARE 5 /* of n a sketch has at most the fifth part */
#define LEAD_SHARE 2   /* one for a single start the half */
#define LEAST_SCREENED_STARTS 3
#define SKETCH_ITERATIONS 20
#define CONVEX_ITERATIONS 40 /* of one start, for what three of the others cost */
/* Starts that are halved on all data, about as good as the best of ten that converge, and the products of an iteration up
 * to which that takes little. What those side by side need, an assignment for each sample and a basis for each start,
 * stays in a cache of the last level; starts of which few fit there, and take the longest, are fewer. */
#define HALVED_STARTS 16
#define FEWER_STARTS 8
#define HALVED_PRODUCTS 5e7
#define HALVED_ASSIGNMENTS (1 << 22)
#define HALVED_CENTERS (1 << 20)

armilla_sketch_plan armilla_sketch_decide(armilla_landscape landscape, int64_t n, int64_t r, double density,
                                          int64_t restarts)
{
    const bool many_minima = landscape == ARMILLA_LOCAL_MINIMA, convex = landscape == ARMILLA_CONVEX;
    /* Any sketch decides which of many local minima is found. A sketch that is only a head start must have seen enough
     * of every feature, or what it leads to is no better than the start: samples of few entries count for less. For a
     * subspace that decides whether there is one; a plain one is enough then. */
    const bool leads = convex || (landscape == ARMILLA_SUBSPACE && restarts == 1);
    const int64_t most = n / SKETCH_SHARE;
    const double plain = fmax(LEAST_SKETCH, SKETCH_PER_ATOM * (double)r);
    const double thin = fmax(LEAST_SKETCH, SKETCH_PER_ATOM * (double)r / (leads ? density : 1));
    const double samples = landscape == ARMILLA_SUBSPACE ? plain : thin;
    return (armilla_sketch_plan){
        .samples = landscape != ARMILLA_GLOBAL && thin <= (double)most ? (int64_t)ceil(samples) : 0,
        .starts = many_minima && restarts < LEAST_SCREENED_STARTS ? LEAST_SCREENED_STARTS : restarts,
        .kept = 1 + restarts / 4,
        .iterations = convex ? CONVEX_ITERATIONS : SKETCH_ITERATIONS,
    };
}

armilla_sketch_plan armilla_sketch_lead(int64_t n, int64_t r, double density)
{
    const double wanted = fmax(LEAST_SKETCH, SKETCH_PER_ATOM * (double)r / density);
    const int64_t most = n / LEAD_SHARE;
    return (armilla_sketch_plan){
        .samples = wanted <= (double)most ? (int64_t)ceil(wanted) : 0,
        .starts = 1,
        .kept = 1,
        .iterations = SKETCH_ITERATIONS,
    };
}

armilla_sketch_plan armilla_sketch_halve(const armilla_few_data *data, int64_t restarts, int64_t max_iter)
{
    const double products = ((double)data->stored + (double)data->m + (double)data->n) * (double)data->r;
    const int64_t fitting = armilla_min64(HALVED_ASSIGNMENTS / data->n, HALVED_CENTERS / data->m / data->r);
    const int64_t starts = armilla_max64(restarts, fitting >= FEWER_STARTS ? HALVED_STARTS : FEWER_STARTS);
    return (armilla_sketch_plan){
        .samples = products <= HALVED_PRODUCTS ? data->n : 0,
        .starts = starts,
        .kept = 1 + restarts / 4,
        .iterations = max_iter,
        .together = armilla_max64(1, armilla_min64(starts, fitting)),
    };
}
