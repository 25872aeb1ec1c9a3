/* An HDF5 file in memory, and what is read of it. */
#ifndef ARMILLA_CONVERT_HDF5_FILE_H
#define ARMILLA_CONVERT_HDF5_FILE_H

#include "convert.h"

#include <hdf5.h>

enum { MOST_PATH = 1024, MOST_WORD = 256 };

typedef struct source {
    conversion *c;
    hid_t file;
} source;

/* A walk over what a file holds, as the user's data of H5Literate. */
typedef struct hdf5_search {
    const source *s;
    choice among;
} hdf5_search;

/* Opens the conversion's bytes, reads them by the function and closes them. */
armilla_status hdf5_read(conversion *c, armilla_status (*read)(const source *s, matrix *made), matrix *made);

/* The message, or that there is too little memory where that is why the library failed. */
armilla_status hdf5_bad(const source *s, const char *path, const char *what);
/* path = group/name, or empty, which is not there, where that is too long. */
void hdf5_join(char path[MOST_PATH], const char *group, const char *name);
/* Every part of the path is there. */
bool hdf5_has(const source *s, const char *path);
H5I_type_t hdf5_kind(const source *s, const char *path);
/* A dataset whose numbers are in this file; H5Dclose closes it. */
armilla_status hdf5_open_dataset(const source *s, const char *path, hid_t *dataset);
/* The number of its sizes, which are put there; -1 where there are more than two. */
int hdf5_shape(hid_t dataset, int64_t shape[2]);
/* What the numbers are held in, where that is wanted the stored types of one and two bytes; false where they are none. */
bool hdf5_held_type(hid_t dataset, bool narrow, armilla_type *type);

/* An array of two sizes: lines are samples. */
armilla_status hdf5_read_dense(const source *s, const char *path, matrix *made);
/* The group's three vectors, called by these names, as `lines` compressed lines with places below `places`: values,
 * places and starts. */
armilla_status hdf5_read_compressed(const source *s, const char *group, const char *const names[3], int64_t lines,
                                    int64_t places, matrix *made);
/* A whole dataset, of a type in memory. */
armilla_status hdf5_read_all(const source *s, const char *path, hid_t dataset, hid_t type, void *to);
/* Integers, booleans, and floating-point numbers of up to 8 bytes. */
bool hdf5_is_number(hid_t type);

/* A column of a data frame (a group, "" for the file itself, or a dataset of records), in any encoding of AnnData's, as
 * as many texts as wanted (-1: any number); the list stays empty where it is none such. */
armilla_status hdf5_read_column(const source *s, const char *frame, const char *name, int64_t wanted, text_list *list);
bool hdf5_has_column(const source *s, const char *frame, const char *name);
/* The column with the names of rows; "" where there is none. */
void hdf5_index_name(const source *s, const char *frame, char name[MOST_WORD]);
/* That column, with a warning where there is one and it is not read. */
armilla_status hdf5_read_index(const source *s, const char *frame, const char *whose, int64_t wanted, text_list *list);
/* The labels that the conversion asks for, a column of the frame. */
armilla_status hdf5_read_labels(const source *s, const char *frame, int64_t samples, text_list *list);
/* The numbers of a data frame with so many rows, under the names of their columns. */
armilla_status hdf5_read_frame(const source *s, const char *group, int64_t rows, matrix *made);
/* A member of records that is a vector in each, as a line. */
armilla_status hdf5_read_records(const source *s, const char *path, const char *member, matrix *made);
/* A word that is an attribute; "" where it is not there. */
void hdf5_read_word(const source *s, const char *path, const char *name, char word[MOST_WORD]);
/* Words that are one; none where it is not there. */
armilla_status hdf5_read_words(const source *s, const char *path, const char *name, text_list *list);
/* The first member of a dataset of records; "" where it is none. */
void hdf5_first_member(const source *s, const char *path, char name[MOST_WORD]);
/* The attribute's `count` numbers. */
bool hdf5_read_attribute(const source *s, const char *path, const char *name, int64_t count, int64_t *numbers);
/* The two numbers of a dataset. */
bool hdf5_read_pair(const source *s, const char *path, int64_t numbers[2]);

#endif
