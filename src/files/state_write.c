/* A state into a file. */
#include "files/state_file.h"

#include "base/ranks.h"
#include "base/size.h"

#include <armilla/files.h>

#include <stdio.h>
#include <string.h>
#include <zlib.h>

_Static_assert(sizeof(armilla_state_opening) == 16 && sizeof(armilla_state_label) == 88 &&
                   sizeof(armilla_state_closing) == 24,
               "what is written has no gaps");

enum {
    PIECE = 1 << 20, /* bytes that are still in the cache when they are written after they were checked */
    MESSAGE = 8192   /* bytes of a message between ranks */
};

typedef struct writing {
    armilla_context *context;
    armilla_output *output; /* of rank 0 */
    armilla_status failed;
    uint32_t whole;  /* checksum of what has been written */
    uint32_t part;   /* of the part in progress */
    int64_t begun;   /* bytes before it */
    int64_t written; /* bytes */
    int64_t items;
} writing;

armilla_state_label armilla_state_label_of(const armilla_state_item *item)
{
    armilla_state_label made = {
        .mark = {'I', 'T', 'E', 'M'}, .type = (uint32_t)item->type, .rows = item->rows, .columns = item->columns};
    (void)snprintf(made.name, sizeof made.name, "%s", item->name);
    return made;
}

/* The first failure stays, and what follows does nothing: other ranks still have columns to send. */
static void put(writing *w, const void *bytes, int64_t count)
{
    const char *from = bytes;
    for (int64_t at = 0; at < count && w->failed == ARMILLA_OK; at += PIECE) {
        const size_t part = (size_t)(count - at < PIECE ? count - at : PIECE);
        w->part = (uint32_t)crc32_z(w->part, (const unsigned char *)from + at, part);
        w->failed = armilla_output_write(w->output, from + at, part);
    }
    w->written += count;
}

/* The checksum of the part, which ends with it. Its highest byte comes first: behind a CRC with the lowest first the CRC
 * of both is the same whatever they are, and that of the whole file would tell nothing. */
static void end_part(writing *w)
{
    const uint32_t check = __builtin_bswap32(w->part);
    put(w, &check, sizeof check);
    w->whole = (uint32_t)crc32_combine(w->whole, w->part, w->written - w->begun);
    w->part = 0;
    w->begun = w->written;
}

static void put_opening(writing *w, const char *text)
{
    armilla_state_opening opening = {.format = ARMILLA_STATE_FORMAT, .text = (uint32_t)strlen(text)};
    memcpy(opening.magic, ARMILLA_STATE_MAGIC, sizeof opening.magic);
    put(w, &opening, sizeof opening);
    put(w, text, (int64_t)strlen(text));
    end_part(w);
}

/* Columns of another rank, or to rank 0: in pieces, so that neither needs memory for them. */
static armilla_status put_received(writing *w, int from, int64_t column)
{
    char piece[MESSAGE];
    int64_t columns = 0;
    armilla_status status = armilla_ranks_receive(w->context, from, &columns, sizeof columns);
    for (int64_t left = columns * column; left > 0 && status == ARMILLA_OK; left -= MESSAGE) {
        const int64_t part = armilla_min64(left, MESSAGE);
        status = armilla_ranks_receive(w->context, from, piece, (size_t)part);
        if (status == ARMILLA_OK) put(w, piece, part);
    }
    return status;
}

static armilla_status send_columns(const writing *w, const armilla_state_item *item, int64_t column)
{
    const char *own = (const char *)item->values + item->share->first * column;
    const int64_t columns = item->share->last - item->share->first;
    armilla_status status = armilla_ranks_send(w->context, 0, &columns, sizeof columns);
    for (int64_t left = columns * column; left > 0 && status == ARMILLA_OK; left -= MESSAGE, own += MESSAGE)
        status = armilla_ranks_send(w->context, 0, own, (size_t)armilla_min64(left, MESSAGE));
    return status;
}

/* Ranks have samples in their order, so that the bytes are those that one rank would write. */
static armilla_status put_shares(writing *w, const armilla_state_item *item, int64_t column)
{
    armilla_status status = ARMILLA_OK;
    if (armilla_ranks_rank(w->context) > 0) return send_columns(w, item, column);
    put(w, (const char *)item->values, item->share->last * column);
    for (int rank = 1; rank < armilla_ranks_size(w->context) && status == ARMILLA_OK; rank++)
        status = put_received(w, rank, column);
    return status;
}

static void put_values(writing *w, const armilla_state_item *item, int64_t column)
{
    const bool together = item->stride == column;
    const int64_t runs = together ? 1 : item->columns, run = together ? column * item->columns : column;
    for (int64_t j = 0; j < runs; j++) put(w, (const char *)item->values + j * item->stride, run);
}

static armilla_status put_item(armilla_state_list *list, const armilla_state_item *item)
{
    writing *w = list->self;
    const armilla_state_label label = armilla_state_label_of(item);
    const int64_t column = item->rows * (int64_t)armilla_state_size(item->type);
    const bool shared = item->share && armilla_ranks_size(w->context) > 1; /* also where one rank has all, or none */
    put(w, &label, sizeof label);
    const armilla_status status = shared ? put_shares(w, item, column) : ARMILLA_OK;
    if (!shared) put_values(w, item, column);
    end_part(w);
    w->items++;
    return status;
}

/* The last checksum is of everything before it. */
static void put_closing(writing *w)
{
    const armilla_state_closing closing = {.mark = {'D', 'O', 'N', 'E'},
                                           .items = w->items,
                                           .bytes = w->written + (int64_t)(sizeof closing + sizeof w->whole)};
    put(w, &closing, sizeof closing);
    w->part = (uint32_t)crc32_combine(w->whole, w->part, w->written - w->begun);
    w->begun = w->written;
    end_part(w);
}

armilla_status armilla_state_file_write(armilla_context *context, const char *path, const char *text,
                                        armilla_state_lister lister, void *self)
{
    writing w = {.context = context, .failed = ARMILLA_STOPPED}; /* of ranks that only send */
    if (armilla_ranks_rank(context) == 0) w.failed = armilla_output_new(context, path, true, &w.output);
    put_opening(&w, text);
    const armilla_status status = armilla_state_each(context, lister, self, put_item, &w);
    put_closing(&w);
    if (status == ARMILLA_OK && w.failed == ARMILLA_OK) w.failed = armilla_output_commit(w.output);
    armilla_output_free(w.output);
    return status != ARMILLA_OK ? status : w.failed;
}
