/* Arrays as they stand in .npy files: parsing and making headers, and converting numbers. Shared by .npy and .npz. */
#ifndef ARMILLA_FILES_ARRAY_H
#define ARMILLA_FILES_ARRAY_H

#include "base/context.h"

/* A numeric array of at most two dimensions as it stands in an .npy file. */
typedef struct armilla_array {
    char kind;        /* NumPy's: 'f', 'i', 'u', 'b'; of strings 'U', 'S' */
    int width;        /* bytes of a number or string */
    bool swapped;     /* not in this machine's byte order */
    int dimensions;   /* 0, 1, 2 */
    int64_t shape[2]; /* missing dimensions are 1 */
    bool column_major;
    const unsigned char *values; /* inside the bytes that were parsed */
} armilla_array;

/* Parses the header of the .npy in bytes; checks that the numbers it declares are there. `where` begins messages:
 * "FILE" or "FILE: array NAME". */
armilla_status armilla_array_parse(armilla_context *context, const char *where, const unsigned char *bytes,
                                   size_t count, armilla_array *array);

/* The header alone: bytes may end anywhere behind it. *declared is the number of bytes that the numbers take. */
armilla_status armilla_array_parse_header(armilla_context *context, const char *where, const unsigned char *bytes,
                                          size_t count, armilla_array *array, size_t *declared);

/* The same for strings: kind U (four bytes a character) or S, width the bytes of one string. */
armilla_status armilla_array_parse_texts(armilla_context *context, const char *where, const unsigned char *bytes,
                                         size_t count, armilla_array *array);

/* The one string of an .npy file, of kind S or U, as fewer than `size` plain characters. */
armilla_status armilla_array_word(armilla_context *context, const char *where, const unsigned char *bytes, size_t count,
                                  size_t size, char *word);

/* Whether the bytes begin as an .npy file does. */
bool armilla_array_recognize(const unsigned char *bytes, size_t count);

/* One kind of stored number and how it becomes doubles. */
typedef struct armilla_number {
    char kind;
    int width;
    armilla_type becomes; /* the type that data of this kind are held in */
    /* to[i] = number i of the packed numbers at `from`, which may be misaligned. */
    void (*fetch)(const unsigned char *from, bool swapped, int64_t count, double *to);
} armilla_number;

/* NULL where such numbers cannot be read. */
const armilla_number *armilla_number_find(char kind, int width);

/* True where the array's bytes are already column-major (or row-major) numbers of the type. */
bool armilla_array_is(const armilla_array *array, armilla_type type, bool column_major);

/* to = the numbers of the array in the type and order; space for all of them is there. */
void armilla_array_copy(const armilla_array *array, armilla_type type, bool column_major, void *to);

/* Bytes that armilla_array_header may fill. */
enum { ARMILLA_ARRAY_HEADER = 192 };

/* header = an .npy header, version 1.0, a multiple of 64 bytes, whose size is returned. descriptor: NumPy's without
 * the byte order, "f8". As armilla_output_npy_header: cols < 0 a vector, rows < 0 a single number. */
size_t armilla_array_header(const char *descriptor, int64_t rows, int64_t cols, bool column_major,
                            char header[ARMILLA_ARRAY_HEADER]);

/* NumPy's descriptor of the type, without the byte order. */
const char *armilla_array_descriptor(armilla_type type);

#endif
