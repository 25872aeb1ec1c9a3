/* Smoothing, on all threads: every sample is summed in the order of its row, whoever does it. */
#include "graph/smooth.h"

#include "base/size.h"
#include "base/team.h"

#include <math.h>
#include <string.h>

typedef struct smoothing {
    const armilla_graph *graph;
    int64_t r;
    double *factors; /* d_i^(-1/2); 0 without an edge */
    const float *from;
    float *to;
} smoothing;

static void find_factors(void *self, int64_t first, int64_t last)
{
    const smoothing *s = self;
    for (int64_t i = first; i < last; i++) {
        double degree = 0;
        for (int64_t e = s->graph->starts[i]; e < s->graph->starts[i + 1]; e++) degree += (double)s->graph->weights[e];
        s->factors[i] = degree > 0 ? 1 / sqrt(degree) : 0;
    }
}

/* Neighbours are anywhere in memory: those of later edges are fetched before it is their turn. */
static inline __attribute__((always_inline)) void expect(const smoothing *s, int64_t e)
{
    enum { AHEAD = 6, LINE = 64 };
    if (e + AHEAD >= armilla_graph_entries(s->graph)) return;
    const int64_t j = s->graph->targets[e + AHEAD];
    const char *from = (const char *)(s->from + j * s->r);
    __builtin_prefetch(&s->factors[j]);
    for (int64_t b = 0; b < s->r * (int64_t)sizeof(float); b += LINE) __builtin_prefetch(from + b);
}

/* to_i = (from_i + sum_j S_ij from_j) / 2 */
static void smooth_samples(void *self, int64_t first, int64_t last)
{
    const smoothing *s = self;
    const armilla_graph *graph = s->graph;
    for (int64_t i = first; i < last; i++) {
        float *to = s->to + i * s->r;
        memcpy(to, s->from + i * s->r, (size_t)s->r * sizeof *to);
        for (int64_t e = graph->starts[i]; e < graph->starts[i + 1]; e++) {
            const int64_t j = graph->targets[e];
            expect(s, e);
            const float *from = s->from + j * s->r;
            const float factor = (float)(s->factors[i] * s->factors[j] * (double)graph->weights[e]);
            for (int64_t k = 0; k < s->r; k++) to[k] += factor * from[k];
        }
        for (int64_t k = 0; k < s->r; k++) to[k] *= 0.5f;
    }
}

armilla_status armilla_graph_smooth(armilla_context *context, const armilla_graph *graph, int64_t r, int steps,
                                    float *Z)
{
    const armilla_team team = armilla_team_of(context, graph->rows);
    smoothing s = {.graph = graph, .r = r};
    float *other = NULL;
    int64_t numbers = 0;
    if (!armilla_size_area(r, graph->rows, &numbers)) numbers = -1;
    armilla_status status = armilla_take(context, graph->rows, sizeof *s.factors, &s.factors);
    if (status == ARMILLA_OK) status = armilla_take(context, numbers, sizeof *other, &other);
    if (status == ARMILLA_OK) armilla_team_share(&team, graph->rows, find_factors, &s);
    for (int step = 0; step < steps && status == ARMILLA_OK; step++) {
        armilla_call_step(context, step, steps);
        s.from = step % 2 ? other : Z;
        s.to = step % 2 ? Z : other;
        armilla_team_share(&team, graph->rows, smooth_samples, &s);
        if (armilla_call_reached(context, 1, 1)) status = armilla_call_explain(context);
    }
    if (status == ARMILLA_OK && steps % 2) armilla_team_copy(&team, (size_t)numbers * sizeof *Z, other, Z);
    armilla_release(context, other);
    armilla_release(context, s.factors);
    return status;
}
