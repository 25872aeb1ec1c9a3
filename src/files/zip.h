/* A writer of zip archives whose entries are stored, not compressed; zip64 where sizes need it. */
#ifndef ARMILLA_FILES_ZIP_H
#define ARMILLA_FILES_ZIP_H

#include "base/context.h"

#include <armilla/files.h>

typedef struct armilla_zip armilla_zip;

/* Writes to output, which must outlive it and stays the caller's. */
armilla_status armilla_zip_new(armilla_context *context, armilla_output *output, armilla_zip **zip);
/* Numbers from there on stand in zip64 records: 2^32 - 1 by itself, which is all that the old fields hold, and less where
 * a test says so. */
void armilla_zip_set_full(armilla_zip *zip, uint32_t full);
/* An entry whose bytes come afterwards, in pieces: its size and CRC-32 are those that they will have. */
armilla_status armilla_zip_begin(armilla_zip *zip, const char *name, uint64_t size, uint32_t check);
/* An entry whose bytes are made as they are wanted: `make` hands them to armilla_zip_put, in order, and is called twice,
 * as their checksum stands before them. Both times they are the same, else ARMILLA_IO_ERROR. */
typedef struct armilla_zip_source {
    armilla_status (*make)(void *self, armilla_zip *zip);
    void *self;
} armilla_zip_source;
armilla_status armilla_zip_add_made(armilla_zip *zip, const char *name, const armilla_zip_source *source);
armilla_status armilla_zip_put(armilla_zip *zip, const void *bytes, size_t count);
/* Writes the directory of entries; the archive is whole then. */
armilla_status armilla_zip_finish(armilla_zip *zip);
void armilla_zip_free(armilla_zip *zip);

#endif
