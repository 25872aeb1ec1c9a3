/* MATLAB's .mat of version 7.3, which is HDF5 behind 512 bytes of header: a variable is a dataset, or where it is sparse
 * a group with data, ir and jc. Arrays lie by column, and their sizes are given in reverse. */
#include "hdf5_file.h"

#include <string.h>

static const char *const vectors[3] = {"data", "ir", "jc"};

/* The classes of numbers, as the attribute MATLAB_class calls them; files of other programs may leave it out. */
static bool is_number_class(const char *word)
{
    static const char *const words[] = {"",      "double", "single", "logical", "int8",  "uint8",
                                        "int16", "uint16", "int32",  "uint32",  "int64", "uint64"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0) return true;
    return false;
}

typedef struct variable {
    char path[MOST_PATH];
    bool sparse;
    int64_t rows, cols;
} variable;

/* A sparse group says its rows; its columns are as many as jc has starts, less one. */
static bool measure_sparse(const source *s, variable *v)
{
    char path[MOST_PATH];
    int64_t shape[2] = {0, 0};
    hid_t starts = -1;
    v->sparse = true;
    hdf5_join(path, v->path, "jc");
    if (!hdf5_read_attribute(s, v->path, "MATLAB_sparse", 1, &v->rows)) return false;
    if (hdf5_open_dataset(s, path, &starts) != ARMILLA_OK) return false;
    const bool vector = hdf5_shape(starts, shape) == 1;
    H5Dclose(starts);
    v->cols = shape[0] - 1;
    return vector;
}

static bool measure_dense(const source *s, variable *v)
{
    int64_t shape[2] = {0, 0}, empty = 0;
    armilla_type type;
    hid_t dataset = -1;
    if (hdf5_read_attribute(s, v->path, "MATLAB_empty", 1, &empty) && empty) return false;
    if (hdf5_open_dataset(s, v->path, &dataset) != ARMILLA_OK) return false;
    const bool right = hdf5_shape(dataset, shape) == 2 && hdf5_held_type(dataset, true, &type);
    H5Dclose(dataset);
    v->cols = shape[0];
    v->rows = shape[1];
    return right;
}

/* Whether it is a real matrix; a vector is one too there, a single number none. */
static bool measure(const source *s, const char *name, variable *v)
{
    char word[MOST_WORD];
    int64_t area = 0;
    *v = (variable){.rows = 0};
    hdf5_join(v->path, "", name);
    hdf5_read_word(s, v->path, "MATLAB_class", word);
    if (!hdf5_has(s, v->path) || !is_number_class(word)) return false;
    if (!(hdf5_kind(s, v->path) == H5I_GROUP ? measure_sparse(s, v) : measure_dense(s, v))) return false;
    return v->rows > 0 && v->cols > 0 && !__builtin_mul_overflow(v->rows, v->cols, &area) && area > 1;
}

static herr_t look_at(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    hdf5_search *f = user;
    variable v;
    (void)group, (void)info;
    if (name[0] != '#' && strlen(name) < MOST_NAME && measure(f->s, name, &v))
        choice_add(&f->among, name, v.rows, v.cols);
    return 0;
}

/* Without entries MATLAB leaves out data and ir. */
static armilla_status read_sparse(const source *s, const variable *v, matrix *made)
{
    char path[MOST_PATH];
    hdf5_join(path, v->path, "data");
    if (hdf5_has(s, path)) return hdf5_read_compressed(s, v->path, vectors, v->cols, v->rows, made);
    *made = (matrix){.sparse = true, .type = ARMILLA_F64, .index = ARMILLA_I64};
    armilla_status status = take(s->c, 0, sizeof(double), &made->values);
    if (status == ARMILLA_OK) status = take(s->c, 0, sizeof(int64_t), &made->places);
    if (status == ARMILLA_OK) status = take(s->c, v->cols + 1, sizeof(int64_t), &made->starts);
    return status;
}

static armilla_status read_variable(const source *s, matrix *made)
{
    hdf5_search f = {.s = s};
    variable v;
    char name[MOST_NAME];
    H5Literate(s->file, H5_INDEX_NAME, H5_ITER_INC, NULL, look_at, &f);
    if (f.among.found == 0 && !s->c->array && s->c->error[0]) return ARMILLA_BAD_DATA; /* why one is refused */
    s->c->error[0] = '\0';
    armilla_status status = choice_settle(s->c, &f.among, name);
    if (status != ARMILLA_OK) return status;
    if (!measure(s, name, &v)) return s->c->error[0] ? ARMILLA_BAD_DATA : choice_refuse_missing(s->c, &f.among, name);
    status = v.sparse ? read_sparse(s, &v, made) : hdf5_read_dense(s, v.path, made);
    matrix_orient(s->c, v.rows, v.cols, made);
    if (status == ARMILLA_OK && !s->c->sample_columns) status = matrix_turn(s->c, made);
    return status == ARMILLA_OK ? hdf5_read_labels(s, "", made->n, &made->names[ARMILLA_SAMPLE_LABELS]) : status;
}

armilla_status read_mat73(conversion *c, matrix *made)
{
    return hdf5_read(c, read_variable, made);
}
