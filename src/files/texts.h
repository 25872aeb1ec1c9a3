/* Lists of names as NumPy's arrays of strings, in both directions. */
#ifndef ARMILLA_FILES_TEXTS_H
#define ARMILLA_FILES_TEXTS_H

#include "data/names.h"
#include "files/array.h"

/* Adds the strings of the vector, U or S, to names as UTF-8; what is no character becomes U+FFFD. */
armilla_status armilla_texts_read(armilla_context *context, const armilla_array *array, armilla_names *names);

/* *block = the names as the numbers of a U array, little-endian, whose strings have *characters each; *bytes in all.
 * The caller releases it. */
armilla_status armilla_texts_make(armilla_context *context, const armilla_names *names, int64_t *characters,
                                  unsigned char **block, size_t *bytes);

#endif
