/* Reading a vector as texts or numbers, whatever its elements are. */
#include "hdf5_field.h"

#include <stdlib.h>
#include <string.h>

/* The member's type, which H5Tclose closes; negative where the elements are no records, or have no such member. */
static hid_t member_type(hid_t record, const char *member)
{
    const int at = H5Tget_class(record) == H5T_COMPOUND ? H5Tget_member_index(record, member) : -1;
    return at < 0 ? -1 : H5Tget_member_type(record, (unsigned)at);
}

bool hdf5_field_open(const source *s, const char *path, const char *member, hdf5_field *field)
{
    int64_t shape[2];
    *field = (hdf5_field){s, path, member, -1, -1, 0};
    if (!hdf5_has(s, path) || hdf5_kind(s, path) == H5I_GROUP ||
        hdf5_open_dataset(s, path, &field->dataset) != ARMILLA_OK)
        return false;
    const int sizes = hdf5_shape(field->dataset, shape);
    const hid_t stored = H5Dget_type(field->dataset);
    field->stored = member ? member_type(stored, member) : H5Tcopy(stored);
    field->count = shape[0] > shape[1] ? shape[0] : shape[1];
    H5Tclose(stored);
    if (field->stored >= 0 && field->count > 0 &&
        (sizes == 1 || (sizes == 2 && shape[0] >= 0 && shape[1] >= 0 && (shape[0] == 1 || shape[1] == 1))))
        return true;
    hdf5_field_close(field);
    return false;
}

void hdf5_field_close(hdf5_field *field)
{
    if (field->stored >= 0) H5Tclose(field->stored);
    if (field->dataset >= 0) H5Dclose(field->dataset);
    field->stored = field->dataset = -1;
}

/* What H5Dread is asked for: the type itself, or records of this one member. */
static hid_t wrapped(const hdf5_field *field, hid_t type)
{
    if (!field->member) return H5Tcopy(type);
    const hid_t record = H5Tcreate(H5T_COMPOUND, H5Tget_size(type));
    if (record >= 0) (void)H5Tinsert(record, field->member, 0, type);
    return record;
}

armilla_status hdf5_field_read(const hdf5_field *field, hid_t type, void *to)
{
    const hid_t whole = wrapped(field, type);
    const armilla_status status = hdf5_read_all(field->s, field->path, field->dataset, whole, to);
    if (whole >= 0) H5Tclose(whole);
    return status;
}

armilla_status hdf5_field_numbers(const hdf5_field *field, double **numbers)
{
    if (!hdf5_is_number(field->stored)) return ARMILLA_OK;
    const armilla_status status = take(field->s->c, field->count, sizeof **numbers, numbers);
    return status == ARMILLA_OK ? hdf5_field_read(field, H5T_NATIVE_DOUBLE, *numbers) : status;
}

static armilla_status read_numbers(const hdf5_field *field, text_list *list)
{
    double *numbers = NULL;
    armilla_status status = hdf5_field_numbers(field, &numbers);
    if (status == ARMILLA_OK && numbers) status = labels_of_numbers(field->s->c, field->count, numbers, list);
    free(numbers);
    return status;
}

/* The names of an enumeration's values; h5py writes booleans as FALSE and TRUE, which Python calls False and True. */
static armilla_status read_enumeration(const hdf5_field *field, text_list *list)
{
    const size_t width = H5Tget_size(field->stored);
    char *block = NULL, name[MOST_WORD];
    bool all = true;
    armilla_status status = take(field->s->c, field->count, width, &block);
    if (status == ARMILLA_OK) status = take(field->s->c, field->count, sizeof *list->texts, &list->texts);
    if (status == ARMILLA_OK) status = hdf5_field_read(field, field->stored, block);
    for (int64_t i = 0; i < field->count && status == ARMILLA_OK; i++) {
        if (H5Tenum_nameof(field->stored, block + (size_t)i * width, name, sizeof name) < 0) name[0] = '\0';
        const char *text = strcmp(name, "FALSE") == 0 ? "False" : strcmp(name, "TRUE") == 0 ? "True" : name;
        all = (list->texts[i] = strdup(text)) && all;
    }
    list->count = list->texts ? field->count : 0;
    free(block);
    return status == ARMILLA_OK && !all ? texts_no_memory(field->s->c) : status;
}

/* False where there is no memory. */
static bool copy_texts(const char *from, size_t stride, char *const *pointers, text_list *list)
{
    bool all = true;
    for (int64_t i = 0; i < list->count; i++) {
        const char *text = pointers ? pointers[i] : from + (size_t)i * stride;
        list->texts[i] = strdup(text ? text : "");
        all = all && list->texts[i];
    }
    return all;
}

/* What HDF5 has allocated for strings of variable length. */
static void reclaim(const hdf5_field *field, hid_t type, void *block)
{
    const hid_t space = H5Dget_space(field->dataset), whole = wrapped(field, type);
    if (space >= 0 && whole >= 0) H5Dvlen_reclaim(whole, space, H5P_DEFAULT, block);
    if (whole >= 0) H5Tclose(whole);
    if (space >= 0) H5Sclose(space);
}

/* Strings of variable length, or of one length. */
static armilla_status read_strings(const hdf5_field *field, text_list *list)
{
    const bool variable = H5Tis_variable_str(field->stored) > 0;
    const size_t width = variable ? sizeof(char *) : H5Tget_size(field->stored) + 1;
    const hid_t type = H5Tcopy(H5T_C_S1);
    char *block = NULL;
    H5Tset_size(type, variable ? H5T_VARIABLE : width);
    H5Tset_cset(type, H5Tget_cset(field->stored));
    armilla_status status = take(field->s->c, field->count, width, &block);
    if (status == ARMILLA_OK) status = take(field->s->c, field->count, sizeof *list->texts, &list->texts);
    list->count = list->texts ? field->count : 0;
    if (status == ARMILLA_OK) status = hdf5_field_read(field, type, block);
    const bool filled = status == ARMILLA_OK;
    if (filled && !copy_texts(block, width, variable ? (char **)(void *)block : NULL, list))
        status = texts_no_memory(field->s->c);
    if (filled && variable) reclaim(field, type, block);
    free(block);
    H5Tclose(type);
    return status;
}

armilla_status hdf5_field_texts(const hdf5_field *field, text_list *list)
{
    static const struct {
        H5T_class_t class;
        armilla_status (*read)(const hdf5_field *field, text_list *list);
    } kinds[] = {{H5T_STRING, read_strings},
                 {H5T_ENUM, read_enumeration},
                 {H5T_INTEGER, read_numbers},
                 {H5T_FLOAT, read_numbers}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (H5Tget_class(field->stored) == kinds[i].class) return kinds[i].read(field, list);
    return ARMILLA_OK;
}
