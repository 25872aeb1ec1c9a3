/* Bounds of products in an exact search. */
#include "graph/search_coarse.h"

#include "base/size.h"

#include <string.h>

enum {
    LEAST_FEATURES = 32, /* with fewer a product costs no more than its bound */
    LEAST_SIFTED = 256,  /* with fewer the bounds leave little more than what is ranked */
    WORTH = 12,          /* a tile is made whole where more than one of so many of its products may matter */
    MOST_PATIENCE = 63   /* groups */
};

static const armilla_coarse_kernels *kernels_for(const armilla_context *context, const armilla_pair_kernels *pairs,
                                                 int64_t m)
{
    const armilla_coarse_kernels *kernels = armilla_coarse_kernels_for(context);
    const bool pays = kernels && kernels->few == pairs->few && m >= LEAST_FEATURES && m <= ARMILLA_COARSE_MOST;
    return pays ? kernels : NULL;
}

int64_t armilla_coarse_query_bytes(const armilla_context *context, const armilla_pair_kernels *pairs, int64_t m)
{
    return kernels_for(context, pairs, m) ? m * (int64_t)armilla_type_size(pairs->type) + armilla_coarse_bytes(m) : 0;
}

armilla_status armilla_coarse_block_take(armilla_context *context, armilla_coarse_block *block,
                                         const armilla_pair_kernels *pairs, int64_t queries, int threads)
{
    const armilla_coarse_kernels *kernels = kernels_for(context, pairs, block->m);
    if (!kernels) return ARMILLA_OK;
    const size_t m = (size_t)block->m;
    const int64_t places = armilla_packed_columns(kernels->few, queries);
    armilla_status status = armilla_take(context, places, (size_t)armilla_coarse_bytes(block->m), &block->packed);
    if (status == ARMILLA_OK)
        status = armilla_take(context, queries, m * armilla_type_size(pairs->type), &block->columns);
    if (status == ARMILLA_OK) status = armilla_take(context, places, sizeof *block->queries, &block->queries);
    if (status == ARMILLA_OK) status = armilla_take(context, threads, m * sizeof *block->narrowed, &block->narrowed);
    if (status != ARMILLA_OK) return status;
    block->quick = armilla_kernels_for(context, pairs->type);
    block->narrow = armilla_kernels_for(context, ARMILLA_F32);
    block->kernels = kernels;
    return ARMILLA_OK;
}

void armilla_coarse_block_release(armilla_context *context, armilla_coarse_block *block)
{
    armilla_release(context, block->narrowed);
    armilla_release(context, block->queries);
    armilla_release(context, block->columns);
    armilla_release(context, block->packed);
}

static size_t type_size(const armilla_coarse_block *block)
{
    return armilla_type_size(block->quick->type);
}

static const char *column_at(const armilla_coarse_block *block, const armilla_columns *columns, int64_t j)
{
    return (const char *)columns->values + (size_t)(j * columns->stride) * type_size(block);
}

static char *query_at(const armilla_coarse_block *block, int64_t query)
{
    return block->columns + (size_t)(query * block->m) * type_size(block);
}

/* A column in f32, perhaps in `narrowed`. */
static const float *narrow(const armilla_coarse_block *block, const char *column, float *narrowed)
{
    const armilla_type work = block->quick->type;
    if (work == ARMILLA_F32) return (const float *)(const void *)column;
    block->narrow->convert[work](block->m, column, narrowed);
    return narrowed;
}

void armilla_coarse_block_place(const armilla_coarse_block *block, int thread, const armilla_columns *columns,
                                int64_t first)
{
    float *narrowed = block->narrowed + thread * block->m;
    for (int64_t j = 0; j < columns->count; j++) {
        const char *column = column_at(block, columns, j);
        memcpy(query_at(block, first + j), column, (size_t)block->m * type_size(block));
        block->queries[first + j] =
            block->kernels->pack(block->m, narrow(block, column, narrowed), true, first + j, block->packed);
    }
}

static void *cut(char **at, size_t bytes)
{
    char *part = *at;
    *at += armilla_padded(bytes);
    return part;
}

armilla_coarse_tile armilla_coarse_tile_at(const armilla_coarse_block *block, int64_t columns, char *at, size_t *bytes)
{
    armilla_coarse_tile tile = {.block = block};
    *bytes = 0;
    if (!block->kernels) return tile;
    char *end = at;
    const size_t few = (size_t)block->kernels->few;
    const size_t places = (size_t)armilla_packed_columns(block->kernels->many, columns), size = places * sizeof(float);
    tile.packed = cut(&end, places * (size_t)armilla_coarse_bytes(block->m));
    tile.many.scales = cut(&end, size);
    tile.many.errors = cut(&end, size);
    tile.many.floors = cut(&end, size);
    tile.many.sums = cut(&end, size);
    tile.places = cut(&end, size + (size_t)block->kernels->many * sizeof(int32_t));
    tile.products = cut(&end, size * few);
    tile.pairs = cut(&end, places * few / WORTH * sizeof *tile.pairs);
    tile.narrowed = cut(&end, (size_t)block->m * sizeof(float));
    *bytes = (size_t)(end - at);
    return tile;
}

void armilla_coarse_tile_pack(armilla_coarse_tile *tile, const armilla_columns *columns)
{
    const armilla_coarse_block *block = tile->block;
    const armilla_coarse_kernels *kernels = block->kernels;
    if (!kernels) return;
    tile->count = columns->count;
    tile->groups = armilla_packed_columns(kernels->many, columns->count) / kernels->many;
    tile->most = kernels->few * columns->count / WORTH;
    for (int64_t j = 0; j < columns->count; j++) {
        const float *column = narrow(block, column_at(block, columns, j), tile->narrowed);
        const armilla_coarse made = kernels->pack(block->m, column, false, j, tile->packed);
        tile->many.scales[j] = made.scale;
        tile->many.errors[j] = made.error;
        tile->many.sums[j] = made.sum;
    }
}

bool armilla_coarse_tile_meet(armilla_coarse_tile *tile, int64_t query)
{
    const armilla_coarse_block *block = tile->block;
    if (!block->kernels) return false;
    if (tile->waits > 0) {
        tile->waits--;
        return false;
    }
    const char *group = block->packed + query * armilla_coarse_bytes(block->m);
    tile->found = 0;
    block->kernels->products(block->m, group, tile->groups, tile->packed, tile->many.sums, tile->products);
    return true;
}

bool armilla_coarse_tile_add(armilla_coarse_tile *tile, int64_t query, int64_t from, double floor)
{
    const armilla_coarse_block *block = tile->block;
    const armilla_coarse_kernels *kernels = block->kernels;
    const armilla_coarse_many *all = &tile->many, rest = {.scales = all->scales + from,
                                                          .errors = all->errors + from,
                                                          .floors = all->floors + from};
    const int32_t *products = tile->products + query % kernels->few * tile->groups * kernels->many + from;
    const int64_t found =
        kernels->above(tile->count - from, products, &block->queries[query], (float)floor, &rest, tile->places);
    const bool fits = tile->found + found <= tile->most;
    for (int64_t i = 0; i < found && fits; i++)
        tile->pairs[tile->found++] = (armilla_coarse_pair){(int32_t)query, (int32_t)from + tile->places[i]};
    tile->patience = fits ? 0 : armilla_min64(MOST_PATIENCE, 2 * tile->patience + 1);
    if (!fits) tile->waits = tile->patience;
    return fits;
}

int64_t armilla_coarse_tile_batch(const armilla_coarse_tile *tile, int64_t first, const armilla_columns *columns,
                                  const void **queries, const void **samples)
{
    const int64_t count = armilla_min64(ARMILLA_COARSE_BATCH, tile->found - first);
    for (int64_t i = 0; i < count; i++) {
        queries[i] = query_at(tile->block, tile->pairs[first + i].query);
        samples[i] = column_at(tile->block, columns, tile->pairs[first + i].column);
    }
    return count;
}

bool armilla_coarse_sifts(const armilla_coarse_block *block)
{
    return block->m >= LEAST_SIFTED;
}

double armilla_coarse_slack(const armilla_coarse_block *block)
{
    return 4 * (double)(block->m + 64) * armilla_epsilon(block->quick->type);
}
