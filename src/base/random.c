/* Philox 4x32-10: a keyed bijection of the counter, ten rounds of multiply and xor. */
#include "base/random.h"

#include "base/size.h"

#include <math.h>

#define ROUNDS 10

void armilla_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        const uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

static void draw(uint64_t seed, armilla_stream stream, uint64_t index, uint64_t out[2])
{
    const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t words[4];
    armilla_philox(counter, key, words);
    out[0] = words[0] | (uint64_t)words[1] << 32;
    out[1] = words[2] | (uint64_t)words[3] << 32;
}

/* The 53 high bits, centred in their cell: never 0, never 1. */
static double to_unit(uint64_t bits)
{
    return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

uint64_t armilla_random_bits(uint64_t seed, armilla_stream stream, uint64_t index)
{
    uint64_t words[2];
    draw(seed, stream, index, words);
    return words[0];
}

double armilla_random_uniform(uint64_t seed, armilla_stream stream, uint64_t index)
{
    return to_unit(armilla_random_bits(seed, stream, index));
}

double armilla_random_normal(uint64_t seed, armilla_stream stream, uint64_t index)
{
    uint64_t words[2];
    draw(seed, stream, index, words);
    return sqrt(-2.0 * log(to_unit(words[0]))) * cos(2.0 * 3.14159265358979323846 * to_unit(words[1]));
}

void armilla_random_symmetric(uint64_t seed, armilla_stream stream, uint64_t first, int64_t count, double *values)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t words[4];
    for (int64_t i = 0; i < count; i++) {
        const uint64_t index = first + (uint64_t)i, group = index / 4;
        const uint32_t counter[4] = {(uint32_t)group, (uint32_t)(group >> 32), (uint32_t)stream, 1};
        if (i == 0 || index % 4 == 0) armilla_philox(counter, key, words);
        values[i] = ((double)words[index % 4] + 0.5) * 0x1p-31 - 1;
    }
}

void armilla_draw_stratified(int64_t n, int64_t count, uint64_t seed, armilla_stream stream, int64_t *drawn)
{
    const double run = (double)n / (double)count;
    for (int64_t i = 0; i < count; i++) {
        const int64_t first = (int64_t)((double)i * run), last = armilla_min64(n, (int64_t)((double)(i + 1) * run));
        const double place = armilla_random_uniform(seed, stream, (uint64_t)i);
        drawn[i] = armilla_max64(first, armilla_min64(last - 1, first + (int64_t)(place * (double)(last - first))));
    }
}
