/* Seedings side by side: each step draws candidates for every try from its distances, and one pass over X tells what
 * each candidate would leave of them. */
#include "start/seeding.h"

#include "base/ranks.h"
#include "base/size.h"
#include "data/column.h"
#include "data/slots.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* Candidates of all tries that share a pass: more where the samples are few, which bounds what is kept of them. */
enum { MOST_COLUMNS = 16, COLUMNS_OF_FEW = 48, FEW_NUMBERS = 1 << 20 };

/* Tries first ... first+tries-1 of the seeding. */
typedef struct batch {
    armilla_seeding *seeding;
    int64_t m, first, tries, candidates; /* of a draw */
    int64_t step;                        /* samples that every try has */
    armilla_slots slots;
    int64_t own_first, own_last; /* the slots of this rank */
    double rounding;             /* of a distance beside a squared length */
    double *totals;              /* slots x tries: what the samples have of the chance of the next draw */
    armilla_sweep *sweep;
    void *typed;       /* m x (tries*candidates): the candidates, of unit length by angle */
    double *squares;   /* their squared lengths there */
    int64_t *drawn;    /* tries*candidates sample numbers, -1: none */
    double *distances; /* tries x n: of each sample to the nearest that its try has */
    double *found;     /* (tries*candidates) x n: the same with each candidate */
} batch;

/* By angle a sample without a direction is equally far from everything, and is never drawn. */
static bool eligible(const armilla_seeding *s, int64_t sample)
{
    return !s->angle || s->squared_norms[sample] > 0;
}

/* Distances that are rounding. */
static double floor_of(const batch *b, int64_t sample)
{
    const armilla_seeding *s = b->seeding;
    return b->rounding * (s->angle ? 1 : s->squared_norms[sample]);
}

static double chance(const batch *b, int64_t attempt, int64_t sample)
{
    if (!eligible(b->seeding, sample)) return 0;
    if (b->step == 0) return 1;
    const double distance = b->distances[sample * b->tries + attempt];
    return distance > floor_of(b, sample) ? distance : 0;
}

/* What a sample adds to the totals of all tries. */
static void add_chances(const batch *b, int64_t sample, double *totals)
{
    const double *distances = b->distances + sample * b->tries, least = floor_of(b, sample);
    for (int64_t attempt = 0; attempt < b->tries; attempt++)
        totals[attempt] += distances[attempt] > least ? distances[attempt] : 0;
}

/* The sums over slots for each try, of which each rank makes its own. A sum of sums, so that its rounding does not depend on
 * ranks either. */
static armilla_status find_totals(batch *b)
{
    const int64_t bytes = b->tries * (int64_t)sizeof *b->totals;
    for (int64_t s = b->own_first; s < b->own_last; s++) {
        double *totals = b->totals + s * b->tries;
        memset(totals, 0, (size_t)bytes);
        for (int64_t j = b->slots.first_of[s]; j < b->slots.first_of[s + 1]; j++) {
            if (!eligible(b->seeding, j)) continue;
            if (b->step > 0) add_chances(b, j, totals);
            for (int64_t attempt = 0; attempt < b->tries && b->step == 0; attempt++) totals[attempt] += 1;
        }
    }
    const armilla_byte_range range = {b->totals, b->own_first * bytes, b->own_last * bytes, b->slots.count * bytes,
                                      .all = true};
    return armilla_ranks_gather(b->seeding->context, ARMILLA_OK, &range);
}

/* The slot of the sample at that fraction of the total chance, the last one with a chance where rounding leaves none, or
 * -1; and what is passed before it. */
static int64_t find_slot(const batch *b, int64_t attempt, double uniform, double *wanted, double *passed)
{
    const double *totals = b->totals + attempt;
    double total = 0, before = 0;
    int64_t found = -1;
    for (int64_t s = 0; s < b->slots.count; s++) total += totals[s * b->tries];
    *wanted = uniform * total;
    for (int64_t s = 0; s < b->slots.count; s++) {
        if (totals[s * b->tries] <= 0) continue;
        found = s;
        *passed = before;
        before += totals[s * b->tries];
        if (before >= *wanted) break;
    }
    return found;
}

/* The sample at that fraction of the total chance, or -1 where no place is left: the same on all ranks. */
static int64_t draw(const batch *b, int64_t attempt, double uniform)
{
    double wanted = 0, passed = 0;
    int64_t last = -1;
    const int64_t slot = find_slot(b, attempt, uniform, &wanted, &passed);
    if (slot < b->own_first || slot >= b->own_last) return -1;
    for (int64_t j = b->slots.first_of[slot]; j < b->slots.first_of[slot + 1]; j++) {
        const double own = chance(b, attempt, j);
        if (own <= 0) continue;
        last = j;
        passed += own;
        if (passed >= wanted) break;
    }
    return last;
}

/* What each rank has drawn, -1 where that was another's. */
static void keep_drawn(void *left, const void *right)
{
    int64_t *own = left;
    const int64_t *other = right;
    for (int64_t c = 0; c < ARMILLA_MOST_CANDIDATES; c++) own[c] = armilla_max64(own[c], other[c]);
}

/* Candidates of a try, drawn by the ranks that have them. */
static armilla_status draw_for(batch *b, int64_t attempt, int64_t *drawn)
{
    const armilla_seeding *s = b->seeding;
    const int64_t place = (s->first + b->first + attempt) * s->count + b->step;
    int64_t found[ARMILLA_MOST_CANDIDATES];
    for (int64_t c = 0; c < ARMILLA_MOST_CANDIDATES; c++) {
        const uint64_t index = (uint64_t)place + (uint64_t)c * ((uint64_t)1 << 40);
        found[c] = c < b->candidates ? draw(b, attempt, armilla_random_uniform(s->seed, s->stream, index)) : -1;
    }
    const armilla_status status = armilla_ranks_combine(s->context, ARMILLA_OK, found, sizeof found, keep_drawn);
    memcpy(drawn, found, (size_t)b->candidates * sizeof *drawn);
    return status;
}

/* Candidate c, in the working type. */
static void take_candidate(void *self, int64_t c, double *column)
{
    batch *b = self;
    const armilla_seeding *s = b->seeding;
    char *typed = (char *)b->typed + (size_t)(c * b->m) * armilla_type_size(s->work);
    if (s->angle) (void)armilla_make_unit(b->m, column);
    armilla_store(s->work, b->m, column, typed);
    armilla_fetch(s->work, b->m, typed, column);
    b->squares[c] = armilla_dot(b->m, column, column);
}

/* The candidates of this step. */
static armilla_status draw_candidates(batch *b)
{
    const armilla_seeding *s = b->seeding;
    const int64_t columns = b->tries * b->candidates;
    armilla_status status = find_totals(b);
    for (int64_t attempt = 0; attempt < b->tries && status == ARMILLA_OK; attempt++)
        status = draw_for(b, attempt, b->drawn + attempt * b->candidates);
    if (status != ARMILLA_OK) return status;
    return armilla_data_visit(s->context, &(armilla_gathering){s->X, s->work, columns, b->drawn, take_candidate, b});
}

/* A distance that is less than 0 by rounding, or than what was there before; calls of fmin would be no vectors. */
static inline double clip(double distance, double most)
{
    const double least = distance > 0 ? distance : 0;
    return least < most ? least : most;
}

/* The distances of a sample to all candidates. */
static void find_distances(const batch *b, const double *products, int64_t sample, double *distances)
{
    const armilla_seeding *s = b->seeding;
    const double own = s->squared_norms[sample];
    const int64_t columns = b->tries * b->candidates;
    if (!s->angle) {
        for (int64_t c = 0; c < columns; c++) distances[c] = own - 2 * products[c] + b->squares[c];
    } else if (own > 0) {
        const double length = sqrt(own);
        for (int64_t c = 0; c < columns; c++) distances[c] = 1 - products[c] / length;
    } else
        memset(distances, 0, (size_t)columns * sizeof *distances);
}

/* What each candidate leaves of the distances; tallied is the sum. */
static void measure(void *self, const armilla_code_panel *panel)
{
    const batch *b = self;
    const int64_t columns = panel->r;
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t sample = panel->first + j;
        double *found = b->found + sample * columns;
        find_distances(b, panel->C + j * columns, sample, found);
        for (int64_t attempt = 0; attempt < b->tries; attempt++) {
            const double before = b->step > 0 ? b->distances[sample * b->tries + attempt] : INFINITY;
            double *own = found + attempt * b->candidates, *tally = panel->tally + attempt * b->candidates;
            for (int64_t c = 0; c < b->candidates; c++) {
                own[c] = clip(own[c], before);
                tally[c] += own[c];
            }
        }
    }
}

/* Chooses the best of each try's candidates, the first of equals: its sample, and its distances. */
static void choose(batch *b, int64_t *chosen)
{
    const int64_t columns = b->tries * b->candidates;
    const double *left = armilla_sweep_tally(b->sweep);
    const int64_t own_first = b->slots.first_of[b->own_first], own_last = b->slots.first_of[b->own_last];
    for (int64_t attempt = 0; attempt < b->tries; attempt++) {
        const int64_t first = attempt * b->candidates;
        int64_t best = first;
        for (int64_t c = first; c < first + b->candidates; c++)
            if (b->drawn[c] >= 0 && left[c] < left[best]) best = c;
        chosen[(b->first + attempt) * b->seeding->count + b->step] = b->drawn[best];
        for (int64_t j = own_first; j < own_last && b->drawn[best] >= 0; j++)
            b->distances[j * b->tries + attempt] = b->found[j * columns + best];
    }
}

static armilla_status take(batch *b)
{
    const armilla_seeding *s = b->seeding;
    const int64_t columns = b->tries * b->candidates;
    const armilla_samples share = armilla_data_share(s->context, s->X);
    armilla_status status = armilla_sweep_new_assigning(s->context, s->X, s->work, columns, columns, &b->sweep);
    if (status == ARMILLA_OK) status = armilla_take(s->context, b->m * columns, armilla_type_size(s->work), &b->typed);
    if (status == ARMILLA_OK) status = armilla_take(s->context, columns, sizeof *b->squares, &b->squares);
    if (status == ARMILLA_OK) status = armilla_take(s->context, columns, sizeof *b->drawn, &b->drawn);
    if (status == ARMILLA_OK)
        status = armilla_take(s->context, b->slots.count * b->tries, sizeof *b->totals, &b->totals);
    if (status == ARMILLA_OK)
        status = armilla_samples_take(s->context, &share, b->tries, sizeof *b->distances, &b->distances);
    if (status == ARMILLA_OK) status = armilla_samples_take(s->context, &share, columns, sizeof *b->found, &b->found);
    return status;
}

static void release(batch *b)
{
    armilla_context *context = b->seeding->context;
    armilla_release(context, b->found);
    armilla_release(context, b->distances);
    armilla_release(context, b->totals);
    armilla_release(context, b->drawn);
    armilla_release(context, b->squares);
    armilla_release(context, b->typed);
    armilla_sweep_free(b->sweep);
}

static armilla_status run_batch(batch *b, int64_t *chosen)
{
    armilla_status status = take(b);
    const armilla_sweep_plan plan = {.U = b->typed, .tally = b->tries * b->candidates, .step = measure, .self = b};
    for (b->step = 0; b->step < b->seeding->count && status == ARMILLA_OK; b->step++) {
        armilla_call_step(b->seeding->context, b->first * b->seeding->count + b->step,
                          b->seeding->tries * b->seeding->count);
        status = draw_candidates(b);
        if (status == ARMILLA_OK) status = armilla_sweep_run(b->sweep, &plan);
        if (status != ARMILLA_OK) break;
        b->seeding->passes++;
        choose(b, chosen);
    }
    release(b);
    return status;
}

int64_t armilla_greedy_candidates(int64_t count)
{
    return armilla_min64((int64_t)(2 + floor(log((double)count))), ARMILLA_MOST_CANDIDATES);
}

armilla_status armilla_seed_samples(armilla_seeding *seeding, int64_t *chosen)
{
    const int64_t candidates = seeding->candidates;
    const int64_t columns = seeding->X->n <= FEW_NUMBERS / COLUMNS_OF_FEW ? COLUMNS_OF_FEW : MOST_COLUMNS;
    const int64_t most = columns / candidates;
    armilla_status status = ARMILLA_OK;
    for (int64_t first = 0; first < seeding->tries && status == ARMILLA_OK; first += most) {
        batch b = {.seeding = seeding,
                   .m = seeding->X->m,
                   .first = first,
                   .tries = armilla_min64(most, seeding->tries - first),
                   .candidates = candidates,
                   .rounding = 16 * armilla_epsilon(seeding->work)};
        armilla_slots_find(seeding->X, &b.slots);
        armilla_slots_own(seeding->context, &b.slots, &b.own_first, &b.own_last);
        status = run_batch(&b, chosen);
    }
    return status;
}
