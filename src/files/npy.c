/* .npy: NumPy's file of one array. Numbers that already lie as the solver wants them stay where they are; all others
 * are converted, and transposed where the file has the other order. */
#include "files/array.h"
#include "files/stream.h"

#include "base/size.h"

#include <armilla/files.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TYPE_DESCRIPTOR(name, type, word, numpy) [name] = numpy,

const char *armilla_array_descriptor(armilla_type type)
{
    static const char *const descriptors[] = {ARMILLA_TYPE_LIST(TYPE_DESCRIPTOR)};
    return descriptors[type];
}

static char byte_order(const char *descriptor)
{
    if (descriptor[0] == 'S' || (descriptor[0] != 'U' && strcmp(descriptor + 1, "1") == 0)) return '|';
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
}

/* Magic, version, length, dictionary, blanks up to a multiple of 64, newline. */
size_t armilla_array_header(const char *descriptor, int64_t rows, int64_t cols, bool column_major,
                            char header[ARMILLA_ARRAY_HEADER])
{
    enum { PREFIX = 10 };
    char shape[64];
    armilla_array_show_shape(rows < 0 ? 0 : cols < 0 ? 1 : 2, (const int64_t[]){rows, cols}, "0", shape);
    const size_t used =
        PREFIX + (size_t)snprintf(header + PREFIX, ARMILLA_ARRAY_HEADER - PREFIX,
                                  "{'descr': '%c%s', 'fortran_order': %s, 'shape': %s, }", byte_order(descriptor),
                                  descriptor, column_major ? "True" : "False", shape);
    const size_t total = (used + 1 + 63) / 64 * 64;
    memset(header + used, ' ', total - used);
    header[total - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((total - PREFIX) & 255);
    header[9] = (char)((total - PREFIX) >> 8);
    return total;
}

armilla_status armilla_output_npy_header(armilla_output *output, armilla_type type, int64_t rows, int64_t cols,
                                         bool column_major)
{
    char header[ARMILLA_ARRAY_HEADER];
    if ((unsigned)type >= ARMILLA_TYPE_COUNT || !armilla_array_descriptor(type)[0]) return ARMILLA_BAD_ARGUMENT;
    const size_t count = armilla_array_header(armilla_array_descriptor(type), rows, cols, column_major, header);
    return armilla_output_write(output, header, count);
}

armilla_status armilla_array_need_matrix(armilla_context *context, const char *where, const armilla_array *array)
{
    if (array->dimensions == 2) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s: the array has %d dimension%s, and a matrix has 2; save array.reshape(-1, 1) where each "
                        "number is a sample, or array.reshape(1, -1) where all are one sample",
                        where, array->dimensions, array->dimensions == 1 ? "" : "s");
}

static armilla_status convert(armilla_context *context, const armilla_array *array, const armilla_read_options *options,
                              armilla_data **data)
{
    const bool columns = options->sample_columns;
    const int64_t m = array->shape[!columns], n = array->shape[columns];
    const armilla_type type = armilla_number_find(array->kind, array->width)->becomes;
    void *values = NULL;
    armilla_status status = armilla_grow_large(context, m * n, armilla_type_size(type), &values);
    if (status != ARMILLA_OK) return status;
    armilla_array_copy(array, type, columns, values);
    status = armilla_data_own_dense(context, type, values, m, n, data);
    if (status != ARMILLA_OK) armilla_release(context, values);
    return status;
}

/* A sample's numbers are to lie together: with samples in rows that is the C order, with samples in columns the
 * column-major one. */
armilla_status armilla_array_data(armilla_context *context, armilla_bytes *bytes, const armilla_array *array,
                                  const armilla_read_options *options, armilla_data **data)
{
    const bool columns = options->sample_columns;
    const int64_t m = array->shape[!columns], n = array->shape[columns];
    const armilla_type type = armilla_number_find(array->kind, array->width)->becomes;
    const int64_t size = (int64_t)armilla_type_size(type), step = armilla_array_step(array, columns);
    const bool aligned = (uintptr_t)array->values % (uintptr_t)size == 0 && step % size == 0;
    char where[512];
    snprintf(where, sizeof where, "%s: ", bytes->path);
    armilla_status status = armilla_data_check_shape(context, where, m, n);
    if (status != ARMILLA_OK) return status;
    if (!armilla_array_is(array, type, columns) || (bytes->map ? !aligned : !bytes->memory))
        return convert(context, array, options, data);
    if (bytes->map) {
        const armilla_mapped mapped = {bytes->map, bytes->count, array->values, step / size};
        status = armilla_data_map_dense(context, type, &mapped, m, n, data);
        if (status == ARMILLA_OK) bytes->map = NULL;
        return status;
    }
    const int64_t runs = step == m * size ? 1 : n, run = m * n / runs * size;
    for (int64_t j = 0; j < runs; j++) memmove((char *)bytes->memory + j * run, array->values + j * step, (size_t)run);
    status = armilla_data_own_dense(context, type, bytes->memory, m, n, data);
    if (status == ARMILLA_OK) bytes->memory = NULL;
    return status;
}

static armilla_status read_npy(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                               armilla_data **data)
{
    armilla_array array;
    armilla_status status = armilla_array_parse(context, bytes->path, bytes->start, bytes->count, false, &array);
    if (status == ARMILLA_OK) status = armilla_array_need_matrix(context, bytes->path, &array);
    if (status == ARMILLA_OK) status = armilla_array_data(context, bytes, &array, options, data);
    return status;
}

static armilla_status stream_npy(armilla_context *context, const armilla_head *head,
                                 const armilla_read_options *options, armilla_data **data)
{
    const char *path = armilla_blocks_path(head->blocks);
    armilla_array array;
    size_t declared = 0;
    armilla_status status = armilla_array_parse_header(context, path, head->bytes, head->count, &array, &declared);
    /* Whoever sees all of the file says what is wrong: the header may only be longer than the head. */
    if (status != ARMILLA_OK) return status == ARMILLA_BAD_DATA ? ARMILLA_OK : status;
    const int64_t at = array.values - head->bytes;
    status = armilla_array_check_length(context, path, (size_t)(armilla_blocks_size(head->blocks) - at), declared);
    if (status == ARMILLA_OK) status = armilla_array_need_matrix(context, path, &array);
    if (status != ARMILLA_OK || armilla_head_maps(head, &array, options)) return status;
    return armilla_array_stream(context, head->blocks, &array, at, options, data);
}

const armilla_format armilla_format_npy = {
    .name = "npy",
    .endings = ".npy",
    .meaning = "NumPy's array file: a matrix of integers or real numbers",
    .recognize = armilla_array_recognize,
    .read = read_npy,
    .stream = stream_npy,
};
