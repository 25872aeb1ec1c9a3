/* Numbers as text against the C library: the first of 15 to 17 digits (f64), or 6 to 9 (f32), that are read as the number
 * again, whatever the locale. */
#include "unit/support.h"

#include "base/number.h"
#include "base/random.h"

#include "reference/reference.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool comes_back(armilla_type type, const char *text, double number)
{
    return type == ARMILLA_F64 ? strtod(text, NULL) == number : strtof(text, NULL) == (float)number;
}

static void print_slowly(armilla_type type, double number, char text[ARMILLA_NUMBER_TEXT])
{
    const int least = type == ARMILLA_F64 ? 15 : 6, most = type == ARMILLA_F64 ? 17 : 9;
    if (fabs(number) < 1e15 && number == floor(number)) {
        snprintf(text, ARMILLA_NUMBER_TEXT, "%.0f", number);
        return;
    }
    for (int digits = least; digits <= most; digits++) {
        snprintf(text, ARMILLA_NUMBER_TEXT, "%.*g", digits, number);
        if (comes_back(type, text, number)) return;
    }
}

/* The same in a program that is in another locale, which ours may be (tests/locale). */
static void print_plainly(armilla_type type, double number, char text[ARMILLA_NUMBER_TEXT])
{
    static locale_t plain;
    if (!plain) plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    assert_true(plain != (locale_t)0);
    const locale_t before = uselocale(plain);
    print_slowly(type, number, text);
    (void)uselocale(before);
}

static void check(armilla_type type, double number)
{
    char text[ARMILLA_NUMBER_TEXT], wanted[ARMILLA_NUMBER_TEXT] = "";
    const size_t length = armilla_shortest(type, number, text);
    print_plainly(type, number, wanted);
    assert_string_equal(text, wanted);
    assert_int_equal(length, strlen(wanted));
}

static void check_both(double number)
{
    check(ARMILLA_F64, number);
    check(ARMILLA_F64, -number);
    check(ARMILLA_F32, (double)(float)number);
    check(ARMILLA_F32, -(double)(float)number);
}

static double of_bits(uint64_t bits)
{
    double number = 0;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static double of_few_bits(uint32_t bits)
{
    float number = 0;
    memcpy(&number, &bits, sizeof number);
    return (double)number;
}

static void prints_hard_numbers(void **state)
{
    static const double hard[] = {0.0,
                                  1.0 / 3,
                                  1e15 - 1,
                                  1e15 - 0.125,
                                  1e15 + 1,
                                  1e16 + 2,
                                  1e17 + 16,
                                  9007199254740993.0,
                                  1e22,
                                  1e23,
                                  9.5e-5,
                                  0.00012345,
                                  999999.5,
                                  8388607.5,
                                  16777215,
                                  9.9999995e-5,
                                  65504,
                                  5.9604644775390625e-8,
                                  255,
                                  99999999,
                                  100000000,
                                  1e300,
                                  1e-300,
                                  9.007199254740991e15,
                                  5.684341886080802e-14,
                                  INFINITY,
                                  (double)NAN};
    (void)state;
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) check_both(hard[i]);
}

/* Where the neighbour below is nearer, and around the ends of subnormal numbers. */
static void prints_powers_of_two(void **state)
{
    (void)state;
    for (uint64_t exponent = 0; exponent < 2048; exponent++)
        for (int64_t near = exponent ? -2 : 0; near <= 2; near++)
            check(ARMILLA_F64, of_bits((exponent << 52) + (uint64_t)near));
    for (uint32_t exponent = 0; exponent < 256; exponent++)
        for (int32_t near = exponent ? -2 : 0; near <= 2; near++)
            check(ARMILLA_F32, of_few_bits((exponent << 23) + (uint32_t)near));
}

static void prints_short_decimals(void **state)
{
    char text[32];
    (void)state;
    for (int exponent = -330; exponent <= 308; exponent++)
        for (int digits = 1; digits < 1000; digits += 37) {
            snprintf(text, sizeof text, "%de%d", digits, exponent);
            const double number = strtod(text, NULL);
            check_both(number);
            check_both(nextafter(number, 0));
        }
}

static void prints_random_numbers(void **state)
{
    const uint64_t count = (uint64_t)reference_effort(200000, 2000);
    (void)state;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t bits = armilla_random_bits(1, ARMILLA_STREAM_TEST, i), size = bits >> (i % 64);
        check(ARMILLA_F64, of_bits(bits));
        check(ARMILLA_F32, of_few_bits((uint32_t)bits));
        check_both(of_bits(size));                  /* subnormal numbers */
        check_both((double)size / 1048576);         /* whole ones and halves */
        check_both((double)(bits >> 11) * 0x1p-53); /* as data are */
    }
}

static void prints_whole_numbers(void **state)
{
    char text[ARMILLA_NUMBER_TEXT], wanted[ARMILLA_NUMBER_TEXT];
    (void)state;
    for (int i = 0; i < 64; i++)
        for (uint64_t near = 0; near < 3; near++) {
            const uint64_t number = ((uint64_t)1 << i) - 1 + near;
            const int length = snprintf(wanted, sizeof wanted, "%" PRIu64, number);
            assert_int_equal(armilla_whole_text(number, text), length);
            assert_memory_equal(text, wanted, (size_t)length);
        }
}

/* Where de_DE is not installed this changes nothing. */
static void has_a_point_in_any_locale(void **state)
{
    char text[ARMILLA_NUMBER_TEXT];
    (void)state;
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    armilla_shortest(ARMILLA_F32, (double)0.1f, text);
    (void)setlocale(LC_ALL, "C");
    assert_string_equal(text, "0.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_hard_numbers),   cmocka_unit_test(prints_powers_of_two),
        cmocka_unit_test(prints_short_decimals), cmocka_unit_test(prints_random_numbers),
        cmocka_unit_test(prints_whole_numbers),  cmocka_unit_test(has_a_point_in_any_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
