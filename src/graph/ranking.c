/* Heaps of the largest values. */
#include "graph/ranking.h"

#include <math.h>

armilla_status armilla_ranking_take(armilla_context *context, int64_t rows, int64_t count, armilla_ranking *made)
{
    *made = (armilla_ranking){.count = count};
    armilla_status status = armilla_grow(context, rows, (size_t)count * sizeof *made->values, &made->values);
    if (status == ARMILLA_OK)
        status = armilla_grow(context, rows, (size_t)count * sizeof *made->targets, &made->targets);
    if (status != ARMILLA_OK) armilla_ranking_release(context, made);
    return status;
}

void armilla_ranking_release(armilla_context *context, armilla_ranking *ranking)
{
    armilla_release(context, ranking->targets);
    armilla_release(context, ranking->values);
    *ranking = (armilla_ranking){.count = 0};
}

void armilla_ranking_clear(armilla_ranking *ranking, int64_t first, int64_t last)
{
    for (int64_t i = first * ranking->count; i < last * ranking->count; i++) {
        ranking->values[i] = -INFINITY;
        ranking->targets[i] = INT64_MAX;
    }
}

/* Whether the first of two ranks before the second; without branches, which nobody could predict. */
static bool is_before(double value, int64_t target, double other, int64_t other_target)
{
    return (value > other) | ((value == other) & (target < other_target));
}

/* A value at the front of a heap of `count` sinks to its place: below it are those that rank before it. */
static void sink(double *values, int64_t *targets, int64_t count, double value, int64_t target)
{
    int64_t at = 0;
    for (int64_t next = 1; next < count; next = 2 * at + 1) {
        if (next + 1 < count) next += is_before(values[next], targets[next], values[next + 1], targets[next + 1]);
        if (!is_before(value, target, values[next], targets[next])) break;
        values[at] = values[next];
        targets[at] = targets[next];
        at = next;
    }
    values[at] = value;
    targets[at] = target;
}

void armilla_ranking_put(armilla_ranking *ranking, int64_t row, double value, int64_t target)
{
    double *values = ranking->values + row * ranking->count;
    int64_t *targets = ranking->targets + row * ranking->count;
    if (is_before(value, target, values[0], targets[0])) sink(values, targets, ranking->count, value, target);
}

void armilla_ranking_join(armilla_ranking *ranking, int64_t row, const armilla_ranking *from, int64_t other)
{
    for (int64_t i = other * from->count; i < (other + 1) * from->count; i++)
        if (from->targets[i] != INT64_MAX) armilla_ranking_put(ranking, row, from->values[i], from->targets[i]);
}

void armilla_ranking_sort(armilla_ranking *ranking, int64_t row)
{
    double *values = ranking->values + row * ranking->count;
    int64_t *targets = ranking->targets + row * ranking->count;
    for (int64_t left = ranking->count - 1; left > 0; left--) {
        const double value = values[left];
        const int64_t target = targets[left];
        values[left] = values[0];
        targets[left] = targets[0];
        sink(values, targets, left, value, target);
    }
}
