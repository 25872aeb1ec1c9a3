/* A given number of communities: a search of the resolution, and greedy joining. */
#include "graph/communities.h"

#include <math.h>

/* Runs of Leiden's algorithm at most. */
enum { RUNS = 14 };
/* The resolution of the next run before both sides are known changes by at least the first of these, and by as much as
 * the number of communities is off up to the second. */
#define LEAST_STEP 2.0
#define MOST_STEP 16.0
/* At resolution 1 a number of communities up to that many times the wanted one is near enough to be joined: a lower
 * resolution would rather join large ones and keep small ones apart. */
#define NEAR_COUNT 1.6

/* The two communities whose union gains most (or loses least): e_ab - gamma D_a D_b / 2w. false: there is no edge. */
static bool best_pair(const armilla_level *level, double resolution, int64_t pair[2])
{
    double most = -INFINITY;
    bool found = false;
    for (int64_t a = 0; a < level->nodes; a++)
        for (int64_t e = level->starts[a]; e < level->starts[a + 1]; e++) {
            const int64_t b = level->targets[e];
            const double gain = level->weights[e] - resolution * level->degrees[a] * level->degrees[b] / level->total;
            if (b <= a || gain < most || (found && gain == most && a == pair[0] && b > pair[1])) continue;
            if (found && gain == most && a > pair[0]) continue;
            most = gain;
            pair[0] = a;
            pair[1] = b;
            found = true;
        }
    return found;
}

/* Until k are left; places[c] = where the community c has gone. The level is one of nodes->levels, and the other comes in
 * turn: *level is the last. */
static armilla_status join_level(armilla_moving_nodes *nodes, double resolution, int64_t k, const armilla_level **level,
                                 int32_t *places)
{
    const armilla_level_space space = armilla_nodes_space(nodes);
    const int64_t count = (*level)->nodes;
    int32_t *parts = nodes->refined;
    int64_t pair[2] = {0, 0};
    armilla_status status = ARMILLA_OK;
    for (int64_t c = 0; c < count; c++) places[c] = (int32_t)c;
    for (int side = 1; status == ARMILLA_OK && (*level)->nodes > k && best_pair(*level, resolution, pair);
         side = 1 - side) {
        const int64_t left = (*level)->nodes - 1;
        for (int64_t c = 0; c <= left; c++) parts[c] = (int32_t)(c == pair[1] ? pair[0] : c - (c > pair[1]));
        status = armilla_level_join(nodes->context, *level, parts, left, &space, &nodes->levels[side]);
        for (int64_t c = 0; c < count && status == ARMILLA_OK; c++) places[c] = parts[places[c]];
        *level = &nodes->levels[side];
        if (status == ARMILLA_OK && armilla_nodes_over(nodes)) status = ARMILLA_STOPPED;
    }
    return status;
}

/* Joins the communities 0 ... *count-1 until k are left, or no edge is left between two of them: always the two whose union
 * has the largest modularity, ties by index. */
static armilla_status join_communities(armilla_moving_nodes *nodes, const armilla_level *fine, double resolution,
                                       int64_t k, int64_t *labels, int64_t *count)
{
    const armilla_level_space space = armilla_nodes_space(nodes);
    const armilla_level *level = &nodes->levels[0];
    int32_t *places = nodes->labels;
    if (*count <= k) return ARMILLA_OK;
    for (int64_t i = 0; i < fine->nodes; i++) nodes->found[i] = (int32_t)labels[i];
    armilla_status status = armilla_level_join(nodes->context, fine, nodes->found, *count, &space, &nodes->levels[0]);
    if (status == ARMILLA_OK) status = join_level(nodes, resolution, k, &level, places);
    for (int64_t i = 0; i < fine->nodes && status == ARMILLA_OK; i++) labels[i] = places[labels[i]];
    if (status == ARMILLA_OK) *count = level->nodes;
    return status;
}

/* The state of the search. */
typedef struct searching {
    double below, above; /* the resolutions between which k lies; 0: not met yet */
    int64_t found;       /* the fewest communities of k or more; 0: none yet */
    double resolution;   /* theirs */
} searching;

static double next_resolution(const searching *s, double now, int64_t count, int64_t k)
{
    if (s->below > 0 && s->above > 0) return sqrt(s->below * s->above);
    const double off = count < k ? (double)k / (double)count : (double)count / (double)k;
    const double step = fmin(fmax(off, LEAST_STEP), MOST_STEP);
    return count < k ? now * step : now / step;
}

armilla_status armilla_nodes_search(armilla_moving_nodes *nodes, const armilla_level *fine, int64_t k,
                                    armilla_communities_options *options, int64_t *labels, int64_t *count)
{
    searching s = {.found = 0};
    armilla_communities_options trial = *options;
    int64_t met = 0;
    bool near = false;
    armilla_status status = ARMILLA_OK;
    for (int run = 0; run < RUNS && !near && status == ARMILLA_OK; run++) {
        if (run > 0) trial.resolution = next_resolution(&s, trial.resolution, met, k);
        if (run > 0) atomic_fetch_add(nodes->control->expected, ARMILLA_NODES_ROUNDS);
        if (run > 0 && nodes->control->chain) armilla_communities_cancel_later(nodes->control);
        status = armilla_nodes_run(nodes, fine, &trial, NULL, &met);
        if (status != ARMILLA_OK) break;
        *(met < k ? &s.below : &s.above) = trial.resolution;
        near = met == k || (trial.resolution == 1 && met > k && (double)met <= NEAR_COUNT * (double)k);
        if (s.found == 0 || (met >= k && (s.found < k || met < s.found))) {
            s.found = met;
            s.resolution = trial.resolution;
            for (int64_t i = 0; i < fine->nodes; i++) labels[i] = nodes->found[i];
        }
    }
    *count = s.found;
    options->resolution = s.resolution;
    return status == ARMILLA_OK ? join_communities(nodes, fine, s.resolution, k, labels, count) : status;
}
