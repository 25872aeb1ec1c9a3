/* Products of dense samples: the block is packed by features, and each of its groups meets a whole panel. */
#include "graph/search.h"

#include "base/size.h"
#include "data/sparse.h"

#include <math.h>

enum {
    BLOCK_BYTES = 8 << 20, /* of a block in the last cache, which is read once for each panel */
    LEAST_QUERIES = 240,   /* so that a panel, once it is loaded, has enough to do */
    MOST_QUERIES = 1920,   /* whose lists stay in a second-level cache */
    STREAM_SHARE = 8       /* of the memory that is left, for a block where each pass reads a file */
};

/* A multiple of every kernel's group. */
static int64_t most(const armilla_search *s)
{
    const int64_t bytes = s->X->m * (int64_t)armilla_type_size(s->work);
    int64_t queries = armilla_min64(MOST_QUERIES, armilla_max64(LEAST_QUERIES, BLOCK_BYTES / bytes));
    if (s->X->blocks) queries = armilla_max64(queries, armilla_memory_left(s->context) / STREAM_SHARE / bytes);
    return armilla_packed_columns(LEAST_QUERIES, queries);
}

/* Packed queries, and the buffers of threads that place sparse ones. */
typedef struct dense_block {
    char *packed;
    armilla_column_buffers columns;
    char *typed; /* a column for each thread, in the working type */
} dense_block;

static armilla_status take_expanded(armilla_search *s, dense_block *b)
{
    const int threads = armilla_traversal_threads(s->asking);
    const size_t bytes = (size_t)s->X->m * armilla_type_size(s->work);
    armilla_status status = armilla_column_buffers_take(s->context, s->queries, threads, &b->columns);
    if (status == ARMILLA_OK) status = armilla_take(s->context, threads, bytes, &b->typed);
    return status;
}

static armilla_status take(armilla_search *s)
{
    const int64_t columns = armilla_packed_columns(s->kernels->few, s->most);
    armilla_status status = armilla_take(s->context, 1, sizeof(dense_block), &s->block);
    if (status != ARMILLA_OK) return status;
    dense_block *b = s->block;
    status = armilla_take(s->context, columns, (size_t)s->X->m * armilla_type_size(s->work), &b->packed);
    if (status == ARMILLA_OK && armilla_sparse_of(s->queries)) status = take_expanded(s, b);
    return status;
}

static void release(armilla_search *s)
{
    dense_block *b = s->block;
    if (!b) return;
    armilla_release(s->context, b->typed);
    armilla_column_buffers_release(s->context, &b->columns);
    armilla_release(s->context, b->packed);
    armilla_release(s->context, b);
}

/* What a thread works with: a packed panel, a tile, what the panel's columns have found, and places in a row. */
typedef struct tile {
    int64_t columns; /* of the widest panel, in whole groups */
    char *panel, *products, *floors;
    int32_t *places;
} tile;

static tile lay_out(const armilla_search *s, char *at, size_t *bytes)
{
    const size_t size = armilla_type_size(s->work);
    tile made = {.columns = armilla_packed_columns(s->kernels->many, armilla_traversal_width(s->pass))};
    const size_t columns = (size_t)made.columns;
    at = armilla_align(at);
    made.panel = at;
    made.products = made.panel + columns * (size_t)s->X->m * size;
    made.floors = made.products + columns * (size_t)s->kernels->few * size;
    made.places = (int32_t *)(void *)(made.floors + columns * size);
    *bytes = (size_t)((char *)(made.places + columns) - at) + ARMILLA_LINE;
    return made;
}

static size_t workspace(const armilla_search *s)
{
    static char nothing[1];
    size_t bytes = 0;
    (void)lay_out(s, nothing, &bytes);
    return bytes;
}

static armilla_columns columns_of(const armilla_panel *panel)
{
    return (armilla_columns){
        .values = panel->columns, .m = panel->data->m, .count = panel->count, .stride = panel->stride};
}

/* Columns of a sparse panel, one by one. */
static void place_expanded(const armilla_search *s, const armilla_panel *panel, int thread)
{
    const dense_block *b = s->block;
    const int64_t m = s->X->m;
    char *typed = b->typed + (size_t)(thread * m) * armilla_type_size(s->work);
    const armilla_columns column = {.values = typed, .m = m, .count = 1, .stride = m};
    for (int64_t j = 0; j < panel->count; j++) {
        const armilla_column x = armilla_panel_whole_column(panel, j, armilla_column_buffer_of(&b->columns, thread));
        armilla_store(s->work, m, x.values, typed);
        s->kernels->pack(&column, panel->first + j - s->first, s->kernels->few, b->packed);
    }
}

static armilla_status place(void *self, const armilla_panel *panel, int thread, double *sums)
{
    armilla_search *s = self;
    const dense_block *b = s->block;
    const armilla_columns columns = columns_of(panel);
    (void)sums;
    if (b->typed)
        place_expanded(s, panel, thread);
    else
        s->kernels->pack(&columns, panel->first - s->first, s->kernels->few, b->packed);
    return ARMILLA_OK;
}

static void ready(armilla_search *s)
{
    (void)s;
}

/* What the panel's columns have found so far is what they ask of more; of queries that are no samples they want nothing. */
static void fetch_floors(const armilla_search *s, const armilla_panel *panel, const tile *t)
{
    for (int64_t j = 0; j < panel->count; j++)
        armilla_number_put(s->work, t->floors, j,
                           armilla_search_same(s) ? armilla_ranking_floor(&s->found, panel->first + j)
                                                  : (double)INFINITY);
}

/* The products of one query of the block with the panel's columns from `from` on are ranked, for both. */
static void rank_row(armilla_search *s, const armilla_panel *panel, int thread, const tile *t, int64_t query,
                     int64_t from)
{
    const size_t size = armilla_type_size(s->work);
    const char *products = t->products + (size_t)(query % s->kernels->few * t->columns) * size;
    double floor = armilla_number_at(s->work, armilla_search_floors(s, thread), query);
    const int64_t found = s->kernels->above(panel->count - from, products + (size_t)from * size, floor,
                                            t->floors + (size_t)from * size, t->places);
    for (int64_t i = 0; i < found; i++) {
        const int64_t j = from + t->places[i];
        const double value = armilla_number_at(s->work, products, j);
        if (value > floor) floor = armilla_search_put(s, thread, query, value, panel->first + j);
        if (!(value > armilla_number_at(s->work, t->floors, j))) continue;
        armilla_ranking_put(&s->found, panel->first + j, value, s->first + query);
        armilla_number_put(s->work, t->floors, j, armilla_ranking_floor(&s->found, panel->first + j));
    }
}

static armilla_status meet(void *self, const armilla_panel *panel, int thread, double *sums)
{
    armilla_search *s = self;
    const armilla_pair_kernels *kernels = s->kernels;
    const dense_block *b = s->block;
    const int64_t m = s->X->m, few = kernels->few;
    const bool same = armilla_search_same(s);
    const armilla_columns columns = columns_of(panel);
    size_t bytes = 0;
    tile t = lay_out(s, armilla_search_workspace(s, thread), &bytes);
    (void)sums;
    t.columns = armilla_packed_columns(kernels->many, panel->count);
    kernels->pack(&columns, 0, kernels->many, t.panel);
    fetch_floors(s, panel, &t);
    /* The first of two samples is the query: it meets the columns behind it. */
    const int64_t queries = armilla_min64(s->last, same ? panel->first + panel->count - 1 : s->last) - s->first;
    for (int64_t q = 0; q < queries; q++) {
        const char *group = b->packed + (size_t)(q * m) * armilla_type_size(s->work);
        if (q % few == 0) kernels->products(m, group, t.columns / kernels->many, t.panel, t.products);
        rank_row(s, panel, thread, &t, q, same ? armilla_max64(0, s->first + q + 1 - panel->first) : 0);
    }
    return ARMILLA_OK;
}

const armilla_search_form armilla_search_dense = {
    .most = most,
    .take = take,
    .release = release,
    .workspace = workspace,
    .place = place,
    .ready = ready,
    .meet = meet,
};
