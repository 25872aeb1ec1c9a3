/* Successive halving of starts of Lloyd's iteration (docs/algorithm.md#screening). The centres of all starts are one basis, so that a
 * step of all of them is one pass over X and one product with many atoms, at the speed of a matrix product, where a step
 * of one start alone is mostly overhead. After a few steps most of what decides which local minimum is the lowest is
 * known: three eighths of the starts go on, then an eighth. */
#include "start/start.h"

#include "base/size.h"
#include "linalg/code_kernels.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* Steps after which starts are compared, and what part of them goes on then: eighths. */
static const struct round {
    int64_t steps, eighths;
} rounds[] = {{3, 3}, {8, 1}, {16, 0}};

enum {
    ROUNDS = sizeof rounds / sizeof rounds[0],
    FEW_CHANGES = 3 /* parts of the assignments of which one changes: sums are changed then rather than made anew */
};

/* Counters of a start. */
enum { CROSS, MOVED, COUNTERS };

/* Starts side by side. */
typedef struct contest {
    const armilla_halving *halving;
    armilla_problem *problem;
    armilla_sweep *sweep;
    int64_t starts;     /* that are left, */
    int64_t *number;    /* their numbers, before those of the others; */
    double *U;          /* bases: m x (r*starts), the next ones after a step, */
    double *l;          /* radii, */
    double *h;          /* and objectives, infinite for those without a radius */
    double *U_next, *A; /* m x (r*starts): XW' of the assignments */
    double moved;       /* of these, by the last step */
    void *typed;        /* U in the working type */
    double *squares, *offsets;
    int32_t *atoms, *before; /* starts x n: assignments, and the place of the next */
    int64_t steps;
} contest;

static int64_t atoms_of(const contest *c)
{
    return c->starts * c->problem->r;
}

/* The nearest centre of each start, <C,W> and how many samples have changed theirs. */
static void assign(void *self, const armilla_code_panel *panel)
{
    const contest *c = self;
    const int64_t r = c->problem->r;
    const armilla_code_kernels *kernels = armilla_code_kernels_for(c->problem->context);
    for (int64_t start = 0; start < c->starts; start++) {
        const double *C = panel->C + start * r;
        int32_t *atoms = panel->assignments + start * panel->assignment_stride;
        double *tally = panel->tally + start * COUNTERS;
        const int32_t *before = c->before + start * panel->assignment_stride + panel->first;
        kernels->nearest(r, panel->count, C, panel->r, c->offsets + start * r, 2 * c->l[start], atoms);
        for (int64_t j = 0; j < panel->count; j++) {
            tally[CROSS] += C[j * panel->r + atoms[j]];
            atoms[j] += (int32_t)(start * r);
            tally[MOVED] += atoms[j] != before[j];
        }
    }
}

/* Centres first ... last-1 in the working type, with their squared lengths there. */
static void store_some(void *self, int64_t first, int64_t last)
{
    const contest *c = self;
    const armilla_type type = c->problem->options.type;
    const int64_t m = c->problem->m;
    for (int64_t k = first; k < last; k++) {
        void *typed = (char *)c->typed + (size_t)(k * m) * armilla_type_size(type);
        const double l = c->l[k / c->problem->r];
        armilla_store(type, m, c->U + k * m, typed);
        armilla_fetch(type, m, typed, c->U + k * m);
        c->squares[k] = armilla_dot(m, c->U + k * m, c->U + k * m);
        c->offsets[k] = l * l * c->squares[k];
    }
}

/* Centres first ... last-1 of the next become the means of their samples; one without any stays, as one whose samples
 * cancel. */
static void move_some(void *self, int64_t first, int64_t last)
{
    const contest *c = self;
    const armilla_problem *p = c->problem;
    const double *A = armilla_sweep_A(c->sweep), *sizes = armilla_sweep_sizes(c->sweep);
    const int64_t m = p->m;
    memcpy(c->A + first * m, A + first * m, (size_t)((last - first) * m) * sizeof *A);
    for (int64_t k = first; k < last; k++) {
        const double weight = c->l[k / p->r] * sizes[k];
        double *u = c->U_next + k * m;
        for (int64_t i = 0; i < m && weight > 0; i++) u[i] = A[k * m + i] / weight;
        if (weight <= 0 || !p->options.basis->atom(m, u)) memcpy(u, c->U + k * m, (size_t)m * sizeof *u);
    }
}

static void move_centers(contest *c)
{
    double *U = c->U;
    armilla_team_share(armilla_sweep_team(c->sweep), atoms_of(c), move_some, c);
    c->U = c->U_next;
    c->U_next = U;
}

/* h of each start at its best radius, ||X||^2 - 2l<C,W> + l^2 sum_k n_k ||u_k||^2. */
static void measure(const contest *c)
{
    const armilla_problem *p = c->problem;
    const double *sizes = armilla_sweep_sizes(c->sweep), *tally = armilla_sweep_tally(c->sweep);
    for (int64_t start = 0; start < c->starts; start++) {
        const double cross = tally[start * COUNTERS + CROSS];
        double square = 0;
        for (int64_t k = start * p->r; k < (start + 1) * p->r; k++) square += sizes[k] * c->squares[k];
        const bool moves = p->options.codes->spherical && p->options.radius <= 0;
        const bool holds = !p->options.codes->spherical || (cross > 0 && square > 0);
        if (moves && holds) c->l[start] = cross / square;
        const double l = c->l[start];
        c->h[start] = holds ? p->squared_norm - 2 * l * cross + l * l * square : INFINITY;
    }
}

/* Assignments that the last step has changed: all by the first. */
static double moved_by(const contest *c)
{
    const double *tally = armilla_sweep_tally(c->sweep);
    double moved = c->steps == 1 ? (double)(c->starts * c->problem->n) : 0;
    for (int64_t start = 0; start < c->starts && c->steps > 1; start++) moved += tally[start * COUNTERS + MOVED];
    return moved;
}

/* A step of all starts; the first only assigns. */
static armilla_status step(contest *c)
{
    const armilla_problem *p = c->problem;
    const bool few = c->steps > 0 && c->moved * FEW_CHANGES < (double)(c->starts * p->n);
    int32_t *atoms = c->before;
    c->before = c->atoms;
    c->atoms = atoms;
    const armilla_sweep_plan plan = {.U = c->typed,
                                     .assignments = c->atoms,
                                     .assignment_stride = p->n,
                                     .before = c->before,
                                     .A_before = few && armilla_sweep_adds_changes(c->sweep) ? c->A : NULL,
                                     .sums = true,
                                     .tally = c->starts * COUNTERS,
                                     .step = assign,
                                     .self = c};
    armilla_team_share(armilla_sweep_team(c->sweep), atoms_of(c), store_some, c);
    const armilla_status status = armilla_sweep_run(c->sweep, &plan);
    if (status != ARMILLA_OK) return status;
    c->problem->extra_sweeps++;
    c->steps++;
    c->moved = moved_by(c);
    measure(c);
    move_centers(c);
    return ARMILLA_OK;
}

static bool is_better(const contest *c, int64_t a, int64_t b)
{
    return c->h[a] < c->h[b] || (c->h[a] == c->h[b] && c->number[a] < c->number[b]);
}

/* How many starts are better than that one. */
static int64_t rank_of(const contest *c, int64_t start)
{
    int64_t better = 0;
    for (int64_t i = 0; i < c->starts; i++) better += is_better(c, i, start);
    return better;
}

/* What a start has, to a place before it. */
static void move_start(const contest *c, int64_t from, int64_t to)
{
    const armilla_problem *p = c->problem;
    const int64_t basis = p->m * p->r, number = c->number[to];
    const int32_t atoms = (int32_t)((from - to) * p->r);
    if (from == to) return;
    memcpy(c->U + to * basis, c->U + from * basis, (size_t)basis * sizeof *c->U);
    memcpy(c->A + to * basis, c->A + from * basis, (size_t)basis * sizeof *c->A);
    for (int64_t j = 0; j < p->n; j++) c->atoms[to * p->n + j] = c->atoms[from * p->n + j] - atoms;
    c->number[to] = c->number[from];
    c->number[from] = number;
    c->h[to] = c->h[from];
    c->l[to] = c->l[from];
}

static void keep_best(contest *c, int64_t most)
{
    int64_t worst = 0, count = 0;
    while (rank_of(c, worst) != armilla_min64(most, c->starts) - 1) worst++;
    const double least = c->h[worst];
    const int64_t number = c->number[worst];
    for (int64_t i = 0; i < c->starts; i++)
        if (c->h[i] < least || (c->h[i] == least && c->number[i] <= number)) move_start(c, i, count++);
    c->moved *= (double)count / (double)c->starts;
    c->starts = count;
}

/* Steps of those that are left, until they are compared; *ended where nothing more will change. */
static armilla_status run_round(contest *c, int64_t steps, bool *ended)
{
    const armilla_problem *p = c->problem;
    const int64_t last = armilla_min64(steps, c->halving->iterations);
    const armilla_partitions partitions = {.count = c->starts, .atoms = p->r, .counters = COUNTERS};
    armilla_status status = armilla_sweep_new_partitions(p->context, p->X, p->options.type, &partitions, &c->sweep);
    *ended = last == c->halving->iterations;
    for (bool settled = false; status == ARMILLA_OK && c->steps <= last && !settled; *ended = *ended || settled) {
        status = step(c);
        settled = status == ARMILLA_OK && c->moved == 0;
    }
    armilla_sweep_free(c->sweep);
    c->sweep = NULL;
    return status;
}

static armilla_status run_rounds(contest *c)
{
    const armilla_halving *h = c->halving;
    const int64_t count = c->starts;
    armilla_status status = ARMILLA_OK;
    bool ended = false;
    for (int i = 0; i < ROUNDS && status == ARMILLA_OK && !ended; i++) {
        const int64_t wanted = (count * rounds[i].eighths + 7) / 8;
        status = run_round(c, rounds[i].steps, &ended);
        if (status == ARMILLA_OK) keep_best(c, armilla_max64(wanted, h->most));
    }
    if (status == ARMILLA_STOPPED && c->steps > 0) status = ARMILLA_OK; /* by what was measured last */
    keep_best(c, h->most);
    return status;
}

static armilla_status take(contest *c)
{
    const armilla_problem *p = c->problem;
    armilla_context *context = p->context;
    const int64_t atoms = atoms_of(c), numbers = p->m * atoms;
    armilla_status status = armilla_take(context, numbers, sizeof *c->U, &c->U);
    if (status == ARMILLA_OK) status = armilla_take(context, numbers, sizeof *c->U_next, &c->U_next);
    if (status == ARMILLA_OK) status = armilla_take(context, numbers, armilla_type_size(p->options.type), &c->typed);
    if (status == ARMILLA_OK) status = armilla_take(context, atoms, sizeof *c->squares, &c->squares);
    if (status == ARMILLA_OK) status = armilla_take(context, atoms, sizeof *c->offsets, &c->offsets);
    if (status == ARMILLA_OK) status = armilla_take(context, c->starts, sizeof *c->number, &c->number);
    if (status == ARMILLA_OK) status = armilla_take(context, c->starts, sizeof *c->l, &c->l);
    if (status == ARMILLA_OK) status = armilla_take(context, c->starts, sizeof *c->h, &c->h);
    if (status == ARMILLA_OK) status = armilla_take(context, numbers, sizeof *c->A, &c->A);
    if (status == ARMILLA_OK) status = armilla_take(context, c->starts * p->n, sizeof *c->atoms, &c->atoms);
    if (status == ARMILLA_OK) status = armilla_take(context, c->starts * p->n, sizeof *c->before, &c->before);
    return status;
}

static void release(contest *c)
{
    armilla_context *context = c->problem->context;
    armilla_release(context, c->before);
    armilla_release(context, c->atoms);
    armilla_release(context, c->A);
    armilla_release(context, c->h);
    armilla_release(context, c->l);
    armilla_release(context, c->number);
    armilla_release(context, c->offsets);
    armilla_release(context, c->squares);
    armilla_release(context, c->typed);
    armilla_release(context, c->U_next);
    armilla_release(context, c->U);
}

/* Starts first ... as candidates: those that are left with their bases. */
static armilla_status hand_over(const contest *c, int64_t first, int64_t count, armilla_candidate *candidates)
{
    armilla_context *context = c->problem->context;
    const int64_t basis = c->problem->m * c->problem->r;
    for (int64_t i = 0; i < count; i++) {
        armilla_candidate *made = &candidates[first + i];
        *made = (armilla_candidate){.number = first + c->number[i], .objective = INFINITY, .radius = c->l[i]};
        if (i < c->starts && isfinite(c->h[i])) {
            const armilla_status status = armilla_take(context, basis, sizeof *made->U, &made->U);
            if (status != ARMILLA_OK) return status;
            memcpy(made->U, c->U + i * basis, (size_t)basis * sizeof *made->U);
            made->objective = c->h[i];
            made->kept = true;
        }
        armilla_candidates_insert(context, candidates, first + i, c->halving->most);
    }
    return ARMILLA_OK;
}

static armilla_status run_contest(const armilla_halving *halving, int64_t first, armilla_candidate *candidates)
{
    armilla_problem *p = halving->problem;
    const int64_t count = armilla_min64(halving->together, halving->count - first);
    contest c = {.halving = halving, .problem = p, .starts = count};
    armilla_status status = take(&c);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++) {
        c.number[i] = i;
        c.l[i] = p->options.codes->spherical && p->options.radius > 0 ? p->options.radius : 1;
        c.h[i] = INFINITY;
    }
    if (status == ARMILLA_OK)
        status = armilla_start_bases(p, halving->start, armilla_start_seed(halving->seed, first), count, c.U);
    if (status == ARMILLA_OK) status = run_rounds(&c);
    if (status == ARMILLA_OK) status = hand_over(&c, first, count, candidates);
    release(&c);
    return status;
}

armilla_status armilla_halve_starts(const armilla_halving *halving, armilla_candidate *candidates)
{
    armilla_status status = ARMILLA_OK;
    for (int64_t first = 0; first < halving->count && status == ARMILLA_OK; first += halving->together)
        status = run_contest(halving, first, candidates);
    return status;
}
