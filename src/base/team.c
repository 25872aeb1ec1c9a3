/* Threads that wait for jobs on a condition variable. */
#include "base/team.h"

#include "base/size.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

enum {
    MOST_THREADS = 1024,
    MOST_CPUS = 1 << 15,  /* of an affinity mask; more than Linux can be configured for, where 8192 is the end */
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
    armilla_crew *crew;
    pthread_t thread;
    pthread_cond_t called;
    int number;
    bool working; /* on the job under way, or asked to */
    char message[ARMILLA_MESSAGE];
} member;

struct armilla_crew {
    armilla_context *context;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int started; /* members that there are */
    int most;
    int working; /* members that have not finished the job */
    bool dismissed;
    atomic_bool running; /* a job is */
    armilla_job job;
    void *self;
    member members[];
};

static void *serve(void *argument)
{
    member *own = argument;
    armilla_crew *crew = own->crew;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (!own->working && !crew->dismissed) pthread_cond_wait(&own->called, &crew->lock);
        if (crew->dismissed) break;
        pthread_mutex_unlock(&crew->lock);
        crew->job(crew->self, own->number);
        pthread_mutex_lock(&crew->lock);
        own->working = false;
        if (--crew->working == 0) pthread_cond_signal(&crew->finished);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static bool start_member(armilla_crew *crew, const pthread_attr_t *attributes)
{
    member *next = &crew->members[crew->started];
    next->crew = crew;
    next->number = crew->started;
    if (pthread_cond_init(&next->called, NULL) != 0) return false;
    if (pthread_create(&next->thread, attributes, serve, next) == 0) return true;
    pthread_cond_destroy(&next->called);
    return false;
}

/* Signals are the host program's: no thread of ours takes them. */
static void recruit(armilla_crew *crew, int wanted)
{
    /* Signals that a thread's own work raises cannot wait: blocked, they would pass the program's handlers by. */
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
    sigset_t all, before;
    pthread_attr_t attributes;
    if (crew->started >= wanted || pthread_attr_init(&attributes) != 0) return;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (crew->started < wanted && start_member(crew, &attributes)) crew->started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

armilla_status armilla_crew_new(armilla_context *context, int threads, armilla_crew **crew)
{
    armilla_crew *made = NULL;
    const int64_t bytes = (int64_t)(sizeof *made + (size_t)threads * sizeof made->members[0]);
    const armilla_status status = armilla_take(context, bytes, 1, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->finished, NULL);
    made->most = threads;
    made->started = 1;
    made->members[0].thread = pthread_self();
    *crew = made;
    return ARMILLA_OK;
}

void armilla_crew_free(armilla_crew *crew)
{
    if (!crew) return;
    pthread_mutex_lock(&crew->lock);
    crew->dismissed = true;
    for (int i = 1; i < crew->started; i++) pthread_cond_signal(&crew->members[i].called);
    pthread_mutex_unlock(&crew->lock);
    for (int i = 1; i < crew->started; i++) {
        pthread_join(crew->members[i].thread, NULL);
        pthread_cond_destroy(&crew->members[i].called);
    }
    pthread_cond_destroy(&crew->finished);
    pthread_mutex_destroy(&crew->lock);
    armilla_release(crew->context, crew);
}

int armilla_crew_most(const armilla_crew *crew)
{
    return crew->most;
}

char *armilla_crew_message(armilla_crew *crew)
{
    const pthread_t own = pthread_self();
    if (!crew || !atomic_load(&crew->running)) return NULL;
    for (int i = 0; i < crew->started; i++)
        if (pthread_equal(crew->members[i].thread, own)) return crew->members[i].message;
    return NULL;
}

/* How many of so many threads there are: those that are wanted are started. */
static int ready(armilla_crew *crew, int64_t most)
{
    const int wanted = (int)armilla_max64(1, armilla_min64(most, crew->most));
    recruit(crew, wanted);
    return (int)armilla_min64(wanted, crew->started);
}

armilla_team armilla_team_of(armilla_context *context, int64_t most)
{
    armilla_crew *crew = context->crew;
    armilla_team team = {context, 1};
    if (!crew || atomic_load(&crew->running)) return team;
    team.threads = ready(crew, most);
    return team;
}

/* The first thread that failed says why. */
static void keep_message(const armilla_crew *crew, int threads)
{
    for (int i = 0; i < threads; i++)
        if (crew->members[i].message[0]) {
            armilla_set_error(crew->context, crew->members[i].message);
            return;
        }
}

static void call_members(armilla_crew *crew, int threads, armilla_job job, void *self)
{
    pthread_mutex_lock(&crew->lock);
    crew->job = job;
    crew->self = self;
    crew->working = threads - 1;
    for (int i = 1; i < threads; i++) {
        crew->members[i].working = true;
        pthread_cond_signal(&crew->members[i].called);
    }
    pthread_mutex_unlock(&crew->lock);
}

/* Whether the threads are there and idle. */
static bool may_run(const armilla_crew *crew)
{
    return crew && !atomic_load(&crew->running);
}

void armilla_team_run(const armilla_team *team, armilla_job job, void *self)
{
    armilla_crew *crew = team->context->crew;
    if (!may_run(crew)) {
        job(self, 0);
        return;
    }
    const int threads = ready(crew, team->threads);
    for (int i = 0; i < threads; i++) crew->members[i].message[0] = '\0';
    atomic_store(&crew->running, true);
    if (threads > 1) call_members(crew, threads, job, self);
    job(self, 0);
    if (threads > 1) {
        pthread_mutex_lock(&crew->lock);
        while (crew->working > 0) pthread_cond_wait(&crew->finished, &crew->lock);
        pthread_mutex_unlock(&crew->lock);
    }
    atomic_store(&crew->running, false);
    keep_message(crew, threads);
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
    const int64_t part = s->count / s->parts, more = s->count % s->parts;
    const int64_t first = thread * part + armilla_min64(thread, more);
    s->share(s->self, first, first + part + (thread < more));
}

void armilla_team_share(const armilla_team *team, int64_t count, armilla_share share, void *self)
{
    armilla_crew *crew = team->context->crew;
    const int threads = may_run(crew) ? ready(crew, team->threads) : 1;
    sharing s = {share, self, count, threads};
    if (threads > 1)
        armilla_team_run(team, take_share, &s);
    else
        share(self, 0, count);
}
