/* The fixed-tree sum over slots. */
#include "base/reducer.h"

#include "base/size.h"

#include <stdatomic.h>
#include <string.h>

enum { ALONE = 4096 }; /* so many elements are read by the calling thread alone */

static armilla_status take_vectors(armilla_reducer *reducer)
{
    armilla_context *context = reducer->context;
    const armilla_tree *tree = &reducer->tree;
    /* A thread holds at most two; beside each slot in work, and the first unclaimed one, hang at most `kept_level`
     * finished subtrees below those that are kept; and no two vectors cover the same slot. */
    const int64_t t = reducer->threads, below = reducer->kept_level;
    const int64_t vectors =
        armilla_min64(reducer->slots, tree->nodes_at[reducer->kept_level] + 2 * t + (t + 1) * below);
    armilla_status status = armilla_take(context, tree->offset_of[tree->top] + 1, sizeof(void *), &reducer->waiting);
    if (status == ARMILLA_OK) status = armilla_take(context, vectors, sizeof(void *), &reducer->vector);
    if (status == ARMILLA_OK) status = armilla_take(context, vectors, sizeof(void *), &reducer->spare);
    /* Not zeroed: the threads had better be the first to touch them. */
    for (; status == ARMILLA_OK && reducer->vectors < vectors; reducer->vectors++) {
        status = armilla_grow(context, (int64_t)reducer->bytes + ARMILLA_LINE, 1, &reducer->vector[reducer->vectors]);
        if (status != ARMILLA_OK) break;
    }
    return status;
}

armilla_status armilla_reducer_new(armilla_context *context, const armilla_reducer_plan *plan,
                                   armilla_reducer **reducer)
{
    armilla_reducer *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    pthread_mutex_init(&made->lock, NULL);
    made->threads = (int)armilla_min64(plan->threads, plan->slots);
    made->slots = plan->slots;
    made->bytes = plan->bytes;
    made->tree = armilla_tree_of(plan->slots);
    made->kept_level = armilla_tree_level(&made->tree, plan->keep);
    status = take_vectors(made);
    if (status == ARMILLA_OK) status = armilla_team_new(context, made->threads, &made->team);
    if (status != ARMILLA_OK) {
        armilla_reducer_free(made);
        return status;
    }
    *reducer = made;
    return ARMILLA_OK;
}

void armilla_reducer_free(armilla_reducer *reducer)
{
    if (!reducer) return;
    armilla_team_free(reducer->team);
    pthread_mutex_destroy(&reducer->lock);
    for (int64_t i = 0; i < reducer->vectors; i++) armilla_release(reducer->context, reducer->vector[i]);
    armilla_release(reducer->context, reducer->vector);
    armilla_release(reducer->context, reducer->spare);
    armilla_release(reducer->context, reducer->waiting);
    armilla_release(reducer->context, reducer);
}

armilla_team *armilla_reducer_team(const armilla_reducer *reducer)
{
    return reducer->team;
}

bool armilla_reducer_keeps_all(const armilla_reducer *reducer)
{
    return reducer->kept_level == 0;
}

static void *borrow_vector(armilla_reducer *reducer)
{
    void *vector = NULL;
    pthread_mutex_lock(&reducer->lock);
    if (reducer->free > 0) vector = reducer->spare[--reducer->free];
    pthread_mutex_unlock(&reducer->lock);
    return vector;
}

static void return_vector(armilla_reducer *reducer, void *vector)
{
    pthread_mutex_lock(&reducer->lock);
    reducer->spare[reducer->free++] = vector;
    pthread_mutex_unlock(&reducer->lock);
}

/* The sibling's vector where it is finished; else NULL, and own is left for the sibling to find. */
static void *meet_sibling(armilla_reducer *reducer, int level, int64_t node, void *own)
{
    void **place = reducer->waiting + reducer->tree.offset_of[level];
    void *other = NULL;
    pthread_mutex_lock(&reducer->lock);
    other = place[node ^ 1];
    if (other)
        place[node ^ 1] = NULL;
    else
        place[node] = own;
    pthread_mutex_unlock(&reducer->lock);
    return other;
}

static void combine(const armilla_reducer *reducer, void *left, const void *right)
{
    for (int i = 0; i < reducer->segment_count; i++) {
        const armilla_segment *segment = &reducer->segments[i];
        const size_t offset = reducer->offset_of[i];
        armilla_element_rows[segment->kind].combine(segment->count, (const char *)right + offset,
                                                    (char *)left + offset);
    }
}

/* Carries a finished slot's vector up the tree as far as finished siblings allow, to the level that is kept. */
static void climb(armilla_reducer *reducer, int64_t slot, void *vector)
{
    int64_t node = slot;
    for (int level = 0; level < reducer->kept_level; level++, node /= 2) {
        if ((node ^ 1) >= reducer->tree.nodes_at[level]) continue; /* an odd one out: up as it is */
        void *other = meet_sibling(reducer, level, node, vector);
        if (!other) return;
        void *left = node % 2 ? other : vector, *right = node % 2 ? vector : other;
        combine(reducer, left, right);
        return_vector(reducer, right);
        vector = left;
    }
    reducer->waiting[reducer->tree.offset_of[reducer->kept_level] + node] = vector;
}

static void note_failure(armilla_reducer *reducer, int64_t slot, armilla_status status)
{
    pthread_mutex_lock(&reducer->lock);
    if (slot < reducer->failed_slot) {
        reducer->failed_slot = slot;
        reducer->status = status;
    }
    pthread_mutex_unlock(&reducer->lock);
}

/* The neutral elements, where the body does not write all of them. */
static void clear(const armilla_reducer *reducer, char *vector)
{
    for (int i = 0; i < reducer->segment_count; i++) {
        const armilla_segment *segment = &reducer->segments[i];
        const uint64_t neutral = armilla_element_rows[segment->kind].neutral;
        char *start = vector + reducer->offset_of[i];
        if (segment->written) continue;
        if (neutral == 0) memset(start, 0, armilla_segment_bytes(segment));
        for (int64_t k = 0; k < segment->count && neutral != 0; k++)
            memcpy(start + (size_t)k * sizeof neutral, &neutral, sizeof neutral);
    }
}

/* One call of armilla_reduce. */
typedef struct running {
    armilla_reducer *reducer;
    const armilla_reduction *what;
    atomic_int_fast64_t next; /* the first slot that nobody has claimed */
} running;

static void run_slot(const running *run, int64_t slot, int thread)
{
    armilla_reducer *reducer = run->reducer;
    void *vector = borrow_vector(reducer);
    armilla_status status = vector ? ARMILLA_OK : ARMILLA_INTERNAL;
    if (vector) {
        clear(reducer, vector);
        status = run->what->body(run->what->self, slot, thread, vector);
        climb(reducer, slot, vector);
    }
    if (status != ARMILLA_OK) note_failure(reducer, slot, status);
}

static void claim_slots(void *self, int thread)
{
    running *run = self;
    for (;;) {
        const int64_t slot = atomic_fetch_add(&run->next, 1);
        if (slot >= run->reducer->slots) return;
        run_slot(run, slot, thread);
    }
}

static void begin(armilla_reducer *reducer, const armilla_reduction *what)
{
    size_t offset = 0;
    for (int64_t i = 0; i < reducer->vectors; i++) reducer->spare[i] = armilla_align(reducer->vector[i]);
    reducer->free = reducer->vectors;
    reducer->status = ARMILLA_OK;
    reducer->failed_slot = reducer->slots;
    memset(reducer->waiting, 0, (size_t)(reducer->tree.offset_of[reducer->tree.top] + 1) * sizeof *reducer->waiting);
    reducer->segment_count = what->count;
    for (int i = 0; i < what->count; i++) {
        reducer->segments[i] = what->segments[i];
        reducer->offset_of[i] = offset;
        offset += armilla_segment_bytes(&what->segments[i]);
    }
}

/* Where a window is read: the segment, and the place in the tree. */
typedef struct reading {
    const armilla_reducer *reducer;
    const armilla_element_row *leaf, *inner;
    size_t offset;
    const armilla_window *where;
} reading;

/* room = a kept vector's elements there; or room and then those. */
static void read_kept(const reading *r, int64_t node, bool combining, double *room)
{
    const armilla_reducer *reducer = r->reducer;
    const armilla_window *where = r->where;
    const char *vector = reducer->waiting[reducer->tree.offset_of[reducer->kept_level] + node];
    const bool together = where->run == where->stride; /* then all runs are one */
    const int64_t run = together ? where->run * where->runs : where->run;
    for (int64_t i = 0; i < (together ? 1 : where->runs); i++)
        (combining ? r->leaf->combine : r->leaf->load)(
            run, vector + r->offset + (size_t)(where->first + i * where->stride) * r->leaf->bytes, room + i * run);
}

/* room = what the node has there; behind it there is room for one more window per level. */
static void read_node(const reading *r, int level, int64_t node, double *room)
{
    const armilla_reducer *reducer = r->reducer;
    if (level == reducer->kept_level) {
        read_kept(r, node, false, room);
        return;
    }
    read_node(r, level - 1, 2 * node, room);
    if (2 * node + 1 >= reducer->tree.nodes_at[level - 1]) return;
    if (level - 1 == reducer->kept_level) {
        read_kept(r, 2 * node + 1, true, room);
        return;
    }
    read_node(r, level - 1, 2 * node + 1, room + ARMILLA_WINDOW);
    r->inner->combine(r->where->run * r->where->runs, room + ARMILLA_WINDOW, room);
}

void armilla_reduced(const armilla_reducer *reducer, int segment, const armilla_window *where,
                     double room[ARMILLA_WINDOW_ROOM])
{
    const armilla_element_row *leaf = &armilla_element_rows[reducer->segments[segment].kind];
    const reading r = {reducer, leaf, &armilla_element_rows[leaf->combined], reducer->offset_of[segment], where};
    read_node(&r, reducer->tree.top, 0, room);
}

/* A segment on its way to where its result goes. */
typedef struct delivery {
    const armilla_reducer *reducer;
    int segment;
} delivery;

static void deliver_windows(void *self, int64_t first, int64_t last)
{
    const delivery *d = self;
    const armilla_segment *segment = &d->reducer->segments[d->segment];
    double room[ARMILLA_WINDOW_ROOM];
    for (int64_t window = first; window < last; window++) {
        const int64_t at = window * ARMILLA_WINDOW, count = armilla_min64(ARMILLA_WINDOW, segment->count - at);
        armilla_reduced(d->reducer, d->segment, &(armilla_window){at, count, 1, count}, room);
        memcpy((char *)segment->result + (size_t)at * sizeof *room, room, (size_t)count * sizeof *room);
    }
}

static void deliver(const armilla_reducer *reducer)
{
    for (int i = 0; i < reducer->segment_count; i++) {
        const armilla_segment *segment = &reducer->segments[i];
        const int64_t windows = (segment->count + ARMILLA_WINDOW - 1) / ARMILLA_WINDOW;
        delivery d = {reducer, i};
        if (!segment->result) continue;
        if (segment->count <= ALONE)
            deliver_windows(&d, 0, windows);
        else
            armilla_team_share(reducer->team, windows, deliver_windows, &d);
    }
}

armilla_status armilla_reduce(armilla_reducer *reducer, const armilla_reduction *reduction)
{
    running run = {reducer, reduction, 0};
    begin(reducer, reduction);
    armilla_team_run(reducer->team, claim_slots, &run);
    if (reducer->status == ARMILLA_OK) deliver(reducer);
    return reducer->status;
}
