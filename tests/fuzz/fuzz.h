/* Fuzzing of the readers: each target is a row that makes files out of the input's bytes, in memory, and opens them by
 * the library's own functions. The same rows replay kept inputs without libFuzzer. */
#ifndef ARMILLA_TESTS_FUZZ_H
#define ARMILLA_TESTS_FUZZ_H

#include "base/context.h"

#include <armilla/armilla.h>

/* What the input's bytes behind the first, which chooses options, are. */
typedef enum fuzz_form {
    FUZZ_FILE,      /* one file */
    FUZZ_DIRECTORY, /* "NAME\n" and content, several apart by FUZZ_BETWEEN: files of a directory */
    FUZZ_ARCHIVE,   /* the same as entries of a zip archive, with checksums that fit */
} fuzz_form;

#define FUZZ_BETWEEN "\xff\xfe\xfd\n"

typedef struct fuzz_target {
    const char *name;
    fuzz_form form;
    const char *format; /* of the formats table; NULL: found by content and name */
    const char *file;   /* what the file is called */
    void (*run)(const struct fuzz_target *target, armilla_context *context, unsigned choice);
} fuzz_target;

/* NULL past the last row; NULL where there is no such name. */
const fuzz_target *fuzz_targets_row(size_t index);
const fuzz_target *fuzz_targets_find(const char *name, size_t length);

/* One input through the target. Aborts, after telling why, where a promise is broken. */
void fuzz_one(const fuzz_target *target, const unsigned char *bytes, size_t count);

/* Opens data, looks at all of them and frees them. */
void fuzz_data(const fuzz_target *target, armilla_context *context, unsigned choice);
/* The same of a file that is streamed, as if it did not fit into memory, where its format and order allow that. */
void fuzz_streamed(const fuzz_target *target, armilla_context *context, unsigned choice);
/* The same with the input as the labels, or as the list of samples to keep, of other data. */
void fuzz_labels(const fuzz_target *target, armilla_context *context, unsigned choice);
void fuzz_keep(const fuzz_target *target, armilla_context *context, unsigned choice);
/* Opens a model and uses it. */
void fuzz_model(const fuzz_target *target, armilla_context *context, unsigned choice);

/* Goes on with a fit from a checkpoint with the input as its items. */
void fuzz_checkpoint(const fuzz_target *target, armilla_context *context, unsigned choice);
/* Seeds of it, a file each; whether they could be written. */
bool fuzz_print_states(const char *folder);
/* The input in progress, behind its first byte. */
extern const unsigned char *fuzz_input;
extern size_t fuzz_input_count;

/* Aborts with the message unless it is true. */
void fuzz_holds(bool truth, const char *message);
/* A failure has one line about it, and is none of the library's own. */
void fuzz_failed_well(const armilla_context *context, armilla_status status);
/* The last failure of the last input, "" where it had none. */
const char *fuzz_refusal(void);

/* Bytes that one input may take at a time; more is refused, as by a machine that has no more. */
#define FUZZ_MEMORY (1 << 20)
armilla_allocator fuzz_allocator(void);
/* Bytes that are taken and not released. */
size_t fuzz_live(void);

/* The files that fuzz_io sees: added after a clear, borrowed until the next. Reads give at most `most` bytes. */
extern const armilla_io fuzz_io;
void fuzz_files_clear(size_t most);
void fuzz_files_add(const char *path, size_t length, const void *bytes, size_t count);

/* The input's parts as files, in the target's form. */
void fuzz_unpack(const fuzz_target *target, const unsigned char *bytes, size_t count);

#endif
