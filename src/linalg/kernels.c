/* The table of kernels: a row for each instruction set. */
#include "linalg/coarse_kernels.h"
#include "linalg/code_kernels.h"
#include "linalg/column_kernels.h"
#include "linalg/pair_kernels.h"
#include "linalg/sparse_kernels.h"
#include "linalg/thin_kernels.h"

#include <stdatomic.h>
#include <string.h>
#ifdef ARMILLA_HAVE_AVX2
#include <cpuid.h>
#endif

/* What one instruction set has, by type where there are several. */
typedef struct instructions {
    const char *name;
    const armilla_kernels *dense[ARMILLA_PRECISION_COUNT];
    const armilla_sparse_kernels *sparse[ARMILLA_PRECISION_COUNT];
    const armilla_descent_kernels *descents[ARMILLA_PRECISION_COUNT];
    const armilla_pair_kernels *pairs[ARMILLA_PRECISION_COUNT];
    const armilla_code_kernels *codes;
    const armilla_thin_kernels *thin;
    const armilla_column_kernels *columns;
    const armilla_coarse_kernels *coarse; /* which not all CPUs of the row run */
} instructions;

#define DECLARE(type, family, set) extern const type armilla_##family##_##set##_f32, armilla_##family##_##set##_f64;
#define DECLARE_ALL(set)                                                                                               \
    DECLARE(armilla_kernels, kernels, set)                                                                             \
    DECLARE(armilla_sparse_kernels, sparse, set)                                                                       \
    DECLARE(armilla_descent_kernels, descents, set)                                                                    \
    DECLARE(armilla_pair_kernels, pairs, set)                                                                          \
    extern const armilla_code_kernels armilla_codes_##set;                                                             \
    extern const armilla_thin_kernels armilla_thin_##set;                                                              \
    extern const armilla_column_kernels armilla_columns_##set;
#define TYPED(family, set)                                                                                             \
    {                                                                                                                  \
        &armilla_##family##_##set##_f32, &armilla_##family##_##set##_f64                                               \
    }
/* Some are nowhere defined where a set does not have all. */
DECLARE_ALL(portable)
DECLARE_ALL(avx2)
DECLARE_ALL(avx512)
extern const armilla_coarse_kernels armilla_coarse_avx512;

/* Best last. What is missing in a row is that of the row before: CPUs run the smaller sets too. */
static const instructions rows[] = {
    {"portable", TYPED(kernels, portable), TYPED(sparse, portable), TYPED(descents, portable), TYPED(pairs, portable),
     &armilla_codes_portable, &armilla_thin_portable, &armilla_columns_portable, NULL},
#ifdef ARMILLA_HAVE_AVX2
    {"avx2", TYPED(kernels, avx2), TYPED(sparse, avx2), TYPED(descents, avx2), TYPED(pairs, avx2), &armilla_codes_avx2,
     &armilla_thin_avx2, &armilla_columns_avx2, NULL},
    {"avx512", TYPED(kernels, avx512), .descents = TYPED(descents, avx512), .pairs = TYPED(pairs, avx512),
     .columns = &armilla_columns_avx512, .coarse = &armilla_coarse_avx512},
#endif
};

enum { ROWS = sizeof rows / sizeof rows[0], TYPES = ARMILLA_PRECISION_COUNT };

const armilla_kernels *armilla_kernels_row(size_t index)
{
    return index < ROWS * TYPES ? rows[index / TYPES].dense[index % TYPES] : NULL;
}

const armilla_sparse_kernels *armilla_sparse_kernels_row(size_t index)
{
    return index < ROWS * TYPES ? rows[index / TYPES].sparse[index % TYPES] : NULL;
}

const armilla_descent_kernels *armilla_descent_kernels_row(size_t index)
{
    return index < ROWS * TYPES ? rows[index / TYPES].descents[index % TYPES] : NULL;
}

const armilla_code_kernels *armilla_code_kernels_row(size_t index)
{
    return index < ROWS ? rows[index].codes : NULL;
}

const armilla_column_kernels *armilla_column_kernels_row(size_t index)
{
    return index < ROWS ? rows[index].columns : NULL;
}

const armilla_thin_kernels *armilla_thin_kernels_row(size_t index)
{
    return index < ROWS ? rows[index].thin : NULL;
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

/* What kernels of samples in 8 bits need. */
static bool multiplies_bytes(void)
{
#ifdef ARMILLA_HAVE_AVX2
    return __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

static const instructions *best_row(void)
{
    const instructions *best = rows;
    for (size_t i = 1; i < ROWS; i++)
        if (armilla_instructions_supported(rows[i].name)) best = &rows[i];
    return best;
}

const armilla_kernels *armilla_kernels_choose(armilla_type type)
{
    return best_row()->dense[type];
}

/* The row that has the name and that this CPU runs; NULL: none. */
static const instructions *find_row(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0 && armilla_instructions_supported(name)) return &rows[i];
    return NULL;
}

bool armilla_kernels_available(const char *name)
{
    return find_row(name) != NULL;
}

const armilla_kernels *armilla_kernels_for(const armilla_context *context, armilla_type type)
{
    const armilla_kernels *pinned = context->call.kernels[type];
    return pinned ? pinned : armilla_kernels_choose(type);
}

void armilla_kernels_pin(armilla_context *context, const char *name)
{
    const instructions *row = name ? find_row(name) : NULL;
    for (int type = 0; type < TYPES; type++) context->call.kernels[type] = row ? row->dense[type] : NULL;
}

/* The row that the kernels are of. */
static const instructions *row_of(const armilla_kernels *kernels)
{
    const instructions *row = rows;
    while (row->dense[kernels->type] != kernels) row++;
    return row;
}

const armilla_sparse_kernels *armilla_sparse_kernels_like(const armilla_kernels *kernels)
{
    const instructions *row = row_of(kernels);
    while (!row->sparse[kernels->type]) row--;
    return row->sparse[kernels->type];
}

const armilla_descent_kernels *armilla_descent_kernels_for(const armilla_context *context, armilla_type type)
{
    return row_of(armilla_kernels_for(context, type))->descents[type];
}

const armilla_pair_kernels *armilla_pair_kernels_for(const armilla_context *context, armilla_type type)
{
    return row_of(armilla_kernels_for(context, type))->pairs[type];
}

const armilla_coarse_kernels *armilla_coarse_kernels_for(const armilla_context *context)
{
    const instructions *row = row_of(armilla_kernels_for(context, ARMILLA_F32));
    return row->coarse && multiplies_bytes() ? row->coarse : NULL;
}

const armilla_code_kernels *armilla_code_kernels_for(const armilla_context *context)
{
    const instructions *row = row_of(armilla_kernels_for(context, ARMILLA_F64));
    while (!row->codes) row--;
    return row->codes;
}

const armilla_column_kernels *armilla_column_kernels_for(const armilla_context *context)
{
    const instructions *row = row_of(armilla_kernels_for(context, ARMILLA_F64));
    while (!row->columns) row--;
    return row->columns;
}

uint64_t armilla_spread_bits(double x)
{
    const double value = x + 0.0;
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return armilla_mix(bits);
}

const armilla_thin_kernels *armilla_thin_kernels_best(void)
{
    const instructions *row = best_row();
    while (!row->thin) row--;
    return row->thin;
}
