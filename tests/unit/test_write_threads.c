/* Lines that threads put side by side: the same bytes as on one, the first of several mistakes, stops and refused
 * allocations in between. */
#include "fixture.h"

#include "files/write.h"

#include "reference/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 50, SAMPLES = 4000, THREADS = 3 }; /* four runs */

static char path[256];
static float numbers[SAMPLES * FEATURES];
static int32_t features[SAMPLES * FEATURES], starts[SAMPLES + 1];

static void make_numbers(void)
{
    for (int i = 0; i < SAMPLES * FEATURES; i++) {
        numbers[i] = (float)(((uint32_t)i * 2654435761u) >> 7) / (float)(1 + i % 4096);
        features[i] = i % FEATURES;
    }
    for (int j = 0; j <= SAMPLES; j++) starts[j] = j * FEATURES;
}

static armilla_data *wrap(armilla_context *with, bool sparse)
{
    armilla_data *data = NULL;
    if (sparse)
        support_ok(with, armilla_data_wrap_sparse(with, ARMILLA_F32, ARMILLA_I32, numbers, features, starts, FEATURES,
                                                  SAMPLES, &data));
    else
        support_ok(with, armilla_data_wrap_dense(with, ARMILLA_F32, numbers, FEATURES, SAMPLES, FEATURES, &data));
    return data;
}

static const char *path_for(const armilla_writer *writer)
{
    char name[64];
    snprintf(name, sizeof name, "x%.*s", (int)strcspn(writer->endings, " "), writer->endings);
    return support_path(path, sizeof path, name);
}

/* NULL where that form is not written. */
static char *write_on(int threads, const armilla_writer *writer, bool sparse, bool columns, size_t *count)
{
    const armilla_write_options options = {
        .size = sizeof(armilla_write_options), .sample_columns = columns, .overwrite = true};
    armilla_data *data = wrap(context, sparse);
    armilla_context_set_threads(context, threads);
    const armilla_status status = armilla_data_write(context, data, path_for(writer), &options);
    armilla_data_free(data);
    return status == ARMILLA_OK ? support_read_file(path, count) : NULL;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    make_numbers();
    for (size_t row = 0; armilla_writers_row(row); row++)
        for (int form = 0; form < 4; form++) {
            const armilla_writer *writer = armilla_writers_row(row);
            size_t count = 0, wanted_count = 0;
            char *wanted = write_on(1, writer, form % 2, form / 2, &wanted_count);
            char *text = write_on(THREADS, writer, form % 2, form / 2, &count);
            assert_int_equal(text != NULL, wanted != NULL);
            assert_int_equal(count, wanted_count);
            if (text) assert_memory_equal(text, wanted, count);
            free(text);
            free(wanted);
        }
}

/* The last feature is 0 everywhere: the number of features comes back nevertheless. */
static void features_of_svmlight_come_back(void **state)
{
    (void)state;
    make_numbers();
    for (int j = 0; j < SAMPLES; j++) numbers[j * FEATURES + FEATURES - 1] = 0;
    support_path(path, sizeof path, "x.svm");
    armilla_data *data = wrap(context, false), *back = NULL;
    armilla_context_set_threads(context, THREADS);
    support_ok(context, armilla_data_write(context, data, path, NULL));
    support_ok(context, armilla_data_open(context, path, NULL, &back));
    assert_int_equal(armilla_data_features(back), FEATURES);
    assert_int_equal(armilla_data_samples(back), SAMPLES);
    armilla_data_free(data);
    armilla_data_free(back);
}

static void reports_the_first_mistake(void **state)
{
    static const char *labels[SAMPLES];
    (void)state;
    make_numbers();
    for (int j = 0; j < SAMPLES; j++) labels[j] = j == 1400 || j >= 2700 ? "x" : "1";
    support_path(path, sizeof path, "x.svm");
    armilla_data *data = wrap(context, true);
    armilla_context_set_threads(context, THREADS);
    support_ok(context, armilla_data_set_names(data, ARMILLA_SAMPLE_LABELS, labels, SAMPLES));
    support_fails(context, armilla_data_write(context, data, path, NULL), ARMILLA_BAD_DATA, "that of sample 1401 is");
    assert_int_equal(support_entries(), 0);
    armilla_data_free(data);
}

static int stop_later(void *user, const armilla_progress *progress)
{
    (void)progress;
    return ++*(int *)user > 1;
}

static void stops_between_rounds(void **state)
{
    int asked = 0;
    (void)state;
    make_numbers();
    support_path(path, sizeof path, "x.csv");
    armilla_data *data = wrap(context, false);
    armilla_context_set_threads(context, 2);
    armilla_context_set_watch(context, stop_later, &asked);
    support_fails(context, armilla_data_write(context, data, path, NULL), ARMILLA_STOPPED, "stopped");
    armilla_context_set_watch(context, NULL, NULL);
    assert_int_equal(asked, 2);
    assert_int_equal(support_entries(), 0);
    armilla_data_free(data);
}

/* Every allocation fails in turn, also those of threads: which one comes first among these is theirs. */
static void check_refusals(bool sparse, bool columns)
{
    const armilla_write_options options = {.size = sizeof(armilla_write_options), .sample_columns = columns};
    armilla_status status = ARMILLA_NO_MEMORY;
    for (int64_t k = 0; status != ARMILLA_OK; k += reference_effort(1, 5)) {
        support_allocator failing = SUPPORT_ALLOCATOR;
        armilla_context *own = support_context_with(&failing);
        armilla_data *data = wrap(own, sparse);
        support_clean();
        armilla_context_set_threads(own, THREADS);
        failing.countdown = failing.taken + k;
        status = armilla_data_write(own, data, path, &options);
        armilla_data_free(data);
        armilla_context_free(own);
        assert_int_equal(failing.live, 0);
        assert_int_equal(support_entries(), status == ARMILLA_OK);
        assert_true(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY);
        assert_true(k < 1000);
    }
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    make_numbers();
    support_path(path, sizeof path, "x.mtx");
    check_refusals(false, true);
    check_refusals(true, false);
    check_refusals(false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(threads_do_not_matter), TEST(features_of_svmlight_come_back), TEST(reports_the_first_mistake),
        TEST(stops_between_rounds),  TEST(survives_refused_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
