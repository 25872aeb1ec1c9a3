/* kmeans++ with the cosine metric: samples drawn one after the other, with probability proportional to 1 - max cos to
 * those drawn before. One pass over X per atom. */
#include "start/start.h"

#include "base/random.h"

#include <math.h>

typedef struct seeding {
    armilla_problem *problem;
    armilla_sweep *sweep; /* of rank 1 */
    double *closest;      /* per sample the largest cosine so far; at first -1 */
    double *atom;         /* the newest, of unit length */
    void *typed;
} seeding;

static void note_cosines(void *self, const armilla_code_panel *panel)
{
    const seeding *s = self;
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t sample = panel->first + j;
        const double length = sqrt(s->problem->squared_norms[sample]);
        if (length > 0) s->closest[sample] = fmax(s->closest[sample], panel->C[j] / length);
        panel->W[j] = 0; /* no codes come of this pass */
    }
}

static double chance(const seeding *s, int64_t sample)
{
    return s->problem->squared_norms[sample] > 0 ? fmax(1 - s->closest[sample], 0) : 0;
}

/* The sample at fraction `uniform` of the total chance, or -1 where every sample is one of the atoms' directions. */
static int64_t draw(const seeding *s, double uniform)
{
    double total = 0, passed = 0;
    int64_t last = -1;
    for (int64_t j = 0; j < s->problem->n; j++) total += chance(s, j);
    if (total <= (double)s->problem->n * 4 * armilla_epsilon(s->problem->options.type)) return -1;
    for (int64_t j = 0; j < s->problem->n; j++) {
        const double own = chance(s, j);
        if (own <= 0) continue;
        last = j;
        passed += own;
        if (passed >= uniform * total) break;
    }
    return last;
}

/* Atom k: the drawn sample, scaled to unit length; then what it does to the cosines. */
static armilla_status add_atom(seeding *s, int64_t sample, double *u)
{
    const armilla_problem *p = s->problem;
    armilla_status status = armilla_data_column(p->context, p->X, p->options.type, sample, u);
    if (status != ARMILLA_OK) return status;
    const double length = armilla_norm(p->m, u);
    for (int64_t i = 0; i < p->m; i++) u[i] /= length;
    armilla_store(p->options.type, p->m, u, s->typed);
    const armilla_sweep_plan plan = {.U = s->typed, .step = note_cosines, .self = s};
    return armilla_sweep_run(s->sweep, &plan);
}

static armilla_status make(armilla_problem *problem, uint64_t seed, double *U)
{
    armilla_context *context = problem->context;
    seeding s = {.problem = problem};
    armilla_status status = armilla_take(context, problem->n, sizeof *s.closest, &s.closest);
    if (status == ARMILLA_OK)
        status = armilla_take(context, problem->m, armilla_type_size(problem->options.type), &s.typed);
    if (status == ARMILLA_OK)
        status =
            armilla_sweep_new(context, problem->X, problem->options.type, 1, 0, problem->options.threads, &s.sweep);
    for (int64_t j = 0; j < problem->n && status == ARMILLA_OK; j++) s.closest[j] = -1;
    for (int64_t k = 0; k < problem->r && status == ARMILLA_OK; k++) {
        const int64_t sample = draw(&s, armilla_random_uniform(seed, ARMILLA_STREAM_SAMPLES, (uint64_t)k));
        if (sample < 0) break;
        status = add_atom(&s, sample, U + k * problem->m);
    }
    if (s.sweep) problem->extra_sweeps += armilla_sweep_count(s.sweep);
    armilla_sweep_free(s.sweep);
    armilla_release(context, s.typed);
    armilla_release(context, s.closest);
    return status;
}

const armilla_start armilla_start_kmeans = {
    .name = "kmeans++",
    .meaning = "samples far apart in angle, drawn by cosine kmeans++",
    .make = make,
};
