/* A state from a file. The file is input like any other: it is compared with its checksums before anything of it is
 * used, and what it says is then still believed only where the list asks for it. */
#include "files/state_file.h"

#include "base/number.h"
#include "base/ranks.h"
#include "base/size.h"
#include "files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

enum { BUFFER = 1 << 18, MOST_TEXT = 1 << 20 };
enum { CHECK = sizeof(uint32_t), LEAST = sizeof(armilla_state_opening) + sizeof(armilla_state_closing) + 2 * CHECK };

struct armilla_state_file {
    armilla_context *context;
    const char *path;
    int file;
    int64_t size, at; /* bytes; how far it has been given out */
    char *buffer;
    int64_t from, filled; /* what of the file is in it */
    uint32_t part;        /* checksum of the part in progress */
    uint32_t whole;       /* that of the file, as stated at its end */
    char *text;
    int64_t first; /* where the items begin */
    int64_t items; /* that are left to restore */
};

static armilla_status damaged(const armilla_state_file *f, const char *what)
{
    return armilla_fail(f->context, ARMILLA_BAD_DATA,
                        "%s: the checkpoint %s; use an earlier copy of it, or begin the fit anew", f->path, what);
}

/* The bytes from `at` on, as many as there are up to count; at least one. */
static armilla_status read_at(armilla_state_file *f, int64_t at, char *bytes, int64_t count, int64_t *got)
{
    const ssize_t part = armilla_io_pread(f->context->io, f->file, bytes, (size_t)count, (off_t)at);
    if (part < 0)
        return armilla_fail(f->context, ARMILLA_IO_ERROR, "%s: reading failed after %lld bytes: %s; try again", f->path,
                            (long long)at, armilla_error_text(errno));
    if (part == 0)
        return armilla_fail(f->context, ARMILLA_IO_ERROR,
                            "%s: became shorter while it was read; let it be finished, and start again", f->path);
    *got = part;
    return ARMILLA_OK;
}

static armilla_status fill(armilla_state_file *f)
{
    f->from = f->at;
    f->filled = 0;
    return read_at(f, f->at, f->buffer, armilla_min64(BUFFER, f->size - f->at), &f->filled);
}

/* The next bytes of the file: directly where they are many. */
static armilla_status take(armilla_state_file *f, void *bytes, int64_t count)
{
    char *to = bytes;
    if (count > f->size - f->at) return damaged(f, "is not whole: it ends within an item");
    for (int64_t part = 0; count > 0; to += part, count -= part, f->at += part) {
        const int64_t ahead = f->from + f->filled - f->at;
        armilla_status status = ARMILLA_OK;
        part = ahead > 0 ? armilla_min64(ahead, count) : 0;
        if (ahead > 0)
            memcpy(to, f->buffer + (f->at - f->from), (size_t)part);
        else if (count >= BUFFER)
            status = read_at(f, f->at, to, count, &part);
        else
            status = fill(f);
        if (status != ARMILLA_OK) return status;
        f->part = (uint32_t)crc32_z(f->part, (const unsigned char *)to, (size_t)part);
    }
    return ARMILLA_OK;
}

static armilla_status end_part(armilla_state_file *f, const char *what)
{
    const uint32_t part = f->part;
    uint32_t stated = 0;
    const armilla_status status = take(f, &stated, CHECK);
    if (status != ARMILLA_OK) return status;
    f->part = 0;
    return __builtin_bswap32(stated) == part ? ARMILLA_OK : damaged(f, what);
}

static armilla_status open_file(armilla_state_file *f)
{
    struct stat facts;
    /* Never waits for who writes into a pipe, which is refused. */
    f->file = armilla_io_open(f->context->io, f->path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
    if (f->file < 0 || f->context->io->fstat(f->file, &facts) != 0) return armilla_cannot_open(f->context, f->path);
    if (!S_ISREG(facts.st_mode))
        return armilla_fail(f->context, ARMILLA_CANNOT_OPEN, "%s: is not a regular file; give the name of a checkpoint",
                            f->path);
    f->size = facts.st_size;
    return armilla_take(f->context, BUFFER, 1, &f->buffer);
}

/* What it is, and the text. */
static armilla_status read_opening(armilla_state_file *f)
{
    armilla_state_opening opening = {.format = 0};
    armilla_status status = ARMILLA_OK;
    if (f->size >= LEAST) status = take(f, &opening, sizeof opening);
    if (status != ARMILLA_OK) return status;
    if (f->size > 0 && f->size < LEAST) return damaged(f, "is not whole, or no checkpoint of Armilla");
    if (memcmp(opening.magic, ARMILLA_STATE_MAGIC, sizeof opening.magic) != 0)
        return armilla_fail(f->context, ARMILLA_BAD_DATA,
                            "%s: is not a checkpoint of Armilla; give a file that a fit has written as one", f->path);
    if (opening.format != ARMILLA_STATE_FORMAT)
        return armilla_fail(
            f->context, ARMILLA_BAD_DATA,
            "%s: is a checkpoint of format %u, and this library reads %d; use the library that wrote it", f->path,
            (unsigned)opening.format, ARMILLA_STATE_FORMAT);
    if (opening.text > MOST_TEXT || opening.text > f->size - f->at)
        return damaged(f, "is not whole: its record is too long");
    status = armilla_take(f->context, (int64_t)opening.text + 1, 1, &f->text);
    if (status == ARMILLA_OK) status = take(f, f->text, opening.text);
    if (status == ARMILLA_OK) f->text[opening.text] = '\0';
    return status;
}

/* Everything up to the last checksum, which is of that. */
static armilla_status check_whole(armilla_state_file *f)
{
    armilla_state_closing closing;
    const int64_t last = f->size - (int64_t)(sizeof closing) - CHECK;
    const bool compares = armilla_ranks_rank(f->context) == 0; /* rank 0 looks for all */
    armilla_status status = ARMILLA_OK;
    f->part = 0;
    f->at = compares ? 0 : last;
    while (f->at < last && status == ARMILLA_OK) {
        if (f->at >= f->from + f->filled || f->at < f->from) status = fill(f);
        if (status != ARMILLA_OK) break;
        const int64_t count = armilla_min64(f->from + f->filled, last) - f->at;
        f->part = (uint32_t)crc32_z(f->part, (const unsigned char *)f->buffer + (f->at - f->from), (size_t)count);
        f->at += count;
    }
    if (status == ARMILLA_OK) status = take(f, &closing, sizeof closing);
    f->whole = f->part;
    if (status == ARMILLA_OK && compares)
        status = end_part(f, "is damaged or not whole: it does not have its checksum");
    if (status == ARMILLA_OK && !compares) {
        status = take(f, &f->whole, CHECK);
        f->whole = __builtin_bswap32(f->whole);
    }
    if (status != ARMILLA_OK) return status;
    if (memcmp(closing.mark, "DONE", sizeof closing.mark) != 0 || closing.bytes != f->size || closing.items < 0)
        return damaged(f, "is damaged: its end is not that of a checkpoint");
    f->items = closing.items;
    return ARMILLA_OK;
}

static armilla_status open_whole(armilla_state_file *f)
{
    armilla_status status = open_file(f);
    if (status == ARMILLA_OK) status = read_opening(f);
    if (status == ARMILLA_OK) status = end_part(f, "is damaged: its record does not have its checksum");
    f->first = f->at;
    return status == ARMILLA_OK ? check_whole(f) : status;
}

armilla_status armilla_state_file_open(armilla_context *context, const char *path, armilla_state_file **file)
{
    armilla_state_file *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    *made = (armilla_state_file){.context = context, .path = path, .file = -1};
    status = open_whole(made);
    if (status == ARMILLA_OK)
        *file = made;
    else
        armilla_state_file_close(made);
    return status;
}

void armilla_state_file_close(armilla_state_file *file)
{
    if (!file) return;
    armilla_context *context = file->context;
    if (file->file >= 0) (void)armilla_io_close(context->io, file->file);
    armilla_release(context, file->text);
    armilla_release(context, file->buffer);
    armilla_release(context, file);
}

uint64_t armilla_state_file_token(const armilla_state_file *file)
{
    return (uint64_t)file->size << 32 ^ file->whole;
}

const char *armilla_state_file_text(const armilla_state_file *file)
{
    return file->text;
}

/* A bool is 0 or 1: any other is no value of its type. */
static bool are_bools(const armilla_state_item *item)
{
    const unsigned char *values = item->values;
    bool all = true;
    for (int64_t j = 0; j < item->columns && item->type == ARMILLA_STATE_U8; j++)
        for (int64_t i = 0; i < item->rows; i++) all = all && values[j * item->stride + i] <= 1;
    return all;
}

static void clear_bools(const armilla_state_item *item)
{
    for (int64_t j = 0; j < item->columns; j++) memset((char *)item->values + j * item->stride, 0, (size_t)item->rows);
}

/* The columns that are there. Tables of entries, which have a stride, say by NaN and infinity that there is no number. */
static bool are_finite(const armilla_state_item *item)
{
    const armilla_samples there = item->share ? *item->share : armilla_samples_whole(item->columns);
    const int64_t first = there.first * item->rows, last = there.last * item->rows;
    const double *wide = item->values;
    const float *narrow = item->values;
    bool all = true;
    if (item->rows * item->columns == 1 || item->stride != item->rows * (int64_t)armilla_state_size(item->type))
        return true;
    for (int64_t i = first; i < last && item->type == ARMILLA_STATE_F64; i++) all = all && isfinite(wide[i]);
    for (int64_t i = first; i < last && item->type == ARMILLA_STATE_F32; i++) all = all && isfinite(narrow[i]);
    return all;
}

static armilla_status take_values(armilla_state_file *f, const armilla_state_item *item)
{
    const int64_t column = item->rows * (int64_t)armilla_state_size(item->type);
    const bool together = item->stride == column;
    const int64_t runs = together ? 1 : item->columns, run = together ? column * item->columns : column;
    armilla_status status = ARMILLA_OK;
    if (column > 0 && (f->size - f->at) / column < item->columns) return damaged(f, "is not whole");
    for (int64_t j = 0; j < runs && status == ARMILLA_OK; j++)
        status = take(f, (char *)item->values + j * item->stride, run);
    return status;
}

/* The rank's own columns alone, whose checksum is not known: that of the file has been compared. */
static armilla_status take_share(armilla_state_file *f, const armilla_state_item *item)
{
    const int64_t column = item->rows * (int64_t)armilla_state_size(item->type), begun = f->at;
    if (column > 0 && (f->size - f->at) / column < item->columns) return damaged(f, "is not whole");
    f->at += item->share->first * column;
    const armilla_status status =
        take(f, (char *)item->values + item->share->first * column, (item->share->last - item->share->first) * column);
    f->at = begun + item->columns * column + CHECK;
    f->part = 0;
    return status;
}

static armilla_status take_item(armilla_state_list *list, const armilla_state_item *item)
{
    armilla_state_file *f = list->self;
    const armilla_state_label wanted = armilla_state_label_of(item);
    armilla_state_label label = {.type = 0};
    armilla_status status = ARMILLA_OK;
    if (f->items > 0) status = take(f, &label, sizeof label);
    if (status != ARMILLA_OK) return status;
    if (memcmp(&label, &wanted, sizeof label) != 0)
        return armilla_fail(f->context, ARMILLA_BAD_DATA,
                            "%s: the checkpoint is of another fit: %s (%lld x %lld) is not where it should be; begin "
                            "the fit anew",
                            f->path, item->name, (long long)item->rows, (long long)item->columns);
    const bool shared = item->share && !armilla_samples_are_whole(item->share);
    status = shared ? take_share(f, item) : take_values(f, item);
    if (status == ARMILLA_OK && !shared) status = end_part(f, "is damaged: an item does not have its checksum");
    if (status == ARMILLA_OK && !shared && !are_bools(item)) {
        clear_bools(item);
        status = damaged(f, "is damaged: a number that is true or false is neither");
    }
    if (status == ARMILLA_OK && !are_finite(item)) status = damaged(f, "is damaged: a number is not finite");
    f->items--;
    list->left = f->size - f->at;
    return status;
}

armilla_status armilla_state_file_restore(armilla_state_file *f, armilla_state_lister lister, void *self)
{
    armilla_state_list list = {
        .context = f->context, .purpose = ARMILLA_STATE_VISIT, .restoring = true, .visit = take_item, .self = f};
    f->at = f->first;
    f->from = f->filled = 0;
    f->part = 0;
    lister(self, &list);
    if (list.status == ARMILLA_OK &&
        (f->items != 0 || f->size - f->at != (int64_t)(sizeof(armilla_state_closing) + CHECK)))
        return damaged(f, "is of another fit: it goes on after its last item");
    return list.status;
}
