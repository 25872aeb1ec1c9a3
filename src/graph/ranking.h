/* The `count` largest of the values that are put into each row, with their targets. Equal values rank by the lower
 * target, so that the result depends neither on the order of the values nor on the thread that puts them. */
#ifndef ARMILLA_GRAPH_RANKING_H
#define ARMILLA_GRAPH_RANKING_H

#include "base/context.h"

/* A row is a heap with the last of its ranks in front, so that it is known what has to be exceeded. All zeros may be
 * released. */
typedef struct armilla_ranking {
    int64_t count;
    double *values;
    int64_t *targets;
} armilla_ranking;

/* Memory for so many rows, which are not cleared. */
armilla_status armilla_ranking_take(armilla_context *context, int64_t rows, int64_t count, armilla_ranking *made);
void armilla_ranking_release(armilla_context *context, armilla_ranking *ranking);

/* Rows first ... last-1 become empty: values of minus infinity, which any other exceeds. */
void armilla_ranking_clear(armilla_ranking *ranking, int64_t first, int64_t last);

/* What the last rank of a row has. */
static inline double armilla_ranking_floor(const armilla_ranking *ranking, int64_t row)
{
    return ranking->values[row * ranking->count];
}

/* The value takes its rank in the row, if it has one. */
void armilla_ranking_put(armilla_ranking *ranking, int64_t row, double value, int64_t target);
/* What row `other` of another ranking has is put into the row. */
void armilla_ranking_join(armilla_ranking *ranking, int64_t row, const armilla_ranking *from, int64_t other);
/* The row in order, the largest first; nothing can be put there after that. */
void armilla_ranking_sort(armilla_ranking *ranking, int64_t row);

#endif
