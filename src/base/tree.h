/* The fixed binary tree over slots (base/reduce.h): level 0 are the slots, node i of a level has the children 2i and
 * 2i+1 of the level below, and the last level has one node. */
#ifndef ARMILLA_BASE_TREE_H
#define ARMILLA_BASE_TREE_H

#include <stdint.h>

enum { ARMILLA_TREE_LEVELS = 64 };

typedef struct armilla_tree {
    int top;                                /* the root's level */
    int64_t nodes_at[ARMILLA_TREE_LEVELS];  /* nodes of a level */
    int64_t offset_of[ARMILLA_TREE_LEVELS]; /* nodes of all levels below */
} armilla_tree;

static inline armilla_tree armilla_tree_of(int64_t slots)
{
    armilla_tree tree = {.top = 0};
    int64_t nodes = slots, offset = 0;
    for (;; tree.top++) {
        tree.nodes_at[tree.top] = nodes;
        tree.offset_of[tree.top] = offset;
        if (nodes <= 1) return tree;
        offset += nodes;
        nodes = (nodes + 1) / 2;
    }
}

/* The lowest level with at most so many nodes. */
static inline int armilla_tree_level(const armilla_tree *tree, int64_t most)
{
    int level = 0;
    while (tree->nodes_at[level] > most) level++;
    return level;
}

#endif
