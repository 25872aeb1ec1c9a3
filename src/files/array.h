/* Arrays as they stand in .npy files: parsing and making headers, and converting numbers. Shared by .npy and .npz. */
#ifndef ARMILLA_FILES_ARRAY_H
#define ARMILLA_FILES_ARRAY_H

#include "base/context.h"

/* bf16, for which NumPy has no letter: one that no .npy file can have. */
#define ARMILLA_KIND_BF16 '\1'

/* A numeric array of at most two dimensions as it stands in an .npy file. */
typedef struct armilla_array {
    char kind;        /* NumPy's: 'f', 'i', 'u', 'b'; of strings 'U', 'S'; or ARMILLA_KIND_BF16 */
    int width;        /* bytes of a number or string */
    bool swapped;     /* not in this machine's byte order */
    int dimensions;   /* 0, 1, 2 */
    int64_t shape[2]; /* missing dimensions are 1 */
    bool column_major;
    int lead; /* bytes before each line (a row, of column_major a column), which say how many numbers it has; 0: none */
    const unsigned char *values; /* inside the bytes that were parsed: the first number */
} armilla_array;

/* Parses the header of the .npy in bytes; checks that the numbers it declares are there, or where `texts` the strings:
 * kind U (four bytes a character) or S, width the bytes of one. `where` begins messages: "FILE" or "FILE: array NAME". */
armilla_status armilla_array_parse(armilla_context *context, const char *where, const unsigned char *bytes,
                                   size_t count, bool texts, armilla_array *array);

/* The header alone: bytes may end anywhere behind it. *declared is the number of bytes that the numbers take. */
armilla_status armilla_array_parse_header(armilla_context *context, const char *where, const unsigned char *bytes,
                                          size_t count, armilla_array *array, size_t *declared);

/* ARMILLA_BAD_DATA unless behind the header there are as many bytes as it declares. */
armilla_status armilla_array_check_length(armilla_context *context, const char *where, size_t there, size_t declared);

/* Whether the bytes begin as an .npy file does. */
bool armilla_array_recognize(const unsigned char *bytes, size_t count);

/* "(3, any)", where `zero` is the word for a size of 0. */
void armilla_array_show_shape(int dimensions, const int64_t shape[2], const char *zero, char text[64]);

/* What a file with several arrays holds, for a message: "x (3 x 4), y (3)", ending in "..." where it is full. */
typedef struct armilla_listing {
    char text[480];
    size_t used;
} armilla_listing;

/* array: NULL where its shape is not known. */
void armilla_listing_add(armilla_listing *list, const char *name, const armilla_array *array);

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

/* True where its numbers lie in the order, whatever their kind. */
bool armilla_array_in_order(const armilla_array *array, bool column_major);

/* The stride of an array in that order: bytes from the first number of a column (or row) to that of the next. */
int64_t armilla_array_step(const armilla_array *array, bool column_major);

/* to = the numbers of the array in the type and order; space for all of them is there. */
void armilla_array_copy(const armilla_array *array, armilla_type type, bool column_major, void *to);

/* *values, rows x cols with rows one after the other, become another block with columns one after the other. */
armilla_status armilla_doubles_transpose(armilla_context *context, int64_t rows, int64_t cols, double **values);

/* Bytes that armilla_array_header may fill. */
enum { ARMILLA_ARRAY_HEADER = 192 };

/* header = an .npy header, version 1.0, a multiple of 64 bytes, whose size is returned. descriptor: NumPy's without
 * the byte order, "f8". As armilla_output_npy_header: cols < 0 a vector, rows < 0 a single number. */
size_t armilla_array_header(const char *descriptor, int64_t rows, int64_t cols, bool column_major,
                            char header[ARMILLA_ARRAY_HEADER]);

/* NumPy's descriptor of the type, without the byte order; "" where it has none. */
const char *armilla_array_descriptor(armilla_type type);

#endif
