/* The table of descents, best last. */
#include "linalg/descent_kernels.h"

#include "linalg/kernels.h"

#include <string.h>

extern const armilla_descent_kernels armilla_descents_portable_f32, armilla_descents_portable_f64;
#ifdef ARMILLA_HAVE_AVX2
extern const armilla_descent_kernels armilla_descents_avx2_f32, armilla_descents_avx2_f64;
extern const armilla_descent_kernels armilla_descents_avx512_f32, armilla_descents_avx512_f64;
#endif

static const armilla_descent_kernels *const rows[] = {
    &armilla_descents_portable_f32, &armilla_descents_portable_f64,
#ifdef ARMILLA_HAVE_AVX2
    &armilla_descents_avx2_f32,     &armilla_descents_avx2_f64,
    &armilla_descents_avx512_f32,   &armilla_descents_avx512_f64,
#endif
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const armilla_descent_kernels *armilla_descent_kernels_row(size_t index)
{
    return index < ROWS ? rows[index] : NULL;
}

const armilla_descent_kernels *armilla_descent_kernels_for(const armilla_context *context, armilla_type type)
{
    const char *name = armilla_kernels_for(context, type)->name;
    for (; name; name = armilla_instructions_below(name))
        for (size_t i = 0; i < ROWS; i++)
            if (rows[i]->type == type && strcmp(rows[i]->name, name) == 0) return rows[i];
    return rows[type == ARMILLA_F64];
}
