/* The table of kernels, best last, and conversions between double and the stored types. */
#include "linalg/kernels.h"

#include <float.h>
#include <string.h>

extern const armilla_kernels armilla_kernels_portable_f32, armilla_kernels_portable_f64;
#ifdef ARMILLA_HAVE_AVX2
extern const armilla_kernels armilla_kernels_avx2_f32, armilla_kernels_avx2_f64;
#endif

static const armilla_kernels *const rows[] = {
    &armilla_kernels_portable_f32,
    &armilla_kernels_portable_f64,
#ifdef ARMILLA_HAVE_AVX2
    &armilla_kernels_avx2_f32,
    &armilla_kernels_avx2_f64,
#endif
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const armilla_kernels *armilla_kernels_row(size_t index)
{
    return index < ROWS ? rows[index] : NULL;
}

bool armilla_instructions_supported(const char *name)
{
#ifdef ARMILLA_HAVE_AVX2
    if (strcmp(name, "avx2") == 0) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return strcmp(name, "portable") == 0;
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

static void store_f32(int64_t count, const double *from, void *to)
{
    float *out = to;
    for (int64_t i = 0; i < count; i++) out[i] = (float)from[i];
}

static void store_f64(int64_t count, const double *from, void *to)
{
    memcpy(to, from, (size_t)count * sizeof(double));
}

static void fetch_f32(int64_t count, const void *from, double *to)
{
    const float *in = from;
    for (int64_t i = 0; i < count; i++) to[i] = (double)in[i];
}

static void fetch_f64(int64_t count, const void *from, double *to)
{
    memcpy(to, from, (size_t)count * sizeof(double));
}

static void add_f32(int64_t count, const void *from, double *to)
{
    const float *in = from;
    for (int64_t i = 0; i < count; i++) to[i] += (double)in[i];
}

static void add_f64(int64_t count, const void *from, double *to)
{
    const double *in = from;
    for (int64_t i = 0; i < count; i++) to[i] += in[i];
}

static void store_u8(int64_t count, const double *from, void *to)
{
    uint8_t *out = to;
    for (int64_t i = 0; i < count; i++) out[i] = (uint8_t)from[i];
}

static void fetch_u8(int64_t count, const void *from, double *to)
{
    const uint8_t *in = from;
    for (int64_t i = 0; i < count; i++) to[i] = (double)in[i];
}

static void add_u8(int64_t count, const void *from, double *to)
{
    const uint8_t *in = from;
    for (int64_t i = 0; i < count; i++) to[i] += (double)in[i];
}

static const struct {
    void (*store)(int64_t count, const double *from, void *to);
    void (*fetch)(int64_t count, const void *from, double *to);
    void (*add)(int64_t count, const void *from, double *to);
    double epsilon;
} conversions[] = {
    [ARMILLA_F32] = {store_f32, fetch_f32, add_f32, (double)FLT_EPSILON},
    [ARMILLA_F64] = {store_f64, fetch_f64, add_f64, DBL_EPSILON},
    [ARMILLA_U8] = {store_u8, fetch_u8, add_u8, 0},
};

void armilla_store(armilla_type type, int64_t count, const double *from, void *to)
{
    conversions[type].store(count, from, to);
}

void armilla_fetch(armilla_type type, int64_t count, const void *from, double *to)
{
    conversions[type].fetch(count, from, to);
}

void armilla_fetch_add(armilla_type type, int64_t count, const void *from, double *to)
{
    conversions[type].add(count, from, to);
}

double armilla_epsilon(armilla_type type)
{
    return conversions[type].epsilon;
}
