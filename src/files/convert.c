/* Numbers of every stored kind to those of a type, in either order. One row per kind; the copy goes through small tiles
 * of doubles, so that a transposition reads and writes runs of memory. */
#include "files/array.h"

#include "base/size.h"
#include "linalg/half.h"
#include "linalg/kernels.h"

#include <string.h>

#define TILE 32
#define RUN (TILE * TILE)

#define SWAP_8(word) (word)
#define SWAP_16(word) __builtin_bswap16(word)
#define SWAP_32(word) __builtin_bswap32(word)
#define SWAP_64(word) __builtin_bswap64(word)

#define AS_IT_IS(number) (number)

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
            to[i] = (double)convert(number);                                                                           \
        }                                                                                                              \
    }

FETCH(b1, uint8_t, 8, truth_value)
FETCH(i1, int8_t, 8, AS_IT_IS)
FETCH(i2, int16_t, 16, AS_IT_IS)
FETCH(i4, int32_t, 32, AS_IT_IS)
FETCH(i8, int64_t, 64, AS_IT_IS)
FETCH(u1, uint8_t, 8, AS_IT_IS)
FETCH(u2, uint16_t, 16, AS_IT_IS)
FETCH(u4, uint32_t, 32, AS_IT_IS)
FETCH(u8, uint64_t, 64, AS_IT_IS)
FETCH(f2, uint16_t, 16, armilla_f16_value)
FETCH(n2, uint16_t, 16, armilla_bf16_value)
FETCH(f4, float, 32, AS_IT_IS)
FETCH(f8, double, 64, AS_IT_IS)

static const armilla_number numbers[] = {
    {'b', 1, ARMILLA_F32, fetch_b1},
    {'i', 1, ARMILLA_I8, fetch_i1},
    {'i', 2, ARMILLA_F64, fetch_i2},
    {'i', 4, ARMILLA_F64, fetch_i4},
    {'i', 8, ARMILLA_F64, fetch_i8},
    {'u', 1, ARMILLA_U8, fetch_u1},
    {'u', 2, ARMILLA_F64, fetch_u2},
    {'u', 4, ARMILLA_F64, fetch_u4},
    {'u', 8, ARMILLA_F64, fetch_u8},
    {'f', 2, ARMILLA_F16, fetch_f2},
    {'f', 4, ARMILLA_F32, fetch_f4},
    {'f', 8, ARMILLA_F64, fetch_f8},
    {ARMILLA_KIND_BF16, 2, ARMILLA_BF16, fetch_n2},
};

const armilla_number *armilla_number_find(char kind, int width)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].kind == kind && numbers[i].width == width) return &numbers[i];
    return NULL;
}

static int64_t line_bytes(const armilla_array *array)
{
    return array->lead + array->shape[!array->column_major] * array->width;
}

/* A single line is in both orders at once; so are lines of one number each, unless something stands between them. */
bool armilla_array_in_order(const armilla_array *array, bool column_major)
{
    const int64_t lines = array->shape[array->column_major], length = array->shape[!array->column_major];
    return array->column_major == column_major || lines <= 1 || (length <= 1 && array->lead == 0);
}

int64_t armilla_array_step(const armilla_array *array, bool column_major)
{
    if (array->column_major == column_major) return line_bytes(array);
    return array->shape[!column_major] * array->width;
}

bool armilla_array_is(const armilla_array *array, armilla_type type, bool column_major)
{
    const char kind = type == ARMILLA_BF16 ? ARMILLA_KIND_BF16 : armilla_array_descriptor(type)[0];
    return array->kind == kind && (size_t)array->width == armilla_type_size(type) && !array->swapped &&
           armilla_array_in_order(array, column_major);
}

static void copy_run(const armilla_number *number, bool swapped, const unsigned char *from, int64_t count,
                     armilla_type type, char *to)
{
    const int64_t size = (int64_t)armilla_type_size(type);
    double run[RUN];
    for (int64_t first = 0; first < count; first += RUN) {
        const int64_t part = armilla_min64(RUN, count - first);
        number->fetch(from + first * number->width, swapped, part, run);
        armilla_store(type, part, run, to + first * size);
    }
}

static void copy_straight(const armilla_array *array, const armilla_number *number, armilla_type type, char *to)
{
    const bool apart = array->lead > 0;
    const int64_t length = apart ? array->shape[!array->column_major] : array->shape[0] * array->shape[1];
    const int64_t lines = apart ? array->shape[array->column_major] : 1;
    for (int64_t line = 0; line < lines; line++)
        copy_run(number, array->swapped, array->values + line * line_bytes(array), length, type,
                 to + line * length * (int64_t)armilla_type_size(type));
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
        number->fetch(array->values + (line + i) * line_bytes(array) + place * number->width, array->swapped, across,
                      tile[i]);
    for (int64_t j = 0; j < across; j++) {
        for (int64_t i = 0; i < high; i++) run[i] = tile[i][j];
        armilla_store(type, high, run, to + ((place + j) * lines + line) * size);
    }
}

/* Places first ... last-1 of every line become columns of the result. */
static void copy_band(const armilla_array *array, const armilla_number *number, armilla_type type, int64_t line,
                      const int64_t places[2], char *to)
{
    for (int64_t place = places[0]; place < places[1]; place += TILE) copy_tile(array, number, type, line, place, to);
}

void armilla_array_copy(const armilla_array *array, armilla_type type, bool column_major, void *to)
{
    const armilla_number *number = armilla_number_find(array->kind, array->width);
    if (armilla_array_in_order(array, column_major)) {
        copy_straight(array, number, type, to);
        return;
    }
    const int64_t lines = array->shape[array->column_major], all[2] = {0, array->shape[!array->column_major]};
    for (int64_t line = 0; line < lines; line += TILE) copy_band(array, number, type, line, all, to);
}

/* The same of doubles, a few columns of the result at a time where they are spilled (base/spill.h). */
static void turn(armilla_context *context, const armilla_array *array, double *to)
{
    enum { PART = 8, LINES = 32 * TILE }; /* of the memory left; lines that are read before they may leave it */
    const armilla_number *number = armilla_number_find(array->kind, array->width);
    const int64_t lines = array->shape[array->column_major], length = array->shape[!array->column_major];
    const int64_t fitting = armilla_memory_left(context) / PART / (lines * (int64_t)sizeof *to) / TILE * TILE;
    const int64_t width = armilla_max64(fitting, TILE), run = length * array->width;
    if (!armilla_spill_owns(context, to)) {
        armilla_array_copy(array, ARMILLA_F64, !array->column_major, to);
        return;
    }
    for (int64_t first = 0; first < length; first += width) {
        const int64_t band[2] = {first, armilla_min64(first + width, length)};
        for (int64_t line = 0; line < lines; line += TILE) {
            copy_band(array, number, ARMILLA_F64, line, band, (char *)to);
            if ((line / TILE + 1) % (LINES / TILE) == 0)
                armilla_spill_drop(context, array->values + (line + TILE - LINES) * run, LINES * run);
        }
        armilla_spill_drop(context, to + band[0] * lines, (band[1] - band[0]) * lines * (int64_t)sizeof *to);
        armilla_spill_drop(context, array->values, lines * run);
    }
}

armilla_status armilla_doubles_transpose(armilla_context *context, int64_t rows, int64_t cols, double **values)
{
    const armilla_array array = {.kind = 'f',
                                 .width = sizeof(double),
                                 .dimensions = 2,
                                 .shape = {rows, cols},
                                 .values = (const unsigned char *)*values};
    double *turned = NULL;
    const armilla_status status = armilla_grow_large(context, rows * cols, sizeof *turned, &turned);
    if (status != ARMILLA_OK) return status;
    turn(context, &array, turned);
    armilla_release(context, *values);
    *values = turned;
    return ARMILLA_OK;
}
