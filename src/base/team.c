/* Threads that wait for jobs. They look for a job at first, because waking takes longer than the steps of a small fit, and
 * then sleep on a condition variable. */
#include "base/team.h"

#include "base/size.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_THREADS = 1024,
    MOST_CPUS = 1 << 15,  /* of an affinity mask; more than Linux can be configured for, where 8192 is the end */
    LOOKS = 2000,         /* before a thread sleeps: some 30 to 90 us */
    STACK_BYTES = 1 << 20 /* of a thread: the system's own number may be as small as ulimit -s has been made */
};

int armilla_threads_quota(const char *path)
{
    long long quota = 0, period = 0;
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    const bool given = fscanf(file, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0;
    fclose(file);
    return given ? (int)armilla_min64((quota - 1) / period + 1, MOST_THREADS) : 0;
}

/* CPUs of the affinity mask. cpu_set_t ends at 1024 of them, and the call fails where the system may have more. */
static int mask_cores(void)
{
    cpu_set_t masks[MOST_CPUS / CPU_SETSIZE];
    return sched_getaffinity(0, sizeof masks, masks) == 0 ? CPU_COUNT_S(sizeof masks, masks) : 1;
}

int armilla_threads_available(void)
{
    const int cores = mask_cores(), quota = armilla_threads_quota("/sys/fs/cgroup/cpu.max");
    const int granted = quota > 0 && quota < cores ? quota : cores;
    return (int)armilla_max64(1, armilla_min64(granted, MOST_THREADS));
}

int armilla_threads_choose(int64_t wanted)
{
    if (wanted <= 0) return armilla_threads_available();
    return (int)armilla_min64(wanted, MOST_THREADS);
}

/* Member 0 is the calling thread. */
typedef struct member {
    armilla_pool *pool;
    pthread_t thread;
    pthread_cond_t called;
    int number;
    atomic_bool working; /* on the job in progress, or asked to */
    char message[ARMILLA_MESSAGE];
} member;

struct armilla_pool {
    armilla_context *context;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int started; /* members that there are */
    int most;
    int looks;          /* 0 where there are more threads than processors */
    atomic_int working; /* members that have not finished the job */
    atomic_bool dismissed;
    atomic_bool running; /* a job is */
    armilla_job job;
    void *self;
    member members[];
};

/* Between two looks: the other thread of a core has its units. */
static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Until it is called; false where it is dismissed. */
static bool wait_for_job(member *own)
{
    armilla_pool *pool = own->pool;
    for (int i = 0; i < pool->looks && !atomic_load(&pool->dismissed); i++) {
        if (atomic_load(&own->working)) return true;
        pause_core();
    }
    pthread_mutex_lock(&pool->lock);
    while (!atomic_load(&own->working) && !atomic_load(&pool->dismissed)) pthread_cond_wait(&own->called, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    return atomic_load(&own->working);
}

static void *serve(void *argument)
{
    member *own = argument;
    armilla_pool *pool = own->pool;
    while (wait_for_job(own)) {
        pool->job(pool->self, own->number);
        atomic_store(&own->working, false);
        if (atomic_fetch_sub(&pool->working, 1) > 1) continue;
        pthread_mutex_lock(&pool->lock);
        pthread_cond_signal(&pool->finished);
        pthread_mutex_unlock(&pool->lock);
    }
    return NULL;
}

static void wait_for_members(armilla_pool *pool)
{
    for (int i = 0; i < pool->looks && atomic_load(&pool->working) > 0; i++) pause_core();
    if (atomic_load(&pool->working) == 0) return;
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->working) > 0) pthread_cond_wait(&pool->finished, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* Signals are the host program's: no thread of ours takes them. */
bool armilla_thread_start(pthread_t *thread, void *(*body)(void *self), void *self)
{
    /* Signals that a thread's own work raises cannot wait: blocked, they would pass the program's handlers by. */
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
    sigset_t all, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(thread, &attributes, body, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

static bool start_member(armilla_pool *pool)
{
    member *next = &pool->members[pool->started];
    next->pool = pool;
    next->number = pool->started;
    if (pool->started == 1)
        pool->looks = pool->most <= armilla_threads_available() ? LOOKS : 0; /* no member looks yet */
    if (pthread_cond_init(&next->called, NULL) != 0) return false;
    if (armilla_thread_start(&next->thread, serve, next)) return true;
    pthread_cond_destroy(&next->called);
    return false;
}

armilla_status armilla_pool_new(armilla_context *context, int threads, armilla_pool **pool)
{
    armilla_pool *made = NULL;
    const int64_t bytes = (int64_t)(sizeof *made + (size_t)threads * sizeof made->members[0]);
    const armilla_status status = armilla_take(context, bytes, 1, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->finished, NULL);
    made->most = threads;
    made->started = 1;
    made->members[0].thread = pthread_self();
    *pool = made;
    return ARMILLA_OK;
}

void armilla_pool_free(armilla_pool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->dismissed, true);
    for (int i = 1; i < pool->started; i++) pthread_cond_signal(&pool->members[i].called);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 1; i < pool->started; i++) {
        pthread_join(pool->members[i].thread, NULL);
        pthread_cond_destroy(&pool->members[i].called);
    }
    pthread_cond_destroy(&pool->finished);
    pthread_mutex_destroy(&pool->lock);
    armilla_release(pool->context, pool);
}

int armilla_pool_most(const armilla_pool *pool)
{
    return pool->most;
}

char *armilla_pool_message(armilla_pool *pool)
{
    const pthread_t own = pthread_self();
    if (!pool || !atomic_load(&pool->running)) return NULL;
    for (int i = 0; i < pool->started; i++)
        if (pthread_equal(pool->members[i].thread, own)) return pool->members[i].message;
    return NULL;
}

/* How many of so many threads there are: those that are wanted are started. */
static int ready(armilla_pool *pool, int64_t most)
{
    const int wanted = (int)armilla_max64(1, armilla_min64(most, pool->most));
    while (pool->started < wanted && start_member(pool)) pool->started++;
    return (int)armilla_min64(wanted, pool->started);
}

armilla_team armilla_team_of(armilla_context *context, int64_t most)
{
    armilla_pool *pool = context->pool;
    armilla_team team = {context, 1};
    if (!pool || atomic_load(&pool->running)) return team;
    team.threads = ready(pool, most);
    return team;
}

/* The first thread that failed says why. */
static void keep_message(const armilla_pool *pool, int threads)
{
    for (int i = 0; i < threads; i++)
        if (pool->members[i].message[0]) {
            armilla_set_error(pool->context, pool->members[i].message);
            return;
        }
}

static void call_members(armilla_pool *pool, int threads, armilla_job job, void *self)
{
    pthread_mutex_lock(&pool->lock);
    pool->job = job;
    pool->self = self;
    atomic_store(&pool->working, threads - 1);
    for (int i = 1; i < threads; i++) {
        atomic_store(&pool->members[i].working, true);
        pthread_cond_signal(&pool->members[i].called);
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Whether the threads are there and idle. */
static bool may_run(const armilla_pool *pool)
{
    return pool && !atomic_load(&pool->running);
}

void armilla_team_run(const armilla_team *team, armilla_job job, void *self)
{
    armilla_pool *pool = team->context->pool;
    if (!may_run(pool)) {
        job(self, 0);
        return;
    }
    const int threads = ready(pool, team->threads);
    for (int i = 0; i < threads; i++) pool->members[i].message[0] = '\0';
    atomic_store(&pool->running, true);
    if (threads > 1) call_members(pool, threads, job, self);
    job(self, 0);
    if (threads > 1) wait_for_members(pool);
    atomic_store(&pool->running, false);
    keep_message(pool, threads);
}

typedef struct sharing {
    armilla_share share;
    void *self;
    int64_t count;
    int parts;
} sharing;

static void take_share(void *self, int thread)
{
    const sharing *s = self;
    s->share(s->self, armilla_part_start(s->count, s->parts, thread),
             armilla_part_start(s->count, s->parts, thread + 1));
}

void armilla_team_share(const armilla_team *team, int64_t count, armilla_share share, void *self)
{
    armilla_pool *pool = team->context->pool;
    const int threads = may_run(pool) ? ready(pool, armilla_min64(team->threads, count)) : 1;
    sharing s = {share, self, count, threads};
    if (threads > 1)
        armilla_team_run(&(armilla_team){team->context, threads}, take_share, &s);
    else
        share(self, 0, count);
}

typedef struct copying {
    const char *from;
    char *to;
} copying;

static void copy_bytes(void *self, int64_t first, int64_t last)
{
    const copying *c = self;
    memcpy(c->to + first, c->from + first, (size_t)(last - first));
}

void armilla_team_copy(const armilla_team *team, size_t bytes, const void *from, void *to)
{
    enum { FEW_BYTES = 1 << 19 }; /* the calling thread copies alone */
    copying c = {from, to};
    if (bytes < FEW_BYTES)
        memcpy(to, from, bytes);
    else
        armilla_team_share(team, (int64_t)bytes, copy_bytes, &c);
}
