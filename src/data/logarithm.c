/* ln(1 + x) of a run of numbers, in vectors as wide as this processor has them. The operations on each number are the
 * same, none is fused, and so are the bits. */
#include "data/logarithm.h"

#include "linalg/kernels.h"

static void plain(int64_t count, double *x)
{
    for (int64_t i = 0; i < count; i++) x[i] = armilla_log1p(x[i]);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void by_avx2(int64_t count, double *x)
{
    for (int64_t i = 0; i < count; i++) x[i] = armilla_log1p(x[i]);
}
#endif

void armilla_log1p_all(int64_t count, double *x)
{
#if defined(__x86_64__)
    if (armilla_instructions_supported("avx2")) {
        by_avx2(count, x);
        return;
    }
#endif
    plain(count, x);
}
