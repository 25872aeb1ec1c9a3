/* Blocks of samples for solver `online`: a pass over the data is a seeded sequence of blocks in which every sample has
 * its place once.
 *
 * A block takes from every g-th slot (data/traverse.h) one run of neighbouring samples. So it is a sample of all parts of
 * the data, also where these are sorted; it is read in contiguous pieces; its samples are where every pass has them, on
 * the rank that has the slot; and it costs sums for the slots that it visits, not for all. Which run of a slot is whose
 * turn, and which slots, are functions of (seed, pass, block): no list is kept. */
#ifndef ARMILLA_SOLVE_BLOCKS_H
#define ARMILLA_SOLVE_BLOCKS_H

#include "data/traverse.h"

typedef struct armilla_blocks {
    uint64_t seed;
    int64_t groups; /* slots s with the same s mod groups are visited together */
    int64_t parts;  /* runs of a slot */
    int64_t count;  /* of a pass; some may be empty */
} armilla_blocks;

/* Plans blocks of about so many samples; batch 0: as many as are worth a step of a basis of r atoms. */
armilla_blocks armilla_blocks_plan(const armilla_traversal *traversal, int64_t r, int64_t batch, uint64_t seed);

/* One of them. */
typedef struct armilla_block {
    const armilla_blocks *blocks;
    const armilla_traversal *traversal;
    uint64_t key; /* of the pass */
    int64_t group, part;
} armilla_block;

/* Block `index` (from 0) of a pass. */
armilla_block armilla_blocks_take(const armilla_blocks *blocks, const armilla_traversal *traversal, int64_t pass,
                                  int64_t index);
/* Its samples; self: an armilla_block. */
void armilla_block_cut(const void *self, int64_t slot, int64_t *first, int64_t *last);

/* The image of index under permutation `key` of 0 ... count-1. */
int64_t armilla_permute(int64_t count, uint64_t key, int64_t index);

#endif
