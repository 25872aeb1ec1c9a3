/* Numbers of every storage type from and to double. */
#include "linalg/half.h"
#include "linalg/kernels.h"

#include <float.h>

/* Each of these is a loop over count numbers; `number` makes one of a double, `value` is the number that is stored. */
#define CONVERSION(name, stored, number, value)                                                                        \
    static void store_##name(int64_t count, const double *from, void *to)                                              \
    {                                                                                                                  \
        stored *out = to;                                                                                              \
        for (int64_t i = 0; i < count; i++) out[i] = number(from[i]);                                                  \
    }                                                                                                                  \
    static void fetch_##name(int64_t count, const void *from, double *to)                                              \
    {                                                                                                                  \
        const stored *in = from;                                                                                       \
        for (int64_t i = 0; i < count; i++) to[i] = (double)value(in[i]);                                              \
    }                                                                                                                  \
    static void add_##name(int64_t count, const void *from, double *to)                                                \
    {                                                                                                                  \
        const stored *in = from;                                                                                       \
        for (int64_t i = 0; i < count; i++) to[i] += (double)value(in[i]);                                             \
    }

#define AS_IT_IS(number) (number)
#define F16_OF(number) armilla_f16_of((float)(number))
#define BF16_OF(number) armilla_bf16_of((float)(number))

CONVERSION(f32, float, (float), AS_IT_IS)
CONVERSION(f64, double, AS_IT_IS, AS_IT_IS)
CONVERSION(u8, uint8_t, (uint8_t), AS_IT_IS)
CONVERSION(f16, uint16_t, F16_OF, armilla_f16_value)
CONVERSION(bf16, uint16_t, BF16_OF, armilla_bf16_value)
CONVERSION(i8, int8_t, (int8_t), AS_IT_IS)

static const struct {
    void (*store)(int64_t count, const double *from, void *to);
    void (*fetch)(int64_t count, const void *from, double *to);
    void (*add)(int64_t count, const void *from, double *to);
    double epsilon;
} conversions[] = {
    [ARMILLA_F32] = {store_f32, fetch_f32, add_f32, (double)FLT_EPSILON},
    [ARMILLA_F64] = {store_f64, fetch_f64, add_f64, DBL_EPSILON},
    [ARMILLA_U8] = {store_u8, fetch_u8, add_u8, 0},
    [ARMILLA_F16] = {store_f16, fetch_f16, add_f16, 0},
    [ARMILLA_BF16] = {store_bf16, fetch_bf16, add_bf16, 0},
    [ARMILLA_I8] = {store_i8, fetch_i8, add_i8, 0},
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
