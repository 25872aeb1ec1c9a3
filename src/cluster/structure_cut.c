/* The leading directions of samples, and the best cut through the graph of their neighbours there. */
#include "cluster/structure.h"

#include "base/size.h"
#include "graph/communities.h"
#include "graph/neighbors.h"
#include "graph/weights.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* Directions, and samples that each needs. */
enum { MOST_DIRECTIONS = 10, SAMPLES_EACH = 5 };
/* Part of the largest variance, and of the largest length, below which there is only rounding. */
#define LEAST_VARIANCE 1e-18
#define LEAST_LENGTH 1e-9
/* Neighbours: so many; a tenth of few samples, but not fewer than that. */
enum { NEIGHBORS = 10, FEW_NEIGHBORS = 5 };
/* Resolutions 2^t, t from the first to 0. */
enum { FIRST = -5, RESOLUTIONS = 1 - FIRST };
/* Communities count where two samples are in different ones that often: else one has nearly all. */
#define LEAST_APART 0.1
/* Points are lifted by that many times their extent: angles are then distances to a few parts in a hundred. */
#define LIFT 2.0

/* S = the products of centred places: of features (m x m) where these are fewer, else of samples. */
static armilla_status multiply_centered(armilla_context *context, const armilla_structure_sample *sample,
                                        const double *mean, bool by_feature, double *S)
{
    const int64_t m = sample->m, n = sample->n;
    double *B = NULL;
    const armilla_status status = armilla_take(context, m * n, sizeof *B, &B);
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++)
        for (int64_t i = 0; i < m; i++) B[by_feature ? i * n + j : j * m + i] = sample->places[j * m + i] - mean[i];
    if (status == ARMILLA_OK && by_feature) armilla_gram(n, m, B, S);
    if (status == ARMILLA_OK && !by_feature) armilla_gram(m, n, B, S);
    armilla_release(context, B);
    return status;
}

/* Column c of V from the eigenvector of the samples' products. */
static void combine_samples(const armilla_structure_sample *sample, const double *mean, const double *vector,
                            double *direction)
{
    for (int64_t j = 0; j < sample->n; j++)
        for (int64_t i = 0; i < sample->m; i++)
            direction[i] += vector[j] * (sample->places[j * sample->m + i] - mean[i]);
    (void)armilla_make_unit(sample->m, direction);
}

/* What the directions leave of the mean, where samples have length 1: without it they would lose theirs. */
static void add_mean(const armilla_structure_sample *sample, double *mean, armilla_structure_space *space)
{
    const int64_t m = sample->m;
    const double whole = armilla_norm(m, mean);
    for (int twice = 0; twice < 2; twice++)
        for (int64_t c = 0; c < space->d; c++) {
            const double part = armilla_dot(m, space->V + c * m, mean);
            for (int64_t i = 0; i < m; i++) mean[i] -= part * space->V[c * m + i];
        }
    const double length = armilla_norm(m, mean);
    if (!sample->unit || length <= LEAST_LENGTH * whole || length <= LEAST_LENGTH) return;
    for (int64_t i = 0; i < m; i++) space->V[space->d * m + i] = mean[i] / length;
    space->d++;
}

static armilla_status find_directions(armilla_context *context, const armilla_structure_sample *sample,
                                      const double *mean, double *S, armilla_structure_space *space)
{
    const int64_t m = sample->m, n = sample->n, size = armilla_min64(m, n);
    const int64_t most = armilla_max64(1, armilla_min64(armilla_min64(MOST_DIRECTIONS, n / SAMPLES_EACH), m));
    const bool by_feature = m <= n;
    armilla_algebra *algebra = NULL;
    double *values = NULL;
    armilla_status status = armilla_algebra_new_eigen(context, size, &algebra);
    if (status == ARMILLA_OK) status = armilla_take(context, size, sizeof *values, &values);
    if (status == ARMILLA_OK) status = multiply_centered(context, sample, mean, by_feature, S);
    if (status == ARMILLA_OK) status = armilla_eigen(algebra, size, S, values, S);
    for (int64_t c = 0; c < most && status == ARMILLA_OK; c++) {
        const int64_t from = size - 1 - c; /* eigenvalues rise */
        if (!(values[from] > LEAST_VARIANCE * values[size - 1])) break;
        if (by_feature)
            memcpy(space->V + c * m, S + from * m, (size_t)m * sizeof *S);
        else
            combine_samples(sample, mean, S + from * n, space->V + c * m);
        space->d++;
    }
    armilla_release(context, values);
    armilla_algebra_free(algebra);
    return status;
}

armilla_status armilla_structure_space_find(armilla_context *context, const armilla_structure_sample *sample,
                                            armilla_structure_space *space)
{
    const int64_t m = sample->m, n = sample->n, size = armilla_min64(m, n);
    double *mean = NULL, *S = NULL;
    armilla_status status = armilla_take(context, m, sizeof *mean, &mean);
    if (status == ARMILLA_OK) status = armilla_take(context, size * size, sizeof *S, &S);
    if (status == ARMILLA_OK) status = armilla_take(context, m * (MOST_DIRECTIONS + 1), sizeof *space->V, &space->V);
    if (status == ARMILLA_OK)
        status = armilla_take(context, n * (MOST_DIRECTIONS + 1), sizeof *space->codes, &space->codes);
    if (status == ARMILLA_OK) status = armilla_blas_enter_idle(context, armilla_call_threads(context));
    if (status == ARMILLA_OK) {
        armilla_structure_mean(m, n, sample->places, mean);
        status = armilla_blas_need(context, size);
        if (status == ARMILLA_OK) status = find_directions(context, sample, mean, S, space);
        if (status == ARMILLA_OK) add_mean(sample, mean, space);
        armilla_blas_leave();
    }
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++)
        for (int64_t c = 0; c < space->d; c++)
            space->codes[j * space->d + c] = armilla_dot(m, space->V + c * m, sample->places + j * m);
    armilla_release(context, S);
    armilla_release(context, mean);
    return status;
}

void armilla_structure_space_release(armilla_context *context, armilla_structure_space *space)
{
    armilla_release(context, space->codes);
    armilla_release(context, space->V);
    *space = (armilla_structure_space){.d = 0};
}

void armilla_structure_mean(int64_t d, int64_t n, const double *points, double *mean)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < d; i++) mean[i] += points[j * d + i] / (double)n;
}

armilla_status armilla_structure_lift(armilla_context *context, int64_t d, int64_t n, const double *points,
                                      double *extent, double **lifted)
{
    double *mean = NULL, farthest = 0;
    armilla_status status = armilla_take(context, d, sizeof *mean, &mean);
    if (status == ARMILLA_OK) status = armilla_take(context, (d + 1) * n, sizeof **lifted, lifted);
    if (status == ARMILLA_OK) {
        armilla_structure_mean(d, n, points, mean);
        for (int64_t j = 0; j < n; j++) farthest = fmax(farthest, armilla_distance(d, points + j * d, mean));
        if (!(*extent > 0)) *extent = farthest > 0 ? farthest : 1;
    }
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++) {
        double *to = *lifted + j * (d + 1);
        for (int64_t i = 0; i < d; i++) to[i] = (points[j * d + i] - mean[i]) / (LIFT * *extent);
        to[d] = 1;
    }
    armilla_release(context, mean);
    return status;
}

/* What communities cut, over what chance would; 1 where they are hardly any. */
static double normalised_cut(const armilla_graph *graph, const int64_t *labels, int64_t count, double *sizes)
{
    double between = 0, total = 0, together = 0;
    for (int64_t c = 0; c < count; c++) sizes[c] = 0;
    for (int64_t i = 0; i < graph->rows; i++) {
        sizes[labels[i]] += 1 / (double)graph->rows;
        for (int64_t e = graph->starts[i]; e < graph->starts[i + 1]; e++) {
            total += (double)graph->weights[e];
            if (labels[i] != labels[graph->targets[e]]) between += (double)graph->weights[e];
        }
    }
    for (int64_t c = 0; c < count; c++) together += sizes[c] * sizes[c];
    return 1 - together >= LEAST_APART && total > 0 ? between / total / (1 - together) : 1;
}

/* Communities at every resolution, and the best of them. */
static armilla_status cut_graph(armilla_context *context, const armilla_graph *graph, double *cut, int64_t *count)
{
    const int64_t n = graph->rows;
    armilla_communities_task tasks[RESOLUTIONS];
    armilla_level fine = {.nodes = 0};
    int64_t *labels = NULL;
    double *sizes = NULL;
    int done = 0;
    armilla_status status = armilla_take(context, n * RESOLUTIONS, sizeof *labels, &labels);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *sizes, &sizes);
    if (status == ARMILLA_OK) status = armilla_level_of_graph(context, graph, &fine);
    for (int t = 0; t < RESOLUTIONS; t++)
        tasks[t] = (armilla_communities_task){
            .graph = graph, .fine = &fine, .options = {exp2(FIRST + t), 0}, .labels = labels + t * n};
    if (status == ARMILLA_OK) status = armilla_communities_share(context, tasks, RESOLUTIONS, false, &done);
    *cut = 1;
    *count = 1;
    for (int t = 0; t < RESOLUTIONS && status == ARMILLA_OK; t++) {
        const double found = normalised_cut(graph, tasks[t].labels, tasks[t].count, sizes);
        if (found >= *cut) continue;
        *cut = found;
        *count = tasks[t].count;
    }
    armilla_level_release(context, &fine);
    armilla_release(context, sizes);
    armilla_release(context, labels);
    return status;
}

armilla_status armilla_structure_cut(armilla_context *context, int64_t d, int64_t n, const double *points, double *cut,
                                     int64_t *count)
{
    const int64_t few = armilla_max64(FEW_NEIGHBORS, armilla_min64(NEIGHBORS, n / NEIGHBORS));
    const armilla_neighbors_plan plan = {.count = armilla_min64(few, n - 1), .precision = "f64"};
    armilla_graph neighbors = {.rows = 0}, graph = {.rows = 0};
    armilla_data *data = NULL;
    double *lifted = NULL, extent = 0;
    armilla_status status = armilla_structure_lift(context, d, n, points, &extent, &lifted);
    if (status == ARMILLA_OK) status = armilla_data_borrow_dense(context, ARMILLA_F64, lifted, d + 1, n, &data);
    if (status == ARMILLA_OK) status = armilla_neighbors_find(context, NULL, data, &plan, &neighbors, NULL);
    if (status == ARMILLA_OK) status = armilla_graph_weigh(context, &neighbors, &graph);
    if (status == ARMILLA_OK) status = cut_graph(context, &graph, cut, count);
    armilla_graph_release(context, &graph);
    armilla_graph_release(context, &neighbors);
    armilla_data_free(data);
    armilla_release(context, lifted);
    return status;
}
