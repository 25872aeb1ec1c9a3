/* Which samples a block has. */
#include "solve/blocks.h"

#include "base/random.h"
#include "base/size.h"
#include "data/sparse.h"

enum {
    LEAST_BATCH = 64,  /* of the automatic choice */
    PER_ATOM = 6,      /* samples that are worth a step of one atom */
    MOST_BLOCKS = 120, /* of a pass by the automatic choice: more bring nothing */
    PER_SLOT = 16,     /* samples that are worth a slot's sums */
    LEAST_SLOTS = 4,   /* a block has samples from so many places at least */
    PER_FEATURE = 8,   /* entries of sparse data for each feature that are worth a step of the basis */
    ROUNDS = 4
};

/* A Feistel network over the least power of four that has all indices; what falls outside goes on. */
int64_t armilla_permute(int64_t count, uint64_t key, int64_t index)
{
    int half = 1;
    while (half < 31 && (int64_t)1 << 2 * half < count) half++;
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    uint64_t at = (uint64_t)index;
    do {
        uint64_t left = at >> half, right = at & mask;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            const uint64_t next = left ^ (armilla_random_bits(key, ARMILLA_STREAM_BLOCKS, round << 32 | right) & mask);
            left = right;
            right = next;
        }
        at = left << half | right;
    } while (at >= (uint64_t)count);
    return (int64_t)at;
}

static int64_t automatic(const armilla_data *X, int64_t r)
{
    const double entries = (double)armilla_data_stored(X) / (double)X->n;
    int64_t batch = armilla_max64(LEAST_BATCH, armilla_max64(PER_ATOM * r, X->n / MOST_BLOCKS));
    if (armilla_sparse_of(X) && entries * (double)X->n > PER_FEATURE * (double)X->m)
        batch = armilla_max64(batch, (int64_t)(PER_FEATURE * (double)X->m / entries));
    else if (armilla_sparse_of(X))
        batch = X->n;
    return armilla_min64(batch, X->n);
}

/* Slots of a block: each costs a vector of sums as long as the basis. */
static int64_t slots_of(const armilla_data *X, int64_t slots, int64_t batch)
{
    const double entries = (double)armilla_data_stored(X) / (double)X->n * (double)batch;
    const double worth = armilla_sparse_of(X) ? entries / (double)X->m : (double)batch / PER_SLOT;
    const int64_t wanted = worth < (double)slots ? (int64_t)worth : slots;
    return armilla_max64(1, armilla_min64(armilla_min64(slots, batch), armilla_max64(LEAST_SLOTS, wanted)));
}

armilla_blocks armilla_blocks_plan(const armilla_traversal *traversal, int64_t r, int64_t batch, uint64_t seed)
{
    const armilla_data *X = armilla_traversal_data(traversal);
    const int64_t slots = armilla_traversal_slots(traversal);
    const int64_t size = batch > 0 ? armilla_min64(batch, X->n) : automatic(X, r);
    armilla_blocks made = {.seed = seed};
    made.groups = (slots + slots_of(X, slots, size) - 1) / slots_of(X, slots, size);
    /* n/groups samples of a group, `size` at a time */
    const double parts = (double)X->n / (double)made.groups / (double)size;
    made.parts = armilla_max64(1, (int64_t)(parts + 0.5));
    made.count = made.groups * made.parts;
    return made;
}

armilla_block armilla_blocks_take(const armilla_blocks *blocks, const armilla_traversal *traversal, int64_t pass,
                                  int64_t index)
{
    const uint64_t key = armilla_random_bits(blocks->seed, ARMILLA_STREAM_BLOCKS, (uint64_t)pass);
    const int64_t at = armilla_permute(blocks->count, key, index);
    return (armilla_block){blocks, traversal, key, at % blocks->groups, at / blocks->groups};
}

void armilla_block_cut(const void *self, int64_t slot, int64_t *first, int64_t *last)
{
    const armilla_block *block = self;
    const armilla_blocks *blocks = block->blocks;
    const int64_t begin = *first, columns = *last - *first, parts = blocks->parts;
    if (slot % blocks->groups != block->group) {
        *last = begin;
        return;
    }
    /* Each slot begins with another of its runs. */
    const uint64_t turn =
        armilla_random_bits(block->key, ARMILLA_STREAM_BLOCKS, (uint64_t)ROUNDS << 32 | (uint64_t)slot);
    const int64_t part = (block->part + (int64_t)(turn % (uint64_t)parts)) % parts;
    const int64_t run = columns / parts, rest = columns % parts; /* the first `rest` runs have one more */
    *first = begin + part * run + armilla_min64(part, rest);
    *last = *first + run + (part < rest);
}
