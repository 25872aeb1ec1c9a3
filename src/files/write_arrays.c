/* Binary writers: .npy, .npz and IDX. Dense numbers are written as they lie: one sample per row is the C order of
 * (n, m), one per column the column-major order of (m, n), and both are the same bytes. */
#include "files/npz.h"
#include "files/write.h"

#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEEPS_ALL (1u << ARMILLA_FEATURE_NAMES | 1u << ARMILLA_SAMPLE_NAMES | 1u << ARMILLA_SAMPLE_LABELS)

static armilla_status no_dense(const armilla_writing *w)
{
    return armilla_fail(w->context, ARMILLA_BAD_ARGUMENT,
                        "%s: .npy holds dense arrays, and the data are sparse; write .npz, .mtx or .svm, or make them "
                        "dense by way of .csv",
                        w->path);
}

enum { RUN = 512 }; /* numbers that are converted together */

/* What takes the bytes of dense data: an output, or an entry of an archive. */
typedef armilla_status (*byte_sink)(void *self, const void *bytes, size_t count);

/* Panels of a file that is being written, and how far it is. */
typedef struct array_file {
    const armilla_writing *w;
    armilla_lines lines;
    armilla_type type; /* of the numbers in the file: the data's, or f32 where NumPy does not have that */
    char *narrow;      /* a sample in that type, where panels have another */
} array_file;

static armilla_status array_open(const armilla_writing *w, array_file *file)
{
    const armilla_type held = w->data->type;
    *file = (array_file){.w = w, .type = armilla_array_descriptor(held)[0] ? held : armilla_type_precision(held)};
    const armilla_status status = armilla_lines_open(w->context, w->data, false, &file->lines);
    if (status != ARMILLA_OK || file->lines.panel.kernels->type == file->type) return status;
    return armilla_take(w->context, w->data->m, armilla_type_size(file->type), &file->narrow);
}

static void array_close(array_file *file)
{
    armilla_release(file->w->context, file->narrow);
    armilla_lines_close(&file->lines);
}

/* Sample j as it is held; numbers of shorter types come as f32 and become what they were again. */
static const void *sample_bytes(const array_file *file, int64_t j)
{
    const armilla_panel *panel = &file->lines.panel;
    const int64_t start = (j - panel->first) * panel->stride, m = file->w->data->m;
    const size_t wide = armilla_type_size(panel->kernels->type), size = armilla_type_size(file->type);
    const char *from = (const char *)panel->columns + (size_t)start * wide;
    double run[RUN];
    if (!file->narrow) return from;
    for (int64_t i = 0; i < m; i += RUN) {
        const int64_t part = armilla_min64(RUN, m - i);
        armilla_fetch(panel->kernels->type, part, from + (size_t)i * wide, run);
        armilla_store(file->type, part, run, file->narrow + (size_t)i * size);
    }
    return file->narrow;
}

static armilla_status put_dense(array_file *file, byte_sink sink, void *self)
{
    const armilla_data *X = file->w->data;
    const size_t bytes = (size_t)X->m * armilla_type_size(file->type);
    armilla_status status = ARMILLA_OK;
    for (int64_t j = 0; j < X->n && status == ARMILLA_OK; j++) {
        status = armilla_writing_go_on(file->w, j, X->n);
        if (status == ARMILLA_OK) status = armilla_lines_load(&file->lines, j);
        if (status == ARMILLA_OK) status = sink(self, sample_bytes(file, j), bytes);
    }
    return status;
}

static armilla_status into_output(void *self, const void *bytes, size_t count)
{
    return armilla_output_write(self, bytes, count);
}

static armilla_status into_archive(void *self, const void *bytes, size_t count)
{
    return armilla_zip_put(self, bytes, count);
}

static armilla_status write_npy(const armilla_writing *w)
{
    const bool columns = w->options->sample_columns;
    const int64_t m = w->data->m, n = w->data->n;
    armilla_output *output = NULL;
    array_file file = {.w = w};
    if (armilla_sparse_of(w->data)) return no_dense(w);
    armilla_status status = armilla_output_new(w->context, w->path, w->options->overwrite, &output);
    if (status == ARMILLA_OK) status = array_open(w, &file);
    if (status == ARMILLA_OK)
        status = armilla_output_npy_header(output, file.type, columns ? m : n, columns ? n : m, columns);
    if (status == ARMILLA_OK) status = put_dense(&file, into_output, output);
    if (status == ARMILLA_OK) status = armilla_output_commit(output);
    armilla_output_free(output);
    array_close(&file);
    return status;
}

static armilla_status make_dense(void *self, armilla_zip *zip)
{
    return put_dense(self, into_archive, zip);
}

/* Every panel's indices, and every panel's values. */
static armilla_status put_entries(array_file *file, bool indices, armilla_zip *zip)
{
    const armilla_data *X = file->w->data;
    armilla_lines *lines = &file->lines;
    armilla_status status = ARMILLA_OK;
    for (int64_t j = 0; j < X->n && status == ARMILLA_OK; j += lines->panel.count) {
        status = armilla_writing_go_on(file->w, j, X->n);
        if (status == ARMILLA_OK) status = armilla_lines_load(lines, j);
        if (status != ARMILLA_OK) return status;
        const armilla_panel *panel = &lines->panel;
        const armilla_sparse_panel *s = &panel->sparse;
        const int64_t entries = armilla_sparse_before(X, j + panel->count) - armilla_sparse_before(X, j);
        const size_t width = !indices ? armilla_type_size(X->type) : s->index64 ? sizeof(int64_t) : sizeof(int32_t);
        status = armilla_zip_put(zip, indices ? s->columns.rows : s->columns.values, (size_t)entries * width);
    }
    return status;
}

static armilla_status make_indices(void *self, armilla_zip *zip)
{
    return put_entries(self, true, zip);
}

static armilla_status make_values(void *self, armilla_zip *zip)
{
    return put_entries(self, false, zip);
}

static armilla_status make_starts(void *self, armilla_zip *zip)
{
    enum { FEW = 512 };
    const array_file *file = self;
    const bool index64 = file->lines.panel.sparse.index64;
    const int64_t count = file->w->data->n + 1, width = index64 ? sizeof(int64_t) : sizeof(int32_t);
    int64_t some[FEW];
    armilla_status status = ARMILLA_OK;
    for (int64_t first = 0; first < count && status == ARMILLA_OK; first += FEW) {
        const int64_t part = armilla_min64(FEW, count - first);
        for (int64_t j = 0; j < part; j++)
            armilla_index_put(index64, some, j, armilla_sparse_before(file->w->data, first + j));
        status = armilla_zip_put(zip, some, (size_t)(part * width));
    }
    return status;
}

/* As scipy.sparse.save_npz: csr where samples are rows, csc where they are columns; the same arrays. */
static armilla_status add_sparse(array_file *file, armilla_npz_writer *writer)
{
    const armilla_data *X = file->w->data;
    const bool columns = file->w->options->sample_columns;
    const int64_t entries = armilla_data_stored(X), sizes[2] = {columns ? X->m : X->n, columns ? X->n : X->m};
    const int64_t scalar[2] = {-1, -1}, pair[2] = {2, -1}, starts[2] = {X->n + 1, -1}, places[2] = {entries, -1};
    const armilla_status status = armilla_lines_load(&file->lines, 0);
    const char *index = file->lines.panel.sparse.index64 ? "i8" : "i4", *number = armilla_array_descriptor(X->type);
    if (status != ARMILLA_OK) return status;
    (void)armilla_npz_writer_add_made(writer, "indices", index, places, false,
                                      &(armilla_zip_source){make_indices, file});
    (void)armilla_npz_writer_add_made(writer, "indptr", index, starts, false, &(armilla_zip_source){make_starts, file});
    (void)armilla_npz_writer_add_raw(writer, "format", "S3", scalar, columns ? "csc" : "csr", 3);
    (void)armilla_npz_writer_add_raw(writer, "shape", "i8", pair, sizes, sizeof sizes);
    return armilla_npz_writer_add_made(writer, "data", number, places, false, &(armilla_zip_source){make_values, file});
}

static armilla_status add_dense(array_file *file, armilla_npz_writer *writer)
{
    const armilla_data *X = file->w->data;
    const bool columns = file->w->options->sample_columns;
    const int64_t shape[2] = {columns ? X->m : X->n, columns ? X->n : X->m};
    return armilla_npz_writer_add_made(writer, "X", armilla_array_descriptor(file->type), shape, columns,
                                       &(armilla_zip_source){make_dense, file});
}

static armilla_status add_names(const armilla_writing *w, armilla_npz_writer *writer)
{
    armilla_status status = ARMILLA_OK;
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT && status == ARMILLA_OK; kind++) {
        const armilla_names *names = armilla_data_names(w->data, (armilla_naming)kind);
        if (names) status = armilla_npz_writer_add_names(writer, armilla_npz_name_arrays[kind], names);
    }
    return status;
}

static armilla_status write_npz(const armilla_writing *w)
{
    armilla_npz_writer *writer = NULL;
    array_file file = {.w = w};
    armilla_status status = armilla_npz_writer_new(w->context, w->path, w->options->overwrite, &writer);
    if (status != ARMILLA_OK) return status;
    status = array_open(w, &file);
    if (status == ARMILLA_OK) status = (armilla_sparse_of(w->data) ? add_sparse : add_dense)(&file, writer);
    if (status == ARMILLA_OK) status = add_names(w, writer);
    if (status == ARMILLA_OK) status = armilla_writing_go_on(w, 1, 1);
    if (status == ARMILLA_OK) status = armilla_npz_writer_commit(writer);
    armilla_npz_writer_free(writer);
    array_close(&file);
    return status;
}

/* Two zeros, bytes (8), two sizes and they themselves, big-endian. */
static armilla_status put_idx_header(armilla_line_file *file, void *self)
{
    const uint32_t sizes[2] = {(uint32_t)file->lines.count, (uint32_t)file->lines.width};
    unsigned char header[12] = {0, 0, 8, 2};
    for (int i = 0; i < 8; i++) header[4 + i] = (unsigned char)(sizes[i / 4] >> (24 - 8 * (i % 4)));
    (void)self;
    return armilla_output_write(file->output, header, sizeof header);
}

/* The numbers of line i, which have to be whole and between 0 and 255. */
static armilla_status put_idx_line(armilla_line_file *file, void *self, int64_t i)
{
    armilla_column line;
    unsigned char run[RUN];
    armilla_status status = armilla_lines_read(&file->lines, i, true, &line);
    (void)self;
    for (int64_t k = 0; k < file->lines.width && status == ARMILLA_OK; k++) {
        const double number = line.values[k];
        if (!(number >= 0 && number <= 255 && number == (double)(unsigned char)number))
            return armilla_fail(file->w->context, ARMILLA_BAD_DATA,
                                "%s: IDX holds whole numbers from 0 to 255, and line %" PRId64 ", place %" PRId64
                                " (counted from 1) is %g; write .npy",
                                file->w->path, i + 1, k + 1, number);
        run[k % RUN] = (unsigned char)number;
        if (k % RUN == RUN - 1 || k == file->lines.width - 1)
            status = armilla_output_write(file->output, run, (size_t)(k % RUN + 1));
    }
    return status;
}

static armilla_status write_idx(const armilla_writing *w)
{
    if (w->data->m > UINT32_MAX || w->data->n > UINT32_MAX)
        return armilla_fail(w->context, ARMILLA_BAD_DATA, "%s: IDX counts to 2^32 only; write .npy", w->path);
    const armilla_line_format format = {
        .by_feature = w->options->sample_columns, .begin = put_idx_header, .put = put_idx_line};
    return armilla_lines_write(w, &format);
}

const armilla_writer armilla_writer_npy = {"npy", ".npy", "dense numbers as they are held", 0, write_npy};
const armilla_writer armilla_writer_npz = {
    "npz", ".npz", "array X, or a sparse matrix for scipy.sparse.load_npz; names", KEEPS_ALL, write_npz};
const armilla_writer armilla_writer_idx = {"idx", ".idx -ubyte", "whole numbers from 0 to 255", 0, write_idx};
