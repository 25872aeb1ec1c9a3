/* Leading eigenvectors of a graph by orthogonal iteration with (I + S)/2, whose eigenvalues are all positive: a map begins
 * with them, which needs no more digits than a picture has. Products run on all threads, each sample summed in the order
 * of its row; sums over samples are made by one. */
#include "graph/layout.h"

#include "base/random.h"
#include "base/team.h"

#include <math.h>
#include <string.h>

enum { STEPS = 100 };
/* What is left of a direction without those before it, below which nothing is. */
#define NOTHING 1e-10

typedef double triple[3];

typedef struct spectral {
    const armilla_graph *graph;
    double *factors; /* d_i^(-1/2); 0 without an edge */
    double *first;   /* the eigenvector that is known: d_i^(1/2), of length 1 */
    triple *from, *to;
} spectral;

static void find_factors(const spectral *s)
{
    double total = 0;
    for (int64_t i = 0; i < s->graph->rows; i++) {
        double degree = 0;
        for (int64_t e = s->graph->starts[i]; e < s->graph->starts[i + 1]; e++) degree += (double)s->graph->weights[e];
        s->factors[i] = degree > 0 ? 1 / sqrt(degree) : 0;
        s->first[i] = sqrt(degree);
        total += degree;
    }
    for (int64_t i = 0; i < s->graph->rows && total > 0; i++) s->first[i] /= sqrt(total);
}

/* to_i = (from_i + sum_j S_ij from_j) / 2 */
static void multiply(void *self, int64_t first, int64_t last)
{
    const spectral *s = self;
    for (int64_t i = first; i < last; i++) {
        double sum[3] = {0, 0, 0};
        for (int64_t e = s->graph->starts[i]; e < s->graph->starts[i + 1]; e++) {
            const int64_t j = s->graph->targets[e];
            const double factor = s->factors[j] * (double)s->graph->weights[e];
            for (int k = 0; k < 3; k++) sum[k] += factor * s->from[j][k];
        }
        for (int k = 0; k < 3; k++) s->to[i][k] = (s->from[i][k] + s->factors[i] * sum[k]) / 2;
    }
}

static double product(triple *places, int64_t n, int a, int b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += places[i][a] * places[i][b];
    return sum;
}

/* Coordinate k without the known eigenvector and without the coordinates before it, of length 1 or 0. */
static void settle(const spectral *s, triple *places, int k)
{
    const int64_t n = s->graph->rows;
    const double before = sqrt(product(places, n, k, k));
    double known = 0;
    for (int64_t i = 0; i < n; i++) known += s->first[i] * places[i][k];
    for (int64_t i = 0; i < n; i++) places[i][k] -= known * s->first[i];
    for (int other = 0; other < k; other++) {
        const double along = product(places, n, other, k);
        for (int64_t i = 0; i < n; i++) places[i][k] -= along * places[i][other];
    }
    const double length = sqrt(product(places, n, k, k)), factor = length > NOTHING * before ? 1 / length : 0;
    for (int64_t i = 0; i < n; i++) places[i][k] *= factor;
}

static armilla_status iterate(armilla_context *context, spectral *s, triple *places)
{
    const int64_t n = s->graph->rows;
    const armilla_team team = armilla_team_of(context, n);
    s->from = places;
    for (int step = 0; step < STEPS; step++) {
        armilla_team_share(&team, n, multiply, s);
        memcpy(places, s->to, (size_t)n * sizeof *places);
        for (int k = 0; k < 3; k++) settle(s, places, k);
        if (armilla_call_over(context)) return armilla_call_explain(context);
    }
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) places[i][k] *= s->factors[i];
    return ARMILLA_OK;
}

static void scale(triple *places, int64_t n)
{
    for (int k = 0; k < 3; k++) {
        const double length = sqrt(product(places, n, k, k));
        for (int64_t i = 0; i < n && length > 0; i++) places[i][k] /= length;
    }
}

armilla_status armilla_graph_spectral(armilla_context *context, const armilla_graph *graph, uint64_t seed,
                                      double (*places)[3])
{
    const int64_t n = graph->rows;
    spectral s = {.graph = graph};
    armilla_status status = armilla_take(context, n, sizeof *s.factors, &s.factors);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s.first, &s.first);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s.to, &s.to);
    if (status == ARMILLA_OK) {
        find_factors(&s);
        for (int64_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                places[i][k] = armilla_random_uniform(seed, ARMILLA_STREAM_LAYOUT, (uint64_t)(3 * i + k)) - 0.5;
        status = iterate(context, &s, places);
    }
    if (status == ARMILLA_OK) scale(places, n);
    armilla_release(context, s.to);
    armilla_release(context, s.first);
    armilla_release(context, s.factors);
    return status;
}
