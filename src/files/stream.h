/* Data files that stay on the disk: what of the formats' readers is used for them. */
#ifndef ARMILLA_FILES_STREAM_H
#define ARMILLA_FILES_STREAM_H

#include "data/stream.h"
#include "files/array.h"
#include "files/files.h"

/* A file that is being opened: its blocks, and its first bytes. */
struct armilla_head {
    armilla_blocks *blocks;
    const unsigned char *bytes;
    size_t count;
    bool fits; /* all of the file would fit into memory */
};

/* Whether the array is rather mapped, as it lies in the file: pages that nobody touches are not read either. One with
 * something between its lines is not: that is checked, where it is mapped all of it at once. */
bool armilla_head_maps(const armilla_head *head, const armilla_array *array, const armilla_read_options *options);

/* The whole file as a reader takes it that looks no further than at the head. */
armilla_bytes armilla_head_file(const armilla_head *head);

/* A file that may be streamed; format: NULL by the content. */
typedef struct armilla_streaming {
    const char *path;
    int64_t bytes;
    const armilla_format *format;
    bool fits;
} armilla_streaming;

/* *data = the file read panel by panel. Untouched, and ARMILLA_OK, where it is none that can be: compressed, text, or
 * with the numbers of a sample far from each other. */
armilla_status armilla_stream_open(armilla_context *context, const armilla_streaming *file,
                                   const armilla_read_options *options, armilla_data **data);

/* The same of an array whose numbers begin at that place. On success with data the blocks are theirs. */
armilla_status armilla_array_stream(armilla_context *context, armilla_blocks *blocks, const armilla_array *array,
                                    int64_t at, const armilla_read_options *options, armilla_data **data);

/* The numbers of the array, which begin there, as numbers of the type. */
armilla_stored armilla_array_stored(const armilla_array *array, armilla_type type, int64_t at);

#endif
