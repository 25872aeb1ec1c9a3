/* Random numbers as a function of (seed, stream, index): no state, so a draw does not depend on threads, ranks or
 * block sizes. Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). */
#ifndef ARMILLA_BASE_RANDOM_H
#define ARMILLA_BASE_RANDOM_H

#include <stdint.h>

/* What a draw is for; two purposes never share a stream. */
typedef enum armilla_stream {
    ARMILLA_STREAM_BASIS,
    ARMILLA_STREAM_CODES,
    ARMILLA_STREAM_SAMPLES,
    ARMILLA_STREAM_RANGE,
    ARMILLA_STREAM_RESTART,
    ARMILLA_STREAM_TEST,
    ARMILLA_STREAM_CLUSTERS,
    ARMILLA_STREAM_BLOCKS,
    ARMILLA_STREAM_SCREENED,
    ARMILLA_STREAM_CELLS,
    ARMILLA_STREAM_COMMUNITIES,
    ARMILLA_STREAM_PARTS,
    ARMILLA_STREAM_LAYOUT,
    ARMILLA_STREAM_OFFSETS,
    ARMILLA_STREAM_ORDER,
    ARMILLA_STREAM_STRUCTURE
} armilla_stream;

/* The cipher itself: out = 4 words for a counter of 4 words under a key of 2. */
void armilla_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

uint64_t armilla_random_bits(uint64_t seed, armilla_stream stream, uint64_t index);
/* In the open interval (0, 1). */
double armilla_random_uniform(uint64_t seed, armilla_stream stream, uint64_t index);
/* Standard normal. */
double armilla_random_normal(uint64_t seed, armilla_stream stream, uint64_t index);
/* values = numbers first ... first+count-1 of a sequence in (-1, 1), uniform: four for one run of the cipher, and none of
 * them those of another function. */
void armilla_random_symmetric(uint64_t seed, armilla_stream stream, uint64_t first, int64_t count, double *values);

/* drawn = one number of each of the `count` <= n equal runs that 0 ... n-1 are divided into, so that they rise and none
 * comes twice. */
void armilla_draw_stratified(int64_t n, int64_t count, uint64_t seed, armilla_stream stream, int64_t *drawn);

#endif
