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

static armilla_status write_npy(const armilla_writing *w)
{
    const bool columns = w->options->sample_columns;
    const int64_t m = w->data->m, n = w->data->n;
    const size_t size = armilla_type_size(w->data->type);
    int64_t stride = 0;
    armilla_output *output = NULL;
    const char *values = armilla_data_dense(w->data, &stride);
    if (!values) return no_dense(w);
    armilla_status status = armilla_output_new(w->context, w->path, w->options->overwrite, &output);
    if (status != ARMILLA_OK) return status;
    status = armilla_output_npy_header(output, w->data->type, columns ? m : n, columns ? n : m, columns);
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++) {
        status = armilla_writing_go_on(w, j, n);
        if (status == ARMILLA_OK)
            status = armilla_output_write(output, values + (size_t)(j * stride) * size, (size_t)m * size);
    }
    if (status == ARMILLA_OK) status = armilla_output_commit(output);
    armilla_output_free(output);
    return status;
}

/* As scipy.sparse.save_npz: csr where samples are rows, csc where they are columns; the same arrays. */
static armilla_status add_sparse(const armilla_writing *w, const armilla_sparse_matrix *matrix,
                                 armilla_npz_writer *writer)
{
    const bool columns = w->options->sample_columns;
    const int64_t entries = armilla_sparse_entries(matrix),
                  sizes[2] = {columns ? w->data->m : w->data->n, columns ? w->data->n : w->data->m};
    const int64_t scalar[2] = {-1, -1}, pair[2] = {2, -1}, starts[2] = {matrix->n + 1, -1}, places[2] = {entries, -1};
    const size_t width = matrix->index64 ? sizeof(int64_t) : sizeof(int32_t);
    const char *index = matrix->index64 ? "i8" : "i4";
    armilla_status status =
        armilla_npz_writer_add_raw(writer, "indices", index, places, matrix->rows, (size_t)entries * width);
    if (status == ARMILLA_OK)
        status = armilla_npz_writer_add_raw(writer, "indptr", index, starts, matrix->starts,
                                            (size_t)(matrix->n + 1) * width);
    if (status == ARMILLA_OK)
        status = armilla_npz_writer_add_raw(writer, "format", "S3", scalar, columns ? "csc" : "csr", 3);
    if (status == ARMILLA_OK) status = armilla_npz_writer_add_raw(writer, "shape", "i8", pair, sizes, sizeof sizes);
    if (status == ARMILLA_OK)
        status = armilla_npz_writer_add(writer, "data", matrix->type, places, false, matrix->values);
    return status;
}

/* The checksum before an array makes that it has to lie together. */
static armilla_status add_dense(const armilla_writing *w, armilla_npz_writer *writer)
{
    const bool columns = w->options->sample_columns;
    const int64_t m = w->data->m, n = w->data->n, size = (int64_t)armilla_type_size(w->data->type);
    const int64_t shape[2] = {columns ? m : n, columns ? n : m};
    int64_t stride = 0;
    const char *values = armilla_data_dense(w->data, &stride);
    char *packed = NULL;
    armilla_status status = ARMILLA_OK;
    if (!values)
        return armilla_fail(w->context, ARMILLA_BAD_ARGUMENT,
                            "prepared data cannot be written; write them as they were");
    if (stride != m) {
        status = armilla_grow(w->context, m * n, (size_t)size, &packed);
        for (int64_t j = 0; j < n && status == ARMILLA_OK; j++)
            memcpy(packed + j * m * size, values + j * stride * size, (size_t)(m * size));
    }
    if (status == ARMILLA_OK)
        status = armilla_npz_writer_add(writer, "X", w->data->type, shape, columns, packed ? packed : values);
    armilla_release(w->context, packed);
    return status;
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
    const armilla_sparse_matrix *matrix = armilla_data_sparse(w->data);
    armilla_npz_writer *writer = NULL;
    armilla_status status = armilla_npz_writer_new(w->context, w->path, w->options->overwrite, &writer);
    if (status != ARMILLA_OK) return status;
    status = matrix ? add_sparse(w, matrix, writer) : add_dense(w, writer);
    if (status == ARMILLA_OK) status = add_names(w, writer);
    if (status == ARMILLA_OK) status = armilla_writing_go_on(w, 1, 1);
    if (status == ARMILLA_OK) status = armilla_npz_writer_commit(writer);
    armilla_npz_writer_free(writer);
    return status;
}

enum { IDX_HEADER = 12 };

static void make_idx_header(uint32_t rows, uint32_t cols, unsigned char header[IDX_HEADER])
{
    const uint32_t sizes[2] = {rows, cols};
    memset(header, 0, IDX_HEADER);
    header[2] = 0x08; /* bytes */
    header[3] = 2;    /* sizes */
    for (int i = 0; i < 8; i++) header[4 + i] = (unsigned char)(sizes[i / 4] >> (24 - 8 * (i % 4)));
}

/* bytes = the numbers of line i, which have to be whole and between 0 and 255. */
static armilla_status make_bytes(const armilla_writing *w, const armilla_lines *lines, int64_t i, double *numbers,
                                 unsigned char *bytes)
{
    armilla_lines_get(lines, i, numbers);
    for (int64_t k = 0; k < lines->width; k++) {
        if (!(numbers[k] >= 0 && numbers[k] <= 255 && numbers[k] == (double)(unsigned char)numbers[k]))
            return armilla_fail(w->context, ARMILLA_BAD_DATA,
                                "%s: IDX holds whole numbers from 0 to 255, and line %" PRId64 ", place %" PRId64
                                " (counted from 1) is %g; write .npy",
                                w->path, i + 1, k + 1, numbers[k]);
        bytes[k] = (unsigned char)numbers[k];
    }
    return ARMILLA_OK;
}

static armilla_status write_idx_lines(const armilla_writing *w, const armilla_lines *lines, armilla_output *output)
{
    unsigned char header[IDX_HEADER], *bytes = NULL;
    double *numbers = NULL;
    armilla_status status = armilla_take(w->context, lines->width, 1, &bytes);
    if (status == ARMILLA_OK) status = armilla_take(w->context, lines->width, sizeof *numbers, &numbers);
    make_idx_header((uint32_t)lines->count, (uint32_t)lines->width, header);
    if (status == ARMILLA_OK) status = armilla_output_write(output, header, sizeof header);
    for (int64_t i = 0; i < lines->count && status == ARMILLA_OK; i++) {
        status = armilla_writing_go_on(w, i, lines->count);
        if (status == ARMILLA_OK) status = make_bytes(w, lines, i, numbers, bytes);
        if (status == ARMILLA_OK) status = armilla_output_write(output, bytes, (size_t)lines->width);
    }
    armilla_release(w->context, bytes);
    armilla_release(w->context, numbers);
    return status;
}

static armilla_status write_idx(const armilla_writing *w)
{
    armilla_lines lines;
    armilla_output *output = NULL;
    if (w->data->m > UINT32_MAX || w->data->n > UINT32_MAX)
        return armilla_fail(w->context, ARMILLA_BAD_DATA, "%s: IDX counts to 2^32 only; write .npy", w->path);
    armilla_status status = armilla_lines_open(w->context, w->data, w->options->sample_columns, &lines);
    if (status != ARMILLA_OK) return status;
    status = armilla_output_new(w->context, w->path, w->options->overwrite, &output);
    if (status == ARMILLA_OK) status = write_idx_lines(w, &lines, output);
    if (status == ARMILLA_OK) status = armilla_output_commit(output);
    armilla_output_free(output);
    armilla_lines_close(&lines);
    return status;
}

const armilla_writer armilla_writer_npy = {"npy", ".npy", "dense numbers as they are held", 0, write_npy};
const armilla_writer armilla_writer_npz = {
    "npz", ".npz", "array X, or a sparse matrix for scipy.sparse.load_npz; names", KEEPS_ALL, write_npz};
const armilla_writer armilla_writer_idx = {"idx", ".idx -ubyte", "whole numbers from 0 to 255", 0, write_idx};
