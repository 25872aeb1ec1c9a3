/* Opening files that do not fit into memory: where they lie as the solver wants them, they become data that are read panel
 * by panel (data/stream.h). */
#include "files/stream.h"

#include "base/size.h"

#include <stdio.h>
#include <string.h>

enum {
    HEAD = 1 << 14,        /* bytes of a file by which its format is recognised, and which hold its header */
    MOST_BLOCKS = 64 << 20 /* bytes of blocks: more are no faster */
};

armilla_status armilla_array_stream(armilla_context *context, armilla_blocks *blocks, const armilla_array *array,
                                    int64_t at, const armilla_read_options *options, armilla_data **data)
{
    const bool columns = options->sample_columns;
    const int64_t m = array->shape[!columns], n = array->shape[columns];
    const armilla_number *number = armilla_number_find(array->kind, array->width);
    armilla_stored numbers = armilla_array_stored(array, number->becomes, at);
    char where[512];
    snprintf(where, sizeof where, "%s: ", armilla_blocks_path(blocks));
    const armilla_status status = armilla_data_check_shape(context, where, m, n);
    if (status != ARMILLA_OK || !armilla_array_in_order(array, columns)) return status;
    if (array->column_major != columns) numbers.lead = 0; /* samples of one number each, on a single line */
    return armilla_data_stream_dense(context, blocks, &numbers, m, n, data);
}

armilla_stored armilla_array_stored(const armilla_array *array, armilla_type type, int64_t at)
{
    armilla_stored stored = {
        .at = at, .width = array->width, .type = type, .swapped = array->swapped, .lead = array->lead};
    if (!armilla_array_is(array, type, array->column_major))
        stored.fetch = armilla_number_find(array->kind, array->width)->fetch;
    return stored;
}

armilla_bytes armilla_head_file(const armilla_head *head)
{
    return (armilla_bytes){.path = armilla_blocks_path(head->blocks),
                           .start = head->bytes,
                           .count = (size_t)armilla_blocks_size(head->blocks)};
}

bool armilla_head_maps(const armilla_head *head, const armilla_array *array, const armilla_read_options *options)
{
    const armilla_type type = armilla_number_find(array->kind, array->width)->becomes;
    return head->fits && array->lead == 0 && armilla_array_is(array, type, options->sample_columns);
}

/* The format that the file is streamed as; NULL: none. */
static const armilla_format *choose(const armilla_streaming *file, const unsigned char *head, size_t count)
{
    const armilla_format *given = file->format ? file->format : armilla_formats_named(file->path, strlen(file->path));
    if (armilla_packed(file->path, given, head, count)) return NULL;
    const armilla_format *found = given ? given : armilla_formats_recognize(head, count);
    return found && found->stream ? found : NULL;
}

/* *data stays NULL where the file cannot be streamed. */
static armilla_status open_blocks(armilla_context *context, armilla_blocks *blocks, const armilla_streaming *file,
                                  const armilla_read_options *options, armilla_data **data)
{
    const int64_t count = armilla_min64(HEAD, armilla_blocks_size(blocks));
    unsigned char *head = NULL;
    armilla_status status = armilla_take(context, count, 1, &head);
    if (status == ARMILLA_OK) status = armilla_blocks_read(blocks, context, (armilla_extent){0, count}, true, head);
    const armilla_format *found = status == ARMILLA_OK ? choose(file, head, (size_t)count) : NULL;
    armilla_read_options settled;
    if (found) status = armilla_format_settle(context, file->path, found, options, &settled);
    if (found && status == ARMILLA_OK)
        status = found->stream(context, &(armilla_head){blocks, head, (size_t)count, file->fits}, &settled, data);
    armilla_release(context, head);
    return status;
}

armilla_status armilla_stream_open(armilla_context *context, const armilla_streaming *file,
                                   const armilla_read_options *options, armilla_data **data)
{
    armilla_blocks *blocks = NULL;
    armilla_data *made = NULL;
    const int64_t most = armilla_min64(file->bytes, MOST_BLOCKS);
    const int64_t memory = armilla_min64(armilla_memory_left(context) / 8, most);
    armilla_status status = armilla_blocks_open(context, file->path, memory, &blocks);
    if (status != ARMILLA_OK) return status;
    status = open_blocks(context, blocks, file, options, &made);
    if (!made) armilla_blocks_free(blocks);
    if (status != ARMILLA_OK) {
        armilla_data_free(made);
        return status;
    }
    if (made) armilla_memory_add_input(context, armilla_blocks_size(made->blocks));
    *data = made;
    return ARMILLA_OK;
}
