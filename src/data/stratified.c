/* A stratified draw. */
#include "data/stratified.h"

#include "base/size.h"

void armilla_draw_stratified(int64_t n, int64_t count, uint64_t seed, armilla_stream stream, int64_t *drawn)
{
    const double run = (double)n / (double)count;
    for (int64_t i = 0; i < count; i++) {
        const int64_t first = (int64_t)((double)i * run), last = armilla_min64(n, (int64_t)((double)(i + 1) * run));
        const double place = armilla_random_uniform(seed, stream, (uint64_t)i);
        drawn[i] = armilla_max64(first, armilla_min64(last - 1, first + (int64_t)(place * (double)(last - first))));
    }
}
