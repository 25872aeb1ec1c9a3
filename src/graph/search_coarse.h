/* Which products of dense samples can matter: bounds from samples in 8 bits (linalg/coarse_kernels.h), and of what these
 * leave products that are summed in the fastest order, so that few products are made as they are ranked
 * (docs/algorithm.md#neighbours). Nothing depends on them but time. */
#ifndef ARMILLA_GRAPH_SEARCH_COARSE_H
#define ARMILLA_GRAPH_SEARCH_COARSE_H

#include "linalg/coarse_kernels.h"

/* The queries of a block. All zeros may be released. */
typedef struct armilla_coarse_block {
    const armilla_coarse_kernels *kernels; /* NULL: every product is made */
    const armilla_kernels *quick, *narrow; /* of the working type, and of f32 */
    int64_t m;
    char *packed, *columns; /* in 8 bits, and as they are */
    armilla_coarse *queries;
    float *narrowed; /* a sample in f32 for each thread that places some */
} armilla_coarse_block;

/* Bytes of a query of m numbers beside that in groups; 0 where bounds do not pay. */
int64_t armilla_coarse_query_bytes(const armilla_context *context, const armilla_pair_kernels *pairs, int64_t m);

/* Memory for so many queries of m numbers, of which the kernels multiply; none where bounds do not pay. */
armilla_status armilla_coarse_block_take(armilla_context *context, armilla_coarse_block *block,
                                         const armilla_pair_kernels *pairs, int64_t queries, int threads);
void armilla_coarse_block_release(armilla_context *context, armilla_coarse_block *block);
/* The columns become queries from `first` on. */
void armilla_coarse_block_place(const armilla_coarse_block *block, int thread, const armilla_columns *columns,
                                int64_t first);

/* A product that may matter: of a query of the block and a column of the panel. */
typedef struct armilla_coarse_pair {
    int32_t query, column;
} armilla_coarse_pair;

/* What a thread works with: a panel, its products with a group of queries, and how bounds have fared. */
typedef struct armilla_coarse_tile {
    const armilla_coarse_block *block;
    char *packed;
    armilla_coarse_many many;
    int32_t *products, *places;
    armilla_coarse_pair *pairs;
    float *narrowed;
    int64_t count, groups;   /* columns of the panel */
    int64_t found, most;     /* pairs, and how many of them are worth it */
    int64_t waits, patience; /* groups until bounds are tried again, and how many that were the last time */
} armilla_coarse_tile;

/* A tile for so many columns at `at`, a whole line; *bytes = what it takes, in whole lines. */
armilla_coarse_tile armilla_coarse_tile_at(const armilla_coarse_block *block, int64_t columns, char *at, size_t *bytes);
/* Before the panel meets queries; without kernels nothing is done. */
void armilla_coarse_tile_pack(armilla_coarse_tile *tile, const armilla_columns *columns);
/* The products in 8 bits of the group that begins with that query; false: bounds are not tried. */
bool armilla_coarse_tile_meet(armilla_coarse_tile *tile, int64_t query);
/* Adds the pairs of the query with those columns from `from` on whose product may be above `floor`, or above the column's own.
 * False: there are so many that the tile is sooner made whole. */
bool armilla_coarse_tile_add(armilla_coarse_tile *tile, int64_t query, int64_t from, double floor);
/* The samples of at most ARMILLA_COARSE_BATCH pairs from `first` on, the second of each among these columns; the number of
 * pairs is returned. */
enum { ARMILLA_COARSE_BATCH = 8 };
int64_t armilla_coarse_tile_batch(const armilla_coarse_tile *tile, int64_t first, const armilla_columns *columns,
                                  const void **queries, const void **samples);
/* Whether products in the fastest order are worth it before those that are ranked. */
bool armilla_coarse_sifts(const armilla_coarse_block *block);
/* How far a product in the fastest order may be below the one that is ranked. */
double armilla_coarse_slack(const armilla_coarse_block *block);

#endif
