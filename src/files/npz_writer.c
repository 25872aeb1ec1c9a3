/* Writing .npz: each array is an .npy header and its numbers, stored in the archive. */
#include "files/npz.h"

#include "base/size.h"
#include "files/output.h"
#include "files/texts.h"
#include "files/zip.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define MOST_NAME 128

struct armilla_npz_writer {
    armilla_context *context;
    armilla_output *output;
    armilla_zip *zip;
    armilla_status failed; /* an archive that lacks an array is never committed */
};

armilla_status armilla_npz_writer_new(armilla_context *context, const char *path, bool overwrite,
                                      armilla_npz_writer **writer)
{
    armilla_npz_writer *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    status = path ? armilla_output_new(context, path, overwrite, &made->output)
                  : armilla_output_new_memory(context, &made->output);
    if (status == ARMILLA_OK) status = armilla_zip_new(context, made->output, &made->zip);
    if (status == ARMILLA_OK)
        *writer = made;
    else
        armilla_npz_writer_free(made);
    return status;
}

void armilla_npz_writer_free(armilla_npz_writer *writer)
{
    if (!writer) return;
    armilla_zip_free(writer->zip);
    armilla_output_free(writer->output);
    armilla_release(writer->context, writer);
}

/* full = NAME.npy */
static armilla_status name_entry(armilla_npz_writer *writer, const char *name, char full[MOST_NAME + 8])
{
    if (writer->failed != ARMILLA_OK) return writer->failed;
    if (strlen(name) > MOST_NAME)
        return writer->failed = armilla_fail(writer->context, ARMILLA_BAD_ARGUMENT,
                                             "the name of an array is longer than %d bytes", MOST_NAME);
    snprintf(full, MOST_NAME + 8, "%s.npy", name);
    return ARMILLA_OK;
}

/* An .npy header, then the values. */
typedef struct array_bytes {
    char header[ARMILLA_ARRAY_HEADER];
    size_t header_bytes;
    const armilla_zip_source *values;
} array_bytes;

static armilla_status put_array(void *self, armilla_zip *zip)
{
    const array_bytes *a = self;
    const armilla_status status = armilla_zip_put(zip, a->header, a->header_bytes);
    return status == ARMILLA_OK ? a->values->make(a->values->self, zip) : status;
}

armilla_status armilla_npz_writer_add_made(armilla_npz_writer *writer, const char *name, const char *descriptor,
                                           const int64_t shape[2], bool column_major, const armilla_zip_source *source)
{
    char full[MOST_NAME + 8];
    array_bytes array = {.values = source};
    if (name_entry(writer, name, full) != ARMILLA_OK) return writer->failed;
    array.header_bytes = armilla_array_header(descriptor, shape[0], shape[1], column_major, array.header);
    writer->failed = armilla_zip_add_made(writer->zip, full, &(armilla_zip_source){put_array, &array});
    return writer->failed;
}

/* Values that are there. */
typedef struct block {
    const void *values;
    size_t bytes;
} block;

static armilla_status put_block(void *self, armilla_zip *zip)
{
    const block *b = self;
    return armilla_zip_put(zip, b->values, b->bytes);
}

/* Bytes of an array of that shape. */
static armilla_status bytes_of(armilla_npz_writer *writer, const char *name, armilla_type type, const int64_t shape[2],
                               size_t *bytes)
{
    const int64_t rows = shape[0], cols = shape[1];
    int64_t count = 0;
    if (!armilla_size_area(rows < 0 ? 1 : rows, rows < 0 || cols < 0 ? 1 : cols, &count) ||
        !armilla_size_multiply(count, armilla_type_size(type), bytes))
        return writer->failed = armilla_fail(writer->context, ARMILLA_BAD_ARGUMENT,
                                             "array %s: its shape is larger than any memory", name);
    return ARMILLA_OK;
}

armilla_status armilla_npz_writer_begin(armilla_npz_writer *writer, const char *name, armilla_type type,
                                        const int64_t shape[2], uint32_t check)
{
    char full[MOST_NAME + 8], header[ARMILLA_ARRAY_HEADER];
    size_t bytes = 0;
    if (name_entry(writer, name, full) != ARMILLA_OK || bytes_of(writer, name, type, shape, &bytes) != ARMILLA_OK)
        return writer->failed;
    const size_t used = armilla_array_header(armilla_array_descriptor(type), shape[0], shape[1], true, header);
    const uLong whole = crc32_combine(crc32_z(0, (const unsigned char *)header, used), check, (z_off_t)bytes);
    writer->failed = armilla_zip_begin(writer->zip, full, used + bytes, (uint32_t)whole);
    return writer->failed == ARMILLA_OK ? armilla_npz_writer_put(writer, header, used) : writer->failed;
}

armilla_status armilla_npz_writer_put(armilla_npz_writer *writer, const void *bytes, size_t count)
{
    if (writer->failed == ARMILLA_OK && count > 0) writer->failed = armilla_zip_put(writer->zip, bytes, count);
    return writer->failed;
}

armilla_status armilla_npz_writer_add(armilla_npz_writer *writer, const char *name, armilla_type type,
                                      const int64_t shape[2], bool column_major, const void *values)
{
    block b = {.values = values};
    if (bytes_of(writer, name, type, shape, &b.bytes) != ARMILLA_OK) return writer->failed;
    return armilla_npz_writer_add_made(writer, name, armilla_array_descriptor(type), shape, column_major,
                                       &(armilla_zip_source){put_block, &b});
}

armilla_status armilla_npz_writer_add_raw(armilla_npz_writer *writer, const char *name, const char *descriptor,
                                          const int64_t shape[2], const void *values, size_t bytes)
{
    block b = {values, bytes};
    return armilla_npz_writer_add_made(writer, name, descriptor, shape, false, &(armilla_zip_source){put_block, &b});
}

armilla_status armilla_npz_writer_add_names(armilla_npz_writer *writer, const char *name, const armilla_names *names)
{
    const int64_t shape[2] = {names->count, -1};
    armilla_texts texts;
    if (writer->failed != ARMILLA_OK) return writer->failed;
    writer->failed = armilla_texts_make(writer->context, names, &texts);
    if (writer->failed != ARMILLA_OK) return writer->failed;
    writer->failed = armilla_npz_writer_add_raw(writer, name, texts.descriptor, shape, texts.block, texts.bytes);
    armilla_release(writer->context, texts.block);
    return writer->failed;
}

armilla_status armilla_npz_writer_add_text(armilla_npz_writer *writer, const char *name, const char *text)
{
    const int64_t shape[2] = {(int64_t)strlen(text), -1};
    return armilla_npz_writer_add_raw(writer, name, "u1", shape, text, strlen(text));
}

armilla_status armilla_npz_writer_commit(armilla_npz_writer *writer)
{
    if (writer->failed == ARMILLA_OK) writer->failed = armilla_zip_finish(writer->zip);
    if (writer->failed == ARMILLA_OK) writer->failed = armilla_output_commit(writer->output);
    return writer->failed;
}

armilla_status armilla_npz_writer_take(armilla_npz_writer *writer, void **bytes, size_t *count)
{
    const armilla_status status = armilla_npz_writer_commit(writer);
    if (status == ARMILLA_OK) armilla_output_take(writer->output, bytes, count);
    return status;
}
