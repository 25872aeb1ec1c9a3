/* XW' of tall dense data, one block of features after another.
 *
 * A slot's vector of sums is as long as the basis: where there are many features and few samples, writing one for each slot
 * and adding them up costs more than the products. So first all codes are made, and then each thread takes blocks of
 * features, sums what the slots have there in its cache, and writes A once. X is read a second time, which it would be
 * anyway, as no panel of such columns stays in a cache. Every number has the bits that it has in slots' vectors: panels are
 * summed in the type, those of a slot added in double, slots along the tree. */
#include "solve/sweep_sums.h"

#include "base/ranks.h"
#include "base/tree.h"

#include <stdatomic.h>
#include <string.h>

enum {
    MANY_NUMBERS = 1 << 17, /* of A, from which on it pays */
    VECTORS = 4,            /* that would be kept otherwise, and take more memory than packed codes */
    MOST_VECTORS = 8,       /* where packed codes take no more than a part of the memory that is left */
    MEMORY_PART = 4,
    SUMS_BYTES = 1 << 20, /* of a block; what it has of a panel is copied by the kernels into their scratch */
    COLUMN_SUMS = 4096,   /* and more where panels are wide, as sums are read once for each: so many for a column */
    STEP = 32,            /* features: whole vectors of any kernel */
    MOST_BLOCK = 16 * STEP,
    THREAD_BLOCKS = 4 /* for each thread, lest some wait for the last block */
};

struct armilla_features {
    armilla_context *context;
    const armilla_kernels *kernels;
    const char *values; /* of X */
    int64_t stride;
    int64_t blocks;
    int64_t sums;        /* numbers of a block's sums, of which there is one for each level of the tree */
    char *codes;         /* r x n, as the kernels pack those of each panel; NULL: they are read as they are */
    char *space;         /* of all threads */
    size_t thread_bytes; /* of each */
    armilla_tree tree;
};

/* Whether memory has space for packed codes. */
static bool holds_codes(const armilla_context *context, const armilla_data *X, armilla_type work, int64_t r)
{
    const int64_t codes = X->n * (int64_t)armilla_type_size(work), vector = X->m * (int64_t)sizeof(double);
    return codes <= VECTORS * vector ||
           (codes <= MOST_VECTORS * vector && codes <= armilla_memory_left(context) / MEMORY_PART / r);
}

bool armilla_features_pay(armilla_context *context, const armilla_data *X, armilla_type work, int64_t r)
{
    int64_t stride = 0;
    const bool plain = armilla_data_dense(X, &stride) && X->type == work && armilla_ranks_size(context) == 1;
    return plain && X->m >= 2 * MOST_BLOCK && X->m * r >= MANY_NUMBERS && holds_codes(context, X, work, r);
}

/* Features of a block at most: few enough that copied columns fit the scratch and sums are near, as many as that allows,
 * because all codes are read for each block. Blocks change no bits. */
static int64_t block_features(const armilla_sweep *sweep, int threads)
{
    const int64_t width = armilla_traversal_width(sweep->traversal), size = (int64_t)armilla_type_size(sweep->type);
    const int64_t by_sums = armilla_max64(SUMS_BYTES, COLUMN_SUMS * width) / (sweep->r * (int64_t)sizeof(double)),
                  by_columns = ARMILLA_KERNEL_SCRATCH / (width * size),
                  by_threads = threads > 1 ? sweep->X->m / (THREAD_BLOCKS * threads) : MOST_BLOCK;
    const int64_t most = armilla_min64(armilla_min64(by_sums, by_columns), armilla_min64(by_threads, MOST_BLOCK));
    return armilla_max64(STEP, most / STEP * STEP);
}

static int64_t block_start(const armilla_sweep *sweep, int64_t block)
{
    const int64_t blocks = sweep->features->blocks;
    return block == blocks ? sweep->X->m : sweep->X->m / STEP * block / blocks * STEP;
}

armilla_status armilla_features_new(armilla_sweep *sweep, int threads)
{
    armilla_context *context = sweep->context;
    const int64_t m = sweep->X->m, r = sweep->r;
    const size_t size = armilla_type_size(sweep->type);
    armilla_features *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    sweep->features = made;
    made->context = context;
    made->kernels = armilla_kernels_for(context, sweep->type);
    made->values = armilla_data_dense(sweep->X, &made->stride);
    made->tree = armilla_tree_of(armilla_traversal_slots(sweep->traversal));
    const int64_t most = block_features(sweep, threads), longest = most + STEP;
    made->blocks = (m + most - 1) / most;
    made->sums = longest * r;
    made->thread_bytes = (size_t)((made->tree.top + 1) * made->sums) * sizeof(double);
    made->thread_bytes += ARMILLA_LINE - made->thread_bytes % ARMILLA_LINE;
    if (r >= ARMILLA_LEAST_PACKED) status = armilla_grow(context, r * sweep->X->n, size, &made->codes);
    if (status == ARMILLA_OK) status = armilla_grow(context, threads, made->thread_bytes + ARMILLA_LINE, &made->space);
    return status;
}

void armilla_features_free(armilla_features *features)
{
    if (!features) return;
    armilla_release(features->context, features->space);
    armilla_release(features->context, features->codes);
    armilla_release(features->context, features);
}

void armilla_features_take_codes(const armilla_sweep *sweep, const armilla_panel *panel, const void *typed)
{
    const size_t at = (size_t)(panel->first * sweep->r) * armilla_type_size(sweep->type);
    char *codes = sweep->features->codes;
    if (codes) panel->kernels->pack_codes(sweep->r, panel->count, typed, codes + at);
}

/* One block of features on its way. */
typedef struct block {
    const armilla_sweep *sweep;
    int64_t first, count; /* features */
    double *sums;         /* one after the other for each level of the tree */
    void *scratch;        /* of the kernels */
} block;

/* sums += X_bW_b' there, or = where the panel opens its slot. */
static void add_panel(const block *b, int64_t first, int64_t count, bool opens, double *sums)
{
    const armilla_sweep *sweep = b->sweep;
    const armilla_features *f = sweep->features;
    const size_t size = armilla_type_size(sweep->type);
    const char *from = f->values + (size_t)(first * f->stride + b->first) * size;
    const int64_t left = sweep->X->n - first - count; /* samples behind these, of the next panels */
    const armilla_columns X = {.values = from,
                               .m = b->count,
                               .count = count,
                               .stride = f->stride,
                               .ahead = left > 0 ? from + (size_t)(count * f->stride) * size : from,
                               .ahead_bytes = left > 0 ? b->count * (int64_t)size : 0,
                               .ahead_stride = f->stride,
                               .scratch = b->scratch,
                               .packed_codes = f->codes != NULL};
    const char *codes = f->codes ? f->codes : sweep->plan->codes;
    f->kernels->accumulate(&X, sweep->r, codes + (size_t)(first * sweep->r) * size, opens, sums);
}

/* sums += what a slot has there, if that is one panel: the sum of two slots without a vector for the second. */
static bool add_single_panel(const block *b, int64_t slot, double *sums)
{
    const armilla_traversal *traversal = b->sweep->traversal;
    int64_t first = 0, last = 0;
    armilla_traversal_slot(traversal, slot, &first, &last);
    if (armilla_traversal_slot_width(traversal, slot) < last - first) return false;
    add_panel(b, first, last - first, false, sums);
    return true;
}

/* sums = what a node of the tree over slots has there; behind them there is space for one more per level. */
static void add_node(const block *b, int level, int64_t node, double *sums)
{
    const armilla_sweep *sweep = b->sweep;
    const armilla_tree *tree = &sweep->features->tree;
    const int64_t numbers = b->count * sweep->r;
    double *other = sums + sweep->features->sums;
    if (level == 0) {
        int64_t first = 0, last = 0, width = armilla_traversal_slot_width(sweep->traversal, node);
        armilla_traversal_slot(sweep->traversal, node, &first, &last);
        for (int64_t j = first; j < last; j += width) add_panel(b, j, armilla_min64(width, last - j), j == first, sums);
        return;
    }
    add_node(b, level - 1, 2 * node, sums);
    if (2 * node + 1 >= tree->nodes_at[level - 1]) return;
    if (level == 1 && add_single_panel(b, 2 * node + 1, sums)) return;
    add_node(b, level - 1, 2 * node + 1, other);
    for (int64_t i = 0; i < numbers; i++) sums[i] += other[i];
}

/* What the threads share. */
typedef struct summing {
    armilla_sweep *sweep;
    atomic_int_fast64_t next; /* the first block that nobody has claimed */
    atomic_bool stopped;
} summing;

static void sum_blocks(void *self, int thread)
{
    summing *s = self;
    const armilla_sweep *sweep = s->sweep;
    const armilla_features *f = sweep->features;
    const int64_t m = sweep->X->m, n = sweep->X->n;
    block b = {.sweep = sweep,
               .sums = armilla_align(f->space + (size_t)thread * (f->thread_bytes + ARMILLA_LINE)),
               .scratch = sweep->workspaces[thread].packing};
    double *A = sweep->sums + armilla_sweep_product_offset(sweep);
    for (int64_t at = atomic_fetch_add(&s->next, 1); at < f->blocks; at = atomic_fetch_add(&s->next, 1)) {
        if (atomic_load(&s->stopped) || armilla_call_pass(f->context, thread, n, n) != ARMILLA_OK) {
            atomic_store(&s->stopped, true);
            return;
        }
        b.first = block_start(sweep, at);
        b.count = block_start(sweep, at + 1) - b.first;
        add_node(&b, f->tree.top, 0, b.sums);
        for (int64_t k = 0; k < sweep->r; k++)
            memcpy(A + k * m + b.first, b.sums + k * b.count, (size_t)b.count * sizeof *A);
    }
}

armilla_status armilla_features_sum(armilla_sweep *sweep)
{
    summing s = {.sweep = sweep};
    armilla_team_run(armilla_sweep_team(sweep), sum_blocks, &s);
    return atomic_load(&s.stopped) ? armilla_call_explain(sweep->context) : ARMILLA_OK;
}
