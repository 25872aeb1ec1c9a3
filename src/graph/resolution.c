/* A given number of communities: a search of the resolution, and greedy joining. */
#include "graph/communities.h"

#include <math.h>
#include <string.h>

/* Runs of Leiden's algorithm at most. */
enum { RUNS = 14 };
/* The resolution of the next run before both sides are known changes by at least the first of these, and by as much as
 * the number of communities is off up to the second. */
#define LEAST_STEP 2.0
#define MOST_STEP 16.0
/* At resolution 1 a number of communities up to that many times the wanted one is near enough to be joined: a lower
 * resolution would rather join large ones and keep small ones apart. */
#define NEAR 1.6

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

/* One union; the parts of the level's nodes are workspace. */
static armilla_status join_pair(armilla_context *context, const int64_t pair[2], armilla_level *level, int64_t *parts)
{
    armilla_level next = {.nodes = 0};
    for (int64_t c = 0; c < level->nodes; c++) parts[c] = c == pair[1] ? pair[0] : c - (c > pair[1]);
    const armilla_status status = armilla_level_join(context, level, parts, level->nodes - 1, &next);
    if (status != ARMILLA_OK) return status;
    armilla_level_release(context, level);
    *level = next;
    return status;
}

/* Until k are left; places[c] = where the community c has gone. */
static armilla_status join_level(armilla_context *context, double resolution, int64_t k, armilla_level *level,
                                 int64_t *places)
{
    const int64_t count = level->nodes;
    int64_t *parts = NULL, pair[2] = {0, 0};
    armilla_status status = armilla_take(context, count, sizeof *parts, &parts);
    for (int64_t c = 0; c < count && status == ARMILLA_OK; c++) places[c] = c;
    while (status == ARMILLA_OK && level->nodes > k && best_pair(level, resolution, pair)) {
        status = join_pair(context, pair, level, parts);
        for (int64_t c = 0; c < count && status == ARMILLA_OK; c++) places[c] = parts[places[c]];
        if (status == ARMILLA_OK && armilla_call_over(context)) status = armilla_call_explain(context);
    }
    armilla_release(context, parts);
    return status;
}

armilla_status armilla_communities_join(armilla_context *context, const armilla_graph *graph, double resolution,
                                        int64_t k, int64_t *labels, int64_t *count)
{
    armilla_level fine = {.nodes = 0}, level = {.nodes = 0};
    int64_t *places = NULL;
    if (*count <= k) return ARMILLA_OK;
    armilla_status status = armilla_take(context, *count, sizeof *places, &places);
    if (status == ARMILLA_OK) status = armilla_level_of_graph(context, graph, &fine);
    if (status == ARMILLA_OK) status = armilla_level_join(context, &fine, labels, *count, &level);
    armilla_level_release(context, &fine);
    if (status == ARMILLA_OK) status = join_level(context, resolution, k, &level, places);
    for (int64_t i = 0; i < graph->rows && status == ARMILLA_OK; i++) labels[i] = places[labels[i]];
    if (status == ARMILLA_OK) *count = level.nodes;
    armilla_level_release(context, &level);
    armilla_release(context, places);
    return status;
}

/* Where the search is. */
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

armilla_status armilla_communities_search(armilla_context *context, const armilla_graph *graph, int64_t k,
                                          armilla_communities_options *options, int64_t *labels, int64_t *count)
{
    searching s = {.found = 0};
    armilla_communities_options trial = *options;
    int64_t *tried = NULL, met = 0;
    bool near = false;
    armilla_status status = armilla_take(context, graph->rows, sizeof *tried, &tried);
    for (int run = 0; run < RUNS && !near && status == ARMILLA_OK; run++) {
        if (run > 0) trial.resolution = next_resolution(&s, trial.resolution, met, k);
        status = armilla_communities(context, graph, &trial, tried, &met);
        if (status != ARMILLA_OK) break;
        *(met < k ? &s.below : &s.above) = trial.resolution;
        near = met == k || (trial.resolution == 1 && met > k && (double)met <= NEAR * (double)k);
        if (s.found == 0 || (met >= k && (s.found < k || met < s.found))) {
            s.found = met;
            s.resolution = trial.resolution;
            memcpy(labels, tried, (size_t)graph->rows * sizeof *labels);
        }
    }
    *count = s.found;
    options->resolution = s.resolution;
    if (status == ARMILLA_OK) status = armilla_communities_join(context, graph, s.resolution, k, labels, count);
    armilla_release(context, tried);
    return status;
}
