/* .npz as data: a sparse matrix of SciPy's, or one array of numpy.savez; --array names one of several matrices. Names
 * of features and samples and labels are read too where the archive has them, as the arrays of strings that `armilla
 * convert` writes. */
#include "files/npz_stream.h"
#include "files/scipy.h"
#include "files/stream.h"

#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ENTRIES = 100000 };

const char *const armilla_npz_name_arrays[ARMILLA_NAMING_COUNT] = {"feature_names", "sample_names", "labels"};

/* An archive being read. */
typedef struct reading {
    armilla_context *context;
    const char *path;
    const armilla_read_options *options;
    armilla_npz *npz;
    int64_t arrays;                /* entries that are some */
    int64_t matrices, wide;        /* arrays of numbers with two dimensions, and those of them that are no vectors */
    char chosen[ARMILLA_NPZ_NAME]; /* the last of these, else of those, else the first entry */
    armilla_listing list;
} reading;

/* What the archive holds. An entry that cannot be looked at is listed by its name: it may be the one that is not
 * wanted. Refused memory is a case of its own, since nothing can be said then. */
static armilla_status look_around(reading *f)
{
    char name[ARMILLA_NPZ_NAME];
    for (int64_t i = 0; i < MOST_ENTRIES && armilla_npz_entry(f->npz, i, name); i++) {
        armilla_array array;
        const armilla_status status = armilla_npz_peek(f->npz, name, &array);
        if (status == ARMILLA_NO_MEMORY) return status;
        f->arrays += armilla_npz_has(f->npz, name);
        armilla_listing_add(&f->list, name, status == ARMILLA_OK ? &array : NULL);
        const bool matrix = status == ARMILLA_OK && array.dimensions == 2;
        const bool wide = matrix && array.shape[0] > 1 && array.shape[1] > 1;
        if (i == 0 || wide || (matrix && f->wide == 0)) strcpy(f->chosen, name);
        f->matrices += matrix;
        f->wide += wide;
    }
    return ARMILLA_OK;
}

static armilla_status refuse_model(const reading *f)
{
    return armilla_fail(f->context, ARMILLA_BAD_DATA,
                        "%s: is a model, not data; give the data, such as a file of scipy.sparse.save_npz or "
                        "numpy.save",
                        f->path);
}

static armilla_status choose(reading *f)
{
    const char *wanted = f->options->array;
    char first[ARMILLA_NPZ_NAME], second[ARMILLA_NPZ_NAME];
    if (wanted && strlen(wanted) < sizeof f->chosen && armilla_npz_has(f->npz, wanted)) {
        strcpy(f->chosen, wanted);
        return ARMILLA_OK;
    }
    if (!wanted && armilla_npz_has(f->npz, "U") && armilla_npz_has(f->npz, "meta")) return refuse_model(f);
    const armilla_status status = look_around(f);
    if (status != ARMILLA_OK) return status;
    if (wanted)
        return armilla_fail(f->context, ARMILLA_BAD_DATA, "%s: has no array '%s'; it holds: %s", f->path, wanted,
                            f->list.text);
    if (f->arrays == 0)
        return armilla_fail(f->context, ARMILLA_BAD_DATA,
                            "%s: is a zip archive without arrays (.npy), of: %s; unpack it, and give the file in it",
                            f->path, f->list.text);
    /* A single entry is read whatever it is, so that what is wrong with it is said. */
    if (f->matrices == 1 || f->wide == 1 ||
        (armilla_npz_entry(f->npz, 0, first) && !armilla_npz_entry(f->npz, 1, second)))
        return ARMILLA_OK;
    if (f->matrices == 0)
        return armilla_fail(f->context, ARMILLA_BAD_DATA,
                            "%s: holds no matrix, but: %s; save one by numpy.savez or scipy.sparse.save_npz", f->path,
                            f->list.text);
    return armilla_fail(f->context, ARMILLA_BAD_DATA,
                        "%s: holds several matrices; choose one by " ARMILLA_FIELD("array NAME") " among: %s", f->path,
                        f->list.text);
}

/* The array's own block becomes the data where its numbers already lie as they should. */
static armilla_status read_array(reading *f, armilla_data **data)
{
    armilla_array array;
    unsigned char *block = NULL;
    armilla_status status = choose(f);
    if (status == ARMILLA_OK) status = armilla_npz_load(f->npz, f->chosen, &array, &block);
    if (status != ARMILLA_OK) return status;
    armilla_bytes bytes = {.path = f->path, .start = block, .memory = block};
    status = armilla_array_need_matrix(f->context, armilla_npz_where(f->npz), &array);
    if (status == ARMILLA_OK) status = armilla_array_data(f->context, &bytes, &array, f->options, data);
    armilla_release(f->context, bytes.memory);
    return status;
}

/* The labels that are asked for by the name of their array: texts, or numbers. */
static armilla_status take_labels(reading *f, armilla_data *data)
{
    const char *wanted = f->options->label_array;
    armilla_names names = {.count = 0};
    armilla_array array = {.dimensions = 0};
    unsigned char *block = NULL;
    if (!armilla_npz_has(f->npz, wanted)) {
        if (!f->list.text[0] && look_around(f) == ARMILLA_NO_MEMORY) return ARMILLA_NO_MEMORY;
        return armilla_fail(f->context, ARMILLA_BAD_DATA, "%s: has no array '%s' with labels; it holds: %s", f->path,
                            wanted, f->list.text);
    }
    armilla_status status = armilla_npz_read_texts(f->npz, wanted, &names);
    if (status == ARMILLA_BAD_DATA) {
        status = armilla_npz_load(f->npz, wanted, &array, &block);
        const bool vector =
            array.dimensions == 1 || (array.dimensions == 2 && (array.shape[0] == 1 || array.shape[1] == 1));
        if (status == ARMILLA_OK && !vector)
            status = armilla_fail(f->context, ARMILLA_BAD_DATA, "%s: array %s is no vector, and so has no labels",
                                  f->path, wanted);
        if (status == ARMILLA_OK) status = armilla_labels_add_numbers(f->context, &array, &names);
        armilla_release(f->context, block);
    }
    if (status == ARMILLA_OK && names.count != data->n)
        status = armilla_fail(f->context, ARMILLA_BAD_DATA,
                              "%s: array %s has %" PRId64 " labels, and the data have %" PRId64
                              " samples; name one with a label per sample",
                              f->path, wanted, names.count, data->n);
    if (status == ARMILLA_OK) status = armilla_data_adopt_names(data, ARMILLA_SAMPLE_LABELS, "", &names);
    armilla_names_free(f->context, &names);
    return status;
}

/* Names that do not fit belong to something else in the archive and are left there. */
static armilla_status take_names(reading *f, armilla_data *data)
{
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT; kind++) {
        const int64_t wanted = kind == ARMILLA_FEATURE_NAMES ? data->m : data->n;
        armilla_names names = {.count = 0};
        if (!armilla_npz_has(f->npz, armilla_npz_name_arrays[kind])) continue;
        armilla_status status = armilla_npz_read_texts(f->npz, armilla_npz_name_arrays[kind], &names);
        if (status == ARMILLA_OK && names.count == wanted)
            status = armilla_data_adopt_names(data, (armilla_naming)kind, "", &names);
        armilla_names_free(f->context, &names);
        if (status == ARMILLA_NO_MEMORY) return status;
    }
    return f->options->label_array ? take_labels(f, data) : ARMILLA_OK;
}

/* Streamed where it is stored and lies by sample. */
static armilla_status stream_array(reading *f, armilla_blocks *blocks, armilla_data **data)
{
    armilla_array array;
    int64_t at = -1;
    armilla_status status = choose(f);
    if (status == ARMILLA_OK) status = armilla_npz_locate(f->npz, f->chosen, &array, &at);
    if (status == ARMILLA_OK) status = armilla_array_need_matrix(f->context, armilla_npz_where(f->npz), &array);
    if (status != ARMILLA_OK || at < 0) return status;
    return armilla_array_stream(f->context, blocks, &array, at, f->options, data);
}

static armilla_status stream_npz(armilla_context *context, const armilla_head *head,
                                 const armilla_read_options *options, armilla_data **data)
{
    reading f = {.context = context, .path = armilla_blocks_path(head->blocks), .options = options};
    armilla_status status = armilla_npz_open_blocks(context, head->blocks, &f.npz);
    if (status != ARMILLA_OK) return status;
    if (!options->array && armilla_scipy_is(f.npz))
        status = armilla_scipy_stream(context, head->blocks, f.npz, options->sample_columns, data);
    else
        status = stream_array(&f, head->blocks, data);
    if (status == ARMILLA_OK && *data) status = take_names(&f, *data);
    armilla_npz_free(f.npz);
    return status;
}

static armilla_status read_npz(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                               armilla_data **data)
{
    reading f = {.context = context, .path = bytes->path, .options = options};
    armilla_data *made = NULL;
    armilla_status status = armilla_npz_open_bytes(context, bytes->path, bytes->start, bytes->count, &f.npz);
    if (status != ARMILLA_OK) return status;
    if (!options->array && armilla_scipy_is(f.npz))
        status = armilla_scipy_read(context, bytes->path, f.npz, options->sample_columns, &made);
    else
        status = read_array(&f, &made);
    if (status == ARMILLA_OK) status = take_names(&f, made);
    armilla_npz_free(f.npz);
    return armilla_data_give(status, made, data);
}

/* Behind the magic stands the version that is needed, whose upper byte is 0. */
static bool recognize(const unsigned char *start, size_t count)
{
    return count >= 4 && memcmp(start, "PK\x03\x04", 4) == 0 && (count < 6 || start[5] == 0);
}

const armilla_format armilla_format_npz = {
    .name = "npz",
    .endings = ".npz",
    .uses = "array label_array",
    .meaning = "NumPy's archive: an array of numpy.savez, or a sparse matrix of scipy.sparse.save_npz (csr, csc, coo)",
    .recognize = recognize,
    .read = read_npz,
    .stream = stream_npz,
};
