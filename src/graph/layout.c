/* The map: gradient descent with momentum on what t-SNE minimises (van der Maaten and Hinton, 2008), with the graph's
 * weights for its similarities. In each round a sample is repelled by some others, drawn anew, in place of all, and every
 * place is computed from those of the round before: threads do not matter. */
#include "graph/layout.h"

#include "base/random.h"
#include "base/size.h"
#include "base/team.h"

#include <math.h>

/* Rounds; in the first of them attraction is larger, so that what belongs together meets, and it stays a little larger, so
 * that groups are seen apart. */
enum { ROUNDS = 250, EARLY_ROUNDS = 80 };
#define EARLY_ATTRACTION 12.0
#define ATTRACTION 2.0
#define EARLY_MOMENTUM 0.5
#define MOMENTUM 0.8
/* The step, as a part of the number of samples, and the longest move of a round. */
#define STEP (1 / 3.0)
#define LONGEST 5.0
/* Others that repel a sample in one round. */
enum { OTHERS = 48 };
/* Deviation of the places at the start; and what keeps samples of one place apart, as a part of that. */
#define SPREAD 0.1
#define APART 1e-3
/* The globe's radius while samples move, over the root of their number: about the area that they take in the plane. */
#define GLOBE_RADIUS 0.2

typedef double triple[3];

typedef struct layout {
    const armilla_graph *graph;
    const armilla_layout_plan *plan;
    int64_t n;
    double radius;          /* of the globe; 0: the plane */
    double total;           /* of all weights */
    int64_t *order, *ranks; /* samples in a random order, and where each is in it */
    int64_t offsets[OTHERS];
    int64_t others; /* offsets of this round: sample order[p] meets order[p + offset] */
    double attraction, momentum, repulsion;
    triple *places, *pulls, *pushes, *steps;
    double *nearness; /* of each to those that it met */
} layout;

static double squared(const double x[3])
{
    return x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
}

/* offset = to - from; returns 1/(1 + its squared length). */
static double near_by(const double from[3], const double to[3], double offset[3])
{
    for (int k = 0; k < 3; k++) offset[k] = to[k] - from[k];
    return 1 / (1 + squared(offset));
}

static void pull(const layout *s, int64_t i)
{
    const armilla_graph *graph = s->graph;
    double offset[3], sum[3] = {0, 0, 0};
    for (int64_t e = graph->starts[i]; e < graph->starts[i + 1]; e++) {
        const double near = (double)graph->weights[e] * near_by(s->places[i], s->places[graph->targets[e]], offset);
        for (int k = 0; k < 3; k++) sum[k] += near * offset[k];
    }
    for (int k = 0; k < 3; k++) s->pulls[i][k] = s->total > 0 ? sum[k] / s->total : 0;
}

static void push(const layout *s, int64_t i)
{
    double offset[3], sum[3] = {0, 0, 0}, nearness = 0;
    for (int64_t o = 0; o < s->others; o++) {
        const int64_t place = s->ranks[i] + s->offsets[o], other = s->order[place < s->n ? place : place - s->n];
        const double near = near_by(s->places[i], s->places[other], offset);
        nearness += near;
        for (int k = 0; k < 3; k++) sum[k] -= near * near * offset[k];
    }
    for (int k = 0; k < 3; k++) s->pushes[i][k] = sum[k];
    s->nearness[i] = nearness;
}

static void find_forces(void *self, int64_t first, int64_t last)
{
    const layout *s = self;
    for (int64_t i = first; i < last; i++) {
        pull(s, i);
        push(s, i);
    }
}

/* Onto the globe, where there is one; a place in its centre has no direction. */
static void settle(const layout *s, double place[3])
{
    const double length = sqrt(squared(place));
    if (s->radius == 0) return;
    for (int k = 0; k < 3; k++) place[k] = length > 0 ? place[k] * s->radius / length : s->radius * (k == 2);
}

static void move(void *self, int64_t first, int64_t last)
{
    const layout *s = self;
    const double scale = STEP * (double)s->n;
    for (int64_t i = first; i < last; i++) {
        double *step = s->steps[i], *place = s->places[i];
        for (int k = 0; k < 3; k++)
            step[k] = s->momentum * step[k] + scale * (s->attraction * s->pulls[i][k] + s->repulsion * s->pushes[i][k]);
        const double length = sqrt(squared(step)), factor = length > LONGEST ? LONGEST / length : 1;
        for (int k = 0; k < 3; k++) step[k] *= factor;
        for (int k = 0; k < 3; k++) place[k] += step[k];
        settle(s, place);
    }
}

/* All others where they are few. */
static void draw_offsets(layout *s, int round)
{
    s->others = armilla_min64(OTHERS, s->n - 1);
    for (int64_t o = 0; o < s->others; o++) {
        const uint64_t index = (uint64_t)round * OTHERS + (uint64_t)o;
        const uint64_t bits = armilla_random_bits(s->plan->seed, ARMILLA_STREAM_OFFSETS, index);
        s->offsets[o] = s->n - 1 <= OTHERS ? o + 1 : 1 + (int64_t)(bits % (uint64_t)(s->n - 1));
    }
}

static armilla_status run_rounds(armilla_context *context, layout *s)
{
    const armilla_team team = armilla_team_of(context, s->n);
    for (int round = 0; round < ROUNDS; round++) {
        double nearness = 0;
        s->attraction = round < EARLY_ROUNDS ? EARLY_ATTRACTION : ATTRACTION;
        s->momentum = round < EARLY_ROUNDS ? EARLY_MOMENTUM : MOMENTUM;
        draw_offsets(s, round);
        armilla_team_share(&team, s->n, find_forces, s);
        for (int64_t i = 0; i < s->n; i++) nearness += s->nearness[i];
        s->repulsion = nearness > 0 ? 1 / nearness : 0;
        armilla_team_share(&team, s->n, move, s);
        armilla_call_step(context, round, ROUNDS);
        if (armilla_call_over(context)) return armilla_call_explain(context);
    }
    return ARMILLA_OK;
}

/* A random order, by Fisher and Yates; and what all weights are together. */
static void begin(layout *s)
{
    for (int64_t i = 0; i < s->n; i++) s->order[i] = i;
    for (int64_t i = s->n - 1; i > 0; i--) {
        const uint64_t bits = armilla_random_bits(s->plan->seed, ARMILLA_STREAM_ORDER, (uint64_t)i);
        const int64_t other = (int64_t)(bits % (uint64_t)(i + 1)), kept = s->order[i];
        s->order[i] = s->order[other];
        s->order[other] = kept;
    }
    for (int64_t i = 0; i < s->n; i++) s->ranks[s->order[i]] = i;
    for (int64_t e = 0; e < armilla_graph_entries(s->graph); e++) s->total += (double)s->graph->weights[e];
}

/* The eigenvectors as places: of a small spread in the plane, by their direction on the globe. Samples without an edge, and
 * those that the eigenvectors do not tell apart, get places of their own. */
static void place(layout *s)
{
    const double deviation = sqrt((double)s->n); /* of coordinates whose squares have the sum 1 */
    for (int64_t i = 0; i < s->n; i++) {
        for (int k = 0; k < 3; k++) {
            const uint64_t index = (uint64_t)(3 * (s->n + i) + k);
            const double own = APART * (armilla_random_uniform(s->plan->seed, ARMILLA_STREAM_LAYOUT, index) - 0.5);
            s->places[i][k] = SPREAD * (s->places[i][k] * deviation + own);
        }
        if (s->radius == 0) s->places[i][2] = 0;
        settle(s, s->places[i]);
    }
}

/* The middle between the least and the largest of coordinate k, and the distance of both from it. */
static double find_middle(const layout *s, int k, double *half)
{
    double low = s->places[0][k], high = low;
    for (int64_t i = 1; i < s->n; i++) {
        low = fmin(low, s->places[i][k]);
        high = fmax(high, s->places[i][k]);
    }
    *half = (high - low) / 2;
    return (low + high) / 2;
}

/* Places as they are given back: those in the plane in the middle of the square. (Where all were nearly at one place,
 * rounding is no longer small.) */
static void finish(const layout *s)
{
    double middle[3] = {0, 0, 0}, half[3] = {s->radius, 0, 0};
    for (int k = 0; k < 3 && s->radius == 0; k++) middle[k] = find_middle(s, k, &half[k]);
    const double most = fmax(half[0], half[1]);
    for (int64_t i = 0; i < s->n; i++)
        for (int k = 0; k < 3; k++)
            s->places[i][k] = most > 0 ? fmax(-1, fmin(1, (s->places[i][k] - middle[k]) / most)) : 0;
}

armilla_status armilla_graph_layout(armilla_context *context, const armilla_graph *graph,
                                    const armilla_layout_plan *plan, double (*places)[3])
{
    const int64_t n = graph->rows;
    layout s = {.graph = graph, .plan = plan, .n = n, .places = places};
    if (plan->globe) s.radius = GLOBE_RADIUS * sqrt((double)n);
    armilla_status status = armilla_graph_spectral(context, graph, plan->seed, places);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s.order, &s.order);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s.ranks, &s.ranks);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s.pulls, &s.pulls);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s.pushes, &s.pushes);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s.steps, &s.steps);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s.nearness, &s.nearness);
    if (status == ARMILLA_OK) {
        begin(&s);
        place(&s);
        status = run_rounds(context, &s);
    }
    if (status == ARMILLA_OK) finish(&s);
    armilla_release(context, s.nearness);
    armilla_release(context, s.steps);
    armilla_release(context, s.pushes);
    armilla_release(context, s.pulls);
    armilla_release(context, s.ranks);
    armilla_release(context, s.order);
    return status;
}
