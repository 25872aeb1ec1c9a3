/* The table of thin kernels, best last. */
#include "linalg/thin_kernels.h"

#include "linalg/kernels.h"

extern const armilla_thin_kernels armilla_thin_portable;
#ifdef ARMILLA_HAVE_AVX2
extern const armilla_thin_kernels armilla_thin_avx2;
#endif

static const armilla_thin_kernels *const rows[] = {
    &armilla_thin_portable,
#ifdef ARMILLA_HAVE_AVX2
    &armilla_thin_avx2,
#endif
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const armilla_thin_kernels *armilla_thin_kernels_row(size_t index)
{
    return index < ROWS ? rows[index] : NULL;
}

const armilla_thin_kernels *armilla_thin_kernels_best(void)
{
    size_t best = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (armilla_instructions_supported(rows[i]->name)) best = i;
    return rows[best];
}
