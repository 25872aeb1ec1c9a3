/* Matrix Market: every banner, sizes and indices that lie, files of many parts, damage at every byte. */
#include "fixture.h"

#include "base/context.h"
#include "base/number.h"
#include "base/random.h"
#include "data/data.h"
#include "files/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static armilla_status read_with(const char *text, size_t count, const armilla_read_options *options,
                                armilla_data **data)
{
    return support_read(context, &armilla_format_mtx, text, count, options, data);
}

static armilla_status read_text(const char *text, bool columns, armilla_data **data)
{
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .sample_columns = columns};
    return read_with(text, strlen(text), &options, data);
}

/* The text is the rows x cols matrix whose rows are given, in both orientations. */
static void reads(const char *text, const char *storage, int64_t rows, int64_t cols, const double *wanted)
{
    for (int columns = 0; columns < 2; columns++) {
        armilla_data *data = NULL;
        double sample[16];
        const int64_t m = columns ? rows : cols, n = columns ? cols : rows;
        support_ok(context, read_text(text, columns, &data));
        assert_string_equal(armilla_data_storage(data), storage);
        assert_int_equal(armilla_data_features(data), m);
        assert_int_equal(armilla_data_samples(data), n);
        for (int64_t j = 0; j < n; j++) {
            support_ok(context, armilla_data_sample(context, data, j, sample));
            for (int64_t i = 0; i < m; i++) assert_true(sample[i] == wanted[columns ? i * cols + j : j * cols + i]);
        }
        armilla_data_free(data);
    }
}

#define HEAD "%%MatrixMarket matrix coordinate real general\n"

static void reads_every_kind(void **state)
{
    (void)state;
    static const double general[] = {1.5, 0, -2, 0, 4e3, 0}, twos[] = {1, 0, 1, 0, 1, 0};
    static const double symmetric[] = {1, 2, 3, 2, 4, 0, 3, 0, 0}, skew[] = {0, -2, -3, 2, 0, -5, 3, 5, 0};
    static const double square[] = {1, 2, 3, 2, 4, 5, 3, 5, 6}, array[] = {1, 3, 5, 2, 4, 6};
    const char *s = "sparse f64", *d = "dense f64";
    reads(HEAD "2 3 3\n1 1 1.5\n1 3 -2\n2 2 4e3\n", s, 2, 3, general);
    reads(HEAD "2 3 3\n2 2 4e3\n1 3 -2\n1 1 1.5", s, 2, 3, general);
    reads(
        "%%matrixmarket MATRIX Coordinate Real GENERAL\r\n% x\r\n\r\n%\r\n2 3 3\r\n1 1 1.5\r\n\r\n1 3 -2\r\n 2\t2  4e3 "
        "\r\n\r\n",
        s, 2, 3, general);
    reads("%%MatrixMarket matrix coordinate pattern general\n2 3 3\n1 1\n1 3\n2 2\n", s, 2, 3, twos);
    reads("%%MatrixMarket matrix coordinate integer general\n2 3 3\n1 1 1\n1 3 1\n2 2 1\n", s, 2, 3, twos);
    reads("%%MatrixMarket matrix coordinate double general\n2 3 5\n1 1 .75\n1 1 .75\n1 3 -3\n2 2 4000\n1 3 1\n", s, 2,
          3, general);
    reads("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 1 2\n3 1 3\n2 2 4\n", s, 3, 3, symmetric);
    reads("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 4\n2 1 2\n3 1 3\n3 2 5\n1 1 0\n", s, 3, 3, skew);
    reads("%%MatrixMarket matrix array real general\n%\n2 3\n1\n2\n3\n4\n5\n6\n", d, 2, 3, array);
    reads("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n\n4\n5\n6\n", d, 3, 3, square);
    reads("%%MatrixMarket matrix array real skew-symmetric\n3 3\n2\n3\n5\n", d, 3, 3, skew);
}

static void refuses(const char *text, const char *part)
{
    armilla_data *data = NULL;
    support_fails(context, read_text(text, false, &data), ARMILLA_BAD_DATA, part);
    assert_non_null(strstr(armilla_context_error(context), "a.mtx: "));
    assert_null(data);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    refuses("1 2 3\n", "line 1 does not begin with %%MatrixMarket");
    refuses("%%MatrixMarket vector coordinate real general\n", "object 'vector' is unknown");
    refuses("%%MatrixMarket matrix list real general\n", "format 'list' is unknown; it can be coordinate or array");
    refuses("%%MatrixMarket matrix coordinate quaternion general\n", "field 'quaternion' is unknown");
    refuses("%%MatrixMarket matrix coordinate real\n", "symmetry '' is unknown");
    refuses("%%MatrixMarket matrix coordinate complex general\n", "has complex numbers; save their real part");
    refuses("%%MatrixMarket matrix coordinate real hermitian\n", "is a hermitian matrix");
    refuses("%%MatrixMarket matrix array pattern general\n", "an array cannot be of the field pattern");
    refuses(HEAD "% only comments\n", "the line of sizes is missing");
    refuses(HEAD "2 3\n", "line 2: the sizes are not three numbers");
    refuses(HEAD "2 3 x\n", "line 2: the sizes are not three");
    refuses(HEAD "2 -3 1\n1 1 1\n", "line 2: the sizes are not three");
    refuses(HEAD "2 3 1 4\n", "line 2: the sizes are not three");
    refuses("%%MatrixMarket matrix array real general\n2\n", "the sizes are not two numbers");
    refuses(HEAD "0 3 0\n", "a.mtx: ");
    refuses(HEAD "2 3 99999999999999999\n1 1 1\n",
            "declares 99999999999999999 entries, but the lines that follow are only 1");
    refuses(HEAD "99999999999 3 1\n1 1 1\n", "more than 2147483647 rows or columns");
    refuses("%%MatrixMarket matrix array real general\n999999999 999999999\n1\n",
            "but the lines that follow are only 1");
    refuses("%%MatrixMarket matrix array real symmetric\n2 3\n1\n2\n", "declared symmetric but not square");
    refuses(HEAD "2 3 1\n1 1 1\n2 2 2\n", "declares 1 entries, but has 2");
    refuses(HEAD "2 3 2\n1 1 1\n\n", "declares 2 entries, but has 1");
    refuses(HEAD "2 3 1\n0 1 1\n", "line 3: '0' is no row, which is a number from 1 to 2");
    refuses(HEAD "2 3 1\n3 1 1\n", "line 3: '3' is no row");
    refuses(HEAD "2 3 2\n1 1 1\n1 4 1\n", "line 4: '4' is no column, which is a number from 1 to 3");
    refuses(HEAD "2 3 1\n1 18446744073709551617 1\n", "'18446744073709551617' is no column");
    refuses(HEAD "2 3 1\n1 -1 1\n", "'-1' is no column");
    refuses(HEAD "2 3 1\n1.0 1 1\n", "'1.0' is no row");
    refuses(HEAD "2 3 1\n1\n", "line 3: is no column");
    refuses(HEAD "2 3 1\n1 1\n", "line 3: the value is missing");
    refuses(HEAD "2 3 1\n1 1 abc\n", "'abc' is not a number");
    refuses(HEAD "2 3 1\n1 1 1.5x\n", "'1.5x' is not a number");
    refuses(HEAD "2 3 1\n1 1 nan\n", "'nan' is no finite number");
    refuses(HEAD "2 3 1\n1 1 1e999\n", "'1e999' is too large");
    refuses(HEAD "2 3 1\n1 1 1 0\n", "'1 1 1 0' has more on it than an entry");
    refuses("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1 1\n", "has more on it");
    refuses("%%MatrixMarket matrix array real general\n2 1\n1 2\n3\n", "'1 2' has more on it");
    refuses("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n", "'2' is on the diagonal");
    refuses(HEAD "1000000000000000000000 3 1\n1 1 1\n", "line 2: the sizes are not three");
    refuses(HEAD "2 3 1\n1 18446744073709551618 1\n", "is no column"); /* 2, had it wrapped */
    refuses("%%MatrixMarket matrix array real general\n2 1\n1\n% the end", "declares 2 numbers, but has 1");
    refuses("%%MatrixMarket matrix a_word_that_is_much_longer_than_any_of_those_that_can_stand_here real general\n",
            "format 'a_word_that");
}

/* A file of several parts whose entries come in no order, three of them for each place: the sums, for any threads. */
static void adds_up_whatever_the_threads(void **state)
{
    (void)state;
    enum { ROWS = 400, COLS = 300, TIMES = 3, COUNT = ROWS * COLS * TIMES, LINE = 40 };
    double *wanted = calloc((size_t)ROWS * COLS, sizeof *wanted);
    char *text = malloc((size_t)COUNT * LINE + 200);
    double sample[ROWS], first[ROWS];
    size_t used = (size_t)sprintf(text, "%s%d %d %d\n", HEAD, ROWS, COLS, COUNT);
    for (int64_t k = 0; k < COUNT; k++) {
        const int64_t place = k * 7919 % (ROWS * COLS);
        const double value = (double)armilla_random_bits(5, ARMILLA_STREAM_TEST, (uint64_t)k) / 3;
        used += (size_t)armilla_plain_print(text + used, LINE, "%d %d %.17g\n%s", (int)(place / COLS) + 1,
                                            (int)(place % COLS) + 1, value, k % 1000 == 999 ? "\n%\n" : "");
        wanted[place] += value;
    }
    assert_true(used > 3u << 20);
    for (int threads = 1; threads < 5; threads++) {
        armilla_data *data = NULL;
        const armilla_read_options options = {
            .size = sizeof(armilla_read_options), .sample_columns = true, .threads = threads};
        context->most_narrow = threads % 2 ? INT32_MAX : ROWS - 1; /* every second time with 64-bit indices */
        support_ok(context, read_with(text, used, &options, &data));
        assert_int_equal(support_has_index64(data), threads % 2 == 0);
        assert_int_equal(armilla_data_stored(data), ROWS * COLS);
        for (int64_t j = 0; j < COLS; j++) {
            support_ok(context, armilla_data_sample(context, data, j, sample));
            for (int64_t i = 0; i < ROWS; i++) assert_true(sample[i] == wanted[i * COLS + j]);
        }
        if (threads == 1) memcpy(first, sample, sizeof first);
        assert_memory_equal(first, sample, sizeof first);
        armilla_data_free(data);
    }
    free(wanted);
    free(text);
}

/* Integers have one zero; the mirrored zero of a real matrix has the other sign, as SciPy reads it. */
static void mirrors_zeros(void **state)
{
    (void)state;
    static const char *const texts[] = {"%%MatrixMarket matrix array integer skew-symmetric\n2 2\n0\n",
                                        "%%MatrixMarket matrix array real skew-symmetric\n2 2\n0\n"};
    for (int real = 0; real < 2; real++)
        for (int columns = 0; columns < 2; columns++) {
            armilla_data *data = NULL;
            double sample[2];
            support_ok(context, read_text(texts[real], columns, &data));
            support_ok(context,
                       armilla_data_sample(context, data, !columns, sample)); /* below the diagonal: as given */
            assert_false(signbit(sample[columns]));
            support_ok(context, armilla_data_sample(context, data, columns, sample));
            assert_int_equal(signbit(sample[!columns]) != 0, real);
            armilla_data_free(data);
        }
}

/* Beyond 2^31 indices have 64 bits: the same with a bound that small files pass. */
static void reads_the_same_with_64_bit_indices(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "%%MatrixMarket matrix coordinate real general\n5 5 4\n1 1 1.5\n2 3 2.5\n2 4 -1\n5 5 3\n",
        "%%MatrixMarket matrix coordinate real general\n5 5 6\n5 5 3\n2 4 -1\n2 3 2\n2 3 .5\n1 1 1.5\n1 1 -0.5\n",
        "%%MatrixMarket matrix coordinate integer symmetric\n5 5 4\n1 1 7\n3 1 8\n5 2 9\n3 1 1\n",
        "%%MatrixMarket matrix coordinate real skew-symmetric\n5 5 2\n2 1 8\n5 2 9\n",
        "%%MatrixMarket matrix coordinate pattern general\n5 5 3\n5 1\n1 5\n2 2\n",
    };
    for (size_t i = 0; i < 2 * sizeof texts / sizeof *texts; i++) {
        armilla_data *narrow = NULL, *index64 = NULL;
        double given[5], got[5];
        support_ok(context, read_text(texts[i / 2], i & 1, &narrow));
        context->most_narrow = 4;
        support_ok(context, read_text(texts[i / 2], i & 1, &index64));
        context->most_narrow = INT32_MAX;
        assert_false(support_has_index64(narrow));
        assert_true(support_has_index64(index64));
        assert_int_equal(armilla_data_stored(narrow), armilla_data_stored(index64));
        for (int64_t j = 0; j < 5; j++) {
            support_ok(context, armilla_data_sample(context, narrow, j, given));
            support_ok(context, armilla_data_sample(context, index64, j, got));
            assert_memory_equal(given, got, sizeof got);
        }
        armilla_data_free(narrow);
        armilla_data_free(index64);
    }
}

/* Of two mistakes in different parts the first is reported. */
static void tells_the_first_mistake(void **state)
{
    (void)state;
    enum { LINES = 400000 };
    char *text = malloc((size_t)LINES * 12 + 200);
    size_t used = (size_t)sprintf(text, "%s9 9 %d\n", HEAD, LINES);
    for (int k = 0; k < LINES; k++)
        used += (size_t)sprintf(text + used, "1 %c 0.25\n", k == 250000 || k == 399000 ? 'x' : '1');
    for (int threads = 1; threads < 4; threads++) {
        armilla_data *data = NULL;
        const armilla_read_options options = {.size = sizeof(armilla_read_options), .threads = threads};
        support_fails(context, read_with(text, used, &options, &data), ARMILLA_BAD_DATA,
                      "line 250003: 'x' is no column");
        assert_null(data);
    }
    free(text);
}

static const char small[] =
    "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 4\n3 1 3.5\n1 1 1\n2 1 2\n2 2 4\n";

/* Cut anywhere it is refused, but behind the last digit; whatever byte is changed, it is read or refused. */
static void survives_damage(void **state)
{
    (void)state;
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .sample_columns = true};
    armilla_data *data = NULL;
    for (size_t cut = 0; cut < sizeof small - 2; cut++) {
        assert_int_equal(read_with(small, cut, &options, &data), ARMILLA_BAD_DATA);
        assert_null(data);
    }
    for (size_t at = 0; at < sizeof small - 1; at++)
        for (int byte = 0; byte < 256; byte++) {
            char changed[sizeof small];
            memcpy(changed, small, sizeof small);
            changed[at] = (char)byte;
            const armilla_status status = read_with(changed, sizeof small - 1, &options, &data);
            assert_true(status == ARMILLA_OK || status == ARMILLA_BAD_DATA);
            armilla_data_free(data);
            data = NULL;
        }
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    bool refused = true;
    for (int64_t k = 0; refused; k++) {
        armilla_data *data = NULL;
        allocator.countdown = allocator.taken + k;
        const armilla_status status = read_text(small, true, &data);
        refused = status != ARMILLA_OK;
        if (refused) support_fails(context, status, ARMILLA_NO_MEMORY, "out of memory");
        armilla_data_free(data);
        assert_true(refused || k > 8);
    }
}

static void respects_the_memory_limit(void **state)
{
    (void)state;
    const armilla_read_options options = {
        .size = sizeof(armilla_read_options), .memory = 1 << 20, .sample_columns = true};
    const char *text = HEAD "2 1000000 1\n1 1 1\n";
    armilla_data *data = NULL;
    support_fails(context, read_with(text, strlen(text), &options, &data), ARMILLA_NO_MEMORY,
                  "counting its samples needs 15.3 MiB");
    const armilla_read_options less = {.size = sizeof(armilla_read_options), .memory = 40};
    const char *three = HEAD "2 2 3\n1 1 1\n1 2 1\n2 2 1\n";
    support_fails(context, read_with(three, strlen(three), &less, &data), ARMILLA_NO_MEMORY,
                  "the limit is 40 bytes; raise it by memory");
    assert_null(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_every_kind),
        TEST(says_what_is_wrong),
        TEST(adds_up_whatever_the_threads),
        TEST(tells_the_first_mistake),
        TEST(survives_damage),
        TEST(survives_refused_allocations),
        TEST(respects_the_memory_limit),
        TEST(reads_the_same_with_64_bit_indices),
        TEST(mirrors_zeros),
    };
    return cmocka_run_group_tests_name("mtx", tests, NULL, NULL);
}
