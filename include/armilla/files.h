/* Outputs that appear whole or not at all, and arrays as .npy. */
#ifndef ARMILLA_FILES_H
#define ARMILLA_FILES_H

#include <armilla/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A file under a temporary name beside its destination. commit: flush, fsync, rename; free without a commit
 * removes it. Without overwrite an existing destination is ARMILLA_CANNOT_CREATE, at new and again at commit. What
 * is no regular file, such as a pipe or /dev/stdout, is written directly. A commit that fails leaves the destination
 * as it was; only where the very last step, flushing the directory, fails (ARMILLA_IO_ERROR) the new file is there.
 * What processes that were killed left under temporary names beside it is removed when nobody has touched it for an
 * hour. The context is used until the free, and print writes numbers with a point whatever the locale. */
typedef struct armilla_output armilla_output;

/* Begins an output, adds bytes or formatted text to it, puts it in place, and frees the object. The first failure stays:
 * later writes and the commit return it again. */
ARMILLA_API armilla_status armilla_output_new(armilla_context *context, const char *path, bool overwrite,
                                              armilla_output **output);
ARMILLA_API armilla_status armilla_output_write(armilla_output *output, const void *bytes, size_t count);
ARMILLA_API armilla_status armilla_output_print(armilla_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds the text as a field of a row of a CSV table: in quotes where readers would take it for something else, such as a
 * comment, or drop a part of it. Separators and line ends are the caller's. */
ARMILLA_API armilla_status armilla_output_field(armilla_output *output, const char *text);
ARMILLA_API armilla_status armilla_output_commit(armilla_output *output);
ARMILLA_API void armilla_output_free(armilla_output *output);

/* ARMILLA_CANNOT_CREATE, with what to do, where armilla_output_new would refuse the path as things stand: to find that
 * out before the work whose result goes there. Makes nothing. */
ARMILLA_API armilla_status armilla_output_check(armilla_context *context, const char *path, bool overwrite);

/* Writes the header of a .npy array of that shape; the numbers follow by armilla_output_write. C order unless
 * column_major. cols < 0: a vector of `rows` numbers; rows < 0: a single number. NumPy has no bf16,
 * which is ARMILLA_BAD_ARGUMENT. */
ARMILLA_API armilla_status armilla_output_npy_header(armilla_output *output, armilla_type type, int64_t rows,
                                                     int64_t cols, bool column_major);

#ifdef __cplusplus
}
#endif

#endif
