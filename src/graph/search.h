/* One search for nearest samples, exact: blocks of queries that are ready to be multiplied, and for each block one pass
 * over the data. A pass begins at its block where the samples are the queries, and the product of two samples, of which
 * the first is the query, ranks each for the other: half of all products are enough.
 *
 * Threads share the columns of a pass. The list of a column is changed by the thread that visits it, those of the queries
 * are of one thread each until the pass is over. Both get their candidates by rising index, so that a value that only
 * equals the last rank is no candidate. */
#ifndef ARMILLA_GRAPH_SEARCH_H
#define ARMILLA_GRAPH_SEARCH_H

#include "data/column.h"
#include "data/traverse.h"
#include "graph/ranking.h"
#include "linalg/pair_kernels.h"

struct armilla_search_form;

typedef struct armilla_search {
    armilla_context *context;
    const armilla_data *queries, *X; /* of length 1 or 0; the same where samples are compared with each other */
    armilla_type work;
    int64_t count;
    const struct armilla_search_form *form;
    const armilla_pair_kernels *kernels; /* of `listed` */
    armilla_type listed;                 /* the type of products and floors */
    armilla_traversal *asking, *pass;    /* over the queries, and over X */
    int threads;                         /* of the pass */

    int64_t first, last;   /* the block: queries first ... last-1, */
    int64_t most;          /* and how many it can have */
    void *block;           /* as the form has them */
    armilla_ranking found; /* of every query, */
    armilla_ranking own;   /* and of those in the block, of each thread: `most` rows each, */
    char *floors;          /* and what a product must exceed to be put there */
    char *workspace;       /* of each thread, so many bytes: */
    size_t workspace_bytes;
} armilla_search;

/* How products are made of data in that form. */
typedef struct armilla_search_form {
    /* The most queries of a block, bytes of the block, and of a thread's workspace. */
    int64_t (*most)(const armilla_search *search);
    armilla_status (*take)(armilla_search *search);
    void (*release)(armilla_search *search);
    size_t (*workspace)(const armilla_search *search);
    armilla_visitor place; /* puts a panel of queries into the block */
    void (*ready)(armilla_search *search);
    armilla_visitor meet; /* a panel of X meets the block */
} armilla_search_form;

extern const armilla_search_form armilla_search_dense, armilla_search_sparse;

/* Samples are compared with each other. */
static inline bool armilla_search_same(const armilla_search *search)
{
    return search->queries == search->X;
}

/* What a product with each query of the block must exceed, in the type of products. */
static inline void *armilla_search_floors(const armilla_search *search, int thread)
{
    return search->floors + (size_t)(thread * search->most) * armilla_type_size(search->listed);
}

static inline void *armilla_search_workspace(const armilla_search *search, int thread)
{
    return search->workspace + (size_t)thread * search->workspace_bytes;
}

/* The product of query `query` of the block (from 0) and a column is ranked in the query's list. Returns what has to be
 * exceeded from now on; floor: until now. */
double armilla_search_put(armilla_search *search, int thread, int64_t query, double value, int64_t column);

/* Fills the rows of found for all queries, in order. */
armilla_status armilla_search_run(armilla_search *search);

/* A search of queries (may be X) in X. All memory is taken here. */
armilla_status armilla_search_open(armilla_search *search);
void armilla_search_close(armilla_search *search);

#endif
