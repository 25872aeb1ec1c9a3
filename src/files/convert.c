/* Numbers of every stored kind to those of a type, in either order. One row per kind; the copy goes through small tiles
 * of doubles, so that a transposition reads and writes runs of memory. */
#include "files/array.h"

#include "base/size.h"
#include "linalg/kernels.h"

#include <math.h>
#include <string.h>

#define TILE 32
#define RUN (TILE * TILE)

#define SWAP_8(word) (word)
#define SWAP_16(word) __builtin_bswap16(word)
#define SWAP_32(word) __builtin_bswap32(word)
#define SWAP_64(word) __builtin_bswap64(word)

/* Half precision: 1 sign, 5 exponent and 10 fraction bits. */
static double half_value(uint16_t word)
{
    const int exponent = word >> 10 & 31, fraction = word & 1023;
    double value = 0;
    if (exponent == 31)
        value = fraction ? (double)NAN : (double)INFINITY;
    else
        value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return word & 0x8000 ? -value : value;
}

/* bool: any byte but 0 is true. */
static double truth_value(uint8_t word)
{
    return word != 0;
}

#define FETCH(name, stored, bits, convert)                                                                             \
    static void fetch_##name(const unsigned char *from, bool swapped, int64_t count, double *to)                       \
    {                                                                                                                  \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            uint##bits##_t word;                                                                                       \
            stored number;                                                                                             \
            memcpy(&word, from + i * (int64_t)sizeof word, sizeof word);                                               \
            if (swapped) word = SWAP_##bits(word);                                                                     \
            memcpy(&number, &word, sizeof number);                                                                     \
            to[i] = convert(number);                                                                                   \
        }                                                                                                              \
    }

FETCH(b1, uint8_t, 8, truth_value)
FETCH(i1, int8_t, 8, (double))
FETCH(i2, int16_t, 16, (double))
FETCH(i4, int32_t, 32, (double))
FETCH(i8, int64_t, 64, (double))
FETCH(u1, uint8_t, 8, (double))
FETCH(u2, uint16_t, 16, (double))
FETCH(u4, uint32_t, 32, (double))
FETCH(u8, uint64_t, 64, (double))
FETCH(f2, uint16_t, 16, half_value)
FETCH(f4, float, 32, (double))
FETCH(f8, double, 64, (double))

static const armilla_number numbers[] = {
    {'b', 1, ARMILLA_F32, fetch_b1}, {'i', 1, ARMILLA_F32, fetch_i1}, {'i', 2, ARMILLA_F64, fetch_i2},
    {'i', 4, ARMILLA_F64, fetch_i4}, {'i', 8, ARMILLA_F64, fetch_i8}, {'u', 1, ARMILLA_U8, fetch_u1},
    {'u', 2, ARMILLA_F64, fetch_u2}, {'u', 4, ARMILLA_F64, fetch_u4}, {'u', 8, ARMILLA_F64, fetch_u8},
    {'f', 2, ARMILLA_F32, fetch_f2}, {'f', 4, ARMILLA_F32, fetch_f4}, {'f', 8, ARMILLA_F64, fetch_f8},
};

const armilla_number *armilla_number_find(char kind, int width)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].kind == kind && numbers[i].width == width) return &numbers[i];
    return NULL;
}

/* A vector, a single row or a single column is in both orders at once. */
static bool same_order(const armilla_array *array, bool column_major)
{
    return array->column_major == column_major || array->shape[0] <= 1 || array->shape[1] <= 1;
}

bool armilla_array_is(const armilla_array *array, armilla_type type, bool column_major)
{
    return array->kind == armilla_array_descriptor(type)[0] && (size_t)array->width == armilla_type_size(type) &&
           !array->swapped && same_order(array, column_major);
}

static void copy_straight(const armilla_array *array, const armilla_number *number, armilla_type type, char *to)
{
    const int64_t count = array->shape[0] * array->shape[1], size = (int64_t)armilla_type_size(type);
    double run[RUN];
    for (int64_t first = 0; first < count; first += RUN) {
        const int64_t part = armilla_min64(RUN, count - first);
        number->fetch(array->values + first * number->width, array->swapped, part, run);
        armilla_store(type, part, run, to + first * size);
    }
}

/* One tile: up to TILE runs of the file become columns of the tile, and its rows runs of the result. */
static void copy_tile(const armilla_array *array, const armilla_number *number, armilla_type type, int64_t line,
                      int64_t place, char *to)
{
    const int64_t lines = array->shape[array->column_major], length = array->shape[!array->column_major];
    const int64_t high = armilla_min64(TILE, lines - line), across = armilla_min64(TILE, length - place);
    const int64_t size = (int64_t)armilla_type_size(type);
    double tile[TILE][TILE], run[TILE];
    for (int64_t i = 0; i < high; i++)
        number->fetch(array->values + ((line + i) * length + place) * number->width, array->swapped, across, tile[i]);
    for (int64_t j = 0; j < across; j++) {
        for (int64_t i = 0; i < high; i++) run[i] = tile[i][j];
        armilla_store(type, high, run, to + ((place + j) * lines + line) * size);
    }
}

void armilla_array_copy(const armilla_array *array, armilla_type type, bool column_major, void *to)
{
    const armilla_number *number = armilla_number_find(array->kind, array->width);
    if (same_order(array, column_major)) {
        copy_straight(array, number, type, to);
        return;
    }
    const int64_t lines = array->shape[array->column_major], length = array->shape[!array->column_major];
    for (int64_t line = 0; line < lines; line += TILE)
        for (int64_t place = 0; place < length; place += TILE) copy_tile(array, number, type, line, place, to);
}
