/* Blocks of a file in memory. Every thread holds one block at most, and only while it copies from it, so that any number
 * of threads gets on with any number of blocks. A block that nobody has read ahead is read by the thread that wants it:
 * without readers everything works, only slower.
 *
 * Which blocks give way: those that have been copied from, the longest unused first; blocks that were read ahead and not
 * used yet only where something is wanted now, or where they are so old that nobody seems to want them. */
#include "base/blocks.h"

#include "base/number.h"
#include "base/size.h"
#include "base/team.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

enum {
    MOST_BLOCK = 1 << 20, /* bytes; larger ones are read no faster */
    PAGE = 4096,          /* the least */
    MOST_BLOCKS = 64,
    WANTED_BLOCKS = 12, /* fewer only where a block would be less than a page */
    LEAST_BLOCKS = 2,
    READERS = 3,
    OLD = 4 /* times the number of blocks: other blocks that have been wanted since */
};

typedef enum block_state { FREE, QUEUED, LOADING, READY } block_state;

typedef struct block {
    block_state state;
    bool used;      /* since it was loaded */
    int users;      /* that are copying from it */
    int64_t number; /* of the file's */
    int64_t tick;   /* when it was last wanted */
    unsigned char *bytes;
} block;

struct armilla_blocks {
    armilla_helper helper; /* first */
    armilla_context *context;
    char *path;
    int file;
    int64_t size;
    bool passing; /* the system is not to keep the file in its cache, which could not hold it */
    int64_t block_bytes, ticks, traffic;
    int count;
    block blocks[MOST_BLOCKS];
    unsigned char *memory;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a block has been loaded, or let go */
    pthread_cond_t queued;
    armilla_context *served; /* whose call the readers belong to, or NULL */
    bool resting;
    int readers;
    pthread_t threads[READERS];
};

const char *armilla_blocks_path(const armilla_blocks *blocks)
{
    return blocks->path;
}

int64_t armilla_blocks_size(const armilla_blocks *blocks)
{
    return blocks->size;
}

int64_t armilla_blocks_traffic(const armilla_blocks *blocks)
{
    return __atomic_load_n(&blocks->traffic, __ATOMIC_RELAXED);
}

static armilla_status cannot_read(armilla_blocks *b, armilla_context *context, int64_t at, int error)
{
    if (error == 0)
        return armilla_fail(context, ARMILLA_IO_ERROR,
                            "%s: became shorter while it was read: byte %lld of %lld is gone; let it be finished, and "
                            "start again",
                            b->path, (long long)at, (long long)b->size);
    return armilla_fail(context, ARMILLA_IO_ERROR, "%s: reading failed at byte %lld: %s; try again", b->path,
                        (long long)at, armilla_error_text(error));
}

/* Reads the extent; where that fails *bad is the byte, and the result errno, or 0 at an end of the file. */
static bool fetch(armilla_blocks *b, armilla_extent extent, unsigned char *to, int64_t *bad, int *error)
{
    const armilla_io *io = b->context->io;
    int64_t done = 0;
    while (done < extent.count) {
        errno = 0;
        const ssize_t got =
            armilla_io_pread(io, b->file, to + done, (size_t)(extent.count - done), (off_t)(extent.at + done));
        if (got > 0) done += got;
        if (got > 0) continue;
        *bad = extent.at + done;
        *error = got < 0 ? errno : 0;
        return false;
    }
    __atomic_add_fetch(&b->traffic, extent.count, __ATOMIC_RELAXED);
    return true;
}

static armilla_extent extent_of(const armilla_blocks *b, int64_t number)
{
    const int64_t at = number * b->block_bytes;
    return (armilla_extent){at, armilla_min64(b->block_bytes, b->size - at)};
}

/* Fills a block that is LOADING, for the thread that made it so, and for so many users; not under the lock. */
static bool fill(armilla_blocks *b, block *own, int users, int64_t *bad, int *error)
{
    const armilla_extent extent = extent_of(b, own->number);
    const bool filled = fetch(b, extent, own->bytes, bad, error);
    if (filled && b->passing) (void)b->context->io->forget(b->file, (off_t)extent.at, (off_t)extent.count);
    pthread_mutex_lock(&b->lock);
    own->state = filled ? READY : FREE;
    own->users = filled ? users : 0;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return filled;
}

/* Under the lock, as all that follows up to the readers. */
static block *find(armilla_blocks *b, int64_t number)
{
    for (int i = 0; i < b->count; i++)
        if (b->blocks[i].state != FREE && b->blocks[i].number == number) return &b->blocks[i];
    return NULL;
}

/* The block that gives way; NULL: none does now. */
static block *find_place(armilla_blocks *b, bool urgent)
{
    const int64_t old = b->ticks - (int64_t)OLD * b->count;
    block *best = NULL;
    for (int i = 0; i < b->count; i++) {
        block *one = &b->blocks[i];
        if (one->state == FREE) return one;
        if (one->users > 0 || one->state == LOADING) continue;
        if (!one->used && !urgent && one->tick > old) continue;
        if (!best || one->used > best->used || (one->used == best->used && one->tick < best->tick)) best = one;
    }
    return best;
}

static void occupy(armilla_blocks *b, block *place, int64_t number)
{
    place->state = QUEUED;
    place->used = false;
    place->number = number;
    place->tick = ++b->ticks;
}

static void *serve(void *self)
{
    armilla_blocks *b = self;
    pthread_mutex_lock(&b->lock);
    while (!b->resting) {
        block *next = NULL;
        for (int i = 0; i < b->count; i++)
            if (b->blocks[i].state == QUEUED && (!next || b->blocks[i].tick < next->tick)) next = &b->blocks[i];
        if (!next) {
            pthread_cond_wait(&b->queued, &b->lock);
            continue;
        }
        int64_t bad = 0;
        int error = 0;
        next->state = LOADING;
        pthread_mutex_unlock(&b->lock);
        (void)fill(b, next, 0, &bad, &error); /* who wants what could not be read tries again, and says why */
        pthread_mutex_lock(&b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* The readers end with what they are reading; what has not been begun is forgotten. */
static void rest(armilla_helper *helper)
{
    armilla_blocks *b = (armilla_blocks *)helper;
    pthread_mutex_lock(&b->lock);
    b->resting = true;
    for (int i = 0; i < b->count; i++)
        if (b->blocks[i].state == QUEUED) b->blocks[i].state = FREE;
    pthread_cond_broadcast(&b->queued);
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    for (int i = 0; i < b->readers; i++) pthread_join(b->threads[i], NULL);
    pthread_mutex_lock(&b->lock);
    b->readers = 0;
    b->served = NULL;
    b->resting = false;
    pthread_mutex_unlock(&b->lock);
}

/* Whether there are readers, for the call in progress. */
static bool have_readers(armilla_blocks *b, armilla_context *context)
{
    if (b->served) return !b->resting && b->readers > 0;
    if (!armilla_call_helped(context, &b->helper)) return false;
    b->served = context;
    while (b->readers < READERS && armilla_thread_start(&b->threads[b->readers], serve, b)) b->readers++;
    return b->readers > 0;
}

/* How many blocks each thread of the call may have read ahead of it. */
static int64_t share_of_blocks(const armilla_blocks *b, const armilla_context *context)
{
    const int64_t threads = armilla_call_threads(context);
    return armilla_max64(1, (b->count - threads) / threads);
}

void armilla_blocks_expect(armilla_blocks *b, armilla_context *context, armilla_extent extent)
{
    if (extent.count <= 0 || extent.at >= b->size) return;
    const int64_t first = extent.at / b->block_bytes;
    const int64_t last = (armilla_min64(extent.at + extent.count, b->size) - 1) / b->block_bytes;
    pthread_mutex_lock(&b->lock);
    const int64_t end = have_readers(b, context) ? armilla_min64(last, first + share_of_blocks(b, context) - 1) : -1;
    bool any = false;
    for (int64_t number = first; number <= end; number++) {
        if (find(b, number)) continue;
        block *place = find_place(b, false);
        if (!place || place->state == QUEUED) break;
        occupy(b, place, number);
        any = true;
    }
    if (any) pthread_cond_broadcast(&b->queued);
    pthread_mutex_unlock(&b->lock);
}

/* The block's place, once nobody else is loading it, or one that was free for it. Under the lock, which is open while it
 * waits. */
static block *claim(armilla_blocks *b, int64_t number)
{
    for (;;) {
        block *own = find(b, number);
        if (own && own->state != LOADING) return own;
        block *place = own ? NULL : find_place(b, true);
        if (place) {
            occupy(b, place, number);
            return place;
        }
        pthread_cond_wait(&b->changed, &b->lock);
    }
}

/* *held = the block, READY and kept until it is let go. Called and left under the lock, which is open meanwhile. */
static bool hold(armilla_blocks *b, int64_t number, block **held, int64_t *bad, int *error)
{
    block *own = claim(b, number);
    *held = own;
    own->used = true;
    own->tick = ++b->ticks;
    if (own->state == READY) {
        own->users++;
        return true;
    }
    own->state = LOADING;
    pthread_mutex_unlock(&b->lock);
    const bool filled = fill(b, own, 1, bad, error);
    pthread_mutex_lock(&b->lock);
    return filled;
}

/* What the block has of the extent. */
static bool copy_block(armilla_blocks *b, int64_t number, armilla_extent extent, unsigned char *to, int64_t *bad,
                       int *error)
{
    const armilla_extent whole = extent_of(b, number);
    const int64_t first = armilla_max64(whole.at, extent.at);
    const int64_t last = armilla_min64(whole.at + whole.count, extent.at + extent.count);
    block *held = NULL;
    pthread_mutex_lock(&b->lock);
    const bool found = hold(b, number, &held, bad, error);
    pthread_mutex_unlock(&b->lock);
    if (!found) return false;
    memcpy(to + (first - extent.at), held->bytes + (first - whole.at), (size_t)(last - first));
    pthread_mutex_lock(&b->lock);
    if (--held->users == 0) pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return true;
}

/* Whether a block of the extent is in memory, or on its way. */
static bool is_near(armilla_blocks *b, int64_t first, int64_t last)
{
    bool near = false;
    pthread_mutex_lock(&b->lock);
    for (int64_t number = first; number <= last && !near; number++) near = find(b, number);
    pthread_mutex_unlock(&b->lock);
    return near;
}

armilla_status armilla_blocks_read(armilla_blocks *b, armilla_context *context, armilla_extent extent, bool alone,
                                   void *to)
{
    const int64_t first = extent.at / b->block_bytes, last = (extent.at + extent.count - 1) / b->block_bytes;
    int64_t bad = 0;
    int error = 0;
    bool done = true;
    if (extent.count <= 0) return ARMILLA_OK;
    if (extent.at + extent.count > b->size) return cannot_read(b, context, b->size, 0);
    if (alone && extent.count < b->block_bytes && !is_near(b, first, last))
        done = fetch(b, extent, to, &bad, &error);
    else
        for (int64_t number = first; number <= last && done; number++)
            done = copy_block(b, number, extent, to, &bad, &error);
    return done ? ARMILLA_OK : cannot_read(b, context, bad, error);
}

/* Blocks of a power of two pages: as many as are wanted, then as large as they may be, then more. */
static void plan_blocks(armilla_blocks *b, int64_t memory)
{
    b->block_bytes = PAGE;
    while (2 * b->block_bytes <= MOST_BLOCK && 2 * b->block_bytes * WANTED_BLOCKS <= memory) b->block_bytes *= 2;
    b->count = (int)armilla_max64(LEAST_BLOCKS, armilla_min64(memory / b->block_bytes, MOST_BLOCKS));
}

static armilla_status open_file(armilla_blocks *b)
{
    const armilla_io *io = b->context->io;
    struct stat facts;
    b->file = armilla_io_open(io, b->path, O_RDONLY | O_NOCTTY, 0);
    if (b->file < 0 || io->fstat(b->file, &facts) != 0)
        return armilla_fail(b->context, ARMILLA_CANNOT_OPEN,
                            "%s: cannot be opened: %s; check the name and the permissions", b->path,
                            armilla_error_text(errno));
    b->size = facts.st_size;
    b->passing = b->size > armilla_memory_free(io) / 2;
    return ARMILLA_OK;
}

armilla_status armilla_blocks_open(armilla_context *context, const char *path, int64_t memory, armilla_blocks **blocks)
{
    armilla_blocks *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    made->helper.rest = rest;
    made->file = -1;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    pthread_cond_init(&made->queued, NULL);
    plan_blocks(made, memory);
    status = armilla_copy_text(context, path, &made->path);
    if (status == ARMILLA_OK) status = open_file(made);
    if (status == ARMILLA_OK)
        status = armilla_grow(context, (int64_t)made->count * made->block_bytes + PAGE, 1, &made->memory);
    if (status != ARMILLA_OK) {
        armilla_blocks_free(made);
        return status;
    }
    unsigned char *first = made->memory + (PAGE - (uintptr_t)made->memory % PAGE);
    for (int i = 0; i < made->count; i++) made->blocks[i].bytes = first + i * made->block_bytes;
    *blocks = made;
    return ARMILLA_OK;
}

void armilla_blocks_free(armilla_blocks *blocks)
{
    if (!blocks) return;
    armilla_context *context = blocks->context;
    if (blocks->served) {
        armilla_call_unhelped(blocks->served, &blocks->helper);
        rest(&blocks->helper);
    }
    if (blocks->file >= 0) (void)armilla_io_close(context->io, blocks->file);
    pthread_cond_destroy(&blocks->queued);
    pthread_cond_destroy(&blocks->changed);
    pthread_mutex_destroy(&blocks->lock);
    armilla_release(context, blocks->memory);
    armilla_release(context, blocks->path);
    armilla_release(context, blocks);
}
