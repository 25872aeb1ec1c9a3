/* Fresh memory that is no number: whatever is used before it was written shows. And storing a matrix. */
#include "odd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 64 }; /* before each block, with its size; a whole cache line keeps the alignment */

static void *resize(void *user, void *block, size_t bytes)
{
    char *start = block ? (char *)block - HEAD : NULL;
    size_t before = 0;
    (void)user;
    if (start) memcpy(&before, start, sizeof before);
    if (bytes == 0) {
        if (start) memset(start, 0xff, before + HEAD);
        free(start);
        return NULL;
    }
    start = realloc(start, bytes + HEAD);
    if (!start) return NULL;
    memcpy(start, &bytes, sizeof bytes);
    if (bytes > before) memset(start + HEAD + before, 0xff, bytes - before); /* NaN in f32 and f64, -1 in integers */
    return start + HEAD;
}

armilla_context *odd_context(void)
{
    const armilla_allocator allocator = {sizeof allocator, resize, NULL};
    armilla_context *context = NULL;
    if (armilla_context_new(&allocator, &context) != ARMILLA_OK) abort();
    return context;
}

static void *take(int64_t count, size_t size)
{
    void *made = calloc((size_t)(count > 0 ? count : 1), size);
    if (!made) abort();
    return made;
}

/* A whole number from 0 on as a float of so many bits, which holds it. */
static uint16_t small_float(double x, int exponent_bits, int fraction_bits)
{
    int exponent = 0;
    const double part = frexp(x, &exponent);
    if (x == 0) return 0;
    const int biased = exponent - 1 + (1 << (exponent_bits - 1)) - 1;
    return (uint16_t)((biased << fraction_bits) + (int)ldexp(2 * part - 1, fraction_bits));
}

static void put_value(armilla_type type, void *values, int64_t i, double x)
{
    if (type == ARMILLA_F64) ((double *)values)[i] = x;
    if (type == ARMILLA_F32) ((float *)values)[i] = (float)x;
    if (type == ARMILLA_U8) ((uint8_t *)values)[i] = (uint8_t)x;
    if (type == ARMILLA_F16) ((uint16_t *)values)[i] = small_float(x, 5, 10);
    if (type == ARMILLA_BF16) ((uint16_t *)values)[i] = small_float(x, 8, 7);
}

static void *indices(armilla_index index, int64_t count, const int64_t *from)
{
    void *made = take(count, index == ARMILLA_I64 ? 8 : 4);
    for (int64_t i = 0; i < count; i++) {
        if (index == ARMILLA_I64)
            ((int64_t *)made)[i] = from[i];
        else
            ((int32_t *)made)[i] = (int32_t)from[i];
    }
    return made;
}

void odd_data_make(armilla_context *context, const odd_matrix *matrix, const odd_storage *storage, odd_data *made)
{
    const int64_t m = matrix->m, n = matrix->n;
    armilla_status status = ARMILLA_OK;
    *made = (odd_data){.values = take(storage->sparse ? matrix->entries : m * n, armilla_type_size(storage->type))};
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = matrix->starts[j]; i < matrix->starts[j + 1]; i++)
            put_value(storage->type, made->values, storage->sparse ? i : j * m + matrix->rows[i], matrix->values[i]);
    if (storage->sparse) {
        made->features = indices(storage->index, matrix->entries, matrix->rows);
        made->starts = indices(storage->index, n + 1, matrix->starts);
        status = armilla_data_wrap_sparse(context, storage->type, storage->index, made->values, made->features,
                                          made->starts, m, n, &made->data);
    } else
        status = armilla_data_wrap_dense(context, storage->type, made->values, m, n, m, &made->data);
    if (status == ARMILLA_OK) return;
    fprintf(stderr, "odd data cannot be wrapped: %s\n", armilla_context_error(context));
    abort();
}

void odd_data_free(odd_data *data)
{
    armilla_data_free(data->data);
    free(data->values);
    free(data->features);
    free(data->starts);
    *data = (odd_data){0};
}
