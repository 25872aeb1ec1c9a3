/* The order of labels: total and transitive whatever the labels are, by number where all of them are numbers and by text
 * otherwise, in any locale; and the classes that it makes. */
#include "fixture.h"

#include "cluster/label_order.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 260, LONG = 2000 };

static char long_number[LONG + 1], long_other[LONG + 1], long_text[LONG + 1];

/* Labels that are nearly numbers, or nearly equal, or differ by what a locale makes of them. */
static const char *const odd[] = {"2",
                                  "1e3",
                                  "1f",
                                  "1.2",
                                  "1.10",
                                  "1.9",
                                  "1.9rc1",
                                  "1.3b",
                                  "10",
                                  "9",
                                  "1",
                                  "01",
                                  "1.0",
                                  "+1",
                                  "-1",
                                  "0",
                                  "-0",
                                  "0.0",
                                  "00",
                                  "1e400",
                                  "-1e400",
                                  "1e-400",
                                  "0x10",
                                  "0x1p3",
                                  "16",
                                  "1e",
                                  "e1",
                                  ".5",
                                  "5.",
                                  ".",
                                  "-",
                                  "+",
                                  "1,5",
                                  "1.5",
                                  "1 ",
                                  " 1",
                                  "1\t",
                                  "inf",
                                  "-inf",
                                  "Infinity",
                                  "infinite",
                                  "nanny",
                                  "Nan",
                                  "NAN",
                                  "na",
                                  "none",
                                  "\331\241",
                                  "\331\2412",
                                  "z\303\244",
                                  "za",
                                  "zz",
                                  "Z",
                                  "\303\204",
                                  "\303\244",
                                  "a",
                                  "A",
                                  "b",
                                  "B",
                                  "I",
                                  "i",
                                  "\304\260",
                                  "\304\261",
                                  "cote",
                                  "c\303\264te",
                                  "cot\303\251",
                                  "\377\376",
                                  "\357\274\221",
                                  "#1",
                                  "'1",
                                  "1_000",
                                  "1'000",
                                  "1e3f",
                                  "0b1",
                                  "1d3",
                                  "1L",
                                  "true",
                                  "False",
                                  "class 2",
                                  "class 10",
                                  "class 02"};
static const char *const absent[] = {"",     "nan",  "NaN",  "NA",  "N/A",  "n/a",  "<NA>",     "#NA",    "#N/A",
                                     "None", "NULL", "null", "NaT", "-nan", "-NaN", "#N/A N/A", "1.#IND", "-1.#QNAN"};
static const char *const numbers[] = {"2",
                                      "1e3",
                                      "1.2",
                                      "1.10",
                                      "1.9",
                                      "10",
                                      "9",
                                      "1",
                                      "01",
                                      "1.0",
                                      "+1",
                                      "-1",
                                      "0",
                                      "-0",
                                      "0.0",
                                      "00",
                                      "16",
                                      "1e-400",
                                      ".5",
                                      "5.",
                                      "1E3",
                                      "-7.25e-3",
                                      "1000",
                                      "9007199254740993",
                                      "9007199254740992",
                                      "1e300",
                                      "-1e300"};

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static int64_t make(armilla_label *labels, const char *const *texts, int64_t count, int64_t at)
{
    for (int64_t i = 0; i < count; i++) labels[at + i] = (armilla_label){.text = texts[i], .index = at + i};
    return at + count;
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

/* Antisymmetry, transitivity of < and of =, and 0 for equal labels alone, of all pairs and triples. */
static void expect_total(const armilla_label *labels, int64_t count)
{
    static signed char order[MOST][MOST];
    for (int64_t a = 0; a < count; a++)
        for (int64_t b = 0; b < count; b++) {
            const bool same = strcmp(labels[a].text, labels[b].text) == 0 ||
                              (armilla_label_missing(labels[a].text) && armilla_label_missing(labels[b].text));
            order[a][b] = (signed char)sign(armilla_label_compare(&labels[a], &labels[b]));
            assert_int_equal(order[a][b] == 0, same);
        }
    for (int64_t a = 0; a < count; a++)
        for (int64_t b = 0; b < count; b++) {
            assert_int_equal(order[a][b], -order[b][a]);
            for (int64_t c = 0; c < count; c++)
                if (order[a][b] <= 0 && order[b][c] <= 0)
                    assert_int_equal(order[a][c], order[a][b] || order[b][c] ? -1 : 0);
        }
    for (int64_t i = 0; i + 1 < count; i++)
        for (int64_t j = i + 1; j < count; j++) assert_true(order[i][j] <= 0); /* they are sorted */
}

static void test_order_is_total(void **state)
{
    (void)state;
    static const char *const locales[] = {"C", "C.UTF-8", "en_US.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"};
    static armilla_label labels[MOST];
    char made[60][16];
    memset(long_number, '7', LONG);
    memset(long_other, '7', LONG - 1);
    long_other[LONG - 1] = '8';
    memset(long_text, 'x', LONG);
    const char *const long_ones[] = {long_number, long_other, long_text};
    srand(11);
    for (size_t l = 0; l < sizeof locales / sizeof *locales; l++) {
        if (!setlocale(LC_ALL, locales[l])) continue;
        for (int trial = 0; trial < 3; trial++) {
            int64_t count = make(labels, odd, COUNT(odd), 0);
            count = make(labels, absent, COUNT(absent), count);
            count = make(labels, long_ones, COUNT(long_ones), count);
            for (int i = 0; i < 60; i++) {
                static const char letters[] = "0123456789.eExf-+ na";
                const int length = 1 + rand() % 6;
                for (int c = 0; c < length; c++) made[i][c] = letters[(size_t)rand() % (sizeof letters - 1)];
                made[i][length] = '\0';
                labels[count] = (armilla_label){.text = made[i], .index = count};
                count++;
            }
            support_ok(context, armilla_labels_sort(context, count, labels));
            expect_total(labels, count);
        }
    }
    (void)setlocale(LC_ALL, "C");
}

static void test_numbers_are_ordered_by_number(void **state)
{
    (void)state;
    static armilla_label labels[MOST];
    for (int with = 0; with < 2; with++) {
        int64_t count = make(labels, numbers, COUNT(numbers), 0);
        if (with) count = make(labels, absent, COUNT(absent), count);
        support_ok(context, armilla_labels_sort(context, count, labels));
        expect_total(labels, count);
        for (int64_t i = 0; i + 1 < COUNT(numbers); i++)
            assert_true(strtod(labels[i].text, NULL) <= strtod(labels[i + 1].text, NULL));
        for (int64_t i = COUNT(numbers); i < count; i++) assert_true(labels[i].missing);
    }
}

/* One that is no number, and all are texts: their bytes decide. */
static void test_others_are_ordered_by_text(void **state)
{
    (void)state;
    static armilla_label labels[MOST];
    static const char *const no_number[] = {"1f", "0x10", "\331\241", "1e400", " 1", "class"};
    for (int64_t k = 0; k < COUNT(no_number); k++) {
        int64_t count = make(labels, numbers, COUNT(numbers), 0);
        labels[count] = (armilla_label){.text = no_number[k], .index = count};
        count++;
        support_ok(context, armilla_labels_sort(context, count, labels));
        expect_total(labels, count);
        for (int64_t i = 0; i + 1 < count; i++) assert_true(strcmp(labels[i].text, labels[i + 1].text) < 0);
    }
}

/* Every label of every triple of odd labels is in its own class, classes are in the order, missing ones are one. */
static void test_classes_of_samples(void **state)
{
    (void)state;
    const unsigned char nothing[6] = {0};
    const int64_t all = COUNT(odd);
    for (int64_t a = 0; a < all; a++) {
        const char *texts[6] = {odd[a], odd[(7 * a + 3) % all], "nan", odd[(5 * a + 1) % all], "", odd[a]};
        armilla_data *X = NULL;
        armilla_labels labels = {.size = sizeof labels};
        int64_t differ = 0;
        support_ok(context, armilla_data_wrap_dense(context, ARMILLA_U8, nothing, 1, 6, 1, &X));
        support_ok(context, armilla_data_set_names(X, ARMILLA_SAMPLE_LABELS, texts, 6));
        support_ok(context, armilla_labels_of_data(context, X, &labels));
        assert_int_equal(labels.missing, 2);
        for (int i = 0; i < 6; i++) {
            bool new = !armilla_label_missing(texts[i]);
            for (int j = 0; j < i; j++) new = new &&strcmp(texts[i], texts[j]) != 0;
            differ += new;
            for (int j = 0; j < 6; j++) {
                const bool one = strcmp(texts[i], texts[j]) == 0 ||
                                 (armilla_label_missing(texts[i]) && armilla_label_missing(texts[j]));
                assert_int_equal(labels.values[i] == labels.values[j], one);
            }
        }
        assert_int_equal(labels.classes, differ + 1);
        assert_int_equal(labels.values[2], differ);
        armilla_labels_free(context, &labels);
        armilla_data_free(X);
    }
}

/* Memory that runs out leaves nothing behind, and the program's struct as it was. */
static void test_memory_runs_out(void **state)
{
    (void)state;
    const unsigned char nothing[3] = {0};
    const char *const texts[] = {"2", "nan", "1"};
    armilla_data *X = NULL;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_U8, nothing, 1, 3, 1, &X));
    support_ok(context, armilla_data_set_names(X, ARMILLA_SAMPLE_LABELS, texts, 3));
    for (int64_t calls = 0;; calls++) {
        armilla_labels labels = {.size = sizeof labels, .count = -5};
        allocator.taken = 0;
        allocator.countdown = calls;
        const armilla_status status = armilla_labels_of_data(context, X, &labels);
        allocator.countdown = -1;
        if (status == ARMILLA_OK) {
            assert_true(calls > 2);
            armilla_labels_free(context, &labels);
            break;
        }
        assert_int_equal(status, ARMILLA_NO_MEMORY);
        assert_int_equal(labels.count, -5);
    }
    armilla_data_free(X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_order_is_total), TEST(test_numbers_are_ordered_by_number),
                                       TEST(test_others_are_ordered_by_text), TEST(test_classes_of_samples),
                                       TEST(test_memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
