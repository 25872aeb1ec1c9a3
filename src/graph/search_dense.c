/* Products of dense samples: the block is packed by features, and each of its groups meets a whole panel. A CPU that bounds
 * products at a small part of their cost makes only those that can matter. */
#include "graph/search.h"

#include "base/size.h"
#include "data/sparse.h"
#include "graph/search_coarse.h"

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
    if (s->X->blocks)
        queries = armilla_max64(queries, armilla_memory_left(s->context) / STREAM_SHARE /
                                             (bytes + armilla_coarse_query_bytes(s->context, s->kernels, s->X->m)));
    return armilla_packed_columns(LEAST_QUERIES, queries);
}

/* Packed queries, and the buffers of threads that place sparse ones. */
typedef struct dense_block {
    char *packed;
    armilla_coarse_block coarse;
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
    const int threads = armilla_traversal_threads(s->asking);
    armilla_status status = armilla_take(s->context, 1, sizeof(dense_block), &s->block);
    if (status != ARMILLA_OK) return status;
    dense_block *b = s->block;
    b->coarse = (armilla_coarse_block){.m = s->X->m};
    status = armilla_take(s->context, columns, (size_t)s->X->m * armilla_type_size(s->work), &b->packed);
    if (status == ARMILLA_OK) status = armilla_coarse_block_take(s->context, &b->coarse, s->kernels, s->most, threads);
    if (status == ARMILLA_OK && armilla_sparse_of(s->queries)) status = take_expanded(s, b);
    return status;
}

static void release(armilla_search *s)
{
    dense_block *b = s->block;
    if (!b) return;
    armilla_release(s->context, b->typed);
    armilla_column_buffers_release(s->context, &b->columns);
    armilla_coarse_block_release(s->context, &b->coarse);
    armilla_release(s->context, b->packed);
    armilla_release(s->context, b);
}

/* What a thread works with: a packed panel, a tile, what the panel's columns have found, and places in a row. */
typedef struct tile {
    armilla_search *search;
    const armilla_panel *of;
    int thread;
    int64_t columns; /* of the widest panel, in whole groups */
    bool packed;     /* the panel is */
    char *panel, *products, *floors;
    int32_t *places;
    armilla_coarse_tile coarse;
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
    char *end = armilla_align(made.places + columns);
    const dense_block *b = s->block;
    size_t coarse = 0;
    made.coarse = armilla_coarse_tile_at(&b->coarse, armilla_traversal_width(s->pass), end, &coarse);
    *bytes = (size_t)(end - at) + coarse + ARMILLA_LINE;
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

static void place_columns(const armilla_search *s, const armilla_columns *columns, int64_t first, int thread)
{
    const dense_block *b = s->block;
    s->kernels->pack(columns, first, s->kernels->few, b->packed);
    if (b->coarse.kernels) armilla_coarse_block_place(&b->coarse, thread, columns, first);
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
        place_columns(s, &column, panel->first + j - s->first, thread);
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
        place_columns(s, &columns, panel->first - s->first, thread);
    return ARMILLA_OK;
}

static void ready(armilla_search *s)
{
    (void)s;
}

/* What the panel's columns have found so far is what they ask of more. */
static void put_floor(const tile *t, int64_t j, double floor)
{
    armilla_number_put(t->search->work, t->floors, j, floor);
    if (t->coarse.block->kernels) t->coarse.many.floors[j] = (float)floor;
}

/* Columns want nothing of queries that are no samples. */
static void fetch_floors(const tile *t)
{
    const armilla_search *s = t->search;
    for (int64_t j = 0; j < t->of->count; j++)
        put_floor(t, j, armilla_search_same(s) ? armilla_ranking_floor(&s->found, t->of->first + j) : (double)INFINITY);
}

/* The product of a query of the block and column j of the panel is ranked for both; floor: what it has to exceed for the
 * query, which is returned as it is then. */
static double rank_product(const tile *t, int64_t query, double floor, int64_t j, double value)
{
    armilla_search *s = t->search;
    const int64_t column = t->of->first + j;
    if (value > floor) floor = armilla_search_put(s, t->thread, query, value, column);
    if (value > armilla_number_at(s->work, t->floors, j)) {
        armilla_ranking_put(&s->found, column, value, s->first + query);
        put_floor(t, j, armilla_ranking_floor(&s->found, column));
    }
    return floor;
}

static double floor_of(const tile *t, int64_t query)
{
    return armilla_number_at(t->search->work, armilla_search_floors(t->search, t->thread), query);
}

/* The products of one query of the block with the panel's columns from `from` on, which are made. */
static void rank_row(const tile *t, int64_t query, int64_t from)
{
    const armilla_search *s = t->search;
    const size_t size = armilla_type_size(s->work);
    const char *products = t->products + (size_t)(query % s->kernels->few * t->columns) * size;
    double floor = floor_of(t, query);
    const int64_t found = s->kernels->above(t->of->count - from, products + (size_t)from * size, floor,
                                            t->floors + (size_t)from * size, t->places);
    for (int64_t i = 0; i < found; i++) {
        const int64_t j = from + t->places[i];
        floor = rank_product(t, query, floor, j, armilla_number_at(s->work, products, j));
    }
}

/* Pairs of the tile from `first` on that are left when their products are known, nearly, move to `kept`. */
static int64_t keep_pairs(tile *t, int64_t first, int64_t kept)
{
    const armilla_coarse_block *block = t->coarse.block;
    const armilla_columns columns = columns_of(t->of);
    const void *a[ARMILLA_COARSE_BATCH], *b[ARMILLA_COARSE_BATCH];
    double products[ARMILLA_COARSE_BATCH];
    const int64_t count = armilla_coarse_tile_batch(&t->coarse, first, &columns, a, b);
    block->quick->dots(block->m, count, a, b, products);
    for (int64_t i = 0; i < count; i++) {
        const armilla_coarse_pair pair = t->coarse.pairs[first + i];
        const double floor = fmin(floor_of(t, pair.query), armilla_number_at(t->search->work, t->floors, pair.column));
        if (products[i] + armilla_coarse_slack(block) > floor) t->coarse.pairs[kept++] = pair;
    }
    return kept;
}

static void rank_batch(tile *t, int64_t first)
{
    const armilla_columns columns = columns_of(t->of);
    const void *a[ARMILLA_COARSE_BATCH], *b[ARMILLA_COARSE_BATCH];
    double products[ARMILLA_COARSE_BATCH];
    const int64_t count = armilla_coarse_tile_batch(&t->coarse, first, &columns, a, b);
    t->search->kernels->singles(t->search->X->m, count, a, b, products);
    for (int64_t i = 0; i < count; i++) {
        const armilla_coarse_pair pair = t->coarse.pairs[first + i];
        (void)rank_product(t, pair.query, floor_of(t, pair.query), pair.column, products[i]);
    }
}

/* The pairs of the tile that may matter. */
static void rank_pairs(tile *t)
{
    if (armilla_coarse_sifts(t->coarse.block)) {
        int64_t kept = 0;
        for (int64_t i = 0; i < t->coarse.found; i += ARMILLA_COARSE_BATCH) kept = keep_pairs(t, i, kept);
        t->coarse.found = kept;
    }
    for (int64_t i = 0; i < t->coarse.found; i += ARMILLA_COARSE_BATCH) rank_batch(t, i);
}

/* All products with the panel of the group that begins with that query. */
static void make_tile(tile *t, int64_t query)
{
    const armilla_search *s = t->search;
    const dense_block *b = s->block;
    const char *group = b->packed + (size_t)(query * s->X->m) * armilla_type_size(s->work);
    const armilla_columns columns = columns_of(t->of);
    if (!t->packed) s->kernels->pack(&columns, 0, s->kernels->many, t->panel);
    t->packed = true;
    s->kernels->products(s->X->m, group, t->columns / s->kernels->many, t->panel, t->products);
}

/* The first column that the query meets: the first of two samples is the query. */
static int64_t first_column(const tile *t, int64_t query)
{
    const armilla_search *s = t->search;
    return armilla_search_same(s) ? armilla_max64(0, s->first + query + 1 - t->of->first) : 0;
}

/* Queries first ... last-1, of one group, meet the panel by bounds; false: too many of their products may matter. */
static bool meet_some(tile *t, int64_t first, int64_t last)
{
    if (!armilla_coarse_tile_meet(&t->coarse, first)) return false;
    for (int64_t q = first; q < last; q++)
        if (!armilla_coarse_tile_add(&t->coarse, q, first_column(t, q), floor_of(t, q))) return false;
    rank_pairs(t);
    return true;
}

static void meet_all(tile *t, int64_t first, int64_t last)
{
    make_tile(t, first);
    for (int64_t q = first; q < last; q++) rank_row(t, q, first_column(t, q));
}

static armilla_status meet(void *self, const armilla_panel *panel, int thread, double *sums)
{
    armilla_search *s = self;
    const armilla_columns columns = columns_of(panel);
    const int64_t few = s->kernels->few, end = panel->first + panel->count;
    const int64_t last = (armilla_search_same(s) ? armilla_min64(s->last, end - 1) : s->last) - s->first;
    size_t bytes = 0;
    tile t = lay_out(s, armilla_search_workspace(s, thread), &bytes);
    (void)sums;
    t.search = s;
    t.of = panel;
    t.thread = thread;
    t.columns = armilla_packed_columns(s->kernels->many, panel->count);
    armilla_coarse_tile_pack(&t.coarse, &columns);
    fetch_floors(&t);
    for (int64_t q = 0; q < last; q += few) {
        const int64_t end_of_group = armilla_min64(last, q + few);
        if (!meet_some(&t, q, end_of_group)) meet_all(&t, q, end_of_group);
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
