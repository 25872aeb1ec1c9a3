/* Communities that are sought side by side: each on a thread of the call, with memory of its own. */
#include "graph/communities.h"

#include "base/size.h"
#include "base/team.h"

#include <math.h>
#include <time.h>

/* Tasks at a time, as each has memory of its own: of six, three at a time are as fast as four or five. */
enum { SIDE_BY_SIDE = 3 };
/* What those at a time take together, of the memory that is left, at most. */
#define MEMORY_PART 0.5
/* The thread of the call, where the others are still at work, asks that often whether the call is to end: nanoseconds. */
enum { WAIT = 5000000 };

typedef struct sharing {
    armilla_context *context;
    armilla_communities_task *tasks;
    int count;
    bool chain;
    int64_t most_nodes;
    atomic_int cancelled_from, rounds, expected; /* as of a turn */
    pthread_mutex_t lock;                        /* of what follows */
    pthread_cond_t one_ended;
    int taken, ended; /* tasks */
} sharing;

void armilla_communities_cancel_later(const armilla_communities_control *control)
{
    int cancelled_from = atomic_load(control->cancelled_from);
    while (control->number + 1 < cancelled_from &&
           !atomic_compare_exchange_weak(control->cancelled_from, &cancelled_from, control->number + 1)) {}
}

static armilla_status seek(armilla_moving_nodes *nodes, const armilla_level *fine, armilla_communities_task *task)
{
    if (task->k > 0) return armilla_nodes_search(nodes, fine, task->k, &task->options, task->labels, &task->count);
    const armilla_status status = armilla_nodes_run(nodes, fine, &task->options, task->from, &task->count);
    for (int64_t i = 0; i < fine->nodes && status == ARMILLA_OK; i++) task->labels[i] = nodes->found[i];
    return status;
}

/* The tasks after one that fails, or whose resolution has changed, are cancelled. */
static void run_task(const sharing *s, armilla_moving_nodes *nodes, const armilla_communities_control *control)
{
    armilla_communities_task *task = &s->tasks[control->number];
    armilla_level own = {.nodes = 0};
    const double resolution = task->options.resolution;
    armilla_status status = ARMILLA_OK;
    if (!nodes->labels) status = armilla_nodes_take(s->context, s->most_nodes, nodes);
    if (status == ARMILLA_OK && !task->fine) status = armilla_level_of_graph(s->context, task->graph, &own);
    nodes->control = control;
    if (status == ARMILLA_OK) status = seek(nodes, task->fine ? task->fine : &own, task);
    armilla_level_release(s->context, &own);
    task->status = status;
    if (status != ARMILLA_OK || (control->chain && task->options.resolution != resolution))
        armilla_communities_cancel_later(control);
}

/* The number of the next task; -1: there is none. */
static int take_task(sharing *s)
{
    pthread_mutex_lock(&s->lock);
    const int number = s->taken < atomic_load(&s->cancelled_from) ? s->taken++ : -1;
    pthread_mutex_unlock(&s->lock);
    return number;
}

static void end_task(sharing *s)
{
    pthread_mutex_lock(&s->lock);
    s->ended++;
    pthread_cond_signal(&s->one_ended);
    pthread_mutex_unlock(&s->lock);
}

/* Until the others are done the caller is still asked. */
static void wait_for_others(sharing *s)
{
    enum { SECOND = 1000000000 };
    pthread_mutex_lock(&s->lock);
    while (s->ended < s->taken) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT;
        until.tv_sec += until.tv_nsec / SECOND;
        until.tv_nsec %= SECOND;
        pthread_cond_timedwait(&s->one_ended, &s->lock, &until);
        pthread_mutex_unlock(&s->lock);
        (void)armilla_call_reached(s->context, atomic_load(&s->rounds), atomic_load(&s->expected));
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

static void work(void *self, int thread)
{
    sharing *s = self;
    armilla_moving_nodes nodes = {.context = s->context};
    for (int number = take_task(s); number >= 0; number = take_task(s)) {
        const armilla_communities_control control = {thread,     number,      s->chain, &s->cancelled_from,
                                                     &s->rounds, &s->expected};
        run_task(s, &nodes, &control);
        end_task(s);
    }
    armilla_nodes_release(&nodes);
    if (thread == 0) wait_for_others(s);
}

static int64_t nodes_of(const armilla_communities_task *task)
{
    return task->fine ? task->fine->nodes : task->graph->rows;
}

/* How many tasks the memory that is left has space for. */
static int64_t at_a_time(const sharing *s)
{
    double most = 1;
    for (int i = 0; i < s->count; i++) {
        const armilla_level *fine = s->tasks[i].fine;
        const int64_t entries = fine ? fine->starts[fine->nodes] : 2 * armilla_graph_entries(s->tasks[i].graph);
        most = fmax(most, armilla_nodes_bytes(nodes_of(&s->tasks[i]), entries));
    }
    const double space = MEMORY_PART * (double)armilla_memory_left(s->context) / most;
    return space < SIDE_BY_SIDE ? (int64_t)fmax(space, 1) : SIDE_BY_SIDE;
}

armilla_status armilla_communities_share(armilla_context *context, armilla_communities_task *tasks, int count,
                                         bool chain, int *done)
{
    sharing s = {.context = context, .tasks = tasks, .count = count, .chain = chain, .cancelled_from = count};
    armilla_status status = ARMILLA_OK;
    for (int i = 0; i < count; i++) {
        s.most_nodes = armilla_max64(s.most_nodes, nodes_of(&tasks[i]));
        s.expected += armilla_nodes_rounds(tasks[i].from);
    }
    const armilla_team team = armilla_team_of(context, armilla_min64(at_a_time(&s), count));
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.one_ended, NULL);
    armilla_team_run(&team, work, &s);
    pthread_cond_destroy(&s.one_ended);
    pthread_mutex_destroy(&s.lock);
    *done = atomic_load(&s.cancelled_from);
    for (int i = 0; i < *done && status == ARMILLA_OK; i++) status = tasks[i].status;
    return status == ARMILLA_STOPPED ? armilla_call_explain(context) : status;
}
