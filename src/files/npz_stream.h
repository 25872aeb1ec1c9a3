/* Archives that are read where they lie in a file, instead of from its bytes in memory. */
#ifndef ARMILLA_FILES_NPZ_STREAM_H
#define ARMILLA_FILES_NPZ_STREAM_H

#include "base/blocks.h"
#include "files/array.h"
#include "files/npz.h"

#include <zip.h>

/* What libzip reads an archive through; it lives as long as the archive. */
typedef struct armilla_npz_source {
    armilla_blocks *blocks;
    armilla_context *context;
    int64_t at;      /* where the next read begins */
    int64_t read_at; /* where the first one since this was set to -1 began */
    zip_error_t error;
    armilla_status failed; /* why the file could not be read, with a message in the context; libzip does not know it */
} armilla_npz_source;

/* NULL where libzip has no memory. */
zip_source_t *armilla_npz_source_new(armilla_npz_source *source, zip_error_t *error);

/* The archive in the file; the blocks stay the caller's, and must outlive it. */
armilla_status armilla_npz_open_blocks(armilla_context *context, armilla_blocks *blocks, armilla_npz **npz);

/* What NAME declares itself to be, and the place of its first number in the file; *at is -1 where it is compressed. */
armilla_status armilla_npz_locate(armilla_npz *npz, const char *name, armilla_array *array, int64_t *at);

#endif
