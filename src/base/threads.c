/* How many threads a fit may use. */
#include "base/threads.h"

#include <sched.h>
#include <stdio.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#define MOST_THREADS 1024

/* Cores granted by a cgroup v2 quota ("max 100000" or "200000 100000"), or 0 where there is none. */
static int quota_cores(void)
{
    long long quota = 0, period = 0;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!file) return 0;
    if (fscanf(file, "%lld %lld", &quota, &period) != 2 || quota <= 0 || period <= 0) quota = 0;
    fclose(file);
    if (quota == 0) return 0;
    const long long cores = (quota + period - 1) / period;
    return cores < MOST_THREADS ? (int)cores : MOST_THREADS;
}

int armilla_threads_available(void)
{
    cpu_set_t mask;
    int cores = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 1;
    const int quota = quota_cores();
    if (quota > 0 && quota < cores) cores = quota;
    return cores > 0 ? cores : 1;
}

int armilla_threads_choose(int64_t wanted)
{
#ifdef _OPENMP
    if (wanted <= 0) return armilla_threads_available();
    return wanted < MOST_THREADS ? (int)wanted : MOST_THREADS;
#else
    (void)wanted;
    return 1;
#endif
}

int armilla_thread_number(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}
