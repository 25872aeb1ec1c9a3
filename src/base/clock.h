/* Seconds from a fixed but unspecified moment; never goes back. */
#ifndef ARMILLA_BASE_CLOCK_H
#define ARMILLA_BASE_CLOCK_H

#include <time.h>

static inline double armilla_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
