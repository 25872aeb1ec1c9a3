/* Sparse arrays of a plain matrix. */
#include "reference/reference.h"

#include <stdlib.h>
#include <string.h>

static void put_index(armilla_index index, void *to, int64_t i, int64_t value)
{
    if (index == ARMILLA_I64)
        ((int64_t *)to)[i] = value;
    else
        ((int32_t *)to)[i] = (int32_t)value;
}

static void put_entry(reference_sparse *s, int64_t at, int64_t row, double value)
{
    put_index(s->index, s->features, at, row);
    if (s->type == ARMILLA_F32)
        ((float *)s->values)[at] = (float)value;
    else
        ((double *)s->values)[at] = value;
}

/* Scrambled: features fall, and every other entry is there twice, halved. */
void reference_sparse_new(reference_sparse *s, armilla_type type, armilla_index index, bool scrambled, int64_t m,
                          int64_t n, const double *X)
{
    const size_t width = index == ARMILLA_I64 ? 8 : 4;
    int64_t count = 0;
    *s = (reference_sparse){.type = type, .index = index, .m = m, .n = n};
    s->values = calloc((size_t)(2 * m * n), armilla_type_size(type));
    s->features = calloc((size_t)(2 * m * n), width);
    s->starts = calloc((size_t)(n + 1), width);
    assert_true(s->values && s->features && s->starts);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < m; i++) {
            const int64_t row = scrambled ? m - 1 - i : i;
            const double x = X[j * m + row];
            const bool twice = scrambled && row % 2 == 0;
            if (x == 0) continue;
            put_entry(s, count++, row, twice ? x / 2 : x);
            if (twice) put_entry(s, count++, row, x / 2);
        }
        put_index(index, s->starts, j + 1, count);
    }
    s->entries = count;
}

armilla_data *reference_sparse_wrap(const reference_sparse *s)
{
    armilla_data *data = NULL;
    REFERENCE_OK(armilla_data_wrap_sparse(reference_context, s->type, s->index, s->values, s->features, s->starts, s->m,
                                          s->n, &data));
    return data;
}

void reference_sparse_free(reference_sparse *s)
{
    free(s->values);
    free(s->features);
    free(s->starts);
    *s = (reference_sparse){.m = 0};
}

void reference_sprinkle(uint64_t *random, double density, int64_t count, double *X)
{
    for (int64_t i = 0; i < count; i++)
        X[i] = reference_uniform(random) < density ? 0.1 + reference_uniform(random) : 0;
}
