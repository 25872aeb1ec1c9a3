/* Sizes are 64-bit, and products of them are checked. */
#ifndef ARMILLA_BASE_SIZE_H
#define ARMILLA_BASE_SIZE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* *bytes = count * size, or false where that is negative or past what one object may have. */
static inline bool armilla_size_multiply(int64_t count, size_t size, size_t *bytes)
{
    size_t product = 0;
    if (count < 0 || __builtin_mul_overflow((uint64_t)count, size, &product) || product > PTRDIFF_MAX) return false;
    *bytes = product;
    return true;
}

/* *elements = rows * cols, or false where that overflows. */
static inline bool armilla_size_area(int64_t rows, int64_t cols, int64_t *elements)
{
    return rows >= 0 && cols >= 0 && !__builtin_mul_overflow(rows, cols, elements);
}

/* True where BLAS and LAPACK, which count in int, can take the size. */
static inline bool armilla_size_fits_int(int64_t size)
{
    return size >= 0 && size <= INT_MAX;
}

static inline int64_t armilla_min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t armilla_max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The first of part `part`, where `count` things are divided into `parts` nearly equal parts. */
static inline int64_t armilla_part_start(int64_t count, int64_t parts, int64_t part)
{
    return part * (count / parts) + armilla_min64(part, count % parts);
}

/* The first place in the block that is a multiple of a cache line; the block has ARMILLA_LINE bytes to spare. */
enum { ARMILLA_LINE = 64 };
static inline void *armilla_align(void *block)
{
    return (char *)block + (ARMILLA_LINE - (uintptr_t)block % ARMILLA_LINE) % ARMILLA_LINE;
}

/* So many bytes in whole cache lines. */
static inline size_t armilla_padded(size_t bytes)
{
    return (bytes + ARMILLA_LINE - 1) / ARMILLA_LINE * ARMILLA_LINE;
}

#endif
