/* Whether groups lie apart beyond doubt: the widest gap in the samples, before they get length 1, beside that in data
 * without groups. Gaps still distinguish the two where cuts are near 0 in both, as along a line. */
#include "cluster/structure.h"

#include "base/call.h"
#include "base/order.h"
#include "base/size.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>

/* A gap is counted in lengths that so many of a hundred edges of the tree do not exceed, so that copies change little. */
enum { USUAL = 90 };
/* Each side has that part of the samples: one in so many; of few samples more. */
enum { PART = 20, FEW_PART = 5, FEWEST_LEAST = 10, FEWEST_MOST = 20 };
/* So many times as wide as the widest gap without groups. */
#define LEAST_WIDER 2.0

/* A point of the tree. */
typedef struct node {
    int64_t parent; /* the point that it was reached from */
    int64_t size;   /* points reached through it, itself included */
    double length;  /* of the edge to the parent; infinite at the root */
} node;

/* The shortest tree through the points, by Prim. */
typedef struct tree {
    int64_t n;
    int64_t *order; /* n: points as they were reached */
    node *nodes;    /* n */
    double *sorted; /* n */
} tree;

static void grow(int64_t d, const double *points, tree *t)
{
    for (int64_t j = 0; j < t->n; j++) {
        t->order[j] = j;
        t->nodes[j] = (node){.length = INFINITY};
    }
    for (int64_t done = 0; done < t->n; done++) {
        int64_t next = done;
        for (int64_t i = done + 1; i < t->n; i++)
            if (t->nodes[t->order[i]].length < t->nodes[t->order[next]].length) next = i;
        const int64_t reached = t->order[next];
        t->order[next] = t->order[done];
        t->order[done] = reached;
        for (int64_t i = done + 1; i < t->n; i++) {
            const int64_t j = t->order[i];
            const double length = armilla_distance(d, points + reached * d, points + j * d);
            if (!(length < t->nodes[j].length)) continue;
            t->nodes[j].length = length;
            t->nodes[j].parent = reached;
        }
    }
    for (int64_t i = t->n - 1; i >= 0; i--) {
        const node *reached = &t->nodes[t->order[i]];
        t->nodes[t->order[i]].size++;
        if (i > 0) t->nodes[reached->parent].size += reached->size;
    }
}

/* The length of the longest edge with enough points on both sides, in usual lengths; *top = the point behind it. */
static double widest_edge(tree *t, int64_t *top)
{
    const int64_t n = t->n, few = armilla_max64(FEWEST_LEAST, armilla_min64(n / FEW_PART, FEWEST_MOST));
    const int64_t least = armilla_max64(few, n / PART);
    double widest = 0;
    *top = t->order[0];
    for (int64_t i = 1; i < n; i++) {
        const node *reached = &t->nodes[t->order[i]];
        if (armilla_min64(reached->size, n - reached->size) < least || !(reached->length > widest)) continue;
        widest = reached->length;
        *top = t->order[i];
    }
    for (int64_t j = 0; j < n; j++) t->sorted[j] = t->nodes[j].length;
    qsort(t->sorted, (size_t)n, sizeof *t->sorted, armilla_by_number);
    const double usual = t->sorted[(n - 1) * USUAL / 100];
    return usual > 0 ? widest / usual : 0;
}

armilla_status armilla_structure_gap(armilla_context *context, int64_t d, int64_t n, const double *points, double *gap,
                                     bool *sides)
{
    tree t = {.n = n};
    int64_t top = 0;
    armilla_status status = armilla_take(context, n, sizeof *t.order, &t.order);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *t.nodes, &t.nodes);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *t.sorted, &t.sorted);
    if (status == ARMILLA_OK) {
        grow(d, points, &t);
        *gap = widest_edge(&t, &top);
        for (int64_t i = 0; i < n && sides; i++) {
            const int64_t j = t.order[i];
            sides[j] = j == top || (i > 0 && sides[t.nodes[j].parent]);
        }
    }
    armilla_release(context, t.sorted);
    armilla_release(context, t.nodes);
    armilla_release(context, t.order);
    return status;
}

/* Whether some point's nearest is on the other side. */
static bool is_crossed(const armilla_structure_space *space, int64_t n, const bool *sides)
{
    const int64_t d = space->d;
    for (int64_t j = 0; j < n; j++) {
        double nearest[2] = {INFINITY, INFINITY}; /* on the same side, on the other */
        for (int64_t i = 0; i < n; i++) {
            const double away = i == j ? INFINITY : armilla_distance(d, space->codes + i * d, space->codes + j * d);
            double *of = &nearest[sides[i] != sides[j]];
            *of = fmin(*of, away);
        }
        if (nearest[1] <= nearest[0]) return true;
    }
    return false;
}

/* *widest = the widest gap of all data without groups. */
static armilla_status find_widest(armilla_context *context, const armilla_structure_sample *sample,
                                  const armilla_structure_space *space, uint64_t seed, double *widest)
{
    double *codes = NULL;
    armilla_structure_nulls *nulls = NULL;
    armilla_status status = armilla_take(context, space->d * sample->n, sizeof *codes, &codes);
    if (status == ARMILLA_OK) status = armilla_structure_nulls_new(context, sample, space, seed, &nulls);
    for (size_t i = 0; armilla_structure_null_name(i); i++)
        for (int run = 0; run < ARMILLA_STRUCTURE_RUNS && status == ARMILLA_OK; run++) {
            double gap = 0;
            if (!armilla_structure_null_suits(sample, i)) break;
            if (armilla_call_over(context)) status = ARMILLA_STOPPED;
            if (status != ARMILLA_OK) break;
            armilla_structure_null(nulls, i, run, codes);
            status = armilla_structure_gap(context, space->d, sample->n, codes, &gap, NULL);
            *widest = fmax(*widest, gap);
        }
    armilla_structure_nulls_free(context, nulls);
    armilla_release(context, codes);
    return status;
}

armilla_status armilla_structure_find_apart(armilla_context *context, const armilla_structure_sample *sample,
                                            const armilla_structure_space *seen, uint64_t seed, bool *apart)
{
    armilla_structure_sample plain = armilla_structure_plain(sample);
    armilla_structure_space space = {.d = 0};
    double gap = 0, widest = 0;
    bool *sides = NULL;
    armilla_status status = armilla_take(context, sample->n, sizeof *sides, &sides);
    if (status == ARMILLA_OK) status = armilla_take(context, plain.m * plain.n, sizeof *plain.places, &plain.places);
    if (status == ARMILLA_OK) armilla_structure_place_all(&plain, plain.places);
    if (status == ARMILLA_OK) status = armilla_structure_space_find(context, &plain, &space);
    if (status == ARMILLA_OK) status = armilla_structure_gap(context, space.d, plain.n, space.codes, &gap, sides);
    *apart = status == ARMILLA_OK && gap > LEAST_WIDER && !is_crossed(seen, sample->n, sides);
    if (*apart) status = find_widest(context, &plain, &space, seed, &widest);
    *apart = *apart && gap > LEAST_WIDER * widest;
    armilla_structure_space_release(context, &space);
    armilla_release(context, plain.places);
    armilla_release(context, sides);
    return status;
}
