/* The table of pair kernels, best last. */
#include "linalg/pair_kernels.h"

#include <string.h>

extern const armilla_pair_kernels armilla_pairs_portable_f32, armilla_pairs_portable_f64;
#ifdef ARMILLA_HAVE_AVX2
extern const armilla_pair_kernels armilla_pairs_avx2_f32, armilla_pairs_avx2_f64;
extern const armilla_pair_kernels armilla_pairs_avx512_f32, armilla_pairs_avx512_f64;
#endif

static const armilla_pair_kernels *const rows[] = {
    &armilla_pairs_portable_f32, &armilla_pairs_portable_f64,
#ifdef ARMILLA_HAVE_AVX2
    &armilla_pairs_avx2_f32,     &armilla_pairs_avx2_f64,     &armilla_pairs_avx512_f32, &armilla_pairs_avx512_f64,
#endif
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const armilla_pair_kernels *armilla_pair_kernels_for(const armilla_context *context, armilla_type type)
{
    const armilla_pair_kernels *best = rows[type];
    const char *name = armilla_kernels_for(context, type)->name;
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i]->type == type && strcmp(rows[i]->name, name) == 0) best = rows[i];
    return best;
}
