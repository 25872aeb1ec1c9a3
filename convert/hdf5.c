/* HDF5: AnnData's .h5ad (X dense, or a csr or csc group; names of obs and var) and 10x .h5 (a group of compressed
 * columns, features x barcodes). Links to other files, data outside of the file and filters that are not built in are
 * refused: a file is read, and nothing else. */
#include "convert.h"

#include <hdf5.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATH = 256, MOST_WORD = 64 };

typedef struct source {
    conversion *c;
    hid_t file, groups, datasets; /* the file, and how groups and datasets are opened */
} source;

static herr_t refuse_link(const char *file, const char *group, const char *target, const char *object, unsigned *flags,
                          hid_t access, void *user)
{
    (void)file, (void)group, (void)target, (void)object, (void)flags, (void)access, (void)user;
    return -1;
}

static armilla_status bad(const source *s, const char *path, const char *what)
{
    return refuse(s->c, ARMILLA_BAD_DATA, "%s: %s: %s", s->c->path, path, what);
}

/* Every part of the path is there. */
static bool has(const source *s, const char *path)
{
    char part[MOST_PATH];
    for (size_t i = 1; i <= strlen(path); i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (H5Lexists(s->file, part, H5P_DEFAULT) <= 0) return false;
    }
    return strlen(path) < sizeof part;
}

static H5I_type_t kind_of(const source *s, const char *path)
{
    const hid_t object = H5Oopen(s->file, path, s->groups);
    const H5I_type_t kind = object < 0 ? H5I_BADID : H5Iget_type(object);
    if (object >= 0) H5Oclose(object);
    return kind;
}

/* A dataset whose numbers are in this file. */
static armilla_status open_dataset(const source *s, const char *path, hid_t *dataset)
{
    const hid_t opened = has(s, path) ? H5Dopen2(s->file, path, s->datasets) : -1;
    if (opened < 0) return bad(s, path, "is not there, or is no array");
    const hid_t plan = H5Dget_create_plist(opened);
    const bool inside = plan >= 0 && H5Pget_external_count(plan) == 0 && H5Pget_layout(plan) != H5D_VIRTUAL;
    if (plan >= 0) H5Pclose(plan);
    if (inside) {
        *dataset = opened;
        return ARMILLA_OK;
    }
    H5Dclose(opened);
    return bad(s, path, "its numbers are in another file, which is not read");
}

/* Its sizes; -1 where there are more than two. */
static int shape_of(hid_t dataset, int64_t shape[2])
{
    hsize_t sizes[2] = {1, 1};
    const hid_t space = H5Dget_space(dataset);
    int count = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    if (count >= 0 && count <= 2) H5Sget_simple_extent_dims(space, sizes, NULL);
    for (int i = 0; i < 2; i++) shape[i] = sizes[i] > INT64_MAX / 16 ? -1 : (int64_t)sizes[i];
    if (space >= 0) H5Sclose(space);
    return count > 2 ? -1 : count;
}

/* What the numbers are held in; false where they are none. */
static bool held_type(hid_t dataset, bool bytes, armilla_type *type)
{
    const hid_t stored = H5Dget_type(dataset);
    const H5T_class_t class = H5Tget_class(stored);
    const size_t size = H5Tget_size(stored);
    if (class == H5T_INTEGER && size == 1)
        *type = bytes && H5Tget_sign(stored) == H5T_SGN_NONE ? ARMILLA_U8 : ARMILLA_F32;
    else
        *type = class == H5T_FLOAT && size <= 4 ? ARMILLA_F32 : ARMILLA_F64;
    H5Tclose(stored);
    return class == H5T_INTEGER || (class == H5T_FLOAT && size <= 8);
}

static hid_t native(armilla_type type)
{
    return type == ARMILLA_U8 ? H5T_NATIVE_UINT8 : type == ARMILLA_F32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

static armilla_status read_all(const source *s, const char *path, hid_t dataset, hid_t type, void *to)
{
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0) return ARMILLA_OK;
    return bad(s, path, "cannot be read; the file is damaged, or compressed in a way that is not built in");
}

/* A vector of indices: as many as wanted, or -1 for any number, which is put there. */
static armilla_status read_indices(const source *s, const char *group, const char *name, armilla_index index,
                                   int64_t *count, void **to)
{
    char path[MOST_PATH];
    hid_t dataset = -1;
    int64_t shape[2];
    snprintf(path, sizeof path, "%s/%s", group, name);
    armilla_status status = open_dataset(s, path, &dataset);
    if (status != ARMILLA_OK) return status;
    if (shape_of(dataset, shape) != 1 || shape[0] < 0 || (*count >= 0 && shape[0] != *count))
        status = bad(s, path, "has not as many numbers as the sparse matrix needs");
    if (status == ARMILLA_OK)
        status = take(s->c, shape[0], index == ARMILLA_I64 ? sizeof(int64_t) : sizeof(int32_t), to);
    if (status == ARMILLA_OK)
        status = read_all(s, path, dataset, index == ARMILLA_I64 ? H5T_NATIVE_INT64 : H5T_NATIVE_INT32, *to);
    *count = shape[0];
    H5Dclose(dataset);
    return status;
}

/* Group's data, indices and indptr as `lines` compressed lines with places below `places`. */
static armilla_status read_compressed(const source *s, const char *group, int64_t lines, int64_t places, matrix *made)
{
    char path[MOST_PATH];
    hid_t dataset = -1;
    int64_t shape[2], starts = lines + 1;
    snprintf(path, sizeof path, "%s/data", group);
    armilla_status status = open_dataset(s, path, &dataset);
    if (status != ARMILLA_OK) return status;
    if (shape_of(dataset, shape) != 1 || shape[0] < 0 || !held_type(dataset, false, &made->type))
        status = bad(s, path, "is no vector of numbers");
    made->sparse = true;
    made->stored = shape[0];
    made->index = shape[0] > INT32_MAX || lines >= INT32_MAX || places > INT32_MAX ? ARMILLA_I64 : ARMILLA_I32;
    if (status == ARMILLA_OK) status = take(s->c, shape[0], armilla_type_size(made->type), &made->values);
    if (status == ARMILLA_OK) status = read_all(s, path, dataset, native(made->type), made->values);
    H5Dclose(dataset);
    if (status == ARMILLA_OK) status = read_indices(s, group, "indices", made->index, &made->stored, &made->places);
    if (status == ARMILLA_OK) status = read_indices(s, group, "indptr", made->index, &starts, &made->starts);
    if (status == ARMILLA_OK && index_at(made->index, made->starts, lines) != made->stored)
        status = bad(s, group, "its indptr does not end at the number of its values");
    return status;
}

static armilla_status read_dense(const source *s, const char *path, matrix *made)
{
    hid_t dataset = -1;
    int64_t shape[2], area = 0;
    armilla_status status = open_dataset(s, path, &dataset);
    if (status != ARMILLA_OK) return status;
    if (shape_of(dataset, shape) != 2 || shape[0] < 1 || shape[1] < 1 || !held_type(dataset, true, &made->type) ||
        __builtin_mul_overflow(shape[0], shape[1], &area))
        status = bad(s, path, "is no matrix of numbers");
    if (status == ARMILLA_OK) status = take(s->c, area, armilla_type_size(made->type), &made->values);
    if (status == ARMILLA_OK) status = read_all(s, path, dataset, native(made->type), made->values);
    made->n = shape[0];
    made->m = shape[1];
    H5Dclose(dataset);
    return status;
}

static void copy_texts(const char *from, size_t stride, char *const *pointers, text_list *list)
{
    for (int64_t i = 0; i < list->count; i++) {
        const char *text = pointers ? pointers[i] : from + (size_t)i * stride;
        list->texts[i] = strdup(text ? text : "");
    }
}

/* Strings of variable length, or of one length. */
static armilla_status read_strings(const source *s, const char *path, hid_t dataset, hid_t stored, text_list *list)
{
    const bool variable = H5Tis_variable_str(stored) > 0;
    const size_t width = variable ? sizeof(char *) : H5Tget_size(stored) + 1;
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Dget_space(dataset);
    char *block = NULL;
    H5Tset_size(type, variable ? H5T_VARIABLE : width);
    H5Tset_cset(type, H5Tget_cset(stored));
    armilla_status status = take(s->c, list->count, width, &block);
    if (status == ARMILLA_OK) status = take(s->c, list->count, sizeof *list->texts, &list->texts);
    if (status == ARMILLA_OK) status = read_all(s, path, dataset, type, block);
    if (status == ARMILLA_OK) copy_texts(block, width, variable ? (char **)(void *)block : NULL, list);
    if (status == ARMILLA_OK && variable) H5Dvlen_reclaim(type, space, H5P_DEFAULT, block);
    free(block);
    H5Tclose(type);
    H5Sclose(space);
    return status;
}

/* The vector of strings at path, where it is one of as many as wanted; otherwise there are no names. */
static armilla_status read_texts(const source *s, const char *path, int64_t wanted, text_list *list)
{
    hid_t dataset = -1;
    int64_t shape[2];
    armilla_status status = ARMILLA_OK;
    if (!has(s, path) || kind_of(s, path) != H5I_DATASET || open_dataset(s, path, &dataset) != ARMILLA_OK)
        return ARMILLA_OK;
    const hid_t stored = H5Dget_type(dataset);
    if (H5Tget_class(stored) == H5T_STRING && shape_of(dataset, shape) == 1 && shape[0] == wanted) {
        list->count = wanted;
        status = read_strings(s, path, dataset, stored, list);
    }
    H5Tclose(stored);
    H5Dclose(dataset);
    s->c->error[0] = status == ARMILLA_OK ? '\0' : s->c->error[0];
    return status;
}

/* A word that is an attribute; "" where it is not there. */
static void read_word(const source *s, const char *path, const char *name, char word[MOST_WORD])
{
    word[0] = '\0';
    if (H5Aexists_by_name(s->file, path, name, H5P_DEFAULT) <= 0) return;
    const hid_t attribute = H5Aopen_by_name(s->file, path, name, H5P_DEFAULT, s->groups);
    const hid_t stored = H5Aget_type(attribute), space = H5Aget_space(attribute);
    char *text = NULL, fixed[MOST_WORD] = "";
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_cset(type, H5Tget_cset(stored));
    if (H5Tget_class(stored) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1) {
        const bool variable = H5Tis_variable_str(stored) > 0;
        H5Tset_size(type, variable ? H5T_VARIABLE : sizeof fixed);
        if (H5Aread(attribute, type, variable ? (void *)&text : fixed) >= 0)
            snprintf(word, MOST_WORD, "%s", variable && text ? text : fixed);
        if (text) H5free_memory(text);
    }
    H5Tclose(type);
    H5Tclose(stored);
    H5Sclose(space);
    H5Aclose(attribute);
}

/* The two numbers of an attribute or of a dataset beside the arrays. */
static armilla_status read_shape(const source *s, const char *group, const char *attribute, int64_t shape[2])
{
    char path[MOST_PATH];
    int64_t sizes[2];
    herr_t done = -1;
    snprintf(path, sizeof path, "%s/shape", group);
    if (attribute && H5Aexists_by_name(s->file, group, attribute, H5P_DEFAULT) > 0) {
        const hid_t opened = H5Aopen_by_name(s->file, group, attribute, H5P_DEFAULT, s->groups);
        const hid_t space = H5Aget_space(opened);
        if (H5Sget_simple_extent_npoints(space) == 2) done = H5Aread(opened, H5T_NATIVE_INT64, shape);
        H5Sclose(space);
        H5Aclose(opened);
    } else if (has(s, path)) {
        hid_t dataset = -1;
        const armilla_status status = open_dataset(s, path, &dataset);
        if (status != ARMILLA_OK) return status;
        if (shape_of(dataset, sizes) == 1 && sizes[0] == 2)
            done = H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, shape);
        H5Dclose(dataset);
    }
    if (done < 0 || shape[0] < 1 || shape[1] < 1 || shape[0] > INT64_MAX / 16 || shape[1] > INT64_MAX / 16)
        return bad(s, group, "its shape is missing or not one of a matrix");
    return ARMILLA_OK;
}

/* AnnData's sparse group: obs x var, compressed by obs (csr) or by var (csc). */
static armilla_status read_group(const source *s, const char *group, matrix *made)
{
    char kind[MOST_WORD], shape_name[] = "h5sparse_shape";
    int64_t shape[2];
    read_word(s, group, "encoding-type", kind);
    const bool old = kind[0] == '\0';
    if (old) read_word(s, group, "h5sparse_format", kind);
    const bool by_sample = strncmp(kind, "csr", 3) == 0;
    if (!by_sample && strncmp(kind, "csc", 3) != 0) return bad(s, group, "is neither an array nor a csr or csc matrix");
    armilla_status status = read_shape(s, group, old ? shape_name : "shape", shape);
    if (status != ARMILLA_OK) return status;
    made->n = shape[0];
    made->m = shape[1];
    status = read_compressed(s, group, shape[by_sample ? 0 : 1], shape[by_sample ? 1 : 0], made);
    return status == ARMILLA_OK && !by_sample ? matrix_turn(s->c, made) : status;
}

/* The names of obs or var, in the group's dataset that its attribute _index names. */
static armilla_status read_index(const source *s, const char *group, int64_t wanted, text_list *list)
{
    char name[MOST_WORD], path[MOST_PATH];
    if (!has(s, group)) return ARMILLA_OK;
    read_word(s, group, "_index", name);
    snprintf(path, sizeof path, "%s/%s", group, name[0] ? name : "_index");
    return read_texts(s, path, wanted, list);
}

static armilla_status read_anndata(const source *s, matrix *made)
{
    const char *array = s->c->array ? s->c->array : "X";
    const bool raw = strncmp(array, "raw/", 4) == 0;
    char path[MOST_PATH];
    snprintf(path, sizeof path, "/%s", array);
    if (!has(s, path)) return bad(s, array, "is not there; give X, raw/X or layers/NAME (--array)");
    armilla_status status = kind_of(s, path) == H5I_GROUP ? read_group(s, path, made) : read_dense(s, path, made);
    if (status == ARMILLA_OK) status = read_index(s, "/obs", made->n, &made->names[ARMILLA_SAMPLE_NAMES]);
    if (status == ARMILLA_OK)
        status = read_index(s, raw ? "/raw/var" : "/var", made->m, &made->names[ARMILLA_FEATURE_NAMES]);
    return status;
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
    status = read_compressed(s, group, made->n, made->m, made);
    for (size_t i = 0; i < 4 && status == ARMILLA_OK && !made->names[ARMILLA_FEATURE_NAMES].texts; i++) {
        snprintf(path, sizeof path, "%s/%s", group, features[i]);
        status = read_texts(s, path, made->m, &made->names[ARMILLA_FEATURE_NAMES]);
    }
    snprintf(path, sizeof path, "%s/barcodes", group);
    return status == ARMILLA_OK ? read_texts(s, path, made->n, &made->names[ARMILLA_SAMPLE_NAMES]) : status;
}

/* The groups of a file in which 10x leaves a matrix: /matrix, or one for each genome. */
typedef struct search {
    const source *s;
    int64_t found;
    char first[MOST_PATH], list[512];
} search;

static herr_t look_at(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    search *f = user;
    char path[MOST_PATH];
    (void)group;
    if (info->type != H5L_TYPE_HARD || strlen(name) + 12 > sizeof path) return 0;
    snprintf(path, sizeof path, "/%s/barcodes", name);
    if (kind_of(f->s, (snprintf(path, sizeof path, "/%s", name), path)) != H5I_GROUP) return 0;
    snprintf(path, sizeof path, "/%s/barcodes", name);
    if (!has(f->s, path)) return 0;
    if (f->found++ == 0) snprintf(f->first, sizeof f->first, "/%s", name);
    const size_t used = strlen(f->list);
    snprintf(f->list + used, sizeof f->list - used, "%s%s", used ? ", " : "", name);
    return 0;
}

static armilla_status read_matrix(const source *s, matrix *made)
{
    search f = {.s = s};
    char wanted[MOST_PATH];
    if (has(s, "/X") || (has(s, "/obs") && has(s, "/var"))) return read_anndata(s, made);
    H5Literate(s->file, H5_INDEX_NAME, H5_ITER_INC, NULL, look_at, &f);
    snprintf(wanted, sizeof wanted, "/%s", s->c->array ? s->c->array : "");
    if (f.found > 0 && s->c->array && kind_of(s, wanted) == H5I_GROUP) return read_tenx(s, wanted, made);
    if (f.found == 1 && !s->c->array) return read_tenx(s, f.first, made);
    if (f.found > 1)
        return refuse(s->c, ARMILLA_BAD_DATA, "%s: holds several matrices; choose one by --array NAME among: %s",
                      s->c->path, f.list);
    if (s->c->array) return read_dense(s, wanted, made);
    return refuse(s->c, ARMILLA_BAD_DATA,
                  "%s: is neither AnnData (X, obs, var) nor a 10x matrix; name a matrix in it by --array PATH",
                  s->c->path);
}

void hdf5_prepare(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
}

armilla_status read_hdf5(conversion *c, matrix *made)
{
    source s = {.c = c};
    hdf5_prepare();
    s.groups = H5Pcreate(H5P_LINK_ACCESS);
    s.datasets = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_elink_cb(s.groups, refuse_link, NULL);
    H5Pset_elink_cb(s.datasets, refuse_link, NULL);
    s.file = H5Fopen(c->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    armilla_status status =
        s.file < 0 ? refuse(c, ARMILLA_BAD_DATA, "%s: is not a whole HDF5 file; copy or save it again", c->path)
                   : read_matrix(&s, made);
    if (s.file >= 0) H5Fclose(s.file);
    H5Pclose(s.groups);
    H5Pclose(s.datasets);
    return status;
}
