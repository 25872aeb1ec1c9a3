/* IDX: the file of MNIST and its relatives. Two zero bytes, the type of the numbers, how many sizes, the sizes as
 * 4-byte big-endian integers, then the numbers, big-endian too, the last size running fastest. The first size counts
 * the samples; the others, an image's height and width, make its features. Bytes stay in the mapping. */
#include "files/stream.h"

#include "base/size.h"

#include <string.h>

enum { PREFIX = 4, SIZE_BYTES = 4 };

static const struct element {
    unsigned char code;
    char kind; /* NumPy's */
    int width;
} elements[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0b, 'i', 2}, {0x0c, 'i', 4}, {0x0d, 'f', 4}, {0x0e, 'f', 8}};

static const struct element *find_element(unsigned char code)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (elements[i].code == code) return &elements[i];
    return NULL;
}

bool armilla_idx_recognize(const unsigned char *start, size_t count)
{
    return count >= PREFIX && start[0] == 0 && start[1] == 0 && find_element(start[2]) && start[3] > 0;
}

static armilla_status cut_short(armilla_context *context, const armilla_bytes *bytes, const char *part, size_t missing)
{
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s: is cut short: %zu bytes of its %s are missing; copy or unpack it again", bytes->path,
                        missing, part);
}

static int64_t size_at(const unsigned char *at)
{
    return (int64_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | (uint32_t)at[3]);
}

/* The sizes as samples x features; every product is checked. */
static armilla_status parse_sizes(armilla_context *context, const armilla_bytes *bytes, int sizes, armilla_array *array)
{
    const size_t header = PREFIX + (size_t)sizes * SIZE_BYTES;
    int64_t features = 1;
    if (bytes->count < header) return cut_short(context, bytes, "header", header - bytes->count);
    for (int i = 1; i < sizes; i++)
        if (!armilla_size_area(features, size_at(bytes->start + PREFIX + i * SIZE_BYTES), &features))
            return armilla_fail(context, ARMILLA_BAD_DATA,
                                "%s: its header declares samples larger than any memory; copy or unpack it again",
                                bytes->path);
    array->shape[0] = size_at(bytes->start + PREFIX);
    array->shape[1] = features;
    array->values = bytes->start + header;
    return ARMILLA_OK;
}

/* The declared numbers have to be there, and nothing else. */
static armilla_status check_length(armilla_context *context, const armilla_bytes *bytes, const armilla_array *array)
{
    const size_t there = bytes->count - (size_t)(array->values - bytes->start);
    int64_t count = 0;
    size_t declared = 0;
    if (!armilla_size_area(array->shape[0], array->shape[1], &count) ||
        !armilla_size_multiply(count, (size_t)array->width, &declared))
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: its header declares more numbers than any memory holds; copy or unpack it again",
                            bytes->path);
    if (there < declared) return cut_short(context, bytes, "numbers", declared - there);
    if (there > declared)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: has %zu bytes behind the %zu that its header declares; copy or unpack it again",
                            bytes->path, there - declared, declared);
    return ARMILLA_OK;
}

armilla_status armilla_idx_parse(armilla_context *context, const armilla_bytes *bytes, armilla_array *array)
{
    armilla_array made = {.dimensions = 2};
    if (bytes->count < PREFIX) return cut_short(context, bytes, "header", PREFIX - bytes->count);
    if (!armilla_idx_recognize(bytes->start, bytes->count))
        return armilla_fail(
            context, ARMILLA_BAD_DATA,
            "%s: is not an IDX file: it does not begin with two zero bytes, the type of its numbers and "
            "how many sizes they have; name its true format (" ARMILLA_FIELD("format") ")",
            bytes->path);
    const struct element *element = find_element(bytes->start[2]);
    const int sizes = bytes->start[3];
    if (sizes == 1) made.dimensions = 1;
    made.kind = element->kind;
    made.width = element->width;
    made.swapped = element->width > 1 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    armilla_status status = parse_sizes(context, bytes, sizes, &made);
    if (status == ARMILLA_OK) status = check_length(context, bytes, &made);
    if (status == ARMILLA_OK) *array = made;
    return status;
}

/* Not labels. */
static armilla_status parse_samples(armilla_context *context, const armilla_bytes *bytes, armilla_array *array)
{
    const armilla_status status = armilla_idx_parse(context, bytes, array);
    if (status == ARMILLA_OK && array->dimensions == 1)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: holds one number per sample, such as labels; give the file of the samples themselves, "
                            "and this one by " ARMILLA_FIELD("labels"),
                            bytes->path);
    return status;
}

/* Three sizes are those of images; with samples in columns pixels would be samples. */
static void note_image(const unsigned char *header, const armilla_read_options *options, armilla_data *data)
{
    if (header[3] != 3 || options->sample_columns) return;
    for (int i = 0; i < 2; i++) data->image[i] = size_at(header + PREFIX + (i + 1) * SIZE_BYTES);
}

static armilla_status read_idx(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                               armilla_data **data)
{
    armilla_array array;
    unsigned char header[PREFIX + 3 * SIZE_BYTES] = {0};
    armilla_status status = parse_samples(context, bytes, &array);
    if (status != ARMILLA_OK) return status;
    /* The bytes may belong to the data afterwards, or be gone. */
    memcpy(header, bytes->start, sizeof header < bytes->count ? sizeof header : bytes->count);
    status = armilla_array_data(context, bytes, &array, options, data);
    if (status == ARMILLA_OK) note_image(header, options, *data);
    return status;
}

/* Only the header is read here, and the head of the file contains all of it. */
static armilla_status stream_idx(armilla_context *context, const armilla_head *head,
                                 const armilla_read_options *options, armilla_data **data)
{
    const armilla_bytes bytes = armilla_head_file(head);
    armilla_array array;
    armilla_status status = parse_samples(context, &bytes, &array);
    if (status != ARMILLA_OK || armilla_head_maps(head, &array, options)) return status;
    status = armilla_array_stream(context, head->blocks, &array, array.values - head->bytes, options, data);
    if (status == ARMILLA_OK && *data) note_image(bytes.start, options, *data);
    return status;
}

const armilla_format armilla_format_idx = {
    .name = "idx",
    .endings = ".idx .idx3-ubyte -ubyte",
    .meaning = "images as MNIST stores them: one sample per image",
    .recognize = armilla_idx_recognize,
    .read = read_idx,
    .stream = stream_idx,
};
