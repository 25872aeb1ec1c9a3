/* A vector of an HDF5 file: a dataset of one size, or one member of the records of such a dataset, which is how AnnData
 * kept data frames until 0.6. */
#ifndef ARMILLA_CONVERT_HDF5_FIELD_H
#define ARMILLA_CONVERT_HDF5_FIELD_H

#include "hdf5_file.h"

typedef struct hdf5_field {
    const source *s;
    const char *path, *member; /* member: NULL where the elements are no records */
    hid_t dataset, stored;     /* stored: the type of an element, or of its member */
    int64_t count;
} hdf5_field;

/* False where there is no such vector; then nothing is open. The field keeps path and member. */
bool hdf5_field_open(const source *s, const char *path, const char *member, hdf5_field *field);
void hdf5_field_close(hdf5_field *field);
/* All elements, of a type in memory. */
armilla_status hdf5_field_read(const hdf5_field *field, hid_t type, void *to);
/* As numbers, as many as there are; *numbers stays NULL where they are none. */
armilla_status hdf5_field_numbers(const hdf5_field *field, double **numbers);
/* As texts: strings, names of an enumeration (True and False), or numbers; none where they are something else. */
armilla_status hdf5_field_texts(const hdf5_field *field, text_list *list);

#endif
