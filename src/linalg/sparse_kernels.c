/* The table of sparse kernels, best last. */
#include "linalg/sparse_kernels.h"

#include <string.h>

extern const armilla_sparse_kernels armilla_sparse_portable_f32, armilla_sparse_portable_f64;
#ifdef ARMILLA_HAVE_AVX2
extern const armilla_sparse_kernels armilla_sparse_avx2_f32, armilla_sparse_avx2_f64;
#endif

static const armilla_sparse_kernels *const rows[] = {
    &armilla_sparse_portable_f32,
    &armilla_sparse_portable_f64,
#ifdef ARMILLA_HAVE_AVX2
    &armilla_sparse_avx2_f32,
    &armilla_sparse_avx2_f64,
#endif
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const armilla_sparse_kernels *armilla_sparse_kernels_row(size_t index)
{
    return index < ROWS ? rows[index] : NULL;
}

bool armilla_sparse_kernels_supported(const armilla_sparse_kernels *kernels)
{
    return armilla_instructions_supported(kernels->name);
}

const armilla_sparse_kernels *armilla_sparse_kernels_choose(armilla_type type)
{
    size_t best = ROWS;
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i]->type == type && armilla_sparse_kernels_supported(rows[i])) best = i;
    return armilla_sparse_kernels_row(best);
}

const armilla_sparse_kernels *armilla_sparse_kernels_like(const armilla_kernels *kernels)
{
    for (const char *name = kernels->name; name; name = armilla_instructions_below(name))
        for (size_t i = 0; i < ROWS; i++)
            if (rows[i]->type == kernels->type && strcmp(rows[i]->name, name) == 0) return rows[i];
    return armilla_sparse_kernels_choose(kernels->type);
}
