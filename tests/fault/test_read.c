/* Every system call of reading made to fail in turn, for every format, for labels and for lists: the status and the
 * message say that a file could not be read, and why, and never that something is wrong with its content; no descriptor
 * and no memory is lost; what is read in spite of a failure is what is read without it. Interruptions and short reads
 * change nothing. */
#include "unit/faults.h"
#include "unit/support.h"

#include "base/number.h"

#include <armilla/data.h>

#include <png.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { MOST_CALLS = 200, MOST_BYTES = 1024, MOST_TEXT = 512 };

static const char matrix[] = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 4\n";
static const char idx[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4};
static const char fvecs[] = {1, 0, 0, 0, 0, 0, 0x40, 0x3f, 1, 0, 0, 0, 0, 0, 0, 0x40};
static const char u8bin[] = {2, 0, 0, 0, 2, 0, 0, 0, 1, 2, 3, 4};
static const char safetensors[] =
    "@\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"U8\",\"shape\":[2, 2],\"data_offsets\":[0,4]}}        \1\2\3\4";
static const char idx_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 9};

#define TEXT(words) words, sizeof(words) - 1
#define BYTES(bytes) bytes, sizeof(bytes)

static const struct input {
    const char *file, *content;
    size_t count;
    bool packed; /* by gzip */
} inputs[] = {
    {"t.csv", TEXT("1,2\n3,4\n"), false},
    {"t.csv.gz", TEXT("1,2\n3,4\n"), true},
    {"t.mtx", matrix, sizeof matrix - 1, false},
    {"t.svm", TEXT("1 1:2\n-1 2:3\n"), false},
    {"t.pgm", TEXT("P2 2 2 9\n1 2\n3 9\n"), false},
    {"t.idx", BYTES(idx), false},
    {"t.idx.gz", BYTES(idx), true},
    {"t.fvecs", BYTES(fvecs), false},
    {"t.fvecs.gz", BYTES(fvecs), true},
    {"t.u8bin", BYTES(u8bin), false},
    {"t.safetensors", TEXT(safetensors), false},
    {"t.vec", TEXT("2 2\na 1 2\nb 3 4\n"), false},
    {"t.bin", TEXT("2 1\na \0\0\200\77b \0\0\0\100"), false},
    {"t.glove", TEXT("a 1 2\nb 3 4\n"), false},
    {"labels.txt", TEXT("red\nblue\n"), false},
    {"labels.txt.gz", TEXT("red\nblue\n"), true},
    {"labels.idx", BYTES(idx_labels), false},
    {"list.txt", TEXT("2\n"), false},
    {"ten/matrix.mtx.gz", matrix, sizeof matrix - 1, true},
    {"ten/genes.tsv", TEXT("a\nb\n"), false},
    {"ten/barcodes.tsv.gz", TEXT("c\nd\n"), true},
    {"pictures/1.pgm", TEXT("P2 2 2 9\n1 2\n3 9\n"), false},
};

/* What is opened: data, with labels and a list of samples where they are named. */
static const struct opening {
    const char *data, *labels, *list;
} opened[] = {
    {"t.csv", NULL, NULL},         {"t.csv.gz", NULL, NULL},
    {"t.mtx", NULL, NULL},         {"t.svm", NULL, NULL},
    {"t.pgm", NULL, NULL},         {"t.png", NULL, NULL},
    {"t.npy", NULL, NULL},         {"t.npz", NULL, NULL},
    {"t.idx", NULL, NULL},         {"t.idx.gz", NULL, NULL},
    {"t.fvecs", NULL, NULL},       {"t.fvecs.gz", NULL, NULL},
    {"t.u8bin", NULL, NULL},       {"t.safetensors", NULL, NULL},
    {"t.vec", NULL, NULL},         {"t.bin", NULL, NULL},
    {"t.glove", NULL, NULL},       {"ten", NULL, NULL},
    {"pictures", NULL, NULL},      {"t.csv", "labels.txt", NULL},
    {"t.csv", "labels.idx", NULL}, {"t.csv", "labels.txt.gz", NULL},
    {"t.csv", NULL, "list.txt"},   {"t.idx", "labels.txt", "list.txt"},
};

enum { OPENED = sizeof opened / sizeof *opened };

static size_t pack(const char *content, size_t count, unsigned char packed[MOST_BYTES])
{
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)content,
                       .avail_in = (unsigned)count,
                       .next_out = packed,
                       .avail_out = MOST_BYTES};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const size_t size = stream.total_out;
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return size;
}

static void write_png(const char *name)
{
    static const unsigned char pixels[4] = {1, 2, 3, 9};
    png_image image = {.version = PNG_IMAGE_VERSION, .width = 2, .height = 2, .format = PNG_FORMAT_GRAY};
    char path[256];
    assert_true(png_image_write_to_file(&image, support_path(path, sizeof path, name), 0, pixels, 2, NULL));
}

static int write_inputs(void **state)
{
    char path[256], to[256];
    unsigned char packed[MOST_BYTES];
    armilla_context *context = support_context();
    armilla_data *data = NULL;
    (void)state;
    assert_int_equal(mkdir(support_path(path, sizeof path, "ten"), 0700), 0);
    assert_int_equal(mkdir(support_path(path, sizeof path, "pictures"), 0700), 0);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        const struct input *input = &inputs[i];
        const size_t size = input->packed ? pack(input->content, input->count, packed) : input->count;
        support_write_file(support_path(path, sizeof path, input->file),
                           input->packed ? (const void *)packed : input->content, size);
    }
    write_png("t.png");
    write_png("pictures/2.png");
    support_ok(context, armilla_data_open(context, support_path(path, sizeof path, "t.csv"), NULL, &data));
    support_ok(context, armilla_data_write(context, data, support_path(to, sizeof to, "t.npy"), NULL));
    support_ok(context, armilla_data_write(context, data, support_path(to, sizeof to, "t.npz"), NULL));
    armilla_data_free(data);
    armilla_context_free(context);
    return 0;
}

/* Everything that was read, as text. */
static void describe(armilla_context *context, const armilla_data *data, char text[MOST_TEXT])
{
    const int64_t m = armilla_data_features(data), n = armilla_data_samples(data);
    size_t used = (size_t)snprintf(text, MOST_TEXT, "%d x %d:", (int)m, (int)n);
    for (int64_t j = 0; j < n; j++) {
        double sample[8];
        const char *name = armilla_data_name(data, ARMILLA_SAMPLE_NAMES, j);
        const char *label = armilla_data_name(data, ARMILLA_SAMPLE_LABELS, j);
        assert_in_range(m, 1, 8);
        support_ok(context, armilla_data_sample(context, data, j, sample));
        used += (size_t)snprintf(text + used, MOST_TEXT - used, " %s %s", name ? name : "-", label ? label : "-");
        for (int64_t i = 0; i < m; i++) used += (size_t)snprintf(text + used, MOST_TEXT - used, " %g", sample[i]);
    }
    assert_true(used < MOST_TEXT);
}

static armilla_status open_all(armilla_context *context, const struct opening *opening, armilla_data **source,
                               armilla_data **kept)
{
    char data[256], labels[256], list[256];
    const armilla_read_options options = {
        .size = sizeof(armilla_read_options),
        .threads = 1,
        .labels = opening->labels ? support_path(labels, sizeof labels, opening->labels) : NULL};
    const armilla_selection selection = {.size = sizeof(armilla_selection),
                                         .samples =
                                             opening->list ? support_path(list, sizeof list, opening->list) : NULL};
    const armilla_status status =
        armilla_data_open(context, support_path(data, sizeof data, opening->data), &options, source);
    if (status != ARMILLA_OK || !opening->list) return status;
    return armilla_data_select(context, *source, &selection, kept);
}

/* One reading with call k failing; text = what was read, untouched where nothing was. */
static armilla_status read_once(const struct opening *opening, int k, int error, char text[MOST_TEXT])
{
    support_allocator allocator = SUPPORT_ALLOCATOR;
    armilla_context *context = support_context_with(&allocator);
    armilla_data *source = NULL, *kept = NULL;
    char directory[256];
    fault_set(k, error);
    context->io = &fault_io;
    const armilla_status status = open_all(context, opening, &source, &kept);
    assert_true((status == ARMILLA_OK) == ((opening->list ? kept : source) != NULL));
    if (status == ARMILLA_OK) {
        describe(context, kept ? kept : source, text);
    } else {
        assert_true(fault.hit);
        assert_true(status == ARMILLA_CANNOT_OPEN || status == ARMILLA_IO_ERROR);
        assert_ptr_equal(strstr(armilla_context_error(context), support_path(directory, sizeof directory, "")),
                         armilla_context_error(context));
        assert_non_null(strstr(armilla_context_error(context), armilla_error_text(error)));
    }
    armilla_data_free(kept);
    armilla_data_free(source);
    armilla_context_free(context);
    assert_int_equal(allocator.live, 0);
    return status;
}

/* k = 0, 1, 2, ... until nothing fails any more; how many of them ended the reading. */
static int fail_each(const struct opening *opening, int error)
{
    char expected[MOST_TEXT] = "";
    int ended = 0, k = 0;
    assert_int_equal(read_once(opening, -1, 0, expected), ARMILLA_OK);
    do {
        char text[MOST_TEXT] = "";
        if (read_once(opening, k, error, text) == ARMILLA_OK)
            assert_string_equal(text, expected);
        else
            ended++;
    } while (fault.hit && ++k < MOST_CALLS);
    assert_true(k > 2 && k < MOST_CALLS);
    return ended;
}

static void every_call_fails_in_turn(void **state)
{
    const int errors[] = {EIO, ENOMEM, EACCES}, before = fault_next_descriptor();
    (void)state;
    fault.only_interruptible = false;
    for (int no_map = 0; no_map < 2; no_map++)
        for (int i = 0; i < OPENED; i++)
            for (int e = 0; e < 3; e++) {
                fault.no_map = no_map;
                assert_true(fail_each(&opened[i], errors[e]) >= (no_map ? 4 : 3)); /* stat, open, fstat, a read */
            }
    assert_int_equal(fault_next_descriptor(), before);
}

static void interruptions_change_nothing(void **state)
{
    (void)state;
    fault.only_interruptible = true;
    fault.no_map = true;
    for (int i = 0; i < OPENED; i++) assert_int_equal(fail_each(&opened[i], EINTR), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_in_turn),
        cmocka_unit_test(interruptions_change_nothing),
    };
    return cmocka_run_group_tests_name("read faults", tests, write_inputs, NULL);
}
