/* Archives of scipy.sparse.save_npz: the arrays of a CSR, CSC or COO matrix in an archive. What lies by sample is
 * used as it is, what lies by feature is transposed by counting. Every size and index is checked before it is used. */
#include "files/scipy.h"

#include "files/npz_stream.h"
#include "files/stream.h"
#include "files/text.h"

#include "base/samples.h"
#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_WORD = 16 };

/* A file being read. */
typedef struct reading {
    armilla_context *context;
    char where[512]; /* "FILE: " */
    armilla_npz *npz;
    bool sample_columns;
    int64_t shape[2];
} reading;

static armilla_status refuse(const reading *f, const char *what)
{
    return armilla_fail(f->context, ARMILLA_BAD_DATA, "%s%s", f->where, what);
}

/* Index i of an array of i4 or i8. */
static int64_t stored_index(const armilla_array *array, int64_t i)
{
    const unsigned char *at = array->values + i * array->width;
    if (array->width == 4) {
        uint32_t word = 0;
        int32_t value = 0;
        memcpy(&word, at, sizeof word);
        if (array->swapped) word = __builtin_bswap32(word);
        memcpy(&value, &word, sizeof value);
        return value;
    }
    uint64_t word = 0;
    int64_t value = 0;
    memcpy(&word, at, sizeof word);
    if (array->swapped) word = __builtin_bswap64(word);
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Whether the array NAME is a vector of count indices (any number where count is -1). */
static armilla_status check_indices(const reading *f, const char *name, int64_t count, const armilla_array *array)
{
    if (array->kind != 'i' || (array->width != 4 && array->width != 8))
        return armilla_fail(f->context, ARMILLA_BAD_DATA, "%sarray %s has numbers of type %c%d, not indices (i4 or i8)",
                            f->where, name, array->kind, array->width);
    if (array->dimensions != 1 || (count >= 0 && array->shape[0] != count))
        return armilla_fail(f->context, ARMILLA_BAD_DATA,
                            "%sarray %s has %" PRId64 " numbers where the sparse matrix needs %" PRId64
                            "; save it again",
                            f->where, name, array->shape[0] * array->shape[1], count);
    return ARMILLA_OK;
}

/* A vector of count indices (any number where count is -1). */
static armilla_status load_indices(reading *f, const char *name, int64_t count, armilla_array *array,
                                   unsigned char **block)
{
    armilla_status status = ARMILLA_OK;
    if (!armilla_npz_has(f->npz, name))
        return armilla_fail(f->context, ARMILLA_BAD_DATA, "%sthe sparse matrix has no array '%s'; save it again",
                            f->where, name);
    if ((status = armilla_npz_load(f->npz, name, array, block)) != ARMILLA_OK) return status;
    status = check_indices(f, name, count, array);
    if (status != ARMILLA_OK) {
        armilla_release(f->context, *block);
        *block = NULL;
    }
    return status;
}

static armilla_status expect_indices(reading *f, const char *name, int64_t count)
{
    armilla_array array;
    unsigned char *block = NULL;
    const armilla_status status = load_indices(f, name, count, &array, &block);
    armilla_release(f->context, block);
    return status;
}

/* to[i] = the indices of NAME, each in 0 ... most. */
static armilla_status read_indices(reading *f, const char *name, int64_t count, int64_t most, bool index64, void *to)
{
    armilla_array array;
    unsigned char *block = NULL;
    armilla_status status = load_indices(f, name, count, &array, &block);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++) {
        const int64_t index = stored_index(&array, i);
        if (index < 0 || index > most)
            status = armilla_fail(f->context, ARMILLA_BAD_DATA,
                                  "%snumber %" PRId64 " (counted from 0) of array %s is %" PRId64
                                  ", which is not between 0 and %" PRId64,
                                  f->where, i, name, index, most);
        else
            armilla_index_put(index64, to, i, index);
    }
    armilla_release(f->context, block);
    return status;
}

static armilla_status read_shape(reading *f)
{
    armilla_array array;
    unsigned char *block = NULL;
    armilla_status status = load_indices(f, "shape", 2, &array, &block);
    for (int i = 0; i < 2 && status == ARMILLA_OK; i++) f->shape[i] = stored_index(&array, i);
    armilla_release(f->context, block);
    if (status != ARMILLA_OK) return status;
    return armilla_data_check_shape(f->context, f->where, f->shape[!f->sample_columns], f->shape[f->sample_columns]);
}

/* Memory for a matrix of that shape and its values, in the order of the file. */
static armilla_status read_values(reading *f, int64_t m, int64_t n, armilla_sparse_matrix *matrix)
{
    armilla_array array;
    unsigned char *block = NULL;
    armilla_status status = armilla_npz_load(f->npz, "data", &array, &block);
    if (status != ARMILLA_OK) return status;
    if (array.dimensions != 1) status = refuse(f, "the values of the sparse matrix are not a vector; save it again");
    if (status == ARMILLA_OK)
        status = armilla_sparse_take(f->context,
                                     armilla_type_precision(armilla_number_find(array.kind, array.width)->becomes), m,
                                     n, array.shape[0], matrix);
    if (status == ARMILLA_OK) {
        armilla_array_copy(&array, matrix->type, true, matrix->values);
        armilla_index_put(matrix->index64, matrix->starts, n, array.shape[0]);
    }
    armilla_release(f->context, block);
    return status;
}

/* *made = the matrix of lines, transposed where these are not the samples, sorted and added up where need be. */
static armilla_status finish_compressed(reading *f, const armilla_sparse_matrix *lines, bool are_samples,
                                        armilla_sparse_matrix *made, bool *as_it_is)
{
    bool sorted = false;
    armilla_status status = armilla_sparse_check(f->context, f->where, lines, armilla_sparse_entries(lines), &sorted);
    *as_it_is = status == ARMILLA_OK && sorted && are_samples;
    if (status != ARMILLA_OK || *as_it_is) return status;
    if (are_samples) return armilla_sparse_sort(f->context, lines, made);
    status = armilla_sparse_transpose(f->context, lines, made);
    if (status == ARMILLA_OK) armilla_sparse_add_up(made);
    return status;
}

/* The lines (rows of CSR, columns of CSC) are compressed. */
static armilla_status read_compressed(reading *f, bool lines_are_columns, armilla_sparse_matrix *made)
{
    const int64_t n = f->shape[lines_are_columns], m = f->shape[!lines_are_columns];
    armilla_sparse_matrix lines = {.m = 0};
    bool as_it_is = false;
    armilla_status status = expect_indices(f, "indptr", n + 1); /* before memory is taken for n */
    if (status == ARMILLA_OK) status = read_values(f, m, n, &lines);
    if (status != ARMILLA_OK) return status;
    const int64_t entries = armilla_sparse_entries(&lines);
    status = read_indices(f, "indices", entries, m - 1, lines.index64, lines.rows);
    if (status == ARMILLA_OK) status = read_indices(f, "indptr", n + 1, entries, lines.index64, lines.starts);
    if (status == ARMILLA_OK && armilla_sparse_entries(&lines) != entries)
        status = refuse(f, "array indptr does not end at the number of values; save the matrix again");
    if (status == ARMILLA_OK)
        status = finish_compressed(f, &lines, lines_are_columns == f->sample_columns, made, &as_it_is);
    if (as_it_is)
        *made = lines;
    else
        armilla_sparse_release(f->context, &lines);
    return status;
}

static armilla_status read_csr(reading *f, armilla_sparse_matrix *made)
{
    return read_compressed(f, false, made);
}

static armilla_status read_csc(reading *f, armilla_sparse_matrix *made)
{
    return read_compressed(f, true, made);
}

/* Values with a row and a column each: as a matrix of one entry per column whose rows are features it is transposed
 * to features, each with the numbers of its entries; those are replaced by their samples, and transposed again. */
static armilla_status read_coo(reading *f, armilla_sparse_matrix *made)
{
    static const char *const names[] = {"row", "col"};
    const int64_t m = f->shape[!f->sample_columns], n = f->shape[f->sample_columns];
    armilla_sparse_matrix entries = {.m = 0}, features = {.m = 0};
    armilla_array array;
    unsigned char *block = NULL;
    void *samples = NULL;
    armilla_status status = armilla_npz_load(f->npz, "data", &array, &block);
    if (status != ARMILLA_OK) return status;
    const int64_t count = array.shape[0] * array.shape[1];
    armilla_release(f->context, block);
    if ((status = read_values(f, m, count, &entries)) != ARMILLA_OK) return status;
    for (int64_t i = 0; i <= count; i++) armilla_index_put(entries.index64, entries.starts, i, i);
    status = read_indices(f, names[!f->sample_columns], count, m - 1, entries.index64, entries.rows);
    if (status == ARMILLA_OK) status = armilla_take(f->context, count, sizeof(int64_t), &samples);
    if (status == ARMILLA_OK) status = read_indices(f, names[f->sample_columns], count, n - 1, true, samples);
    if (status == ARMILLA_OK) status = armilla_sparse_transpose(f->context, &entries, &features);
    armilla_sparse_release(f->context, &entries);
    if (status == ARMILLA_OK && armilla_sparse_needs_index64(f->context, m, n, count) != features.index64)
        status = refuse(f, "the matrix has more samples than entries can count; save matrix.tocsr()");
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++)
        armilla_index_put(features.index64, features.rows, i,
                          ((const int64_t *)samples)[armilla_index_at(features.index64, features.rows, i)]);
    features.m = n;
    if (status == ARMILLA_OK) status = armilla_sparse_transpose(f->context, &features, made);
    if (status == ARMILLA_OK) armilla_sparse_add_up(made);
    armilla_sparse_release(f->context, &features);
    armilla_release(f->context, samples);
    return status;
}

static const struct kind {
    const char *word;
    armilla_status (*read)(reading *f, armilla_sparse_matrix *made);
} kinds[] = {{"csr", read_csr}, {"csc", read_csc}, {"coo", read_coo}};

static armilla_status read_kind(reading *f, armilla_sparse_matrix *made)
{
    char word[MOST_WORD], shown[ARMILLA_SHOWN];
    armilla_status status = armilla_npz_read_word(f->npz, "format", sizeof word, word);
    if (status == ARMILLA_OK) status = read_shape(f);
    if (status != ARMILLA_OK) return status;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].word, word) == 0) return kinds[i].read(f, made);
    return armilla_fail(f->context, ARMILLA_BAD_DATA,
                        "%sis a sparse matrix of the form '%s'; save it as scipy.sparse.save_npz(file, matrix.tocsr())",
                        f->where, armilla_text_show_word(word, shown));
}

bool armilla_scipy_is(const armilla_npz *npz)
{
    return armilla_npz_has(npz, "format") && armilla_npz_has(npz, "shape") && armilla_npz_has(npz, "data");
}

armilla_status armilla_scipy_read(armilla_context *context, const char *path, armilla_npz *npz, bool sample_columns,
                                  armilla_data **data)
{
    reading f = {.context = context, .npz = npz, .sample_columns = sample_columns};
    armilla_sparse_matrix matrix = {.m = 0};
    snprintf(f.where, sizeof f.where, "%s: ", path);
    armilla_status status = read_kind(&f, &matrix);
    if (status == ARMILLA_OK) status = armilla_data_own_sparse(context, &matrix, data);
    if (status != ARMILLA_OK) armilla_sparse_release(context, &matrix);
    return status;
}

/* What is streamed lies by sample, and is stored. */
typedef struct stored_lines {
    armilla_array values, features;
    int64_t values_at, features_at; /* < 0: compressed */
} stored_lines;

static armilla_status locate_lines(reading *f, stored_lines *lines)
{
    armilla_status status = armilla_npz_locate(f->npz, "data", &lines->values, &lines->values_at);
    if (status == ARMILLA_OK && !armilla_npz_has(f->npz, "indices"))
        return refuse(f, "the sparse matrix has no array 'indices'; save it again");
    if (status == ARMILLA_OK) status = armilla_npz_locate(f->npz, "indices", &lines->features, &lines->features_at);
    if (status != ARMILLA_OK) return status;
    if (lines->values.dimensions != 1)
        return refuse(f, "the values of the sparse matrix are not a vector; save it again");
    return check_indices(f, "indices", lines->values.shape[0], &lines->features);
}

/* *starts = array indptr, checked. */
static armilla_status read_starts(reading *f, int64_t m, int64_t n, int64_t entries, int64_t **starts)
{
    armilla_status status = expect_indices(f, "indptr", n + 1); /* before memory is taken for n */
    if (status == ARMILLA_OK)
        status = armilla_samples_take(f->context, &(armilla_samples){n + 1, 0, n + 1}, 1, sizeof **starts, starts);
    if (status == ARMILLA_OK) status = read_indices(f, "indptr", n + 1, entries, true, *starts);
    const armilla_sparse_matrix lines = {.index64 = true, .m = m, .n = n, .starts = *starts};
    return status == ARMILLA_OK ? armilla_sparse_check_starts(f->context, f->where, &lines, entries) : status;
}

armilla_status armilla_scipy_stream(armilla_context *context, armilla_blocks *blocks, armilla_npz *npz,
                                    bool sample_columns, armilla_data **data)
{
    reading f = {.context = context, .npz = npz, .sample_columns = sample_columns};
    stored_lines lines;
    char word[MOST_WORD];
    snprintf(f.where, sizeof f.where, "%s: ", armilla_blocks_path(blocks));
    armilla_status status = armilla_npz_read_word(npz, "format", sizeof word, word);
    if (status != ARMILLA_OK || strcmp(word, sample_columns ? "csc" : "csr") != 0) return status;
    if ((status = read_shape(&f)) != ARMILLA_OK || (status = locate_lines(&f, &lines)) != ARMILLA_OK) return status;
    if (lines.values_at < 0 || lines.features_at < 0) return ARMILLA_OK;
    const armilla_type type =
        armilla_type_precision(armilla_number_find(lines.values.kind, lines.values.width)->becomes);
    armilla_stream_sparse matrix = {.values = armilla_array_stored(&lines.values, type, lines.values_at),
                                    .features = {lines.features_at, lines.features.width, lines.features.swapped},
                                    .m = f.shape[!sample_columns],
                                    .n = f.shape[sample_columns]};
    status = read_starts(&f, matrix.m, matrix.n, lines.values.shape[0], &matrix.starts);
    if (status == ARMILLA_OK) status = armilla_data_stream_sparse(context, blocks, &matrix, data);
    if (status != ARMILLA_OK) armilla_release(context, matrix.starts);
    return status;
}
