/* The table of code kernels, best last. */
#include "linalg/code_kernels.h"

#include "linalg/kernels.h"

#include <string.h>

extern const armilla_code_kernels armilla_codes_portable;
#ifdef ARMILLA_HAVE_AVX2
extern const armilla_code_kernels armilla_codes_avx2;
#endif

static const armilla_code_kernels *const rows[] = {
    &armilla_codes_portable,
#ifdef ARMILLA_HAVE_AVX2
    &armilla_codes_avx2,
#endif
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const armilla_code_kernels *armilla_code_kernels_row(size_t index)
{
    return index < ROWS ? rows[index] : NULL;
}

const armilla_code_kernels *armilla_code_kernels_for(const armilla_context *context)
{
    const char *name = armilla_kernels_for(context, ARMILLA_F64)->name;
    for (; name; name = armilla_instructions_below(name))
        for (size_t i = 0; i < ROWS; i++)
            if (strcmp(rows[i]->name, name) == 0) return rows[i];
    return rows[0];
}
