/* What a block of memory has in front of it, for the files of src/base that make blocks. */
#ifndef ARMILLA_BASE_MEMORY_H
#define ARMILLA_BASE_MEMORY_H

#include "base/context.h"

/* Directly before the block. */
typedef struct armilla_block_header {
    int64_t bytes;  /* that are counted */
    int64_t mapped; /* bytes of the mapping, which begins ARMILLA_LINE bytes before the block; 0: the allocator's */
} armilla_block_header;

/* Counts so many bytes more; ARMILLA_NO_MEMORY where that passes the limit. And the end of that. */
armilla_status armilla_memory_claim(armilla_context *context, int64_t bytes);
void armilla_memory_give_back(armilla_context *context, int64_t bytes);
/* The system has no more: ARMILLA_NO_MEMORY, with what was asked for. */
armilla_status armilla_memory_refused(armilla_context *context, double bytes);

#endif
