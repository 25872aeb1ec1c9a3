/* Entries in any order to compressed columns, against a plain sort: many shapes, orders and repeats, on any number of
 * threads, with wide indices and with little memory. And digits of text, against a plain loop. */
#include "fixture.h"

#include "base/call.h"
#include "base/random.h"
#include "data/triplets.h"
#include "files/digits.h"
#include "linalg/sparse_kernels.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    int64_t feature, sample, place;
    double value;
} entry;

typedef struct shape {
    int64_t m, n, count;
    enum { UNIFORM, SKEWED, BY_FEATURE, ONE_SAMPLE, REPEATED } order;
    double mirror;
} shape;

static const shape shapes[] = {
    {1, 1, 1, UNIFORM, 0},
    {5, 3, 40, UNIFORM, 0},
    {300, 257, 9000, UNIFORM, 0},
    {70000, 20, 30000, UNIFORM, 0},
    {20, 70000, 30000, UNIFORM, 0},
    {1000, 1000, 40000, SKEWED, 0},
    {5000, 999, 25000, BY_FEATURE, 0},
    {400, 3000, 20000, ONE_SAMPLE, 0},
    {7, 11, 20000, REPEATED, 0},
    {300, 300, 9000, UNIFORM, 1},
    {200, 200, 9000, UNIFORM, -1},
    {1 << 20, 1 << 20, 100, UNIFORM, 0},
    {5000, 3000, 100000, ONE_SAMPLE, 0},
    {3, 4000, 90000, REPEATED, 0},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static uint64_t draw(int64_t k, uint64_t below)
{
    return armilla_random_bits(11, ARMILLA_STREAM_TEST, (uint64_t)k) % below;
}

static void make_entry(const shape *s, int64_t k, int32_t *feature, int32_t *sample, double *value)
{
    *feature = (int32_t)draw(3 * k, (uint64_t)s->m);
    *sample = (int32_t)draw(3 * k + 1, (uint64_t)s->n);
    *value = (double)draw(3 * k + 2, 1000003) / 7 - 70000;
    if (s->order == SKEWED && k % 8) *sample = (int32_t)(*sample % 9);
    if (s->order == BY_FEATURE) *feature = (int32_t)(k * s->m / s->count);
    if (s->order == ONE_SAMPLE) *sample = (int32_t)(s->n / 2);
    if (s->mirror < 0 && *feature == *sample) *value = 0;
}

static int by_place(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->sample != b->sample) return a->sample < b->sample ? -1 : 1;
    if (a->feature != b->feature) return a->feature < b->feature ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

/* The entries, mirrored ones included, as they should come; their number. */
static int64_t make_wanted(const shape *s, entry *wanted)
{
    int64_t count = 0, used = 0;
    for (int64_t k = 0; k < s->count; k++) {
        int32_t feature, sample;
        double value;
        make_entry(s, k, &feature, &sample, &value);
        wanted[count] = (entry){feature, sample, count, value};
        count++;
        if (s->mirror == 0 || feature == sample) continue;
        wanted[count] = (entry){sample, feature, count, s->mirror * value};
        count++;
    }
    qsort(wanted, (size_t)count, sizeof *wanted, by_place);
    for (int64_t k = 0; k < count; k++) {
        const bool same =
            used > 0 && wanted[used - 1].sample == wanted[k].sample && wanted[used - 1].feature == wanted[k].feature;
        if (same)
            wanted[used - 1].value += wanted[k].value;
        else
            wanted[used++] = wanted[k];
    }
    return used;
}

static void check_matrix(const shape *s, const armilla_sparse_matrix *made, const entry *wanted, int64_t count)
{
    int64_t k = 0;
    assert_int_equal(made->m, s->m);
    assert_int_equal(made->n, s->n);
    assert_int_equal(armilla_sparse_entries(made), count);
    for (int64_t j = 0; j < s->n; j++) {
        assert_int_equal(armilla_index_at(made->index64, made->starts, j), k);
        for (; k < armilla_index_at(made->index64, made->starts, j + 1); k++) {
            assert_int_equal(wanted[k].sample, j);
            assert_int_equal(armilla_index_at(made->index64, made->rows, k), wanted[k].feature);
            assert_memory_equal((double *)made->values + k, &wanted[k].value, sizeof(double));
        }
    }
    assert_int_equal(k, count);
}

static void compress(const shape *s, int threads, const entry *wanted, int64_t count)
{
    int32_t *features = NULL, *samples = NULL;
    double *values = NULL;
    armilla_sparse_matrix made = {.m = 0};
    support_ok(context, armilla_call_enter(context, threads));
    support_ok(context, armilla_grow(context, s->count, sizeof *features, &features));
    support_ok(context, armilla_grow(context, s->count, sizeof *samples, &samples));
    support_ok(context, armilla_grow(context, s->count, sizeof *values, &values));
    for (int64_t k = 0; k < s->count; k++) make_entry(s, k, &features[k], &samples[k], &values[k]);
    const armilla_triplets from = {.m = s->m,
                                   .n = s->n,
                                   .count = s->count,
                                   .features = &features,
                                   .values = &values,
                                   .samples = samples,
                                   .mirror = s->mirror};
    const armilla_team team = armilla_team_of(context, 99);
    support_ok(context, armilla_triplets_compress(context, &team, &from, &made));
    check_matrix(s, &made, wanted, count);
    armilla_sparse_release(context, &made);
    armilla_release(context, features);
    armilla_release(context, samples);
    armilla_release(context, values);
    armilla_call_leave(context);
}

static void test_compress(void **state)
{
    static const int threads[] = {1, 2, 3, 8};
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        entry *wanted = malloc((size_t)(2 * shapes[i].count) * sizeof *wanted);
        assert_non_null(wanted);
        const int64_t count = make_wanted(&shapes[i], wanted);
        for (int wide = 0; wide < 2; wide++)
            for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
                context->most_narrow = wide ? 0 : INT32_MAX;
                compress(&shapes[i], threads[t], wanted, count);
            }
        free(wanted);
    }
}

/* By blocks where memory has space for them, and in place of them where it has not: the same. */
static void test_little_memory(void **state)
{
    const shape *s = &shapes[2];
    entry *wanted = malloc((size_t)(2 * s->count) * sizeof *wanted);
    (void)state;
    assert_non_null(wanted);
    const int64_t count = make_wanted(s, wanted);
    for (int64_t bytes = 16; bytes < 128; bytes += 8) {
        armilla_context_set_memory(context, armilla_context_memory_live(context) + bytes * s->count + (64 << 10));
        if (bytes >= 36) compress(s, 1, wanted, count);
    }
    armilla_context_set_memory(context, 0);
    free(wanted);
}

/* Every number of digits, and every byte behind them. */
static void test_digits(void **state)
{
    unsigned char text[40];
    (void)state;
    for (size_t digits = 0; digits < 24; digits++)
        for (int behind = 0; behind < 256; behind++)
            for (size_t more = 0; more < 10; more++) {
                uint64_t wanted = 4, found = 4;
                size_t stop = digits;
                for (size_t i = 0; i < sizeof text; i++) text[i] = (unsigned char)('0' + (7 * i + digits) % 10);
                memset(text + digits, behind, more);
                while (stop < digits + more && (unsigned)(text[stop] - '0') < 10) stop++;
                for (size_t i = 0; i < stop; i++) wanted = 10 * wanted + (uint64_t)(text[i] - '0');
                const unsigned char *end = armilla_digits_scan(text, text + digits + more, &found);
                assert_int_equal(end - text, stop);
                assert_true(found == wanted);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_compress), TEST(test_little_memory), TEST(test_digits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
