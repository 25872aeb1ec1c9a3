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

/* Each vector is behind its length, or all are behind one header. */
static armilla_status put_header(armilla_line_file *file, void *self)
{
    const bool *counted = self;
    const armilla_lines *lines = &file->lines;
    unsigned char header[2 * COUNT];
    if (lines->width > INT32_MAX || (!*counted && lines->count > UINT32_MAX))
        return armilla_fail(file->w->context, ARMILLA_BAD_DATA, "%s: this format counts in four bytes; write .npy",
                            file->w->path);
    put_count(lines->count, header);
    put_count(lines->width, header + COUNT);
    return armilla_output_write(file->output, header, *counted ? 0 : sizeof header);
}

static armilla_status put_vector(armilla_line_file *file, void *self, int64_t i)
{
    enum { RUN = 512 };
    const bool *counted = self;
    const int64_t width = file->lines.width;
    unsigned char run[RUN * COUNT];
    armilla_column line;
    armilla_status status = armilla_lines_read(&file->lines, i, true, &line);
    put_count(width, run);
    if (status == ARMILLA_OK && *counted) status = armilla_output_write(file->output, run, COUNT);
    for (int64_t k = 0; k < width && status == ARMILLA_OK; k++) {
        const double number = line.values[k];
        const float narrow = (float)number;
        if (isinf(narrow) && !isinf(number)) return too_large(file->w, i, k, number);
        put_float(narrow, run + k % RUN * COUNT);
        if (k % RUN == RUN - 1 || k == width - 1)
            status = armilla_output_write(file->output, run, (size_t)(k % RUN + 1) * COUNT);
    }
    return status;
}

static armilla_status write_vectors(const armilla_writing *w, bool counted)
{
    const armilla_line_format format = {
        .by_feature = w->options->sample_columns, .begin = put_header, .put = put_vector, .self = &counted};
    return armilla_lines_write(w, &format);
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
