/* The fixed-tree sum over slots. */
#include "base/reduce.h"

#include "base/size.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_LEVELS = 64 };

struct armilla_reducer {
    armilla_context *context;
    armilla_team *team;
    pthread_mutex_t lock; /* of waiting, spare and the failure */
    int threads;
    int64_t slots, length;
    int levels;                     /* of the tree; level 0 are the slots */
    int64_t nodes_at[MOST_LEVELS];  /* nodes of a level */
    int64_t offset_of[MOST_LEVELS]; /* of a level's first node in waiting */
    double **waiting;               /* a finished node whose sibling is not: its vector; NULL else */
    int64_t vectors;                /* in all */
    double **vector;                /* all of them, as they were taken */
    double **spare;                 /* those not in use, `free` of them, from the first whole cache line on */
    int64_t free;
    armilla_status status; /* of the lowest failing slot */
    int64_t failed_slot;
};

static void lay_out_tree(armilla_reducer *reducer)
{
    int64_t nodes = reducer->slots, offset = 0;
    for (reducer->levels = 0;; reducer->levels++) {
        reducer->nodes_at[reducer->levels] = nodes;
        reducer->offset_of[reducer->levels] = offset;
        if (nodes == 1) break;
        offset += nodes;
        nodes = (nodes + 1) / 2;
    }
}

armilla_status armilla_reducer_new(armilla_context *context, int64_t slots, int64_t length, int threads,
                                   armilla_reducer **reducer)
{
    armilla_reducer *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    pthread_mutex_init(&made->lock, NULL);
    made->threads = (int)armilla_min64(threads, slots);
    made->slots = slots;
    made->length = length;
    lay_out_tree(made);
    /* A thread holds at most two; beside each slot in work, and the first unclaimed one, hang at most `levels`
     * finished subtrees; and no two vectors cover the same slot. */
    const int64_t most = 2 * (int64_t)made->threads + (made->threads + 1) * (int64_t)made->levels;
    const int64_t vectors = armilla_min64(slots, most);
    status = armilla_take(context, 2 * slots + MOST_LEVELS, sizeof *made->waiting, &made->waiting);
    if (status == ARMILLA_OK) status = armilla_take(context, vectors, sizeof *made->vector, &made->vector);
    if (status == ARMILLA_OK) status = armilla_take(context, vectors, sizeof *made->spare, &made->spare);
    for (; status == ARMILLA_OK && made->vectors < vectors; made->vectors++) {
        status = armilla_take(context, length + ARMILLA_LINE / (int64_t)sizeof(double), sizeof(double),
                              &made->vector[made->vectors]);
        if (status != ARMILLA_OK) break;
    }
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

static double *borrow_vector(armilla_reducer *reducer)
{
    double *vector = NULL;
    pthread_mutex_lock(&reducer->lock);
    if (reducer->free > 0) vector = reducer->spare[--reducer->free];
    pthread_mutex_unlock(&reducer->lock);
    return vector;
}

static void return_vector(armilla_reducer *reducer, double *vector)
{
    pthread_mutex_lock(&reducer->lock);
    reducer->spare[reducer->free++] = vector;
    pthread_mutex_unlock(&reducer->lock);
}

/* The sibling's vector where it is finished; else NULL, and own is left for the sibling to find. */
static double *meet_sibling(armilla_reducer *reducer, int level, int64_t node, double *own)
{
    double **place = reducer->waiting + reducer->offset_of[level];
    double *other = NULL;
    pthread_mutex_lock(&reducer->lock);
    other = place[node ^ 1];
    if (other)
        place[node ^ 1] = NULL;
    else
        place[node] = own;
    pthread_mutex_unlock(&reducer->lock);
    return other;
}

/* Carries a finished slot's vector up the tree as far as finished siblings allow. The root waits for its reader. */
static void climb(armilla_reducer *reducer, int64_t length, int64_t slot, double *vector)
{
    int64_t node = slot;
    for (int level = 0; level < reducer->levels; level++, node /= 2) {
        if ((node ^ 1) >= reducer->nodes_at[level]) continue; /* an odd one out: up as it is */
        double *other = meet_sibling(reducer, level, node, vector);
        if (!other) return;
        double *left = node % 2 ? other : vector, *right = node % 2 ? vector : other;
        for (int64_t i = 0; i < length; i++) left[i] += right[i];
        return_vector(reducer, right);
        vector = left;
    }
    reducer->waiting[reducer->offset_of[reducer->levels]] = vector;
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

/* One call of armilla_reduce. */
typedef struct reduction {
    armilla_reducer *reducer;
    int64_t length;
    armilla_reduce_body body;
    void *self;
    atomic_int_fast64_t next; /* the first slot that nobody has claimed */
} reduction;

static void run_slot(const reduction *run, int64_t slot, int thread)
{
    armilla_reducer *reducer = run->reducer;
    double *vector = borrow_vector(reducer);
    armilla_status status = vector ? ARMILLA_OK : ARMILLA_INTERNAL;
    if (vector) {
        memset(vector, 0, (size_t)run->length * sizeof *vector);
        status = run->body(run->self, slot, thread, vector);
        climb(reducer, run->length, slot, vector);
    }
    if (status != ARMILLA_OK) note_failure(reducer, slot, status);
}

static void claim_slots(void *self, int thread)
{
    reduction *run = self;
    for (;;) {
        const int64_t slot = atomic_fetch_add(&run->next, 1);
        if (slot >= run->reducer->slots) return;
        run_slot(run, slot, thread);
    }
}

armilla_status armilla_reduce(armilla_reducer *reducer, int64_t length, armilla_reduce_body body, void *self,
                              double *sums)
{
    reduction run = {reducer, length, body, self, 0};
    for (int64_t i = 0; i < reducer->vectors; i++) reducer->spare[i] = armilla_align(reducer->vector[i]);
    reducer->free = reducer->vectors;
    reducer->status = ARMILLA_OK;
    reducer->failed_slot = reducer->slots;
    armilla_team_run(reducer->team, claim_slots, &run);
    if (reducer->status == ARMILLA_OK && length > 0)
        memcpy(sums, reducer->waiting[reducer->offset_of[reducer->levels]], (size_t)length * sizeof *sums);
    memset(reducer->waiting, 0, (size_t)(2 * reducer->slots + MOST_LEVELS) * sizeof *reducer->waiting);
    return reducer->status;
}
