/* The heaviest matching by the Hungarian algorithm with potentials: rows are added one by one, each along the shortest
 * augmenting path in reduced costs. */
#include "cluster/cluster.h"

#include <math.h>

typedef struct matcher {
    int64_t cols;
    const double *weights;
    double *u, *v;         /* potentials of rows and columns */
    double *distance;      /* of each column from the path's start */
    int64_t *row_of, *via; /* the row matched with a column, or -1; the column before it on the path, or -1 */
    bool *done;
} matcher;

/* Shortens the paths to all columns through the row; returns the nearest that is not done. */
static int64_t relax(matcher *s, int64_t row, int64_t from, double length)
{
    int64_t nearest = -1;
    for (int64_t j = 0; j < s->cols; j++) {
        if (s->done[j]) continue;
        const double path = length - s->weights[row * s->cols + j] - s->u[row] - s->v[j];
        if (path < s->distance[j]) {
            s->distance[j] = path;
            s->via[j] = from;
        }
        if (nearest < 0 || s->distance[j] < s->distance[nearest]) nearest = j;
    }
    return nearest;
}

/* Potentials keep reduced costs nonnegative, and 0 along the matching. */
static void update(matcher *s, int64_t first, double length)
{
    s->u[first] += length;
    for (int64_t j = 0; j < s->cols; j++) {
        if (!s->done[j]) continue;
        s->u[s->row_of[j]] += length - s->distance[j];
        s->v[j] -= length - s->distance[j];
    }
}

static void add_row(matcher *s, int64_t first)
{
    for (int64_t j = 0; j < s->cols; j++) {
        s->distance[j] = INFINITY;
        s->done[j] = false;
    }
    int64_t column = relax(s, first, -1, 0);
    while (s->row_of[column] >= 0) {
        s->done[column] = true;
        column = relax(s, s->row_of[column], column, s->distance[column]);
    }
    update(s, first, s->distance[column]);
    while (column >= 0) {
        const int64_t before = s->via[column];
        s->row_of[column] = before >= 0 ? s->row_of[before] : first;
        column = before;
    }
}

armilla_status armilla_match(armilla_context *context, int64_t rows, int64_t cols, const double *weights,
                             int64_t *matching)
{
    matcher s = {.cols = cols, .weights = weights};
    armilla_status status = armilla_take(context, rows + 2 * cols, sizeof(double), &s.u);
    if (status == ARMILLA_OK) status = armilla_take(context, 2 * cols, sizeof(int64_t), &s.row_of);
    if (status == ARMILLA_OK) status = armilla_take(context, cols, sizeof(bool), &s.done);
    if (status != ARMILLA_OK) goto done;
    s.v = s.u + rows;
    s.distance = s.v + cols;
    s.via = s.row_of + cols;
    for (int64_t j = 0; j < cols; j++) s.row_of[j] = -1;
    for (int64_t i = 0; i < rows; i++) add_row(&s, i);
    for (int64_t j = 0; j < cols; j++)
        if (s.row_of[j] >= 0) matching[s.row_of[j]] = j;
done:
    armilla_release(context, s.done);
    armilla_release(context, s.row_of);
    armilla_release(context, s.u);
    return status;
}
