/* OpenMP behind three functions, so that a build without it is the same code on one thread. */
#ifndef ARMILLA_BASE_THREADS_H
#define ARMILLA_BASE_THREADS_H

#include <stdint.h>

/* The cores that this process may use: its affinity mask, and the cgroup's CPU quota where there is one. */
int armilla_threads_available(void);

/* The number of threads to run on: wanted, or all available where wanted <= 0; 1 without OpenMP. */
int armilla_threads_choose(int64_t wanted);

/* 0 ... threads-1 inside a parallel region. */
int armilla_thread_number(void);

#endif
