/* A vector of an HDF5 file as labels of samples: strings, numbers, or AnnData's categories and their codes. */
#include "hdf5_file.h"

#include <stdlib.h>
#include <string.h>

/* All numbers of a dataset, of one size or of two of which one is 1; *numbers stays NULL where it is none such. */
static armilla_status read_vector(const source *s, const char *path, int64_t *count, double **numbers)
{
    hid_t dataset = -1;
    int64_t shape[2] = {0, 0};
    armilla_type type;
    if (hdf5_kind(s, path) != H5I_DATASET) return ARMILLA_OK;
    armilla_status status = hdf5_open_dataset(s, path, &dataset);
    if (status != ARMILLA_OK) return status;
    const int sizes = hdf5_shape(dataset, shape);
    const bool vector = sizes == 1 || (sizes == 2 && (shape[0] == 1 || shape[1] == 1));
    *count = shape[0] > shape[1] ? shape[0] : shape[1];
    if (vector && *count > 0 && hdf5_held_type(dataset, false, &type)) {
        status = take(s->c, *count, sizeof **numbers, numbers);
        if (status == ARMILLA_OK && H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *numbers) < 0)
            status = hdf5_bad(s, path, "cannot be read; the file is damaged");
    }
    H5Dclose(dataset);
    return status;
}

/* The texts of a vector of strings or numbers; none where it is neither, or where there are not as many as wanted
 * (-1: any number). */
static armilla_status read_plain(const source *s, const char *path, int64_t wanted, text_list *list)
{
    double *numbers = NULL;
    int64_t count = 0;
    if (!hdf5_has(s, path)) return ARMILLA_OK;
    armilla_status status = hdf5_read_texts(s, path, wanted, list);
    if (status == ARMILLA_OK && !list->texts) status = read_vector(s, path, &count, &numbers);
    if (status == ARMILLA_OK && numbers && (wanted < 0 || count == wanted))
        status = labels_of_numbers(s->c, count, numbers, list);
    free(numbers);
    return status;
}

/* Codes that name categories, which an older AnnData keeps in a group beside the columns. */
static armilla_status read_categories(const source *s, const char *codes, const char *categories, int64_t wanted,
                                      text_list *list)
{
    text_list names = {0};
    double *numbers = NULL;
    int64_t count = 0;
    armilla_status status = read_plain(s, categories, -1, &names);
    if (status == ARMILLA_OK && names.texts) status = read_vector(s, codes, &count, &numbers);
    if (status == ARMILLA_OK && numbers && count == wanted)
        status = labels_of_codes(s->c, count, numbers, &names, list);
    free(numbers);
    text_list_free(&names);
    return status;
}

armilla_status hdf5_read_labels(const source *s, const char *group, int64_t samples, text_list *list)
{
    char column[MOST_PATH], codes[MOST_PATH], categories[MOST_PATH], older[MOST_PATH], beside[MOST_PATH];
    if (!s->c->labels) return ARMILLA_OK;
    hdf5_join(column, group, s->c->labels);
    hdf5_join(codes, column, "codes");
    hdf5_join(categories, column, "categories");
    hdf5_join(beside, group, "__categories");
    hdf5_join(older, beside, s->c->labels);
    if (!hdf5_has(s, column)) return labels_refuse(s->c, "are not there", samples);
    armilla_status status = ARMILLA_OK;
    if (hdf5_has(s, codes))
        status = read_categories(s, codes, categories, samples, list);
    else if (hdf5_has(s, older))
        status = read_categories(s, column, older, samples, list);
    else
        status = read_plain(s, column, samples, list);
    if (status != ARMILLA_OK || list->texts) return status;
    return labels_refuse(s->c, "are neither texts nor numbers, or of another count", samples);
}
