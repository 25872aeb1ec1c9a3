/* Arrays of which a rank has its own columns, and arrays that do not fit into memory: those are mappings of an unnamed
 * file on the disk, which the system reads and writes as it sees fit. */
#include "base/samples.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/ranks.h"
#include "base/size.h"
#include "base/temporary.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* An array in a file: stands at the beginning of its mapping, before the block's header. */
typedef struct spilled {
    struct spilled *next; /* of the context's */
    int64_t count;        /* samples */
    size_t column;        /* bytes of each */
} spilled;

_Static_assert(sizeof(spilled) + sizeof(armilla_block_header) <= ARMILLA_LINE, "both stand before the block");

enum {
    SPILLED_PART = 16,      /* arrays that take more than this part of the memory that is left are in a file, */
    LEAST_SPILLED = 1 << 16 /* but no smaller ones */
};

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes first ... last-1 of a mapping, in whole pages, can be used. */
static bool open_pages(char *start, size_t first, size_t last)
{
    first -= first % page_bytes();
    return mprotect(start + first, last - first, PROT_READ | PROT_WRITE) == 0;
}

static armilla_status cannot_spill(armilla_context *context, double bytes, int error)
{
    return armilla_fail(
        context, ARMILLA_CANNOT_CREATE,
        "%s: a temporary file of %.1f MB, for arrays that do not fit into memory, cannot be made: %s; "
        "free some space, choose another directory, or raise the limit by " ARMILLA_FIELD("memory SIZE"),
        context->temporary, bytes / 1e6, armilla_error_text(error));
}

/* A file for bytes first ... last-1 of a mapping. Its blocks are reserved: where the disk were full when a page is
 * written, the process would end. */
static armilla_status open_spill(armilla_context *context, size_t first, size_t last, int *file)
{
    const int opened = armilla_temporary_open(context->io, context->temporary, "codes");
    if (opened < 0) return cannot_spill(context, (double)(last - first), errno);
    if (context->io->reserve(opened, 0, ARMILLA_LINE) != 0 ||
        context->io->reserve(opened, (off_t)first, (off_t)(last - first)) != 0) {
        const int error = errno;
        (void)armilla_io_close(context->io, opened);
        return cannot_spill(context, (double)(last - first), error);
    }
    *file = opened;
    return ARMILLA_OK;
}

/* The place of a mapping. */
typedef struct mapping {
    size_t bytes, begin, end; /* all of it, and the own columns */
    bool spills;
} mapping;

static armilla_status map_pages(armilla_context *context, const mapping *of, char **start)
{
    int file = -1;
    armilla_status status = of->spills ? open_spill(context, of->begin, of->end, &file) : ARMILLA_OK;
    if (status != ARMILLA_OK) return status;
    const int flags = of->spills ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *made = context->io->map(NULL, of->bytes, PROT_NONE, flags, file, 0);
    const bool mapped = made != MAP_FAILED;
    const bool usable =
        mapped && open_pages(made, 0, ARMILLA_LINE) && (of->begin == of->end || open_pages(made, of->begin, of->end));
    if (file >= 0) (void)armilla_io_close(context->io, file); /* the mapping keeps it */
    if (usable) {
        *start = made;
        return ARMILLA_OK;
    }
    if (mapped) (void)munmap(made, of->bytes);
    (void)armilla_memory_refused(context, (double)(of->end - of->begin));
    return ARMILLA_NO_MEMORY;
}

static void note_spilled(armilla_context *context, char *start, int64_t count, size_t column)
{
    spilled *own = (spilled *)(void *)start;
    *own = (spilled){context->spilled, count, column};
    context->spilled = own;
}

/* Addresses for all columns, and memory, or places in a file, for the own ones. */
static armilla_status map_columns(armilla_context *context, const armilla_samples *share, size_t column, bool spills,
                                  void **block)
{
    const size_t own = (size_t)(share->last - share->first) * column, begin = (size_t)share->first * column;
    size_t bytes = 0;
    char *start = NULL;
    if (!armilla_size_multiply(share->count, column, &bytes) || bytes > PTRDIFF_MAX - ARMILLA_LINE)
        return armilla_memory_refused(context, (double)share->count * (double)column);
    bytes += ARMILLA_LINE;
    const mapping of = {bytes, ARMILLA_LINE + begin, ARMILLA_LINE + begin + own, spills};
    const armilla_block_header header = {.bytes = spills ? ARMILLA_LINE : (int64_t)own + ARMILLA_LINE,
                                         .mapped = (int64_t)bytes};
    armilla_status status = armilla_memory_claim(context, header.bytes);
    if (status != ARMILLA_OK) return status;
    if ((status = map_pages(context, &of, &start)) != ARMILLA_OK) {
        armilla_memory_give_back(context, header.bytes);
        return status;
    }
    if (spills) note_spilled(context, start, share->count, column);
    memcpy(start + ARMILLA_LINE - sizeof header, &header, sizeof header);
    *block = start + ARMILLA_LINE;
    return ARMILLA_OK;
}

/* Whether the array is better in a file. */
static bool must_spill(const armilla_context *context, int64_t bytes)
{
    const int64_t limit = armilla_context_memory_limit(context);
    if (!context->temporary || limit == INT64_MAX || bytes < LEAST_SPILLED) return false;
    return bytes > armilla_max64(limit - armilla_context_memory_live(context), 0) / SPILLED_PART;
}

armilla_status armilla_samples_take(armilla_context *context, const armilla_samples *share, int64_t rows, size_t size,
                                    void *block)
{
    void **place = block;
    int64_t count = 0;
    size_t column = 0, own = 0;
    void *made = NULL;
    if (!armilla_size_area(rows, share->count, &count) || !armilla_size_multiply(rows, size, &column))
        return armilla_fail(context, ARMILLA_NO_MEMORY, "%lld x %lld numbers are too many", (long long)rows,
                            (long long)share->count);
    const bool spills =
        armilla_size_multiply(share->last - share->first, column, &own) && must_spill(context, (int64_t)own);
    const bool whole = armilla_samples_are_whole(share);
    armilla_status status = spills ? map_columns(context, share, column, true, &made) : ARMILLA_CANNOT_CREATE;
    /* Memory that could do without the file is no reason to fail where there can be none. */
    if (status == ARMILLA_CANNOT_CREATE && (!spills || armilla_memory_holds(context, (int64_t)own)))
        status = whole ? armilla_grow(context, count, size, &made) : map_columns(context, share, column, false, &made);
    if (status == ARMILLA_OK) *place = made;
    return status;
}

/* What a rank has and what it wants. */
typedef struct shares {
    armilla_samples from, to;
} shares;

/* Columns that one rank has and another wants: every rank goes through all pairs in the same order, and so nobody waits
 * for a message that comes later than one that waits for it. */
static armilla_status move_some(armilla_context *context, const shares *of, int giver, int taker,
                                const armilla_moving *moving)
{
    const int self = armilla_ranks_rank(context);
    const int64_t first = armilla_max64(of[giver].from.first, of[taker].to.first);
    const int64_t last = armilla_min64(of[giver].from.last, of[taker].to.last);
    const char *from = (const char *)moving->from + (size_t)first * moving->column;
    char *to = (char *)moving->to + (size_t)first * moving->column;
    if (first >= last || (self != giver && self != taker)) return ARMILLA_OK;
    const size_t bytes = (size_t)(last - first) * moving->column;
    if (giver == taker) memcpy(to, from, bytes);
    if (giver == taker) return ARMILLA_OK;
    return self == giver ? armilla_ranks_send(context, taker, from, bytes)
                         : armilla_ranks_receive(context, giver, to, bytes);
}

armilla_status armilla_samples_move(armilla_context *context, armilla_status status, const armilla_moving *moving)
{
    const int size = armilla_ranks_size(context), self = armilla_ranks_rank(context);
    const int64_t bytes = (int64_t)sizeof(shares);
    shares *of = NULL;
    if (status == ARMILLA_OK) status = armilla_take(context, size, sizeof *of, &of);
    if (status == ARMILLA_OK) of[self] = (shares){*moving->from_share, *moving->to_share};
    status = armilla_ranks_gather(
        context, status, &(armilla_byte_range){of, self * bytes, (self + 1) * bytes, size * bytes, .all = true});
    for (int giver = 0; of && giver < size && status == ARMILLA_OK; giver++)
        for (int taker = 0; taker < size && status == ARMILLA_OK; taker++)
            status = move_some(context, of, giver, taker, moving);
    armilla_release(context, of);
    return status;
}

/* What is dropped is only this process's view of the pages: the numbers are the file's. */
void armilla_samples_passed(const armilla_context *context, int64_t count, int64_t first, int64_t last)
{
    const size_t page = page_bytes();
    for (const spilled *one = context->spilled; one; one = one->next) {
        if (one->count != count) continue;
        const size_t begin = (ARMILLA_LINE + (size_t)first * one->column + page - 1) / page * page;
        const size_t end = (ARMILLA_LINE + (size_t)last * one->column) / page * page;
        if (begin < end) (void)madvise((char *)(uintptr_t)one + begin, end - begin, MADV_DONTNEED);
    }
}

void armilla_samples_forget(armilla_context *context, const void *start)
{
    spilled **at = (spilled **)&context->spilled;
    while (*at && *at != start) at = &(*at)->next;
    if (*at) *at = (*at)->next;
}

armilla_status armilla_context_set_temporary(armilla_context *context, const char *directory)
{
    char *copy = NULL;
    if (!context) return ARMILLA_BAD_ARGUMENT;
    const armilla_status status = armilla_copy_text(context, directory, &copy);
    if (status != ARMILLA_OK) return status;
    armilla_release(context, context->temporary);
    context->temporary = copy;
    return ARMILLA_OK;
}

/* Bytes that travel at a time: few beside any limit on memory, many beside what a message costs. */
enum { PIECE = 1 << 18 };

static int64_t own_bytes(const armilla_putting *stream)
{
    return (stream->share->last - stream->share->first) * (int64_t)stream->column;
}

/* What a rank sends, as long as rank 0 wants it. */
static armilla_status send_columns(armilla_context *context, const armilla_putting *stream)
{
    const char *next = (const char *)stream->block + (size_t)stream->share->first * stream->column;
    int64_t left = own_bytes(stream), wanted = 0;
    armilla_status status = armilla_ranks_send(context, 0, &left, sizeof left);
    while (left > 0 && status == ARMILLA_OK) {
        const int64_t count = armilla_min64(left, PIECE);
        status = armilla_ranks_receive(context, 0, &wanted, sizeof wanted);
        if (status != ARMILLA_OK || !wanted) return status;
        status = armilla_ranks_send(context, 0, next, (size_t)count);
        next += count;
        left -= count;
    }
    return status;
}

/* What rank 0 has from another; *put: how putting goes, and after a failure nothing more is asked for. */
static armilla_status receive_columns(armilla_context *context, const armilla_putting *stream, int from, char *piece,
                                      armilla_status *put)
{
    int64_t left = 0;
    armilla_status status = armilla_ranks_receive(context, from, &left, sizeof left);
    while (left > 0 && status == ARMILLA_OK) {
        const int64_t count = armilla_min64(left, PIECE), wanted = *put == ARMILLA_OK;
        status = armilla_ranks_send(context, from, &wanted, sizeof wanted);
        if (status != ARMILLA_OK || !wanted) return status;
        status = armilla_ranks_receive(context, from, piece, (size_t)count);
        if (status == ARMILLA_OK) *put = stream->put(stream->user, piece, (size_t)count);
        left -= count;
    }
    return status;
}

armilla_status armilla_put_behind(void *user, const void *bytes, size_t count)
{
    char **next = user;
    memcpy(*next, bytes, count);
    *next += count;
    return ARMILLA_OK;
}

armilla_status armilla_samples_put(armilla_context *context, armilla_status status, const armilla_putting *stream)
{
    const int size = armilla_ranks_size(context), rank = armilla_ranks_rank(context);
    const char *own = (const char *)stream->block + (size_t)stream->share->first * stream->column;
    char *piece = NULL;
    armilla_status put = ARMILLA_OK;
    if (status == ARMILLA_OK && size > 1 && rank == 0) status = armilla_grow(context, PIECE, 1, &piece);
    status = armilla_ranks_agree(context, ARMILLA_NO_SLOT, status);
    if (status == ARMILLA_OK && rank > 0) status = send_columns(context, stream);
    if (status == ARMILLA_OK && rank == 0) put = stream->put(stream->user, own, (size_t)own_bytes(stream));
    for (int from = 1; from < size && rank == 0 && status == ARMILLA_OK; from++)
        status = receive_columns(context, stream, from, piece, &put);
    armilla_release(context, piece);
    if (status != ARMILLA_OK) return status;
    return armilla_ranks_agree(context, ARMILLA_NO_SLOT, put);
}
