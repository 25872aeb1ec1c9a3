/* Storage types: every number of f16, bf16, i8 and u8 against the definition of its bits, from and to double and through
 * every table of kernels. */
#include "reference/reference.h"

#include "linalg/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 1 << 16 };

/* (-1)^sign 2^(exponent - bias) 1.fraction, as the formats are defined, without anything of the library. */
static double float_value(unsigned word, int exponent_bits, int fraction_bits)
{
    const int exponents = 1 << exponent_bits, bias = exponents / 2 - 1;
    const int fraction = (int)(word & ((1u << fraction_bits) - 1));
    const int exponent = (int)(word >> fraction_bits) & (exponents - 1);
    double value = ldexp(fraction, 1 - bias - fraction_bits);
    if (exponent > 0) value = ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    if (exponent == exponents - 1) value = fraction ? (double)NAN : (double)INFINITY;
    return word >> (exponent_bits + fraction_bits) ? -value : value;
}

static double f16_value(unsigned word)
{
    return float_value(word, 5, 10);
}

static double bf16_value(unsigned word)
{
    return float_value(word, 8, 7);
}

static double i8_value(unsigned word)
{
    return word < 128 ? (double)word : (double)word - 256;
}

static double u8_value(unsigned word)
{
    return (double)word;
}

static const struct form {
    armilla_type type;
    int count;
    double (*value)(unsigned word);
} forms[] = {{ARMILLA_F16, WORDS, f16_value},
             {ARMILLA_BF16, WORDS, bf16_value},
             {ARMILLA_I8, 256, i8_value},
             {ARMILLA_U8, 256, u8_value}};

enum { FORMS = sizeof forms / sizeof *forms };

/* All numbers of the form, in the order of their bits, and once more, so that each is at every place of a vector. */
static int fill(const struct form *form, void *words)
{
    for (int i = 0; i < 2 * form->count; i++) {
        if (armilla_type_size(form->type) == 2) ((uint16_t *)words)[i] = (uint16_t)i;
        if (armilla_type_size(form->type) == 1) ((uint8_t *)words)[i] = (uint8_t)i;
    }
    return 2 * form->count;
}

/* The same number: of zeros the same sign, of NaN any. */
static bool same(double a, double b)
{
    return isnan(b) ? isnan(a) : memcmp(&a, &b, sizeof a) == 0;
}

static void test_fetch_and_store(void **state)
{
    static uint16_t words[2 * WORDS], back[2 * WORDS];
    static double values[2 * WORDS];
    (void)state;
    for (int f = 0; f < FORMS; f++) {
        const armilla_type type = forms[f].type;
        const int count = fill(&forms[f], words);
        reference_scene("%s", armilla_type_word(type));
        armilla_fetch(type, count, words, values);
        for (int i = 0; i < count; i++)
            REFERENCE_HOLDS(same(values[i], forms[f].value((unsigned)(i % forms[f].count))));
        armilla_store(type, count, values, back);
        for (int i = 0; i < count; i++) {
            double again = 0;
            const size_t at = (size_t)i * armilla_type_size(type), size = armilla_type_size(type);
            armilla_fetch(type, 1, (const char *)back + at, &again);
            REFERENCE_HOLDS(same(again, values[i]));
            if (!isnan(values[i])) REFERENCE_HOLDS(memcmp((char *)back + at, (char *)words + at, size) == 0);
        }
        for (int i = 0; i < count; i++) values[i] = isfinite(values[i]) ? 1 - values[i] : 0;
        armilla_fetch_add(type, count, words, values);
        for (int i = 0; i < count; i++) {
            const double x = forms[f].value((unsigned)(i % forms[f].count));
            REFERENCE_HOLDS(same(values[i], isfinite(x) ? 1 - x + x : x));
        }
        REFERENCE_HOLDS(armilla_epsilon(type) == 0);
    }
}

/* Every kernel table, with runs that begin anywhere and end anywhere, and nothing written behind them. */
static void test_kernels(void **state)
{
    static uint16_t words[2 * WORDS];
    static double converted[2 * WORDS + 1], values[2 * WORDS];
    (void)state;
    for (size_t row = 0; armilla_kernels_row(row); row++) {
        const armilla_kernels *kernels = armilla_kernels_row(row);
        const size_t size = armilla_type_size(kernels->type);
        if (!armilla_instructions_supported(kernels->name)) continue;
        for (int f = 0; f < FORMS; f++) {
            const int count = fill(&forms[f], words);
            reference_scene("%s %s from %s", kernels->name, armilla_type_word(kernels->type),
                            armilla_type_word(forms[f].type));
            for (int first = 0; first < 37; first++) {
                const int length = first % 2 ? first : count - 2 * first;
                const char *from = (const char *)words + (size_t)first * armilla_type_size(forms[f].type);
                memset(converted, 0x55, sizeof converted);
                kernels->convert[forms[f].type](length, from, converted);
                armilla_fetch(kernels->type, length, converted, values);
                for (int i = 0; i < length; i++)
                    REFERENCE_HOLDS(same(values[i], forms[f].value((unsigned)((first + i) % forms[f].count))));
                for (size_t i = 0; i < size; i++)
                    REFERENCE_HOLDS(((unsigned char *)converted)[(size_t)length * size + i] == 0x55);
            }
        }
    }
}

/* From f32 and f64: f64 to f32 is rounded to nearest, everything else is exact. */
static void test_precisions(void **state)
{
    enum { COUNT = 999 };
    double from[COUNT], back[COUNT], buffer[COUNT];
    float singles[COUNT];
    uint64_t random = 41;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        from[i] = reference_normal(&random) * pow(10, 90 * reference_uniform(&random) - 45);
        singles[i] = (float)from[i];
    }
    for (size_t row = 0; armilla_kernels_row(row); row++) {
        const armilla_kernels *kernels = armilla_kernels_row(row);
        if (!armilla_instructions_supported(kernels->name)) continue;
        kernels->convert[ARMILLA_F64](COUNT, from, buffer);
        armilla_fetch(kernels->type, COUNT, buffer, back);
        for (int i = 0; i < COUNT; i++)
            REFERENCE_HOLDS(same(back[i], kernels->type == ARMILLA_F64 ? from[i] : (double)(float)from[i]));
        kernels->convert[ARMILLA_F32](COUNT, singles, buffer);
        armilla_fetch(kernels->type, COUNT, buffer, back);
        for (int i = 0; i < COUNT; i++) REFERENCE_HOLDS(same(back[i], (double)singles[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fetch_and_store),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_precisions),
    };
    return cmocka_run_group_tests_name("storage types", tests, reference_set_up, reference_tear_down);
}
