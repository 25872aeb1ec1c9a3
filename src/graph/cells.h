/* Samples in cells, for neighbours of which nearly all are enough (docs/algorithm.md#neighbours): centres by spherical
 * k-means on some of the samples, every sample with its nearest centre. A query is compared with the samples of the
 * `probed` cells whose centres are nearest to it. */
#ifndef ARMILLA_GRAPH_CELLS_H
#define ARMILLA_GRAPH_CELLS_H

#include "data/data.h"
#include "graph/neighbors.h"
#include "graph/ranking.h"

/* Samples of length 1 or 0 in memory, those of a cell side by side. All zeros may be released. */
typedef struct armilla_cell_lists {
    int64_t n;
    char *values;    /* m x n in the working type */
    int64_t *ids;    /* n: which sample each is */
    int64_t *starts; /* cells + 1: the first of each cell */
} armilla_cell_lists;

typedef struct armilla_cells {
    armilla_context *context;
    armilla_type work;
    int64_t m, count; /* count: of cells */
    char *centers;    /* m x count in the working type, of length 1 */
    armilla_cell_lists samples;
} armilla_cells;

/* How many cells n samples are divided into, of which every one is to have more than `least`; below 2: it is not worth
 * it. */
int64_t armilla_cells_wanted(int64_t n, int64_t least);

/* Cells of the samples of X, dense and of length 1 or 0: at most so many, each with more than `least` samples. */
armilla_status armilla_cells_make(armilla_cells *cells, const armilla_data *X, int64_t wanted, int64_t least,
                                  uint64_t seed);
void armilla_cells_release(armilla_cells *cells);

/* Other samples, by their nearest cells. */
armilla_status armilla_cells_sort(const armilla_cells *cells, const armilla_data *X, armilla_cell_lists *made);
void armilla_cell_lists_release(armilla_context *context, armilla_cell_lists *lists);

/* Ranks the `count` nearest of the columns of `among`, m x n in the working type, for each of the columns of X: rows in
 * order; made is taken here. */
armilla_status armilla_cells_rank(const armilla_cells *cells, const armilla_data *X, const void *among, int64_t n,
                                  int64_t count, armilla_ranking *made);

/* The neighbours of queries, which may be cells->samples, as the plan wants them, and what was found of them: the rows of
 * `made` are in the order of the queries' ids. */
armilla_status armilla_cells_search(const armilla_cells *cells, const armilla_cell_lists *queries,
                                    const armilla_neighbors_plan *plan, armilla_ranking *made,
                                    armilla_neighbors_found *found);

#endif
