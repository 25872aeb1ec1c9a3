/* Lists of names as NumPy's arrays of strings, in both directions. */
#ifndef ARMILLA_FILES_TEXTS_H
#define ARMILLA_FILES_TEXTS_H

#include "data/names.h"
#include "files/array.h"

/* Adds the strings of the vector, U or S, to names as UTF-8; what is no character becomes U+FFFD. */
armilla_status armilla_texts_read(armilla_context *context, const armilla_array *array, armilla_names *names);

/* The names as the bytes of an array: U, little-endian, or S where one of them is no UTF-8, which U could not hold. */
typedef struct armilla_texts {
    char descriptor[24]; /* NumPy's, such as U7 */
    unsigned char *block;
    size_t bytes;
} armilla_texts;

/* The caller releases the block. */
armilla_status armilla_texts_make(armilla_context *context, const armilla_names *names, armilla_texts *texts);

#endif
