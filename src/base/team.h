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
/* The number of threads to run on: wanted, or all available where wanted <= 0. Public functions ask once and hand the
 * answer down: it may change at any time, and memory is laid out by it. */
int armilla_threads_choose(int64_t wanted);

typedef struct armilla_team armilla_team;

/* The caller is thread 0; threads-1 more are made. Where the system refuses some, the team is smaller. */
armilla_status armilla_team_new(armilla_context *context, int threads, armilla_team **team);
void armilla_team_free(armilla_team *team);

typedef void (*armilla_job)(void *self, int thread);
/* Runs job on every thread of the team at the same time, and returns when all are done. */
void armilla_team_run(armilla_team *team, armilla_job job, void *self);

typedef void (*armilla_share)(void *self, int64_t first, int64_t last);
/* Cuts 0 ... count-1 into one range per thread and runs share on each. What is written must not depend on the cuts. */
void armilla_team_share(armilla_team *team, int64_t count, armilla_share share, void *self);

#endif
