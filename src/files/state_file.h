/* Listed states (base/state.h) as files: a checkpoint (docs/checkpoint.md). Items are written and read one after the
 * other where they stand in memory, so that a file takes a buffer of memory and no more. */
#ifndef ARMILLA_FILES_STATE_FILE_H
#define ARMILLA_FILES_STATE_FILE_H

#include "base/state.h"

/* The version of the layout; a list that changes its items in a way that names, types and shapes do not show is another
 * version too. */
enum { ARMILLA_STATE_FORMAT = 1 };

#define ARMILLA_STATE_MAGIC                                                                                            \
    "\x8a"                                                                                                             \
    "ARMCKP\n"

enum { ARMILLA_STATE_MAGIC_BYTES = 8 };

/* At the beginning, before the text of so many bytes and its checksum; numbers are little-endian. */
typedef struct armilla_state_opening {
    char magic[ARMILLA_STATE_MAGIC_BYTES];
    uint32_t format, text;
} armilla_state_opening;

/* Before the numbers of an item, and their checksum, which covers the label too. */
typedef struct armilla_state_label {
    char mark[4]; /* ITEM */
    uint32_t type;
    char name[ARMILLA_STATE_NAME]; /* zeros behind it */
    int64_t rows, columns;
} armilla_state_label;

/* At the end, before the checksum of everything. */
typedef struct armilla_state_closing {
    char mark[4]; /* DONE */
    uint32_t zero;
    int64_t items, bytes; /* of the whole file */
} armilla_state_closing;

armilla_state_label armilla_state_label_of(const armilla_state_item *item);

/* Writes what the lister lists of self, with a text in front that says what it is of. The file at path is replaced as a
 * whole, or stays as it is. Several ranks do it together: rank 0 writes, and gets the columns of the other ranks' samples
 * from them, so that the file is the same for any number of ranks; the others return ARMILLA_STOPPED, and whether it was
 * written is known to rank 0. ARMILLA_IO_ERROR where a rank is lost has set the call's `agreed`. */
armilla_status armilla_state_file_write(armilla_context *context, const char *path, const char *text,
                                        armilla_state_lister lister, void *self);

typedef struct armilla_state_file armilla_state_file;

/* Opens a file, on rank 0 for all others, and compares all of its checksums with its content: ARMILLA_BAD_DATA where a bit of it is not as it was
 * written, where it is not whole, and where it is of a newer version. */
armilla_status armilla_state_file_open(armilla_context *context, const char *path, armilla_state_file **file);
void armilla_state_file_close(armilla_state_file *file);
const char *armilla_state_file_text(const armilla_state_file *file);
/* The same on all ranks that have opened the same file, or copies of it. */
uint64_t armilla_state_file_token(const armilla_state_file *file);
/* ARMILLA_BAD_DATA where it is not a state of such a self: other names, types or shapes, numbers out of range. A rank
 * reads the columns of its own samples from arrays with a column for each sample. */
armilla_status armilla_state_file_restore(armilla_state_file *file, armilla_state_lister lister, void *self);

#endif
