/* HDF5: AnnData's .h5ad (X, raw, layers, obsm and their like: dense, a csr or csc group, or a data frame; names of obs and
 * var, a column of obs as labels) and 10x .h5 (a group of compressed columns, features x barcodes). */
#include "hdf5_file.h"

#include <stdio.h>
#include <string.h>

static const char *const vectors[3] = {"data", "indices", "indptr"};

/* The two numbers of an attribute or of a dataset beside the arrays. */
static armilla_status read_shape(const source *s, const char *group, const char *attribute, int64_t shape[2])
{
    char path[MOST_PATH];
    hdf5_join(path, group, "shape");
    const bool found =
        (attribute && hdf5_read_attribute(s, group, attribute, 2, shape)) || hdf5_read_pair(s, path, shape);
    if (!found || shape[0] < 1 || shape[1] < 1 || shape[0] > INT64_MAX / 16 || shape[1] > INT64_MAX / 16)
        return hdf5_bad(s, group, "its shape is missing or not one of a matrix");
    return ARMILLA_OK;
}

/* AnnData's sparse group: obs x var, compressed by obs (csr) or by var (csc). */
static armilla_status read_group(const source *s, const char *group, matrix *made)
{
    char kind[MOST_WORD];
    int64_t shape[2];
    hdf5_read_word(s, group, "encoding-type", kind);
    const bool old = kind[0] == '\0';
    if (old) hdf5_read_word(s, group, "h5sparse_format", kind);
    const bool by_sample = strncmp(kind, "csr", 3) == 0;
    if (!by_sample && strncmp(kind, "csc", 3) != 0)
        return hdf5_bad(s, group, "is neither an array nor a csr or csc matrix");
    armilla_status status = read_shape(s, group, old ? "h5sparse_shape" : "shape", shape);
    if (status != ARMILLA_OK) return status;
    made->n = shape[0];
    made->m = shape[1];
    status = hdf5_read_compressed(s, group, vectors, shape[by_sample ? 0 : 1], shape[by_sample ? 1 : 0], made);
    return status == ARMILLA_OK && !by_sample ? matrix_turn(s->c, made) : status;
}

/* Whose rows and columns the arrays of a place have: paths that begin so, or are that. */
typedef struct place {
    const char *begins;
    const char *samples, *features; /* data frames, or NULL */
} place;

static const place places[] = {
    {"X", "/obs", "/var"},           {"layers/", "/obs", "/var"}, {"raw/X", "/obs", "/raw/var"},
    {"raw.X", "/obs", "/raw.var"},   {"obsm/", "/obs", NULL},     {"varm/", "/var", NULL},
    {"raw/varm/", "/raw/var", NULL}, {"obsp/", "/obs", "/obs"},   {"varp/", "/var", "/var"},
};

static place place_of(const char *array)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const size_t length = strlen(places[i].begins);
        const bool folder = places[i].begins[length - 1] == '/';
        if (strncmp(array, places[i].begins, length) == 0 && (folder || array[length] == '\0')) return places[i];
    }
    return (place){NULL, NULL, NULL};
}

/* How many rows the data frame has, by its index. */
static armilla_status count_rows(const source *s, const char *frame, int64_t *rows)
{
    char name[MOST_WORD];
    text_list index = {0};
    hdf5_index_name(s, frame, name);
    const armilla_status status = name[0] ? hdf5_read_column(s, frame, name, -1, &index) : ARMILLA_OK;
    *rows = index.count;
    text_list_free(&index);
    return status == ARMILLA_OK && *rows < 1 ? hdf5_bad(s, frame, "its index cannot be read") : status;
}

/* A folder of arrays, as it is listed. */
typedef struct listing {
    choice *among;
    const char *begins;
} listing;

static herr_t list_array(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    const listing *of = user;
    char path[MOST_PATH];
    (void)group, (void)info;
    snprintf(path, sizeof path, "%s%s", of->begins, name);
    choice_add(of->among, path, -1, -1);
    return 0;
}

/* That the array is not there, and which are. */
static armilla_status refuse_missing(const source *s, const char *array)
{
    choice among = {.found = 0};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char path[MOST_PATH];
        const char *begins = places[i].begins;
        const size_t length = strlen(begins);
        snprintf(path, sizeof path, "/%.*s", (int)(length - (begins[length - 1] == '/')), begins);
        if (!hdf5_has(s, path)) continue;
        if (begins[length - 1] != '/') choice_add(&among, begins, -1, -1);
        if (begins[length - 1] == '/' && hdf5_kind(s, path) == H5I_GROUP)
            H5Literate_by_name(s->file, path, H5_INDEX_NAME, H5_ITER_INC, NULL, list_array, &(listing){&among, begins},
                               H5P_DEFAULT);
    }
    s->c->error[0] = '\0';
    return refuse(s->c, ARMILLA_BAD_DATA,
                  "%s: %s: is not there; give X, raw/X, layers/NAME or obsm/NAME (--array); it holds: %s", s->c->path,
                  array, among.list);
}

/* Arrays, sparse groups and data frames; until 0.6 obsm and its like were datasets of records, and raw/X was raw.X. */
static armilla_status read_array(const source *s, const char *array, matrix *made)
{
    char path[MOST_PATH], kind[MOST_WORD], folder[MOST_PATH];
    int64_t rows = 0;
    hdf5_join(path, "", array);
    snprintf(folder, sizeof folder, "%.*s", (int)strcspn(path + 1, "/") + 1, path);
    if (!hdf5_has(s, path) && hdf5_has(s, folder) && hdf5_kind(s, folder) == H5I_DATASET && strchr(array, '/'))
        return hdf5_read_records(s, folder, strchr(array, '/') + 1, made);
    if (!hdf5_has(s, path)) return refuse_missing(s, array);
    if (hdf5_kind(s, path) != H5I_GROUP) return hdf5_read_dense(s, path, made);
    hdf5_read_word(s, path, "encoding-type", kind);
    if (strcmp(kind, "dataframe") != 0) return read_group(s, path, made);
    const armilla_status status = count_rows(s, path, &rows);
    return status == ARMILLA_OK ? hdf5_read_frame(s, path, rows, made) : status;
}

static armilla_status read_anndata(const source *s, matrix *made)
{
    const char *array = s->c->array ? s->c->array : "X";
    while (*array == '/') array++;
    if (strcmp(array, "raw/X") == 0 && !hdf5_has(s, "/raw/X") && hdf5_has(s, "/raw.X")) array = "raw.X";
    const place at = place_of(array);
    armilla_status status = read_array(s, array, made);
    if (status == ARMILLA_OK && at.samples)
        status = hdf5_read_index(s, at.samples, "samples", made->n, &made->names[ARMILLA_SAMPLE_NAMES]);
    if (status == ARMILLA_OK && at.features)
        status = hdf5_read_index(s, at.features, "features", made->m, &made->names[ARMILLA_FEATURE_NAMES]);
    if (status != ARMILLA_OK) return status;
    return hdf5_read_labels(s, at.samples ? at.samples : "/obs", made->n, &made->names[ARMILLA_SAMPLE_LABELS]);
}

/* The first of the vectors that is there, as names, with a warning where it is not read. */
static armilla_status read_vector(const source *s, const char *group, const char *const among[], int64_t wanted,
                                  const char *whose, text_list *list)
{
    for (; *among; among++) {
        if (!hdf5_has_column(s, group, *among)) continue;
        const armilla_status status = hdf5_read_column(s, group, *among, wanted, list);
        if (status != ARMILLA_OK || list->texts) return status;
        warn(s->c, "%s: %s/%s: the names of %s are not read: they are not %lld texts", s->c->path, group, *among, whose,
             (long long)wanted);
    }
    return ARMILLA_OK;
}

/* 10x: compressed by barcode, which are the samples. */
static armilla_status read_tenx(const source *s, const char *group, matrix *made)
{
    static const char *const features[] = {"features/name", "gene_names", "features/id", "genes", NULL};
    static const char *const barcodes[] = {"barcodes", NULL};
    int64_t shape[2];
    armilla_status status = read_shape(s, group, NULL, shape);
    if (status != ARMILLA_OK) return status;
    made->m = shape[0];
    made->n = shape[1];
    status = hdf5_read_compressed(s, group, vectors, made->n, made->m, made);
    if (status == ARMILLA_OK)
        status = read_vector(s, group, features, made->m, "features", &made->names[ARMILLA_FEATURE_NAMES]);
    if (status == ARMILLA_OK)
        status = read_vector(s, group, barcodes, made->n, "samples", &made->names[ARMILLA_SAMPLE_NAMES]);
    s->c->error[0] = status == ARMILLA_OK ? '\0' : s->c->error[0];
    return status;
}

/* The groups of a file in which 10x leaves a matrix: /matrix, or one for each genome. */
static herr_t look_at(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    hdf5_search *f = user;
    char path[MOST_PATH], barcodes[MOST_PATH];
    (void)group;
    if (info->type != H5L_TYPE_HARD || strlen(name) >= MOST_NAME) return 0;
    hdf5_join(path, "", name);
    if (hdf5_kind(f->s, path) != H5I_GROUP) return 0;
    hdf5_join(barcodes, path, "barcodes");
    if (hdf5_has(f->s, barcodes)) choice_add(&f->among, name, -1, -1);
    return 0;
}

static armilla_status read_matrix(const source *s, matrix *made)
{
    hdf5_search f = {.s = s};
    char wanted[MOST_PATH];
    if (hdf5_has(s, "/X") || (hdf5_has(s, "/obs") && hdf5_has(s, "/var"))) return read_anndata(s, made);
    if (s->c->labels) return refuse(s->c, ARMILLA_BAD_DATA, "%s: is no AnnData, whose obs has labels", s->c->path);
    H5Literate(s->file, H5_INDEX_NAME, H5_ITER_INC, NULL, look_at, &f);
    hdf5_join(wanted, "", s->c->array ? s->c->array : f.among.first);
    const bool named = s->c->array && hdf5_kind(s, wanted) == H5I_GROUP;
    if (f.among.found > 1 && !named) return choice_refuse_several(s->c, &f.among);
    if (f.among.found > 0 && (named || !s->c->array)) return read_tenx(s, wanted, made);
    if (s->c->array && f.among.found > 0 && !hdf5_has(s, wanted))
        return choice_refuse_missing(s->c, &f.among, s->c->array);
    if (s->c->array) return hdf5_read_dense(s, wanted, made);
    return refuse(s->c, ARMILLA_BAD_DATA,
                  "%s: is neither AnnData (X, obs, var) nor a 10x matrix; name a matrix in it by --array PATH",
                  s->c->path);
}

armilla_status read_hdf5(conversion *c, matrix *made)
{
    return hdf5_read(c, read_matrix, made);
}
