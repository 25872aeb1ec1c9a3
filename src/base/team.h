/* A team of threads that sleep between jobs. Not OpenMP: its threads spin between parallel loops, which on a machine
 * with other work costs more than the loops themselves, and thread sanitizers cannot see through it. */
#ifndef ARMILLA_BASE_TEAM_H
#define ARMILLA_BASE_TEAM_H

#include "base/context.h"

/* The cores that this process may use: its affinity mask, and the cgroup's CPU quota where there is one. */
int armilla_threads_available(void);
/* Cores granted by the cgroup v2 quota in that file ("max 100000" or "200000 100000"), a part of one as a whole one; 0
 * where there is none. */
int armilla_threads_quota(const char *path);
/* The number of threads to run on: wanted, or all available where wanted <= 0. A call asks once, where it begins:
 * the answer may change at any time, and memory is laid out by it. */
int armilla_threads_choose(int64_t wanted);

/* Threads of the call in progress (base/call.h), `threads` of them, the calling one included. They are started when they
 * are first wanted and end with the call: between calls there are none, so that a program may fork there. */
typedef struct armilla_team {
    armilla_context *context;
    int threads;
} armilla_team;

/* At most so many, and at most those of the call: fewer where the system refuses some, and one where no call is under
 * way. */
armilla_team armilla_team_of(armilla_context *context, int64_t most);

typedef void (*armilla_job)(void *self, int thread);
/* Runs job on every thread of the team at the same time, and returns when all are done. Within a job it runs on the
 * thread that asks, as thread 0. */
void armilla_team_run(const armilla_team *team, armilla_job job, void *self);

typedef void (*armilla_share)(void *self, int64_t first, int64_t last);
/* Cuts 0 ... count-1 into one range per thread and runs share on each. What is written must not depend on the cuts. */
void armilla_team_share(const armilla_team *team, int64_t count, armilla_share share, void *self);

/* to = from, on all threads where it is worth it. */
void armilla_team_copy(const armilla_team *team, size_t bytes, const void *from, void *to);

/* Starts a thread of ours, which takes no signals of the program's; false where the system refuses. */
bool armilla_thread_start(pthread_t *thread, void *(*body)(void *self), void *self);

/* The pool: the threads themselves, which the context holds while a call is in progress. */
typedef struct armilla_pool armilla_pool;
armilla_status armilla_pool_new(armilla_context *context, int threads, armilla_pool **pool);
void armilla_pool_free(armilla_pool *pool);
int armilla_pool_most(const armilla_pool *pool);

/* The buffer for the message of a failure on the running thread while a job runs, so that messages of several threads
 * do not collide; NULL where none runs, or the thread is not of the pool. The first of the threads that has one is the
 * context's after the job; a reducer takes that of the lowest slot. */
char *armilla_pool_message(armilla_pool *pool);

#endif
