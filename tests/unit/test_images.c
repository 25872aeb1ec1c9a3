/* PNG and PGM images and folders of them: depths, orders, what differs, truncation and damage anywhere, limits, refused
 * allocations. */
#include "fixture.h"

#include "files/images.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { WIDTH = 7, HEIGHT = 5, MOST = 4096 };

static char folder[256];

static int set_up_folder(void **state)
{
    (void)set_up(state);
    support_path(folder, sizeof folder, "images");
    assert_int_equal(mkdir(folder, 0700), 0);
    return 0;
}

static void put(const char *name, const void *bytes, size_t count)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    support_write_file(path, bytes, count);
}

static void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

/* A gray PNG whose pixel i is i * step. */
static size_t make_png(int step, unsigned char bytes[MOST])
{
    unsigned char pixels[WIDTH * HEIGHT];
    png_image image = {.version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT, .format = PNG_FORMAT_GRAY};
    png_alloc_size_t count = MOST;
    for (int i = 0; i < WIDTH * HEIGHT; i++) pixels[i] = (unsigned char)(i * step);
    assert_true(png_image_write_to_memory(&image, bytes, &count, 0, pixels, WIDTH, NULL));
    return count;
}

static armilla_data *open_folder(void)
{
    armilla_data *data = NULL;
    support_ok(context, armilla_data_open(context, folder, NULL, &data));
    return data;
}

static void refuses(const armilla_read_options *options, armilla_status status, const char *words)
{
    armilla_data *data = NULL;
    support_fails(context, armilla_data_open(context, folder, options, &data), status, words);
    assert_null(data);
}

static void reads_a_folder_in_natural_order(void **state)
{
    static const struct {
        const char *name;
        int step;
    } files[] = {{"b9.png", 3},    {"b10.PNG", 4},   {"a.png", 1}, {"b09.png", 2},
                 {"b010x.png", 5}, {"c.png.png", 7}, {"c.png", 6}};
    static const char *const sorted[] = {"a.png", "b09.png", "b9.png", "b10.PNG", "b010x.png", "c.png", "c.png.png"};
    unsigned char bytes[MOST];
    double sample[WIDTH * HEIGHT];
    (void)state;
    for (size_t i = 0; i < 7; i++) put(files[i].name, bytes, make_png(files[i].step, bytes));
    put_text("README", "not an image");
    put_text(".hidden.png", "not an image");
    armilla_data *data = open_folder();
    assert_int_equal(armilla_data_samples(data), 7);
    assert_int_equal(armilla_data_features(data), WIDTH * HEIGHT);
    assert_string_equal(armilla_data_storage(data), "dense u8");
    for (int j = 0; j < 7; j++) {
        assert_string_equal(armilla_data_name(data, ARMILLA_SAMPLE_NAMES, j), sorted[j]);
        support_ok(context, armilla_data_sample(context, data, j, sample));
        for (int i = 0; i < WIDTH * HEIGHT; i++) assert_true(sample[i] == (unsigned char)(i * (j + 1)));
    }
    armilla_data_free(data);
}

static void reads_pgm(void **state)
{
    static const struct {
        const char *bytes;
        size_t count;
        double wanted[4];
        const char *storage;
    } cases[] = {
        {"P2\n# a comment\n2 2 # another\n255\n0 1\n254 255\n", 45, {0, 1, 254, 255}, "dense u8"},
        {"P2 2 2 65535 0 256 65535 7", 26, {0, 256, 65535, 7}, "dense f32"},
        {"P5 2 2 255\n\0\x01\xfe\xff", 15, {0, 1, 254, 255}, "dense u8"},
        {"P5#x\n2\t2\r15\n\0\x01\x0f\x02", 16, {0, 1, 15, 2}, "dense u8"},
        {"P5 2 2 256\n\0\0\0\x01\x01\0\0\x02\n", 20, {0, 1, 256, 2}, "dense f32"},
    };
    double sample[4];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put("x.pgm", cases[i].bytes, cases[i].count);
        armilla_data *data = open_folder();
        assert_string_equal(armilla_data_storage(data), cases[i].storage);
        support_ok(context, armilla_data_sample(context, data, 0, sample));
        for (int k = 0; k < 4; k++) assert_true(sample[k] == cases[i].wanted[k]);
        armilla_data_free(data);
    }
}

static void refuses_bad_pgm(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"P2 2 2 255\n1 2 3", "the file is cut short"},
        {"P2 2 2 255\n1 2 3 4 5", "something stands behind"},
        {"P2 2 2 255\n1 2 3 256", "a number is too large"},
        {"P2 2 2 255\n1 2 x 4", "a number is expected"},
        {"P2 0 2 255\n", "is 0"},
        {"P2 2 2 65536\n1 2 3 4", "a number is too large"},
        {"P2 1000001 2 255\n", "a number is too large"},
        {"P2 1000000 1000000 255\n1 2 3", "the file is cut short"},
        {"P5 2 2 255\nabc", "the file is cut short"},
        {"P5 2 2 255\nabcde", "something stands behind"},
        {"P5 2 2 90\nabcd", "above the largest"},
        {"P5 2 2 255", "a blank is expected"},
        {"P6 2 2 255\nabcd", "neither a PNG nor a PGM"},
        {"P2", "neither a PNG nor a PGM"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_text("x.pgm", cases[i].text);
        refuses(NULL, ARMILLA_BAD_DATA, cases[i].words);
    }
}

static void names_the_first_that_differs(void **state)
{
    (void)state;
    put_text("1.pgm", "P2 2 1 9 1 2");
    put_text("2.pgm", "P2 2 1 9 3 4");
    put_text("3.pgm", "P2 1 2 9 3 4");
    refuses(NULL, ARMILLA_BAD_DATA, "3.pgm: has 1 x 2 pixels, and ");
    put_text("3.pgm", "P2 2 1 900 3 4");
    refuses(NULL, ARMILLA_BAD_DATA, "3.pgm: has 16 bits per pixel, and ");
    put_text("3.pgm", "P2 2 1 9 3 4");
    refuses(&(armilla_read_options){.size = sizeof(armilla_read_options), .memory = 5}, ARMILLA_NO_MEMORY,
            "the limit is 5 bytes; raise it by memory");
    refuses(&(armilla_read_options){.size = sizeof(armilla_read_options), .format = "npy"}, ARMILLA_CANNOT_OPEN,
            "is a directory");
    armilla_data *data = NULL;
    support_clean();
    assert_int_equal(mkdir(folder, 0700), 0);
    support_fails(context, armilla_data_open(context, folder, NULL, &data), ARMILLA_CANNOT_OPEN,
                  "none that holds data");
    refuses(&(armilla_read_options){.size = sizeof(armilla_read_options), .format = "images"}, ARMILLA_BAD_DATA,
            "has no images");
}

/* Nothing waits for the other end of a pipe, and nothing reads a device: the folder is refused before any image is read. */
static void refuses_pipes_and_devices(void **state)
{
    char path[512];
    (void)state;
    put_text("1.pgm", "P2 2 1 9 1 2");
    snprintf(path, sizeof path, "%s/2.pgm", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    refuses(NULL, ARMILLA_CANNOT_OPEN, "2.pgm: is a pipe or a device");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/zero", path), 0);
    refuses(NULL, ARMILLA_CANNOT_OPEN, "2.pgm: is a pipe or a device");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("1.pgm", path), 0); /* a name of an image is one */
    armilla_data *data = open_folder();
    assert_int_equal(armilla_data_samples(data), 2);
    armilla_data_free(data);
}

/* JPEG is not read, and the message says what to do: of a folder, of folders, and of a file. */
static void explains_jpeg(void **state)
{
    static const char jpeg[] = "\xff\xd8\xff\xe0\1\1" /* a segment of 257 bytes */
                               "................................................................"
                               "................................................................"
                               "................................................................"
                               "..............................................................."
                               "\xff\xdb and more";
    char path[512], class[512];
    armilla_data *data = NULL;
    (void)state;
    snprintf(class, sizeof class, "%s/class", folder);
    assert_int_equal(mkdir(class, 0700), 0);
    put_text("class/a.JPEG", jpeg);
    put_text("b.txt", jpeg);
    put_text("class/c.jpg", jpeg);
    refuses(NULL, ARMILLA_BAD_DATA, "has JPEG images, which are not read");
    snprintf(path, sizeof path, "%s/b.txt", folder);
    support_fails(context, armilla_data_open(context, path, NULL, &data), ARMILLA_BAD_DATA, "is a JPEG image");
    put_text("class/d.pgm", "P2 2 1 9 7 8"); /* beside images they are files like others */
    data = open_folder();
    assert_int_equal(armilla_data_samples(data), 1);
    armilla_data_free(data);
}

static void put_class(const char *class, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, class);
    (void)mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s", class, name);
    put_text(path, text);
}

/* A folder for each class: its name is the label. Images beside the folders come first, and then alone. */
static void takes_folders_for_classes(void **state)
{
    static const char *const names[] = {"cat/2.pgm", "cat/10.pgm", "dog/1.pgm", "dog 2/1.pgm"};
    static const char *const labels[] = {"cat", "cat", "dog", "dog 2"};
    static const int order[] = {0, 1, 3, 2}; /* a blank comes before the slash */
    (void)state;
    put_class("dog", "1.pgm", "P2 2 1 9 5 6");
    put_class("cat", "10.pgm", "P2 2 1 9 3 4");
    put_class("cat", "2.pgm", "P2 2 1 9 1 2");
    put_class("dog 2", "1.pgm", "P2 2 1 9 7 8");
    put_class("empty", "notes.txt", "no image");
    put_class(".hidden", "1.pgm", "P2 1 1 9 1");
    armilla_data *data = open_folder();
    assert_int_equal(armilla_data_samples(data), 4);
    for (int j = 0; j < 4; j++) {
        double sample[2];
        assert_string_equal(armilla_data_name(data, ARMILLA_SAMPLE_NAMES, j), names[order[j]]);
        assert_string_equal(armilla_data_name(data, ARMILLA_SAMPLE_LABELS, j), labels[order[j]]);
        support_ok(context, armilla_data_sample(context, data, j, sample));
        assert_true(sample[0] == 2 * order[j] + 1 && sample[1] == 2 * order[j] + 2);
    }
    armilla_data_free(data);
    put_text("alone.pgm", "P2 2 1 9 7 8");
    data = open_folder();
    assert_int_equal(armilla_data_samples(data), 1);
    assert_null(armilla_data_name(data, ARMILLA_SAMPLE_LABELS, 0));
    armilla_data_free(data);
    put_class("cat", "11.pgm", "P2 1 1 9 3");
    char path[512];
    snprintf(path, sizeof path, "%s/alone.pgm", folder);
    assert_int_equal(remove(path), 0);
    refuses(NULL, ARMILLA_BAD_DATA, "cat/11.pgm: has 1 x 1 pixels, and ");
}

/* Rows and columns of the images go into the model of a fit, and come back from its file. */
static void models_know_the_size(void **state)
{
    char path[256];
    armilla_options options;
    armilla_model *model = NULL, *back = NULL;
    armilla_model_summary summary;
    (void)state;
    put_text("1.pgm", "P2 3 2 9 1 2 3 4 5 6");
    put_text("2.pgm", "P2 3 2 9 3 4 7 1 1 1");
    armilla_data *data = open_folder(), *kept = NULL;
    armilla_selection selection = {.size = sizeof selection, .features = "2-5"};
    support_ok(context, armilla_data_select(context, data, &selection, &kept));
    armilla_options_default(&options);
    options.rank = 1;
    support_ok(context, armilla_fit(context, kept, &options, &model));
    support_path(path, sizeof path, "model.npz");
    support_ok(context, armilla_model_save(context, model, path, true));
    support_ok(context, armilla_model_open(context, path, &back));
    const armilla_model *const both[] = {model, back};
    for (int i = 0; i < 2; i++) {
        armilla_model_summarize(both[i], &summary);
        assert_int_equal(summary.image_rows, 2);
        assert_int_equal(summary.image_columns, 3);
        assert_int_equal(summary.m, 4);
    }
    armilla_model_free(back);
    armilla_model_free(model);
    armilla_data_free(kept);
    armilla_data_free(data);
}

/* A header that declares 10^12 pixels, with its checksum right, and few bytes. */
static void bounds_declared_pixels(void **state)
{
    unsigned char bytes[MOST];
    (void)state;
    const size_t count = make_png(1, bytes);
    const unsigned char side[4] = {0, 0x0f, 0x42, 0x40};
    memcpy(bytes + 16, side, 4);
    memcpy(bytes + 20, side, 4);
    const uint32_t check = (uint32_t)crc32(0, bytes + 12, 17);
    for (int i = 0; i < 4; i++) bytes[29 + i] = (unsigned char)(check >> (24 - 8 * i));
    put("x.png", bytes, count);
    refuses(NULL, ARMILLA_BAD_DATA, "more pixels than its bytes can hold");
    put("x.png", bytes, make_png(1, bytes));
    refuses(&(armilla_read_options){.size = sizeof(armilla_read_options), .memory = 3 * WIDTH * HEIGHT - 1},
            ARMILLA_NO_MEMORY, "raise it by memory");
    enum { SIDE = 1500 };
    char *pixels = calloc(SIDE, SIDE), header[32];
    png_image image = {.version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE, .format = PNG_FORMAT_GRAY};
    png_alloc_size_t large = 1 << 20;
    unsigned char *packed = malloc(large);
    assert_true(pixels && packed && png_image_write_to_memory(&image, packed, &large, 0, pixels, SIDE, NULL));
    put("x.png", packed, large);
    refuses(&(armilla_read_options){.size = sizeof(armilla_read_options), .memory = 3 * SIDE * SIDE - 1},
            ARMILLA_NO_MEMORY, "x.png: out of memory: its pixels need");
    snprintf(header, sizeof header, "P5 %d %d 255\n", SIDE, SIDE / 500);
    put_text("x.png", header); /* no bytes behind it */
    refuses(NULL, ARMILLA_BAD_DATA, "cut short");
    free(packed);
    free(pixels);
}

static void survive(unsigned char *bytes, size_t count)
{
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .format = NULL};
    armilla_context_set_memory(context, 1 << 24);
    for (size_t kept = 1; kept < count; kept++) {
        armilla_bytes cut = {.path = "x", .start = bytes, .count = kept};
        armilla_data *data = NULL;
        assert_int_equal(armilla_format_images.read(context, &cut, &options, &data), ARMILLA_BAD_DATA);
        assert_null(data);
    }
    for (size_t i = 0; i < count; i++)
        for (int turn = 1; turn < 256; turn++) {
            armilla_bytes changed = {.path = "x", .start = bytes, .count = count};
            armilla_data *data = NULL;
            bytes[i] = (unsigned char)(bytes[i] ^ turn);
            if (armilla_format_images.read(context, &changed, &options, &data) == ARMILLA_OK)
                armilla_data_free(data);
            else
                assert_true(strlen(armilla_context_error(context)) > 10);
            bytes[i] = (unsigned char)(bytes[i] ^ turn);
        }
}

static void survives_truncation_and_damage(void **state)
{
    unsigned char bytes[MOST], text[] = "P2 3 2 99 1 2 3 4 5 6", binary[] = "P5 3 2 300 \0\1\0\2\0\3\0\4\0\5\0\6";
    (void)state;
    survive(bytes, make_png(7, bytes));
    survive(text, sizeof text - 1);
    survive(binary, sizeof binary - 1);
}

/* Reads the folder again and again, and each time another allocation fails. */
static void refuse_allocations(void)
{
    for (int64_t k = 0;; k++) {
        support_allocator failing = SUPPORT_ALLOCATOR;
        armilla_context *own = support_context_with(&failing);
        armilla_data *data = NULL;
        failing.countdown = failing.taken + k;
        const armilla_status status = armilla_data_open(own, folder, NULL, &data);
        armilla_data_free(data);
        armilla_context_free(own);
        assert_int_equal(failing.live, 0);
        if (status == ARMILLA_OK) break;
        assert_int_equal(status, ARMILLA_NO_MEMORY);
        assert_true(k < 1000);
    }
}

static void survives_refused_allocations(void **state)
{
    unsigned char bytes[MOST];
    (void)state;
    put_class("a", "1.pgm", "P2 2 1 9 5 6");
    put_class("b", "2.pgm", "P2 2 1 9 5 6");
    refuse_allocations();
    put("1.png", bytes, make_png(1, bytes));
    put("2.png", bytes, make_png(2, bytes));
    refuse_allocations();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_a_folder_in_natural_order, set_up_folder, tear_down),
        cmocka_unit_test_setup_teardown(reads_pgm, set_up_folder, tear_down),
        cmocka_unit_test_setup_teardown(refuses_bad_pgm, set_up_folder, tear_down),
        cmocka_unit_test_setup_teardown(names_the_first_that_differs, set_up_folder, tear_down),
        cmocka_unit_test_setup_teardown(refuses_pipes_and_devices, set_up_folder, tear_down),
        cmocka_unit_test_setup_teardown(takes_folders_for_classes, set_up_folder, tear_down),
        cmocka_unit_test_setup_teardown(explains_jpeg, set_up_folder, tear_down),
        cmocka_unit_test_setup_teardown(models_know_the_size, set_up_folder, tear_down),
        cmocka_unit_test_setup_teardown(bounds_declared_pixels, set_up_folder, tear_down),
        cmocka_unit_test_setup_teardown(survives_truncation_and_damage, set_up_folder, tear_down),
        cmocka_unit_test_setup_teardown(survives_refused_allocations, set_up_folder, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
