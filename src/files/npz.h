/* .npz: named .npy arrays in a zip archive. Written by a small stored-zip64 writer of our own on armilla_output, so
 * that a model appears whole or not at all; read through libzip. */
#ifndef ARMILLA_FILES_NPZ_H
#define ARMILLA_FILES_NPZ_H

#include "data/names.h"
#include "files/array.h"
#include "files/zip.h"

#include <armilla/data.h>
#include <armilla/files.h>

/* Its first failure sticks: what is added afterwards, and the commit, return it again. */
typedef struct armilla_npz_writer armilla_npz_writer;
/* path: NULL where the archive is made in memory. */
armilla_status armilla_npz_writer_new(armilla_context *context, const char *path, bool overwrite,
                                      armilla_npz_writer **writer);
/* Adds NAME.npy. shape: rows and columns as for armilla_output_npy_header; columns < 0 a vector, rows < 0 a single
 * number. */
armilla_status armilla_npz_writer_add(armilla_npz_writer *writer, const char *name, armilla_type type,
                                      const int64_t shape[2], bool column_major, const void *values);
/* The same of numbers that come afterwards, in pieces; check: their CRC-32. */
armilla_status armilla_npz_writer_begin(armilla_npz_writer *writer, const char *name, armilla_type type,
                                        const int64_t shape[2], uint32_t check);
armilla_status armilla_npz_writer_put(armilla_npz_writer *writer, const void *bytes, size_t count);
/* The same for any element type, by NumPy's descriptor without the byte order ("i8", "S3"), and `bytes` of values. */
armilla_status armilla_npz_writer_add_raw(armilla_npz_writer *writer, const char *name, const char *descriptor,
                                          const int64_t shape[2], const void *values, size_t bytes);
/* The same for values that are made as they are wanted (files/zip.h). */
armilla_status armilla_npz_writer_add_made(armilla_npz_writer *writer, const char *name, const char *descriptor,
                                           const int64_t shape[2], bool column_major, const armilla_zip_source *source);
/* Adds the names as a vector of strings. */
armilla_status armilla_npz_writer_add_names(armilla_npz_writer *writer, const char *name, const armilla_names *names);
/* Adds text as a 1-d array of uint8. */
armilla_status armilla_npz_writer_add_text(armilla_npz_writer *writer, const char *name, const char *text);
armilla_status armilla_npz_writer_commit(armilla_npz_writer *writer);
/* Instead of the commit, of an archive in memory: *bytes are a block of the context's. */
armilla_status armilla_npz_writer_take(armilla_npz_writer *writer, void **bytes, size_t *count);
/* Without a commit nothing is left behind. */
void armilla_npz_writer_free(armilla_npz_writer *writer);

typedef struct armilla_npz armilla_npz;
enum { ARMILLA_NPZ_NAME = 160 };
/* The path is borrowed while the archive is open. */
armilla_status armilla_npz_open(armilla_context *context, const char *path, armilla_npz **npz);
/* The same from bytes that stay as they are, and the caller's, while the archive is open. */
armilla_status armilla_npz_open_bytes(armilla_context *context, const char *path, const unsigned char *start,
                                      size_t count, armilla_npz **npz);
void armilla_npz_free(armilla_npz *npz);
/* "FILE: array NAME" of the array that was loaded last, for messages. */
const char *armilla_npz_where(const armilla_npz *npz);
bool armilla_npz_has(const armilla_npz *npz, const char *name);
/* The entries of the archive, arrays or not: name = that of the array without .npy, or the entry's own; false past the
 * last. */
bool armilla_npz_entry(const armilla_npz *npz, int64_t index, char name[ARMILLA_NPZ_NAME]);
/* What NAME declares itself to be; its values are not there. */
armilla_status armilla_npz_peek(armilla_npz *npz, const char *name, armilla_array *array);
/* The array NAME as column-major numbers of the type, *values owned by the caller (armilla_release): an error where
 * it is missing, of another kind, or of another shape than rows x cols (as above; a bound of 0 means any, and the
 * found size is put there). */
armilla_status armilla_npz_read(armilla_npz *npz, const char *name, armilla_type type, int64_t *rows, int64_t *cols,
                                void *values);
/* The element type of NAME, an error where it is neither f4 nor f8. */
armilla_status armilla_npz_type(armilla_npz *npz, const char *name, armilla_type *type);
/* The array NAME of any kind as it stands in the archive; *block, owned by the caller, is what its values lie in. */
armilla_status armilla_npz_load(armilla_npz *npz, const char *name, armilla_array *array, unsigned char **block);
/* A single string (NumPy's S or U) of fewer than `size` bytes. */
armilla_status armilla_npz_read_word(armilla_npz *npz, const char *name, size_t size, char *word);
/* A vector of `count` integers of any width, those that are negative or too large as -1; *values is the caller's. */
armilla_status armilla_npz_read_integers(armilla_npz *npz, const char *name, int64_t count, int64_t **values);
/* The strings of the vector NAME are added to names. */
armilla_status armilla_npz_read_texts(armilla_npz *npz, const char *name, armilla_names *names);
/* A 1-d uint8 array as text with a final NUL. */
armilla_status armilla_npz_read_text(armilla_npz *npz, const char *name, char **text);

/* What the arrays with names of features and samples and with labels are called in an archive of data. */
extern const char *const armilla_npz_name_arrays[ARMILLA_NAMING_COUNT];

#endif
