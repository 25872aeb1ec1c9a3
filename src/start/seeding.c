/* Seedings side by side: each step draws candidates for every try from its distances, and one pass over X tells what
 * each candidate would leave of them. */
#include "start/seeding.h"

#include "base/size.h"
#include "data/column.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* Candidates of all tries that share a pass, which bounds what is kept of them; and of one draw at most. */
enum { MOST_COLUMNS = 16, MOST_CANDIDATES = 8 };

/* Tries first ... first+tries-1 of the seeding. */
typedef struct batch {
    armilla_seeding *seeding;
    int64_t m, n, first, tries, candidates; /* of a draw */
    int64_t step;                           /* samples that every try has */
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
static double floor_of(const armilla_seeding *s, int64_t sample)
{
    return 16 * armilla_epsilon(s->work) * (s->angle ? 1 : s->squared_norms[sample]);
}

static double chance(const batch *b, int64_t attempt, int64_t sample)
{
    const armilla_seeding *s = b->seeding;
    if (!eligible(s, sample)) return 0;
    if (b->step == 0) return 1;
    const double distance = b->distances[sample * b->tries + attempt];
    return distance > floor_of(s, sample) ? distance : 0;
}

/* The sample at that fraction of the total chance, or -1 where no place is left. */
static int64_t draw(const batch *b, int64_t attempt, double total, double uniform)
{
    double passed = 0;
    int64_t last = -1;
    for (int64_t j = 0; j < b->n; j++) {
        const double own = chance(b, attempt, j);
        if (own <= 0) continue;
        last = j;
        passed += own;
        if (passed >= uniform * total) break;
    }
    return last;
}

/* Candidate c, in the working type. */
static void take_candidate(void *self, int64_t c, double *column)
{
    batch *b = self;
    const armilla_seeding *s = b->seeding;
    char *typed = (char *)b->typed + (size_t)(c * b->m) * armilla_type_size(s->work);
    const double length = s->angle ? armilla_norm(b->m, column) : 1;
    for (int64_t i = 0; i < b->m; i++) column[i] /= length;
    armilla_store(s->work, b->m, column, typed);
    armilla_fetch(s->work, b->m, typed, column);
    b->squares[c] = armilla_dot(b->m, column, column);
}

/* The candidates of this step. */
static armilla_status draw_candidates(batch *b)
{
    const armilla_seeding *s = b->seeding;
    const int64_t columns = b->tries * b->candidates;
    for (int64_t c = 0; c < columns; c++) {
        const int64_t attempt = c / b->candidates, place = (s->first + b->first + attempt) * s->count + b->step;
        const uint64_t index = (uint64_t)place + (uint64_t)(c % b->candidates) * ((uint64_t)1 << 40);
        double total = 0;
        for (int64_t j = 0; j < b->n; j++) total += chance(b, attempt, j);
        b->drawn[c] = draw(b, attempt, total, armilla_random_uniform(s->seed, s->stream, index));
    }
    return armilla_data_visit(s->context, &(armilla_gathering){s->X, s->work, columns, b->drawn, take_candidate, b});
}

/* What each candidate leaves of the distances; tallied is the sum. */
static void measure(void *self, const armilla_code_panel *panel)
{
    const batch *b = self;
    const armilla_seeding *s = b->seeding;
    const int64_t columns = panel->r;
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t sample = panel->first + j;
        const double own = s->squared_norms[sample], length = sqrt(own);
        for (int64_t c = 0; c < columns; c++) {
            const double product = panel->C[j * columns + c];
            const double plain = s->angle ? 1 - (length > 0 ? product / length : 1) : own - 2 * product + b->squares[c];
            double distance = fmax(plain, 0);
            if (b->step > 0) distance = fmin(distance, b->distances[sample * b->tries + c / b->candidates]);
            b->found[sample * columns + c] = distance;
            panel->tally[c] += distance;
        }
    }
}

/* Of each try's candidates the best, the first of equals: its sample, and its distances. */
static void choose(batch *b, int64_t *chosen)
{
    const int64_t columns = b->tries * b->candidates;
    const double *left = armilla_sweep_tally(b->sweep);
    for (int64_t attempt = 0; attempt < b->tries; attempt++) {
        const int64_t first = attempt * b->candidates;
        int64_t best = first;
        for (int64_t c = first; c < first + b->candidates; c++)
            if (b->drawn[c] >= 0 && left[c] < left[best]) best = c;
        chosen[(b->first + attempt) * b->seeding->count + b->step] = b->drawn[best];
        for (int64_t j = 0; j < b->n && b->drawn[best] >= 0; j++)
            b->distances[j * b->tries + attempt] = b->found[j * columns + best];
    }
}

static armilla_status take(batch *b)
{
    const armilla_seeding *s = b->seeding;
    const int64_t columns = b->tries * b->candidates;
    armilla_status status = armilla_sweep_new_assigning(s->context, s->X, s->work, columns, columns, &b->sweep);
    if (status == ARMILLA_OK) status = armilla_take(s->context, b->m * columns, armilla_type_size(s->work), &b->typed);
    if (status == ARMILLA_OK) status = armilla_take(s->context, columns, sizeof *b->squares, &b->squares);
    if (status == ARMILLA_OK) status = armilla_take(s->context, columns, sizeof *b->drawn, &b->drawn);
    if (status == ARMILLA_OK) status = armilla_take(s->context, b->n * b->tries, sizeof *b->distances, &b->distances);
    if (status == ARMILLA_OK) status = armilla_take(s->context, b->n * columns, sizeof *b->found, &b->found);
    return status;
}

static void release(batch *b)
{
    armilla_context *context = b->seeding->context;
    armilla_release(context, b->found);
    armilla_release(context, b->distances);
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

armilla_status armilla_seed_samples(armilla_seeding *seeding, int64_t *chosen)
{
    const double wanted = seeding->greedy ? 2 + floor(log((double)seeding->count)) : 1;
    const int64_t candidates = armilla_min64((int64_t)wanted, MOST_CANDIDATES), most = MOST_COLUMNS / candidates;
    armilla_status status = ARMILLA_OK;
    for (int64_t first = 0; first < seeding->tries && status == ARMILLA_OK; first += most) {
        batch b = {.seeding = seeding,
                   .m = seeding->X->m,
                   .n = seeding->X->n,
                   .first = first,
                   .tries = armilla_min64(most, seeding->tries - first),
                   .candidates = candidates};
        status = run_batch(&b, chosen);
    }
    return status;
}
