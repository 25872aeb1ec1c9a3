/* The table of kernels, best last. */
#include "linalg/kernels.h"

#include <stdatomic.h>
#include <string.h>
#ifdef ARMILLA_HAVE_AVX2
#include <cpuid.h>
#endif

extern const armilla_kernels armilla_kernels_portable_f32, armilla_kernels_portable_f64;
#ifdef ARMILLA_HAVE_AVX2
extern const armilla_kernels armilla_kernels_avx2_f32, armilla_kernels_avx2_f64;
extern const armilla_kernels armilla_kernels_avx512_f32, armilla_kernels_avx512_f64;
#endif

static const armilla_kernels *const rows[] = {
    &armilla_kernels_portable_f32, &armilla_kernels_portable_f64,
#ifdef ARMILLA_HAVE_AVX2
    &armilla_kernels_avx2_f32,     &armilla_kernels_avx2_f64,
    &armilla_kernels_avx512_f32,   &armilla_kernels_avx512_f64,
#endif
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const armilla_kernels *armilla_kernels_row(size_t index)
{
    return index < ROWS ? rows[index] : NULL;
}

/* F16C, which not every compiler's __builtin_cpu_supports knows; CPUs with AVX2 have it, some virtual ones do not. Asked
 * once: virtual machines take as long for an answer as a small sweep. */
static bool converts_halves(void)
{
    enum { UNKNOWN, NO, YES };
    static atomic_int known = UNKNOWN;
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer != UNKNOWN) return answer == YES;
#ifdef ARMILLA_HAVE_AVX2
    unsigned a = 0, b = 0, c = 0, d = 0;
    answer = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) ? YES : NO;
#else
    answer = NO;
#endif
    atomic_store_explicit(&known, answer, memory_order_relaxed);
    return answer == YES;
}

bool armilla_instructions_supported(const char *name)
{
    if (strcmp(name, "portable") != 0 && !converts_halves()) return false;
#ifdef ARMILLA_HAVE_AVX2
    if (strcmp(name, "avx2") == 0) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (strcmp(name, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#endif
    return strcmp(name, "portable") == 0;
}

const char *armilla_instructions_below(const char *name)
{
    return strcmp(name, "avx512") == 0 ? "avx2" : strcmp(name, "avx2") == 0 ? "portable" : NULL;
}

bool armilla_kernels_supported(const armilla_kernels *kernels)
{
    return armilla_instructions_supported(kernels->name);
}

const armilla_kernels *armilla_kernels_choose(armilla_type type)
{
    size_t best = ROWS;
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i]->type == type && armilla_kernels_supported(rows[i])) best = i;
    return armilla_kernels_row(best);
}

static const armilla_kernels *find_row(const char *name, armilla_type type)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i]->type == type && strcmp(rows[i]->name, name) == 0 && armilla_kernels_supported(rows[i]))
            return rows[i];
    return NULL;
}

bool armilla_kernels_available(const char *name)
{
    for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
        if (!find_row(name, (armilla_type)type)) return false;
    return true;
}

const armilla_kernels *armilla_kernels_for(const armilla_context *context, armilla_type type)
{
    const armilla_kernels *pinned = (int)type < ARMILLA_PRECISION_COUNT ? context->call.kernels[type] : NULL;
    return pinned ? pinned : armilla_kernels_choose(type);
}

void armilla_kernels_pin(armilla_context *context, const char *name)
{
    for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
        context->call.kernels[type] = name ? find_row(name, (armilla_type)type) : NULL;
}
