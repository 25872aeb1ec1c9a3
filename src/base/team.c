/* Threads that wait for jobs on a condition variable. */
#include "base/team.h"

#include "base/size.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
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

struct armilla_team {
    armilla_context *context;
    pthread_mutex_t lock;
    pthread_cond_t called, finished;
    int64_t calls; /* jobs given out so far; a thread that has seen fewer has work to do */
    int working;   /* threads of the team that have not finished the job */
    bool dismissed;
    armilla_job job;
    void *self;
    int members; /* besides the caller */
    struct member {
        armilla_team *team;
        pthread_t thread;
        int number;
    } * member;
};

static void *serve(void *argument)
{
    const struct member *own = argument;
    armilla_team *team = own->team;
    int64_t seen = 0;
    pthread_mutex_lock(&team->lock);
    for (;;) {
        while (team->calls == seen && !team->dismissed) pthread_cond_wait(&team->called, &team->lock);
        if (team->dismissed) break;
        seen = team->calls;
        pthread_mutex_unlock(&team->lock);
        team->job(team->self, own->number);
        pthread_mutex_lock(&team->lock);
        if (--team->working == 0) pthread_cond_signal(&team->finished);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

/* Signals are the host program's: no thread of ours takes them. */
static void recruit(armilla_team *team, int wanted)
{
    /* Signals that a thread's own work raises cannot wait: blocked, they would pass the program's handlers by. */
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
    sigset_t all, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; team->members < wanted; team->members++) {
        struct member *next = &team->member[team->members];
        next->team = team;
        next->number = team->members + 1;
        if (pthread_create(&next->thread, &attributes, serve, next) != 0) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

armilla_status armilla_team_new(armilla_context *context, int threads, armilla_team **team)
{
    armilla_team *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    status = armilla_take(context, threads, sizeof *made->member, &made->member);
    if (status != ARMILLA_OK) {
        armilla_release(context, made);
        return status;
    }
    made->context = context;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->called, NULL);
    pthread_cond_init(&made->finished, NULL);
    recruit(made, threads - 1);
    *team = made;
    return ARMILLA_OK;
}

void armilla_team_free(armilla_team *team)
{
    if (!team) return;
    pthread_mutex_lock(&team->lock);
    team->dismissed = true;
    pthread_cond_broadcast(&team->called);
    pthread_mutex_unlock(&team->lock);
    for (int i = 0; i < team->members; i++) pthread_join(team->member[i].thread, NULL);
    pthread_cond_destroy(&team->finished);
    pthread_cond_destroy(&team->called);
    pthread_mutex_destroy(&team->lock);
    armilla_release(team->context, team->member);
    armilla_release(team->context, team);
}

void armilla_team_run(armilla_team *team, armilla_job job, void *self)
{
    if (team->members > 0) {
        pthread_mutex_lock(&team->lock);
        team->job = job;
        team->self = self;
        team->working = team->members;
        team->calls++;
        pthread_cond_broadcast(&team->called);
        pthread_mutex_unlock(&team->lock);
    }
    job(self, 0);
    if (team->members > 0) {
        pthread_mutex_lock(&team->lock);
        while (team->working > 0) pthread_cond_wait(&team->finished, &team->lock);
        pthread_mutex_unlock(&team->lock);
    }
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

void armilla_team_share(armilla_team *team, int64_t count, armilla_share share, void *self)
{
    sharing s = {share, self, count, team->members + 1};
    armilla_team_run(team, take_share, &s);
}
