/* Writers of vectors for programs of approximate search: .fbin and .fvecs (files/vectors.c). Numbers become
 * f32; one line, sample or feature, is one vector. */
#include "files/write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { COUNT = 4 }; /* bytes of a number of vectors, or of numbers */

static void put_count(int64_t count, unsigned char to[COUNT])
{
    for (int i = 0; i < COUNT; i++) to[i] = (unsigned char)(count >> 8 * i & 255);
}

static void put_float(float number, unsigned char to[COUNT])
{
    uint32_t bits = 0;
    memcpy(&bits, &number, sizeof bits);
    put_count(bits, to);
}

static armilla_status too_large(const armilla_writing *w, int64_t line, int64_t place, double number)
{
    return armilla_fail(w->context, ARMILLA_BAD_DATA,
                        "%s: this format holds f32, and line %" PRId64 ", place %" PRId64
                        " (counted from 1) is %g; write .npy, or scale the data",
                        w->path, line + 1, place + 1, number);
}

/* vector = the numbers of line i behind their number, or alone. */
static armilla_status put_vector(const armilla_writing *w, armilla_lines *lines, int64_t i, bool counted,
                                 unsigned char *vector)
{
    armilla_column line;
    const armilla_status status = armilla_lines_read(lines, i, true, &line);
    if (status != ARMILLA_OK) return status;
    if (counted) put_count(lines->width, vector);
    for (int64_t k = 0; k < lines->width; k++) {
        const double number = line.values[k];
        const float narrow = (float)number;
        if (isinf(narrow) && !isinf(number)) return too_large(w, i, k, number);
        put_float(narrow, vector + (k + counted) * COUNT);
    }
    return ARMILLA_OK;
}

/* Each vector behind its length, or all behind one header. */
static armilla_status put_lines(const armilla_writing *w, armilla_lines *lines, bool counted, armilla_output *output)
{
    unsigned char header[2 * COUNT], *vector = NULL;
    const size_t bytes = (size_t)(lines->width + counted) * COUNT;
    put_count(lines->count, header);
    put_count(lines->width, header + COUNT);
    armilla_status status = armilla_take(w->context, (int64_t)bytes, 1, &vector);
    if (status == ARMILLA_OK && !counted) status = armilla_output_write(output, header, sizeof header);
    for (int64_t i = 0; i < lines->count && status == ARMILLA_OK; i++) {
        status = armilla_writing_go_on(w, i, lines->count);
        if (status == ARMILLA_OK) status = put_vector(w, lines, i, counted, vector);
        if (status == ARMILLA_OK) status = armilla_output_write(output, vector, bytes);
    }
    armilla_release(w->context, vector);
    return status;
}

static armilla_status write_vectors(const armilla_writing *w, bool counted)
{
    armilla_lines lines;
    armilla_output *output = NULL;
    armilla_status status = armilla_lines_open(w->context, w->data, w->options->sample_columns, &lines);
    if (status != ARMILLA_OK) return status;
    if (lines.width > INT32_MAX || (!counted && lines.count > UINT32_MAX))
        status =
            armilla_fail(w->context, ARMILLA_BAD_DATA, "%s: this format counts in four bytes; write .npy", w->path);
    if (status == ARMILLA_OK) status = armilla_output_new(w->context, w->path, w->options->overwrite, &output);
    if (status == ARMILLA_OK) status = put_lines(w, &lines, counted, output);
    if (status == ARMILLA_OK) status = armilla_output_commit(output);
    armilla_output_free(output);
    armilla_lines_close(&lines);
    return status;
}

static armilla_status write_fbin(const armilla_writing *w)
{
    return write_vectors(w, false);
}

static armilla_status write_fvecs(const armilla_writing *w)
{
    return write_vectors(w, true);
}

const armilla_writer armilla_writer_fbin = {"fbin", ".fbin", "dense vectors of f32, to which numbers are rounded", 0,
                                            write_fbin};
const armilla_writer armilla_writer_fvecs = {"fvecs", ".fvecs", "the same, each behind its length", 0, write_fvecs};
