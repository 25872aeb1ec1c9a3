/* Files that are read instead of mapped: what was opened stays whatever becomes of the file, and one that becomes
 * shorter while it is read is an error of reading, never a signal. */
#include "base/context.h"
#include "unit/support.h"

#include <armilla/armilla.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FEATURES = 5, SAMPLES = 40, CUT = 16 };

static support_allocator allocator;
static armilla_context *context;
static double numbers[FEATURES * SAMPLES];
static char path[256];

/* What the system calls of a test do besides their work. */
static struct {
    int maps;
    bool cut; /* the first read is short, and the file ends behind it from then on */
} calls;

static void *count_map(void *address, size_t count, int protection, int flags, int file, off_t offset)
{
    calls.maps++;
    return mmap(address, count, protection, flags, file, offset);
}

static ssize_t cutting_read(int file, void *bytes, size_t count)
{
    if (!calls.cut) return read(file, bytes, count);
    calls.cut = false;
    const ssize_t got = read(file, bytes, count < CUT ? count : CUT);
    assert_int_equal(truncate(path, CUT), 0);
    return got;
}

static armilla_io watched_io;

static int begin(void **state)
{
    (void)state;
    support_begin(&allocator, &context);
    watched_io = armilla_io_system;
    watched_io.map = count_map;
    watched_io.read = cutting_read;
    memset(&calls, 0, sizeof calls);
    context->io = &watched_io;
    for (int i = 0; i < FEATURES * SAMPLES; i++) numbers[i] = 1 + (7 * i * i + i) % 9;
    return 0;
}

static int end(void **state)
{
    (void)state;
    support_end(&allocator, context);
    return 0;
}

static armilla_data *wrap(void)
{
    armilla_data *X = NULL;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, numbers, FEATURES, SAMPLES, FEATURES, &X));
    return X;
}

static uint64_t fingerprint(const armilla_data *X)
{
    armilla_data_facts facts;
    support_ok(context, armilla_data_survey(context, X, 1, &facts));
    return facts.fingerprint;
}

/* The numbers as a file of the format; false where it is not written. */
static bool write_format(const char *format)
{
    armilla_data *X = wrap();
    const armilla_write_options options = {.size = sizeof(armilla_write_options), .format = format, .overwrite = true};
    const armilla_status status = armilla_data_write(context, X, support_path(path, sizeof path, "data"), &options);
    armilla_data_free(X);
    return status == ARMILLA_OK;
}

static void data_outlive_their_file(void **state)
{
    (void)state;
    int written = 0;
    armilla_data *X = wrap();
    const uint64_t wanted = fingerprint(X);
    armilla_data_free(X);
    armilla_context_set_never_map(context, true);
    for (size_t i = 0; armilla_formats_row(i); i++) {
        const armilla_read_options options = {.size = sizeof(armilla_read_options),
                                              .format = armilla_formats_row(i)->name};
        if (!write_format(options.format)) continue;
        written++;
        support_ok(context, armilla_data_open(context, path, &options, &X));
        assert_int_equal(truncate(path, 0), 0);
        assert_true(fingerprint(X) == wanted);
        armilla_data_free(X);
    }
    assert_true(written >= 6);
    assert_int_equal(calls.maps, 0);
}

static void a_file_that_shrinks_is_an_error(void **state)
{
    (void)state;
    int written = 0;
    armilla_context_set_never_map(context, true);
    for (size_t i = 0; armilla_formats_row(i); i++) {
        const armilla_read_options options = {.size = sizeof(armilla_read_options),
                                              .format = armilla_formats_row(i)->name};
        armilla_data *X = NULL;
        if (!write_format(options.format)) continue;
        written++;
        calls.cut = true;
        support_fails(context, armilla_data_open(context, path, &options, &X), ARMILLA_IO_ERROR, "became shorter");
        assert_false(calls.cut);
        assert_null(X);
    }
    assert_true(written >= 6);
    assert_int_equal(calls.maps, 0);
}

static void labels_and_lists_too(void **state)
{
    (void)state;
    char labels[SAMPLES * 4 + 1] = "";
    armilla_data *X = wrap(), *kept = NULL;
    for (int i = 0; i < SAMPLES; i++) sprintf(labels + strlen(labels), "%d\n", i % 20 + 1);
    armilla_context_set_never_map(context, true);
    support_write_file(support_path(path, sizeof path, "labels"), labels, strlen(labels));
    calls.cut = true;
    support_fails(context, armilla_data_read_labels(context, X, path), ARMILLA_IO_ERROR, "became shorter");
    support_write_file(path, labels, strlen(labels));
    calls.cut = true;
    const armilla_selection list = {.size = sizeof(armilla_selection), .samples = path};
    support_fails(context, armilla_data_select(context, X, &list, &kept), ARMILLA_IO_ERROR, "became shorter");
    support_write_file(path, labels, strlen(labels));
    support_ok(context, armilla_data_read_labels(context, X, path));
    assert_int_equal(truncate(path, 0), 0);
    assert_string_equal(armilla_data_name(X, ARMILLA_SAMPLE_LABELS, SAMPLES - 1), "20");
    armilla_data_free(X);
    assert_int_equal(calls.maps, 0);
}

static void models_too(void **state)
{
    (void)state;
    armilla_options options;
    armilla_data *X = wrap();
    armilla_model *model = NULL, *opened = NULL;
    armilla_check check;
    armilla_options_default(&options);
    options.rank = 2;
    options.threads = 1;
    support_ok(context, armilla_fit(context, X, &options, &model));
    support_ok(context, armilla_model_save(context, model, support_path(path, sizeof path, "model.npz"), true));
    armilla_context_set_never_map(context, true);
    support_ok(context, armilla_model_open(context, path, &opened));
    assert_int_equal(truncate(path, 0), 0);
    support_ok(context, armilla_model_check(context, opened, X, &check));
    armilla_model_free(opened);
    opened = NULL;
    support_ok(context, armilla_model_save(context, model, path, true));
    calls.cut = true;
    support_fails(context, armilla_model_open(context, path, &opened), ARMILLA_IO_ERROR, "became shorter");
    assert_null(opened);
    armilla_model_free(model);
    armilla_data_free(X);
    assert_int_equal(calls.maps, 0);
}

/* Without the wish files are mapped, and after it is taken back; files whose size is not their own are read anyhow. */
static void only_where_it_is_wished(void **state)
{
    (void)state;
    armilla_data *X = NULL;
    assert_true(write_format("npy"));
    support_ok(context, armilla_data_open(context, path, NULL, &X));
    armilla_data_free(X);
    assert_int_equal(calls.maps, 1);
    armilla_context_set_never_map(context, true);
    support_ok(context, armilla_data_open(context, path, NULL, &X));
    armilla_data_free(X);
    assert_int_equal(calls.maps, 1);
    armilla_context_set_never_map(context, false);
    support_ok(context, armilla_data_open(context, path, NULL, &X));
    armilla_data_free(X);
    assert_int_equal(calls.maps, 2);
}

static int overstated_fstat(int file, struct stat *facts)
{
    const int result = fstat(file, facts);
    facts->st_size += 4096;
    return result;
}

static void a_size_that_was_never_true(void **state)
{
    (void)state;
    armilla_data *X = wrap();
    const uint64_t wanted = fingerprint(X);
    armilla_data_free(X);
    assert_true(write_format("csv"));
    watched_io.fstat = overstated_fstat;
    armilla_context_set_never_map(context, true);
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .format = "csv"};
    support_ok(context, armilla_data_open(context, path, &options, &X));
    assert_true(fingerprint(X) == wanted);
    armilla_data_free(X);
}

#define ROW(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW(data_outlive_their_file), ROW(a_file_that_shrinks_is_an_error), ROW(labels_and_lists_too), ROW(models_too),
        ROW(only_where_it_is_wished), ROW(a_size_that_was_never_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
