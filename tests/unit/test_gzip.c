/* gzip as a layer under every format: members, padding, damage at every byte, limits and refused memory. */
#include "fixture.h"

#include "files/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST_PACKED = 1 << 16 };

static char path[256];
static const armilla_read_options usual = {.size = sizeof(armilla_read_options), .format = NULL};

static int set_up_path(void **state)
{
    support_path(path, sizeof path, "data.csv.gz");
    return set_up(state);
}

/* One gzip member; its size. */
static size_t pack(const void *text, size_t count, unsigned char *to)
{
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)text, .avail_in = (unsigned)count};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_out = to;
    stream.avail_out = MOST_PACKED;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return stream.total_out;
}

static armilla_status open_packed(const unsigned char *packed, size_t count, const armilla_read_options *options,
                                  armilla_data **data)
{
    support_write_file(path, packed, count);
    return armilla_data_open(context, path, options, data);
}

static void expect_shape(armilla_data **data, int64_t n, int64_t m)
{
    assert_int_equal(armilla_data_samples(*data), n);
    assert_int_equal(armilla_data_features(*data), m);
    armilla_data_free(*data);
    *data = NULL;
}

static void unpacks_what_a_reader_reads(void **state)
{
    (void)state;
    static const char idx[] = "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
                              "abcdef";
    unsigned char packed[MOST_PACKED];
    armilla_data *data = NULL;
    const armilla_read_options csv = {.size = sizeof(armilla_read_options), .format = "csv"};
    size_t count = pack("1,2\n3,4\n5,6\n", 12, packed);
    support_ok(context, open_packed(packed, count, &usual, &data));
    expect_shape(&data, 3, 2);
    support_path(path, sizeof path, "data.GZ"); /* the name says nothing of the format */
    support_fails(context, open_packed(packed, count, &usual, &data), ARMILLA_BAD_DATA, "unknown");
    support_ok(context, open_packed(packed, count, &csv, &data));
    expect_shape(&data, 3, 2);
    count = pack(idx, sizeof idx - 1, packed); /* known by what is inside */
    support_ok(context, open_packed(packed, count, &usual, &data));
    assert_string_equal(armilla_data_storage(data), "dense u8");
    expect_shape(&data, 2, 3);
}

static void joins_members_and_ignores_padding(void **state)
{
    (void)state;
    unsigned char packed[MOST_PACKED];
    armilla_data *data = NULL;
    size_t count = pack("1,2\n3", 5, packed);
    count += pack("", 0, packed + count);
    count += pack(",4\n", 3, packed + count);
    support_ok(context, open_packed(packed, count, &usual, &data));
    expect_shape(&data, 2, 2);
    memset(packed + count, 0, 512);
    support_ok(context, open_packed(packed, count + 512, &usual, &data));
    expect_shape(&data, 2, 2);
    packed[count + 511] = '!';
    support_fails(context, open_packed(packed, count + 512, &usual, &data), ARMILLA_BAD_DATA,
                  "512 bytes that are no gzip data follow");
    assert_null(data);
}

/* A change anywhere is noticed, except in the few bytes of the header that mean nothing to us. */
static void notices_damage(void **state)
{
    (void)state;
    enum { HEADER = 10 };
    unsigned char packed[MOST_PACKED];
    char text[4096];
    size_t used = 0;
    armilla_data *data = NULL;
    for (int i = 0; i < 300; i++) used += (size_t)sprintf(text + used, "%d,%d\n", i, i * i % 97);
    const size_t count = pack(text, used, packed);
    for (size_t cut = 1; cut < count; cut++)
        assert_int_equal(open_packed(packed, cut, &usual, &data), ARMILLA_BAD_DATA);
    support_fails(context, open_packed(packed, count - 1, &usual, &data), ARMILLA_BAD_DATA, "is cut short");
    for (size_t at = HEADER; at < count; at++) {
        packed[at] ^= 0x55;
        assert_int_equal(open_packed(packed, count, &usual, &data), ARMILLA_BAD_DATA);
        packed[at] ^= 0x55;
    }
    packed[count - 8] ^= 1;
    support_fails(context, open_packed(packed, count, &usual, &data), ARMILLA_BAD_DATA,
                  "gzip data are damaged at byte");
    assert_null(data);
}

static void refuses_what_is_empty_or_packed_twice(void **state)
{
    (void)state;
    unsigned char once[MOST_PACKED], twice[MOST_PACKED];
    armilla_data *data = NULL;
    size_t count = pack("", 0, once);
    support_fails(context, open_packed(once, count, &usual, &data), ARMILLA_BAD_DATA, "is empty, once unpacked");
    count = pack("1,2\n", 4, once);
    count = pack(once, count, twice);
    support_fails(context, open_packed(twice, count, &usual, &data), ARMILLA_BAD_DATA, "or twice; unpack it first");
    assert_null(data);
}

/* Eight million blanks in eight thousand bytes. */
static void bounds_what_it_unpacks(void **state)
{
    (void)state;
    enum { BLANKS = 8 << 20 };
    unsigned char packed[MOST_PACKED];
    armilla_data *data = NULL;
    char *text = malloc(BLANKS);
    assert_non_null(text);
    memset(text, ' ', BLANKS);
    memcpy(text, "1,2\n", 4);
    text[BLANKS - 1] = '\n';
    const size_t count = pack(text, BLANKS, packed);
    assert_true(count < 10000);
    armilla_read_options options = {.size = sizeof(armilla_read_options), .memory = BLANKS - 1};
    support_fails(context, open_packed(packed, count, &options, &data), ARMILLA_NO_MEMORY, "raise the limit by memory");
    options.memory = 100000;
    allocator.largest = 0;
    support_fails(context, open_packed(packed, count, &options, &data), ARMILLA_NO_MEMORY, "unpack to more than");
    assert_true(allocator.largest < 100000);
    support_ok(context, open_packed(packed, count, &usual, &data));
    expect_shape(&data, 1, 2);
    memset(packed + count - 4, 0xff, 4); /* a size that deflate cannot reach is not believed */
    support_fails(context, open_packed(packed, count, &usual, &data), ARMILLA_BAD_DATA, "length check");
    free(text);
}

typedef struct recorded {
    int64_t calls, done, total, stages;
} recorded;

static int listen(void *user, const armilla_progress *progress)
{
    const int64_t done = progress->done, total = progress->total;
    recorded *h = user;
    assert_true(done >= 0 && done <= total);
    if (total != h->total || done < h->done) h->stages++;
    h->calls++;
    h->done = done;
    h->total = total;
    return 0;
}

/* Both stages tell how far they are: first in bytes of the file, then in bytes of the text. */
static void tells_its_progress(void **state)
{
    (void)state;
    enum { COUNT = 10 << 20 };
    recorded h = {0};
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .threads = 1};
    char *text = malloc(COUNT);
    unsigned char *packed = malloc(COUNT + MOST_PACKED);
    armilla_bytes bytes;
    armilla_data *data = NULL;
    uLongf count = COUNT + MOST_PACKED;
    z_stream stream = {.next_in = (unsigned char *)text, .avail_in = COUNT, .next_out = packed};
    for (int i = 0; i < COUNT; i += 4) memcpy(text + i, "1,2\n", 4);
    stream.avail_out = (unsigned)count;
    assert_int_equal(deflateInit2(&stream, 0, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    count = stream.total_out;
    assert_int_equal(deflateEnd(&stream), Z_OK);
    support_write_file(path, packed, count);
    support_ok(context, armilla_bytes_open(context, path, &bytes));
    armilla_context_set_watch(context, listen, &h);
    support_ok(context, armilla_call_enter(context, 1));
    support_ok(context, armilla_bytes_unpack(context, &bytes));
    armilla_call_leave(context);
    assert_int_equal(h.total, count);
    assert_int_equal(h.stages, 1);
    assert_true(h.calls >= 3 && h.done > COUNT / 2);
    assert_int_equal(bytes.count, COUNT);
    armilla_bytes_free(context, &bytes);
    support_ok(context, armilla_data_open(context, path, &options, &data));
    assert_int_equal(h.total, COUNT);
    assert_int_equal(h.done, COUNT);
    assert_true(h.stages >= 3);
    armilla_context_set_watch(context, NULL, NULL);
    armilla_data_free(data);
    free(packed);
    free(text);
}

static void survives_refused_memory(void **state)
{
    (void)state;
    unsigned char packed[MOST_PACKED];
    armilla_data *data = NULL;
    const size_t count = pack("1,2\n3,4\n", 8, packed);
    armilla_status status = ARMILLA_NO_MEMORY;
    int64_t granted = 0;
    for (; status != ARMILLA_OK; granted++) {
        const int64_t before = allocator.live;
        allocator.countdown = granted;
        allocator.taken = 0;
        status = open_packed(packed, count, &usual, &data);
        allocator.countdown = -1;
        if (status == ARMILLA_OK) break;
        assert_int_equal(status, ARMILLA_NO_MEMORY);
        assert_int_equal(allocator.live, before);
        assert_null(data);
    }
    assert_true(granted > 3);
    armilla_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(unpacks_what_a_reader_reads, set_up_path, tear_down),
        cmocka_unit_test_setup_teardown(joins_members_and_ignores_padding, set_up_path, tear_down),
        cmocka_unit_test_setup_teardown(notices_damage, set_up_path, tear_down),
        cmocka_unit_test_setup_teardown(refuses_what_is_empty_or_packed_twice, set_up_path, tear_down),
        cmocka_unit_test_setup_teardown(bounds_what_it_unpacks, set_up_path, tear_down),
        cmocka_unit_test_setup_teardown(tells_its_progress, set_up_path, tear_down),
        cmocka_unit_test_setup_teardown(survives_refused_memory, set_up_path, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
