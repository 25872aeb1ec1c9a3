/* HDF5: AnnData's .h5ad (X dense, or a csr or csc group; names of obs and var, a column of obs as labels) and 10x .h5 (a group of compressed
 * columns, features x barcodes). */
#include "hdf5_file.h"

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

/* The names of obs or var, in the group's dataset that its attribute _index names. */
static armilla_status read_index(const source *s, const char *group, int64_t wanted, text_list *list)
{
    char name[MOST_WORD], path[MOST_PATH];
    if (!hdf5_has(s, group)) return ARMILLA_OK;
    hdf5_read_word(s, group, "_index", name);
    hdf5_join(path, group, name[0] ? name : "_index");
    return hdf5_read_texts(s, path, wanted, list);
}

static armilla_status read_anndata(const source *s, matrix *made)
{
    const char *array = s->c->array ? s->c->array : "X";
    const bool raw = strncmp(array, "raw/", 4) == 0;
    char path[MOST_PATH];
    hdf5_join(path, "", array);
    if (!hdf5_has(s, path)) return hdf5_bad(s, array, "is not there; give X, raw/X or layers/NAME (--array)");
    armilla_status status =
        hdf5_kind(s, path) == H5I_GROUP ? read_group(s, path, made) : hdf5_read_dense(s, path, made);
    if (status == ARMILLA_OK) status = read_index(s, "/obs", made->n, &made->names[ARMILLA_SAMPLE_NAMES]);
    if (status == ARMILLA_OK)
        status = read_index(s, raw ? "/raw/var" : "/var", made->m, &made->names[ARMILLA_FEATURE_NAMES]);
    return status == ARMILLA_OK ? hdf5_read_labels(s, "/obs", made->n, &made->names[ARMILLA_SAMPLE_LABELS]) : status;
}

/* 10x: compressed by barcode, which are the samples. */
static armilla_status read_tenx(const source *s, const char *group, matrix *made)
{
    static const char *const features[] = {"features/name", "gene_names", "features/id", "genes"};
    char path[MOST_PATH];
    int64_t shape[2];
    armilla_status status = read_shape(s, group, NULL, shape);
    if (status != ARMILLA_OK) return status;
    made->m = shape[0];
    made->n = shape[1];
    status = hdf5_read_compressed(s, group, vectors, made->n, made->m, made);
    for (size_t i = 0; i < 4 && status == ARMILLA_OK && !made->names[ARMILLA_FEATURE_NAMES].texts; i++) {
        hdf5_join(path, group, features[i]);
        status = hdf5_read_texts(s, path, made->m, &made->names[ARMILLA_FEATURE_NAMES]);
    }
    hdf5_join(path, group, "barcodes");
    return status == ARMILLA_OK ? hdf5_read_texts(s, path, made->n, &made->names[ARMILLA_SAMPLE_NAMES]) : status;
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
    if (s->c->array) return hdf5_read_dense(s, wanted, made);
    return refuse(s->c, ARMILLA_BAD_DATA,
                  "%s: is neither AnnData (X, obs, var) nor a 10x matrix; name a matrix in it by --array PATH",
                  s->c->path);
}

armilla_status read_hdf5(conversion *c, matrix *made)
{
    return hdf5_read(c, read_matrix, made);
}
