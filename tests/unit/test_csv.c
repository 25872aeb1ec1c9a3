/* CSV: separators, headers, every complaint, and numbers bit for bit. */
#include "fixture.h"

#include "reference/reference.h"

#include "base/number.h"
#include "base/random.h"
#include "files/decimal.h"
#include "files/files.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t plain;

static int make_locale(void **state)
{
    (void)state;
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return 0;
}

static int free_locale(void **state)
{
    (void)state;
    freelocale(plain);
    return 0;
}

static armilla_status read_bytes(const char *text, size_t count, bool columns, armilla_data **data)
{
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .sample_columns = columns};
    return support_read(context, &armilla_format_csv, text, count, &options, data);
}

/* text holds samples x features numbers 1, 2, 3, ... row by row. */
static void reads(const char *text, int64_t samples, int64_t features)
{
    armilla_data *data = NULL;
    double sample[16];
    support_ok(context, read_bytes(text, strlen(text), false, &data));
    assert_int_equal(armilla_data_samples(data), samples);
    assert_int_equal(armilla_data_features(data), features);
    assert_int_equal(armilla_data_type(data), ARMILLA_F64);
    for (int64_t j = 0; j < samples; j++) {
        support_ok(context, armilla_data_sample(context, data, j, sample));
        for (int64_t i = 0; i < features; i++) assert_true(sample[i] == (double)(j * features + i + 1));
    }
    armilla_data_free(data);
}

static void refuses(const char *text, const char *part)
{
    armilla_data *data = NULL;
    support_fails(context, read_bytes(text, strlen(text), false, &data), ARMILLA_BAD_DATA, part);
    assert_non_null(strstr(armilla_context_error(context), "a.csv: "));
    assert_null(data);
}

static void reads_every_dialect(void **state)
{
    (void)state;
    reads("1,2,3\n4,5,6\n", 2, 3);
    reads("1,2,3\n4,5,6", 2, 3);
    reads("1;2;3\r\n4;5;6\r\n", 2, 3);
    reads("1\t2\t3\n4\t5\t6\n", 2, 3);
    reads("1 2 3\n4  5\t6\n", 2, 3);
    reads("  1   2 3  \n\t4 5 6\n", 2, 3);
    reads("1 , 2 ,\t3\n 4,5 , 6 \n", 2, 3);
    reads("1,\t2,\t3\n4,\t5,\t6\n", 2, 3);
    reads("\"1\",\"2\",\"3\"\n'4', \" 5 \" ,6\n", 2, 3);
    reads("1\n2\n3\n", 3, 1);
    reads("1", 1, 1);
    reads("1,2", 1, 2);
    reads("+1,2.,03\n4e0,.5e1,600E-2\n", 2, 3);
}

static void skips_what_is_no_row(void **state)
{
    (void)state;
    reads("\xef\xbb\xbf"
          "1,2\n3,4\n",
          2, 2);
    reads("# a comment, with commas\n\n1,2\n   \n  # more\n3,4\n\n\n", 2, 2);
    reads("x,y\n1,2\n3,4\n", 2, 2);
    reads("\"a \"\"quoted\"\", name\";y\n1;2\n3;4\n", 2, 2);
    reads("sepal length width\n1 2\n3 4\n", 2, 2);
    reads("\xef\xbb\xbf\"x\",y\r\n1,2\r\n", 1, 2);
    reads("5,y\n1,2\n", 1, 2);
    reads("gene, name\tcount\tmore\n1\t2\t3\n", 1, 3);
}

static void transposes_samples_in_columns(void **state)
{
    (void)state;
    armilla_data *data = NULL;
    double sample[2];
    support_ok(context, read_bytes("a,b,c\n1,2,3\n4,5,6\n", 18, true, &data));
    assert_int_equal(armilla_data_features(data), 2);
    assert_int_equal(armilla_data_samples(data), 3);
    support_ok(context, armilla_data_sample(context, data, 2, sample));
    assert_true(sample[0] == 3 && sample[1] == 6);
    armilla_data_free(data);
}

static void says_what_is_wrong_where(void **state)
{
    (void)state;
    refuses("x,y\n1,2\n3,abc\n", "a.csv: line 3, column 2: 'abc' is not a number");
    refuses("1,2\n3,4x\n", "line 2, column 2: '4x' is not a number");
    refuses("1,2\n3,\"4\n", "line 2, column 2: '\"4' is not a number");
    refuses("1,2\n3,\"4\"5\n", "line 2, column 2: '\"4\"5' is not a number");
    refuses("1\t2\n1,5\t2,5\n", "line 2, column 1: '1,5' has another decimal mark");
    refuses("1,2\n0x10,2\n", "'0x10' is not a number");
    refuses("1,2\n1e,2\n", "'1e' is not a number");
    refuses("1,2\n-,2\n", "'-' is not a number");
    refuses("1,2\n.,2\n", "'.' is not a number");
    refuses("1\n\x01\x02\x7f\n", "'?\?\?' is not a number");
    refuses("1\naaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeee\n", "'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...' is");
    refuses("# c\n\n1,2,3,4,5\n1,2,3,4\n", "line 4 has 4 fields, the lines before have 5");
    refuses("1,2\n1,2,3\n", "line 2 has 3 fields, the lines before have 2");
    refuses("a,b,c\n1,2\n", "line 2 has 2 fields, the header has 3");
    refuses("1,2\n3,\n", "line 2, column 2: the field is empty (a missing value)");
    refuses(",1,2\n", "line 1, column 1: the field is empty");
    refuses("1,2\n\"\",3\n", "line 2, column 1: the field is empty");
    refuses("1,2\n1,2\n\n1,nan\n", "line 4, column 2: 'nan' is no finite number; remove");
    refuses("nan,1\n", "line 1, column 1: 'nan'");
    refuses("1,-Inf\n", "line 1, column 2: '-Inf'");
    refuses("1,NA\n", "'NA' is no finite number");
    refuses("1,infinity\n", "'infinity'");
    refuses("1e400,2\n", "line 1, column 1: '1e400' is too large");
    refuses("1,-2e308\n", "'-2e308' is too large");
    refuses("# only\n# comments\n", "holds no rows of numbers;");
    refuses("\n \n\n", "holds no rows");
    refuses("x,y\n", "only a header");
    refuses("\xff\xfe"
            "1",
            "UTF-16");
    refuses("1,2\r3,4\r", "carriage returns alone");
}

static void refuses_binary(void **state)
{
    (void)state;
    armilla_data *data = NULL;
    support_fails(context, read_bytes("1,2\n\0\0", 6, false, &data), ARMILLA_BAD_DATA, "binary and not text");
}

static void opens_by_every_ending(void **state)
{
    (void)state;
    const char *const names[] = {"a.csv", "a.tsv", "a.TXT"};
    char path[256];
    for (size_t i = 0; i < 3; i++) {
        armilla_data *data = NULL;
        support_path(path, sizeof path, names[i]);
        support_write_file(path, "1 2\n3 4\n5 6\n", 12);
        support_ok(context, armilla_data_open(context, path, NULL, &data));
        assert_int_equal(armilla_data_samples(data), 3);
        assert_string_equal(armilla_data_storage(data), "dense f64");
        armilla_data_free(data);
    }
}

static double parse(const char *text)
{
    double value = NAN;
    const size_t length = strlen(text);
    unsigned char *copy = malloc(length);
    memcpy(copy, text, length);
    assert_int_equal(armilla_decimal_parse(copy, copy + length, '.', plain, &value), ARMILLA_DECIMAL_NUMBER);
    free(copy);
    return value;
}

static void assert_same_bits(const char *text)
{
    const double got = parse(text), wanted = armilla_read_number(text, NULL);
    if (memcmp(&got, &wanted, sizeof got) != 0) fail_msg("%s gives %a, not %a", text, got, wanted);
}

static void rounds_hard_cases(void **state)
{
    (void)state;
    static const char *const hard[] = {
        "0",
        "-0",
        "0.0",
        "-0e5",
        "0e999999",
        "1",
        "123456789012345",
        "1234567890123456",
        "9007199254740993",
        "9007199254740992.9999999999999999",
        "9007199254740993.00000000000000000000000000000001",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "8.5e22",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "1e-99999999999999999999",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "0.1",
        "0.30000000000000004",
        "6.8985865317742005e22",
        "7.3177701707893310e+15",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
        "5e-324",
        "0.000000000000000000000000000000000000001e39",
        "100000000000000000000000000000000000000000e-41",
        "3.5844466002796428e+298",
        "358416272e-33",
        "89255e-22",
        "1448997445238699",
        "0.00000000000000000000000000000000000000000000000000000000000000000000000000001",
    };
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) assert_same_bits(hard[i]);
}

/* Halfway between two doubles by 1074 digits: what decides stands past any buffer. */
static void rounds_by_the_last_digit(void **state)
{
    (void)state;
    char text[2000];
    armilla_plain_print(text, sizeof text, "%.1074f", 0x1p-1074);
    assert_same_bits(text);
    for (int tail = 0; tail < 3; tail++) {
        armilla_plain_print(text, sizeof text, "%.60f", 1 + 0x1p-52);
        memset(text, '0', 1900);
        memcpy(text, "1.00000000000000011102230246251565404236316680908203125", 55);
        text[1900] = (char)('0' + tail);
        text[1901] = '\0';
        assert_same_bits(text);
        assert_true(parse(text) == (tail ? 1 + 0x1p-52 : 1));
    }
}

static void rounds_random_numbers(void **state)
{
    (void)state;
    char text[64];
    for (uint64_t i = 0; i < 100000; i++) {
        const uint64_t bits = armilla_random_bits(1, ARMILLA_STREAM_TEST, 2 * i);
        const uint64_t shape = armilla_random_bits(1, ARMILLA_STREAM_TEST, 2 * i + 1);
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) value = (double)bits;
        armilla_plain_print(text, sizeof text, shape & 1 ? "%.*e" : "%.*g", (int)(shape >> 8 & 31) % 21, value);
        if (isfinite(armilla_read_number(text, NULL))) assert_same_bits(text);
        snprintf(text, sizeof text, "%llu.%04lluE%+d", (unsigned long long)(bits >> (shape >> 16 & 63)),
                 (unsigned long long)(shape >> 24 & 8191), (int)(shape >> 40 & 63) - 32);
        assert_same_bits(text);
        /* As numpy.savetxt writes, and halfway between two doubles, in 16 to 19 digits. */
        armilla_plain_print(text, sizeof text, "%.18e", armilla_random_normal(4, ARMILLA_STREAM_TEST, i));
        assert_same_bits(text);
        snprintf(text, sizeof text, "%llue%d",
                 (unsigned long long)(((bits >> 11 | 1ull << 52) << 1 | 1) << (shape & 7)),
                 (int)(shape >> 8 & 63) - 32);
        assert_same_bits(text);
    }
}

#if LDBL_MANT_DIG >= 64
/* The number halfway between two doubles, in all its digits (up to 770), just below it and just above: what decides is
 * the last digit, in normal numbers and in subnormal ones, whose neighbours are as far apart as those of the least. */
static void rounds_halfway_numbers(void **state)
{
    (void)state;
    enum { MOST = 1200 };
    char text[MOST];
    if (!reference_wide()) skip(); /* the number between two neighbours is none of them */
    for (uint64_t i = 0; i < 4000; i++) {
        uint64_t bits = armilla_random_bits(6, ARMILLA_STREAM_TEST, i) & INT64_MAX;
        double below = 0, above = 0;
        if (i % 4 == 1) bits &= (1ull << 52) - 1;                                  /* subnormal */
        if (i % 4 == 2) bits = (bits & 0x0fffffffffffffffu) | 0x3000000000000000u; /* not so far from 1 */
        if (i % 16 == 3) bits |= (1ull << 52) - 1;                                 /* the next is a power of two */
        if ((bits >> 52) >= 0x7fe) continue;
        memcpy(&below, &bits, sizeof below);
        above = nextafter(below, INFINITY);
        const long double halfway = ((long double)below + (long double)above) / 2;
        const int length = armilla_plain_print(text, sizeof text, "%.*Le", 780, halfway);
        assert_true(length > 780 && length < MOST - 1);
        char *mark = strchr(text, 'e'), *last = mark - 1;
        assert_same_bits(text);
        assert_true(parse(text) == (bits & 1 ? above : below)); /* to even */
        *last = '1';
        assert_same_bits(text);
        assert_true(parse(text) == above);
        for (*last = '0'; *last == '0' || *last == '.'; last--) /* the same number less one in the last digit */
            if (*last == '0') *last = '9';
        --*last;
        if (text[0] == '0') continue;
        assert_same_bits(text);
        assert_true(parse(text) == below);
    }
}
#endif

static void ignores_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE")) skip();
    assert_string_equal(localeconv()->decimal_point, ",");
    assert_true(parse("0.5") == 0.5);
    assert_true(parse("3.14159265358979323846264338") == 3.14159265358979323846264338);
    refuses("1\n0,5\n", "'0,5' has another decimal mark");
    setlocale(LC_ALL, "C");
}

static void survives_random_text(void **state)
{
    (void)state;
    static const char letters[] = "0123456789.,;\t \n\r\"'#e+-naif\xef\xbb\xbf";
    char text[48];
    int read = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        armilla_data *data = NULL;
        const size_t length = armilla_random_bits(2, ARMILLA_STREAM_TEST, i) % sizeof text;
        for (size_t j = 0; j < length; j++)
            text[j] = letters[armilla_random_bits(3, ARMILLA_STREAM_TEST, i * 64 + j) % (sizeof letters - 1)];
        if (read_bytes(text, length, i & 1, &data) == ARMILLA_OK) read++;
        armilla_data_free(data);
    }
    assert_true(read > 100);
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    bool refused = true;
    for (int64_t k = 0; refused; k++) {
        armilla_data *data = NULL;
        allocator.countdown = allocator.taken + k;
        const armilla_status status = read_bytes("1,2,3\n4,5,6\n\n\n", 14, true, &data);
        refused = status != ARMILLA_OK;
        if (refused) support_fails(context, status, ARMILLA_NO_MEMORY, "out of memory");
        armilla_data_free(data);
        assert_true(refused || k > 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_every_dialect),
        TEST(skips_what_is_no_row),
        TEST(transposes_samples_in_columns),
        TEST(says_what_is_wrong_where),
        TEST(refuses_binary),
        TEST(opens_by_every_ending),
        TEST(rounds_hard_cases),
        TEST(rounds_by_the_last_digit),
        TEST(rounds_random_numbers),
#if LDBL_MANT_DIG >= 64
        TEST(rounds_halfway_numbers),
#endif

        TEST(ignores_the_locale),
        TEST(survives_random_text),
        TEST(survives_refused_allocations),
    };
    return cmocka_run_group_tests_name("csv", tests, make_locale, free_locale);
}
