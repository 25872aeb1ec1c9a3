/* A file that is read in blocks, ahead of those who want them: a few blocks in memory, which threads of the call read
 * from while readers of their own fill others. For data that do not fit into memory. */
#ifndef ARMILLA_BASE_BLOCKS_H
#define ARMILLA_BASE_BLOCKS_H

#include "base/context.h"

typedef struct armilla_blocks armilla_blocks;

/* Opens a regular file of that many bytes. memory: bytes that its blocks may take together. */
armilla_status armilla_blocks_open(armilla_context *context, const char *path, int64_t memory, armilla_blocks **blocks);
void armilla_blocks_free(armilla_blocks *blocks);

const char *armilla_blocks_path(const armilla_blocks *blocks);
/* The size of the file when it was opened. */
int64_t armilla_blocks_size(const armilla_blocks *blocks);
/* That have been read of it so far, some of them more than once. */
int64_t armilla_blocks_traffic(const armilla_blocks *blocks);

/* A run of bytes of the file. */
typedef struct armilla_extent {
    int64_t at, count;
} armilla_extent;

/* to = the bytes, all of which have to be there: ARMILLA_IO_ERROR where the file has become shorter or cannot be read.
 * On any thread. `alone`: what lies beside them will not be wanted next, so that no whole block is read for them. */
armilla_status armilla_blocks_read(armilla_blocks *blocks, armilla_context *context, armilla_extent extent, bool alone,
                                   void *to);

/* The bytes will be wanted soon, the first of them first: as many blocks of them as the calling thread's share of the
 * memory holds are read meanwhile. */
void armilla_blocks_expect(armilla_blocks *blocks, armilla_context *context, armilla_extent extent);

#endif
