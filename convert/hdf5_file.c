/* HDF5 files, and the one guard of them all: whatever is asked for lies in this file, which lies in memory. The library is
 * given its bytes and no name, so it opens nothing; it knows no external links any more, and loads no filters; data that
 * are stored in other files, or put together out of others, are refused before they are read. */
#include "hdf5_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The property lists and the file share the mapped bytes instead of copying them. */
static void *image_take(size_t size, H5FD_file_image_op_t operation, void *bytes)
{
    (void)size, (void)operation;
    return bytes;
}

static void *image_copy(void *to, const void *from, size_t size, H5FD_file_image_op_t operation, void *bytes)
{
    (void)from, (void)size, (void)operation, (void)bytes;
    return to;
}

static void *image_grow(void *image, size_t size, H5FD_file_image_op_t operation, void *bytes)
{
    (void)image, (void)size, (void)operation, (void)bytes;
    return NULL;
}

static herr_t image_give_back(void *image, H5FD_file_image_op_t operation, void *bytes)
{
    (void)image, (void)operation, (void)bytes;
    return 0;
}

static void *bytes_copy(void *bytes)
{
    return bytes;
}

static herr_t bytes_free(void *bytes)
{
    (void)bytes;
    return 0;
}

static hid_t open_image(const conversion *c, hid_t access)
{
    void *bytes = (void *)(uintptr_t)c->bytes; /* only read; the prototypes are older than const */
    H5FD_file_image_callbacks_t calls = {image_take, image_copy, image_grow, image_give_back,
                                         bytes_copy, bytes_free, bytes};
    if (H5Pset_fapl_core(access, 1 << 16, false) < 0 || H5Pset_file_image_callbacks(access, &calls) < 0 ||
        H5Pset_file_image(access, bytes, c->size) < 0)
        return -1;
    /* A name is asked for, and no file may have it. */
    return H5Fopen("/dev/null/input", H5F_ACC_RDONLY, access);
}

static herr_t see_memory(unsigned level, const H5E_error2_t *error, void *found)
{
    (void)level;
    if (error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC) *(bool *)found = true;
    return 0;
}

/* Whether the library's last call ran out of memory somewhere below: the minor number of an error says so. */
static bool out_of_memory(void)
{
    bool found = false;
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, see_memory, &found);
    return found;
}

armilla_status hdf5_bad(const source *s, const char *path, const char *what)
{
    if (out_of_memory())
        return refuse(s->c, ARMILLA_NO_MEMORY, "%s: %s: out of memory; raise the limit (--memory)", s->c->path, path);
    return refuse(s->c, ARMILLA_BAD_DATA, "%s: %s: %s", s->c->path, path, what);
}

void hdf5_join(char path[MOST_PATH], const char *group, const char *name)
{
    const int length = snprintf(path, MOST_PATH, "%s/%s", group, name);
    if (length < 0 || length >= MOST_PATH) path[0] = '\0';
}

bool hdf5_has(const source *s, const char *path)
{
    char part[MOST_PATH];
    for (size_t i = 1; i <= strlen(path); i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (H5Lexists(s->file, part, H5P_DEFAULT) <= 0) return false;
    }
    return *path && strlen(path) < sizeof part;
}

/* Whether a part of the path is a link to another file, or of a class that nobody knows here. */
static bool leads_out(const source *s, const char *path)
{
    char part[MOST_PATH];
    H5L_info_t info;
    for (size_t i = 1; i <= strlen(path) && i < sizeof part; i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (H5Lget_info(s->file, part, &info, H5P_DEFAULT) < 0) return false;
        if (info.type != H5L_TYPE_HARD && info.type != H5L_TYPE_SOFT) return true;
    }
    return false;
}

H5I_type_t hdf5_kind(const source *s, const char *path)
{
    const hid_t object = H5Oopen(s->file, path, H5P_DEFAULT);
    const H5I_type_t kind = object < 0 ? H5I_BADID : H5Iget_type(object);
    if (object >= 0) H5Oclose(object);
    return kind;
}

armilla_status hdf5_open_dataset(const source *s, const char *path, hid_t *dataset)
{
    const hid_t opened = hdf5_has(s, path) ? H5Dopen2(s->file, path, H5P_DEFAULT) : -1;
    if (opened < 0 && !out_of_memory() && leads_out(s, path))
        return hdf5_bad(s, path, "is a link to another file, which is not read");
    if (opened < 0) return hdf5_bad(s, path, "is not there, or is no array");
    const hid_t plan = H5Dget_create_plist(opened);
    const bool inside = plan >= 0 && H5Pget_external_count(plan) == 0 && H5Pget_layout(plan) != H5D_VIRTUAL;
    if (plan >= 0) H5Pclose(plan);
    if (inside) {
        *dataset = opened;
        return ARMILLA_OK;
    }
    H5Dclose(opened);
    return hdf5_bad(s, path, "its numbers are in another file, which is not read");
}

int hdf5_shape(hid_t dataset, int64_t shape[2])
{
    hsize_t sizes[2] = {1, 1};
    const hid_t space = H5Dget_space(dataset);
    int count = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    if (count >= 0 && count <= 2) H5Sget_simple_extent_dims(space, sizes, NULL);
    for (int i = 0; i < 2; i++) shape[i] = sizes[i] > INT64_MAX / 16 ? -1 : (int64_t)sizes[i];
    if (space >= 0) H5Sclose(space);
    return count > 2 ? -1 : count;
}

/* IEEE 754's binary16, in either byte order. */
static bool is_half(hid_t type)
{
    size_t sign = 0, exponent = 0, exponent_bits = 0, fraction = 0, fraction_bits = 0;
    return H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == 2 && H5Tget_precision(type) == 16 &&
           H5Tget_fields(type, &sign, &exponent, &exponent_bits, &fraction, &fraction_bits) >= 0 && sign == 15 &&
           exponent == 10 && exponent_bits == 5 && fraction == 0 && fraction_bits == 10 && H5Tget_ebias(type) == 15 &&
           H5Tget_norm(type) == H5T_NORM_IMPLIED;
}

bool hdf5_is_number(hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    return class == H5T_INTEGER || class == H5T_ENUM || (class == H5T_FLOAT && H5Tget_size(type) <= 8);
}

/* Booleans are an enumeration, which is converted as its numbers are. */
static hid_t element_type(hid_t dataset)
{
    const hid_t stored = H5Dget_type(dataset);
    if (H5Tget_class(stored) != H5T_ENUM) return stored;
    const hid_t numbers = H5Tget_super(stored);
    H5Tclose(stored);
    return numbers;
}

bool hdf5_held_type(hid_t dataset, bool narrow, armilla_type *type)
{
    const hid_t stored = element_type(dataset);
    const H5T_class_t class = H5Tget_class(stored);
    const size_t size = H5Tget_size(stored);
    const bool numbers = hdf5_is_number(stored);
    if (narrow && is_half(stored))
        *type = ARMILLA_F16;
    else if (narrow && class == H5T_INTEGER && size == 1)
        *type = H5Tget_sign(stored) == H5T_SGN_NONE ? ARMILLA_U8 : ARMILLA_I8;
    else
        *type = (class == H5T_FLOAT && size <= 4) || size == 1 ? ARMILLA_F32 : ARMILLA_F64;
    H5Tclose(stored);
    return numbers;
}

armilla_status hdf5_read_all(const source *s, const char *path, hid_t dataset, hid_t type, void *to)
{
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0) return ARMILLA_OK;
    return hdf5_bad(s, path, "cannot be read; the file is damaged, or compressed in a way that is not built in");
}

/* All numbers, in the type that hdf5_held_type gave. HDF5 has no native type of halves: it is the stored one in this
 * machine's byte order. */
static armilla_status read_numbers(const source *s, const char *path, hid_t dataset, const matrix *made)
{
    if (made->type == ARMILLA_F16) {
        const hid_t stored = H5Dget_type(dataset), half = H5Tcopy(stored);
        const bool right = half >= 0 && H5Tset_order(half, H5Tget_order(H5T_NATIVE_FLOAT)) >= 0;
        const armilla_status status = hdf5_read_all(s, path, dataset, right ? half : -1, made->values);
        H5Tclose(stored);
        H5Tclose(half);
        return status;
    }
    const hid_t natives[] = {[ARMILLA_F32] = H5T_NATIVE_FLOAT,
                             [ARMILLA_F64] = H5T_NATIVE_DOUBLE,
                             [ARMILLA_U8] = H5T_NATIVE_UINT8,
                             [ARMILLA_I8] = H5T_NATIVE_INT8};
    return hdf5_read_all(s, path, dataset, natives[made->type], made->values);
}

/* A vector of indices: as many as wanted, or -1 for any number, which is put there. */
static armilla_status read_indices(const source *s, const char *group, const char *name, armilla_index index,
                                   int64_t *count, void **to)
{
    char path[MOST_PATH];
    hid_t dataset = -1;
    int64_t shape[2];
    hdf5_join(path, group, name);
    armilla_status status = hdf5_open_dataset(s, path, &dataset);
    if (status != ARMILLA_OK) return status;
    if (hdf5_shape(dataset, shape) != 1 || shape[0] < 0 || (*count >= 0 && shape[0] != *count))
        status = hdf5_bad(s, path, "has not as many numbers as the sparse matrix needs");
    if (status == ARMILLA_OK)
        status = take(s->c, shape[0], index == ARMILLA_I64 ? sizeof(int64_t) : sizeof(int32_t), to);
    if (status == ARMILLA_OK)
        status = hdf5_read_all(s, path, dataset, index == ARMILLA_I64 ? H5T_NATIVE_INT64 : H5T_NATIVE_INT32, *to);
    *count = shape[0];
    H5Dclose(dataset);
    return status;
}

armilla_status hdf5_read_compressed(const source *s, const char *group, const char *const names[3], int64_t lines,
                                    int64_t places, matrix *made)
{
    char path[MOST_PATH];
    hid_t dataset = -1;
    int64_t shape[2], starts = lines + 1;
    hdf5_join(path, group, names[0]);
    armilla_status status = hdf5_open_dataset(s, path, &dataset);
    if (status != ARMILLA_OK) return status;
    if (hdf5_shape(dataset, shape) != 1 || shape[0] < 0 || !hdf5_held_type(dataset, false, &made->type))
        status = hdf5_bad(s, path, "is no vector of numbers");
    made->sparse = true;
    made->stored = shape[0];
    made->index = shape[0] > INT32_MAX || lines >= INT32_MAX || places > INT32_MAX ? ARMILLA_I64 : ARMILLA_I32;
    if (status == ARMILLA_OK) status = take(s->c, shape[0], armilla_type_size(made->type), &made->values);
    if (status == ARMILLA_OK) status = read_numbers(s, path, dataset, made);
    H5Dclose(dataset);
    if (status == ARMILLA_OK) status = read_indices(s, group, names[1], made->index, &made->stored, &made->places);
    if (status == ARMILLA_OK) status = read_indices(s, group, names[2], made->index, &starts, &made->starts);
    if (status == ARMILLA_OK && index_at(made->index, made->starts, lines) != made->stored)
        status = hdf5_bad(s, path, "has not as many numbers as the starts of its lines say");
    return status;
}

armilla_status hdf5_read_dense(const source *s, const char *path, matrix *made)
{
    hid_t dataset = -1;
    int64_t shape[2], area = 0;
    armilla_status status = hdf5_open_dataset(s, path, &dataset);
    if (status != ARMILLA_OK) return status;
    if (hdf5_shape(dataset, shape) != 2 || shape[0] < 1 || shape[1] < 1 ||
        !hdf5_held_type(dataset, true, &made->type) || __builtin_mul_overflow(shape[0], shape[1], &area))
        status = hdf5_bad(s, path, "is no matrix of numbers");
    if (status == ARMILLA_OK) status = take(s->c, area, armilla_type_size(made->type), &made->values);
    if (status == ARMILLA_OK) status = read_numbers(s, path, dataset, made);
    made->n = shape[0];
    made->m = shape[1];
    H5Dclose(dataset);
    return status;
}

void hdf5_first_member(const source *s, const char *path, char name[MOST_WORD])
{
    hid_t dataset = -1;
    name[0] = '\0';
    if (hdf5_open_dataset(s, path, &dataset) != ARMILLA_OK) return;
    const hid_t stored = H5Dget_type(dataset);
    char *member = H5Tget_class(stored) == H5T_COMPOUND ? H5Tget_member_name(stored, 0) : NULL;
    if (member && strlen(member) < MOST_WORD) snprintf(name, MOST_WORD, "%s", member);
    if (member) H5free_memory(member);
    H5Tclose(stored);
    H5Dclose(dataset);
}

void hdf5_read_word(const source *s, const char *path, const char *name, char word[MOST_WORD])
{
    word[0] = '\0';
    if (H5Aexists_by_name(s->file, path, name, H5P_DEFAULT) <= 0) return;
    const hid_t attribute = H5Aopen_by_name(s->file, path, name, H5P_DEFAULT, H5P_DEFAULT);
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

/* One string of the vector; NULL: there is no memory. */
static char *copy_word(const char *block, int64_t i, size_t width, bool variable)
{
    const char *text = variable ? ((char *const *)(const void *)block)[i] : block + (size_t)i * width;
    return strdup(text ? text : "");
}

armilla_status hdf5_read_words(const source *s, const char *path, const char *name, text_list *list)
{
    if (H5Aexists_by_name(s->file, path, name, H5P_DEFAULT) <= 0) return ARMILLA_OK;
    const hid_t attribute = H5Aopen_by_name(s->file, path, name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t stored = H5Aget_type(attribute), space = H5Aget_space(attribute), type = H5Tcopy(H5T_C_S1);
    const int64_t count = H5Sget_simple_extent_npoints(space);
    const bool variable = H5Tis_variable_str(stored) > 0;
    const size_t width = variable ? sizeof(char *) : H5Tget_size(stored) + 1;
    char *block = NULL;
    armilla_status status = ARMILLA_OK;
    H5Tset_cset(type, H5Tget_cset(stored));
    H5Tset_size(type, variable ? H5T_VARIABLE : width);
    if (H5Tget_class(stored) == H5T_STRING && count > 0) {
        status = take(s->c, count, width, &block);
        if (status == ARMILLA_OK) status = take(s->c, count, sizeof *list->texts, &list->texts);
        list->count = list->texts ? count : 0;
        const bool filled = status == ARMILLA_OK && H5Aread(attribute, type, block) >= 0;
        if (status == ARMILLA_OK && !filled) status = hdf5_bad(s, path, "an attribute cannot be read");
        for (int64_t i = 0; i < count && status == ARMILLA_OK; i++)
            if (!(list->texts[i] = copy_word(block, i, width, variable))) status = texts_no_memory(s->c);
        if (filled && variable) H5Dvlen_reclaim(type, space, H5P_DEFAULT, block);
    }
    free(block);
    H5Tclose(type);
    H5Tclose(stored);
    H5Sclose(space);
    H5Aclose(attribute);
    return status;
}

bool hdf5_read_attribute(const source *s, const char *path, const char *name, int64_t count, int64_t *numbers)
{
    herr_t done = -1;
    if (H5Aexists_by_name(s->file, path, name, H5P_DEFAULT) <= 0) return false;
    const hid_t opened = H5Aopen_by_name(s->file, path, name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Aget_space(opened);
    if (H5Sget_simple_extent_npoints(space) == count) done = H5Aread(opened, H5T_NATIVE_INT64, numbers);
    H5Sclose(space);
    H5Aclose(opened);
    return done >= 0;
}

bool hdf5_read_pair(const source *s, const char *path, int64_t numbers[2])
{
    hid_t dataset = -1;
    int64_t shape[2];
    herr_t done = -1;
    if (hdf5_open_dataset(s, path, &dataset) != ARMILLA_OK) return false;
    if (hdf5_shape(dataset, shape) == 1 && shape[0] == 2)
        done = H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    H5Dclose(dataset);
    return done >= 0;
}

armilla_status hdf5_read(conversion *c, armilla_status (*read)(const source *s, matrix *made), matrix *made)
{
    source s = {.c = c, .file = -1};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    if (H5Lunregister(H5L_TYPE_EXTERNAL) < 0)
        return refuse(c, ARMILLA_INTERNAL, "%s: HDF5 follows links to other files; report this", c->path);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    s.file = open_image(c, access);
    const armilla_status status =
        s.file < 0 ? hdf5_bad(&s, "HDF5", "this is not a whole file; copy or save it again") : read(&s, made);
    if (s.file >= 0) H5Fclose(s.file);
    H5Pclose(access);
    return status;
}
