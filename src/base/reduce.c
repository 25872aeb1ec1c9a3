/* The fixed-tree sum over slots. */
#include "base/reducer.h"

#include "base/size.h"

#include <string.h>

enum { ALONE = 4096 }; /* so many elements are read by the calling thread alone */

/* The vectors, the list of spare ones, and for every node whether it is present and the vector that waits there. */
static armilla_status take_memory(armilla_reducer *reducer)
{
    armilla_context *context = reducer->context;
    const armilla_tree *tree = &reducer->tree;
    /* A thread holds at most two; beside each slot in work, and the first unclaimed one, hang at most `kept_level`
     * finished subtrees below those that are kept; and no two vectors cover the same slot. */
    const int64_t t = reducer->threads, below = reducer->kept_level;
    const int64_t slots = reducer->own.last_slot - reducer->own.first_slot, kept = (slots >> below) + 1;
    const int64_t vectors = armilla_min64(slots, kept + 2 * t + (t + 1) * below);
    armilla_status status = armilla_take(context, tree->offset_of[tree->top] + 1, sizeof(void *), &reducer->waiting);
    if (status == ARMILLA_OK)
        status = armilla_take(context, tree->offset_of[tree->top] + 1, sizeof *reducer->present, &reducer->present);
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
    made->slots = plan->slots;
    made->bytes = plan->bytes;
    made->exchange_bytes = plan->exchange_bytes;
    made->tree = armilla_tree_of(plan->slots);
    made->own = armilla_ranks_share(&made->tree, armilla_ranks_rank(context), armilla_ranks_size(context));
    made->kept_level = (int)armilla_min64(armilla_tree_level(&made->tree, plan->keep), made->own.level);
    made->team = armilla_team_of(context, armilla_min64(plan->threads, made->own.last_slot - made->own.first_slot));
    made->threads = made->team.threads;
    status = take_memory(made);
    if (status == ARMILLA_OK && context->call.together) status = armilla_exchange_take(made);
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
    pthread_mutex_destroy(&reducer->lock);
    armilla_exchange_free(reducer);
    for (int64_t i = 0; i < reducer->vectors; i++) armilla_release(reducer->context, reducer->vector[i]);
    armilla_release(reducer->context, reducer->vector);
    armilla_release(reducer->context, reducer->spare);
    armilla_release(reducer->context, reducer->present);
    armilla_release(reducer->context, reducer->waiting);
    armilla_release(reducer->context, reducer);
}

const armilla_team *armilla_reducer_team(const armilla_reducer *reducer)
{
    return &reducer->team;
}

void armilla_reducer_slots(const armilla_reducer *reducer, int64_t *first, int64_t *last)
{
    *first = reducer->own.first_slot;
    *last = reducer->own.last_slot;
}

/* A spare vector, not cleared; NULL where none is left, which the count in take_memory excludes. */
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

/* Whether a slot below the node contributes. */
static bool is_present(const armilla_reducer *reducer, int level, int64_t node)
{
    const armilla_tree *tree = &reducer->tree;
    return node < tree->nodes_at[level] && reducer->present[tree->offset_of[level] + node];
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

/* left = left and right combined, column by column; counts are the counters of both. Columns that only the right has are
 * copied, which is the same as adding them to 0. */
static void combine_columns(const armilla_segment *segment, const double *counts[2], size_t offset, char *left,
                            const char *right)
{
    const int64_t rows = segment->count / segment->columns;
    for (int64_t k = 0; k < segment->columns; k++) {
        const size_t at = offset + (size_t)(k * rows) * sizeof(double);
        if (counts[1][k] == 0) continue;
        if (counts[0][k] == 0)
            memcpy(left + at, right + at, (size_t)rows * sizeof(double));
        else
            armilla_element_rows[segment->kind].combine(rows, right + at, left + at);
    }
}

/* From the last segment to the first, which has the counters of columns. */
static void combine(const armilla_reducer *reducer, void *left, const void *right)
{
    for (int i = reducer->segment_count - 1; i >= 0; i--) {
        const armilla_segment *segment = &reducer->segments[i];
        const size_t offset = reducer->offset_of[i];
        if (segment->make) continue;
        if (segment->columns > 0) {
            const double *counts[2] = {(const double *)left + segment->counters,
                                       (const double *)right + segment->counters};
            combine_columns(segment, counts, offset, left, right);
            continue;
        }
        armilla_element_rows[segment->kind].combine(segment->count, (const char *)right + offset,
                                                    (char *)left + offset);
    }
}

/* Carries a finished slot's vector up the tree as far as finished siblings allow, to the level that is kept. */
static void climb(armilla_reducer *reducer, int64_t slot, void *vector)
{
    int64_t node = slot;
    for (int level = 0; level < reducer->kept_level; level++, node /= 2) {
        if (!is_present(reducer, level, node ^ 1)) continue; /* an odd one out: up as it is */
        void *other = meet_sibling(reducer, level, node, vector);
        if (!other) return;
        void *left = node % 2 ? other : vector, *right = node % 2 ? vector : other;
        combine(reducer, left, right);
        return_vector(reducer, right);
        vector = left;
    }
    reducer->waiting[reducer->tree.offset_of[reducer->kept_level] + node] = vector;
}

/* The buffer that armilla_fail writes to on this thread. */
static char *own_message(const armilla_reducer *reducer)
{
    char *own = armilla_pool_message(reducer->context->pool);
    return own ? own : reducer->context->error;
}

/* Keeps the status and the message of the lowest slot that has failed. */
static void note_failure(armilla_reducer *reducer, int64_t slot, armilla_status status)
{
    pthread_mutex_lock(&reducer->lock);
    if (slot < atomic_load(&reducer->failed_slot)) {
        atomic_store(&reducer->failed_slot, slot);
        reducer->status = status;
        memcpy(reducer->message, own_message(reducer), sizeof reducer->message);
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
        if (segment->written || segment->make || segment->columns > 0) continue;
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

/* Computes the slot's vector and combines it with those of finished siblings. */
static void run_slot(const running *run, int64_t slot, int thread)
{
    armilla_reducer *reducer = run->reducer;
    void *vector = borrow_vector(reducer);
    armilla_status status = vector ? ARMILLA_OK : ARMILLA_INTERNAL;
    own_message(reducer)[0] = '\0';
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
        /* Those below the lowest that has failed were claimed before it. */
        if (slot >= run->reducer->own.last_slot || slot > atomic_load(&run->reducer->failed_slot)) return;
        if (is_present(run->reducer, 0, slot)) run_slot(run, slot, thread);
    }
}

/* Marks the nodes above slots that contribute to this reduction. */
static void mark_present(armilla_reducer *reducer, const armilla_reduction *what)
{
    const armilla_tree *tree = &reducer->tree;
    for (int64_t slot = 0; slot < reducer->slots; slot++)
        reducer->present[slot] = !what->has || what->has(what->self, slot);
    for (int level = 1; level <= tree->top; level++)
        for (int64_t node = 0; node < tree->nodes_at[level]; node++)
            reducer->present[tree->offset_of[level] + node] =
                is_present(reducer, level - 1, 2 * node) || is_present(reducer, level - 1, 2 * node + 1);
}

static void begin(armilla_reducer *reducer, const armilla_reduction *what)
{
    size_t offset = 0;
    for (int64_t i = 0; i < reducer->vectors; i++) reducer->spare[i] = armilla_align(reducer->vector[i]);
    reducer->free = reducer->vectors;
    reducer->status = ARMILLA_OK;
    reducer->message[0] = '\0';
    reducer->result = NULL;
    atomic_store(&reducer->failed_slot, reducer->slots);
    memset(reducer->waiting, 0, (size_t)(reducer->tree.offset_of[reducer->tree.top] + 1) * sizeof *reducer->waiting);
    mark_present(reducer, what);
    reducer->segment_count = what->count;
    for (int i = 0; i < what->count; i++) {
        reducer->segments[i] = what->segments[i];
        reducer->offset_of[i] = offset;
        offset += armilla_segment_bytes(&what->segments[i]);
    }
}

/* The source of a window: kept vectors of that level, and a place in them. */
typedef struct reading {
    const armilla_reducer *reducer;
    const armilla_element_row *leaf, *inner;
    void *const *vectors;
    int level;
    size_t offset;
    const armilla_window *where;
} reading;

/* buffer = the window of the vector that is kept for the node; combining: buffer = buffer combined with that window. */
static void read_kept(const reading *r, int64_t node, bool combining, double *buffer)
{
    const armilla_window *where = r->where;
    const char *vector = (const char *)r->vectors[node] + r->offset;
    const bool contiguous = where->run == where->stride; /* all runs are one */
    const int64_t run = contiguous ? where->run * where->runs : where->run;
    for (int64_t i = 0; i < (contiguous ? 1 : where->runs); i++)
        (combining ? r->leaf->combine : r->leaf->load)(
            run, vector + (size_t)(where->first + i * where->stride) * r->leaf->bytes, buffer + i * run);
}

/* buffer = what the node has there; behind it there is space for one more window per level. */
static void read_node(const reading *r, int level, int64_t node, double *buffer)
{
    if (level == r->level) {
        read_kept(r, node, false, buffer);
        return;
    }
    const bool left = is_present(r->reducer, level - 1, 2 * node);
    read_node(r, level - 1, 2 * node + !left, buffer);
    if (!left || !is_present(r->reducer, level - 1, 2 * node + 1)) return;
    if (level - 1 == r->level) {
        read_kept(r, 2 * node + 1, true, buffer);
        return;
    }
    read_node(r, level - 1, 2 * node + 1, buffer + ARMILLA_WINDOW);
    r->inner->combine(r->where->run * r->where->runs, buffer + ARMILLA_WINDOW, buffer);
}

static void read_window(const armilla_reducer *reducer, int segment, const armilla_window *where, int level,
                        int64_t node, double *buffer)
{
    const armilla_segment *read = &reducer->segments[segment];
    if (read->make && !reducer->result) {
        read->make(read->maker, node << level, armilla_min64((node + 1) << level, reducer->slots), where, buffer);
        return;
    }
    const armilla_element_row *leaf = &armilla_element_rows[read->kind];
    const armilla_element_row *inner = &armilla_element_rows[leaf->combined];
    const bool exchanged = reducer->result;
    const reading r = {.reducer = reducer,
                       .leaf = exchanged ? inner : leaf,
                       .inner = inner,
                       .vectors = exchanged ? &reducer->result
                                            : reducer->waiting + reducer->tree.offset_of[reducer->kept_level],
                       .level = exchanged ? reducer->tree.top : reducer->kept_level,
                       .offset = exchanged ? armilla_exchange_offset(reducer, segment) : reducer->offset_of[segment],
                       .where = where};
    if (exchanged || is_present(reducer, level, node))
        read_node(&r, level, node, buffer);
    else /* one process leaves such a node out: between ranks it travels, and must not change a bit of the others */
        for (int64_t i = 0; i < where->run * where->runs; i++) memcpy(buffer + i, &inner->absent, sizeof *buffer);
}

void armilla_reduced(const armilla_reducer *reducer, int segment, const armilla_window *where,
                     double buffer[ARMILLA_WINDOW_BUFFER])
{
    read_window(reducer, segment, where, reducer->tree.top, 0, buffer);
}

/* Columns first ... last-1 that no slot below a kept vector has. */
static void clear_columns(void *self, int64_t first, int64_t last)
{
    const armilla_delivery *d = self;
    const armilla_reducer *reducer = d->reducer;
    const armilla_segment *segment = &reducer->segments[d->segment];
    const size_t bytes = (size_t)(segment->count / segment->columns) * sizeof(double);
    for (int64_t node = 0; node < reducer->tree.nodes_at[reducer->kept_level]; node++) {
        char *vector = reducer->waiting[reducer->tree.offset_of[reducer->kept_level] + node];
        if (!vector) continue;
        const double *counts = (const double *)(const void *)vector + segment->counters;
        for (int64_t k = first; k < last; k++)
            if (counts[k] == 0) memset(vector + reducer->offset_of[d->segment] + (size_t)k * bytes, 0, bytes);
    }
}

static void clear_absent(const armilla_reducer *reducer)
{
    for (int i = 0; i < reducer->segment_count; i++) {
        armilla_delivery d = {.reducer = reducer, .segment = i};
        const int64_t columns = reducer->segments[i].columns;
        if (columns > 0) armilla_team_share(&reducer->team, columns, clear_columns, &d);
    }
}

static void deliver_windows(void *self, int64_t first, int64_t last)
{
    const armilla_delivery *d = self;
    const int64_t elements = d->reducer->segments[d->segment].count;
    double buffer[ARMILLA_WINDOW_BUFFER];
    for (int64_t window = first; window < last; window++) {
        const int64_t at = window * ARMILLA_WINDOW, count = armilla_min64(ARMILLA_WINDOW, elements - at);
        read_window(d->reducer, d->segment, &(armilla_window){at, count, 1, count}, d->level, d->node, buffer);
        memcpy((char *)d->target + (size_t)at * sizeof *buffer, buffer, (size_t)count * sizeof *buffer);
    }
}

void armilla_deliver(armilla_delivery *delivery)
{
    const int64_t elements = delivery->reducer->segments[delivery->segment].count;
    const int64_t windows = (elements + ARMILLA_WINDOW - 1) / ARMILLA_WINDOW;
    if (elements <= ALONE)
        deliver_windows(delivery, 0, windows);
    else
        armilla_team_share(&delivery->reducer->team, windows, deliver_windows, delivery);
}

static void deliver_all(const armilla_reducer *reducer)
{
    for (int i = 0; i < reducer->segment_count; i++) {
        armilla_delivery d = {reducer, i, reducer->tree.top, 0, reducer->segments[i].result};
        if (d.target) armilla_deliver(&d);
    }
}

armilla_status armilla_reduce(armilla_reducer *reducer, const armilla_reduction *reduction)
{
    armilla_context *context = reducer->context;
    running run = {reducer, reduction, reducer->own.first_slot};
    begin(reducer, reduction);
    armilla_team_run(&reducer->team, claim_slots, &run);
    armilla_status status = reducer->status;
    if (status != ARMILLA_OK) armilla_set_error(context, reducer->message);
    status = armilla_ranks_agree(context, atomic_load(&reducer->failed_slot), status);
    if (status == ARMILLA_OK) clear_absent(reducer);
    if (status == ARMILLA_OK && context->call.together) status = armilla_exchange(reducer);
    if (status == ARMILLA_OK) deliver_all(reducer);
    return status;
}
