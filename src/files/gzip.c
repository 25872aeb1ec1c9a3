/* Any file may be compressed by gzip: its bytes are unpacked into memory before a reader sees them, or, where that may
 * be, beside an output (base/spill.h). Deflate packs up to a thousandfold, so that a small file can ask for any amount;
 * what it may take is limited by memory, or there by the disk. */
#include "files/files.h"

#include "base/size.h"

#include <string.h>
#include <zlib.h>

enum { MAGIC = 3, TRAILER = 8, MOST_RATIO = 1032, RESERVE = 64 << 10, MOST_CREDIT = 4 }; /* for zlib: 44 kB */
#define FEED (1u << 22)         /* bytes of the file after which progress is reported */
#define MOST_AT_ONCE (1u << 23) /* bytes that are unpacked before they may leave memory */
#define LEAST_CAPACITY (64 << 10)

static const unsigned char magic[MAGIC] = {0x1f, 0x8b, Z_DEFLATED};

typedef struct unpacking {
    armilla_context *context;
    const armilla_bytes *packed;
    size_t fed; /* bytes of it that zlib has been given */
    z_stream stream;
    unsigned char *block;
    int64_t capacity, used, limit;
} unpacking;

/* Behind the magic stand flags, three of which are reserved (RFC 1952). */
bool armilla_gzip_recognize(const unsigned char *start, size_t count)
{
    enum { RESERVED = 0xe0 };
    return count >= MAGIC && memcmp(start, magic, MAGIC) == 0 && (count == MAGIC || !(start[MAGIC] & RESERVED));
}

static void *take(void *context, unsigned items, unsigned size)
{
    void *block = NULL;
    return armilla_take(context, items, size, &block) == ARMILLA_OK ? block : NULL;
}

static void release(void *context, void *block)
{
    armilla_release(context, block);
}

/* The last four bytes are the unpacked size (modulo 2^32): right for most files, and believed where deflate can reach
 * it. That of the last member is no more than that of all, so that it is past the limit only where they are. */
static int64_t guess_capacity(const unpacking *u)
{
    if (u->packed->count < TRAILER) return LEAST_CAPACITY;
    const unsigned char *at = u->packed->start + u->packed->count - 4;
    const int64_t stated =
        (int64_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
    const int64_t packed = (int64_t)u->packed->count;
    const int64_t most = packed < INT64_MAX / MOST_RATIO ? packed * MOST_RATIO : INT64_MAX;
    /* One byte more, for zlib to find the end without asking for memory. */
    const int64_t guess = stated <= most ? stated + 1 : 4 * packed;
    return stated <= most && stated > u->limit ? INT64_MAX : armilla_max64(guess, LEAST_CAPACITY);
}

static armilla_status too_large(const unpacking *u)
{
    return armilla_fail(u->context, ARMILLA_NO_MEMORY,
                        "%s: out of memory: its %zu bytes unpack to more than the %lld that may be taken; check how it "
                        "was made, unpack it first (gunzip), or raise the limit by " ARMILLA_FIELD("memory SIZE"),
                        u->packed->path, u->packed->count, (long long)u->limit);
}

static armilla_status widen(unpacking *u)
{
    const int64_t guess = u->capacity ? 2 * u->capacity : guess_capacity(u), wanted = armilla_min64(guess, u->limit);
    if (wanted <= u->capacity || guess == INT64_MAX) return too_large(u);
    const armilla_status status = armilla_grow_large(u->context, wanted, 1, &u->block);
    if (status == ARMILLA_OK) u->capacity = wanted;
    return status;
}

static armilla_status feed(unpacking *u)
{
    const size_t left = u->packed->count - u->fed, part = left < FEED ? left : FEED;
    u->stream.next_in = (unsigned char *)(uintptr_t)(u->packed->start + u->fed);
    u->stream.avail_in = (unsigned)part;
    if (armilla_call_reached(u->context, (int64_t)u->fed, (int64_t)u->packed->count))
        return armilla_call_explain(u->context);
    if (u->packed->map && armilla_spill_allowed(u->context)) armilla_mapped_drop(u->packed->start, (int64_t)u->fed);
    u->fed += part;
    return ARMILLA_OK;
}

static armilla_status broken(const unpacking *u, int code)
{
    const unsigned long long at = (unsigned long long)(u->fed - u->stream.avail_in);
    if (code == Z_MEM_ERROR)
        return armilla_about(u->context, u->packed->path, ARMILLA_NO_MEMORY); /* armilla_take said why */
    if (code == Z_BUF_ERROR)
        return armilla_fail(u->context, ARMILLA_BAD_DATA,
                            "%s: is cut short: its gzip data do not end within its %llu bytes; copy it again",
                            u->packed->path, at);
    return armilla_fail(u->context, ARMILLA_BAD_DATA, "%s: its gzip data are damaged at byte %llu (%s); copy it again",
                        u->packed->path, at, u->stream.msg ? u->stream.msg : "a dictionary is wanted");
}

/* One member, from its header to its checksum. */
static armilla_status unpack_member(unpacking *u)
{
    armilla_status status = ARMILLA_OK;
    for (int code = Z_OK; code != Z_STREAM_END;) {
        if (u->used == u->capacity && (status = widen(u)) != ARMILLA_OK) return status;
        if (u->stream.avail_in == 0 && u->fed < u->packed->count) status = feed(u);
        if (status != ARMILLA_OK) return status;
        const unsigned part = (unsigned)armilla_min64(u->capacity - u->used, MOST_AT_ONCE);
        u->stream.next_out = u->block + u->used;
        u->stream.avail_out = part;
        code = inflate(&u->stream, Z_NO_FLUSH);
        armilla_spill_drop(u->context, u->block + u->used, part - u->stream.avail_out);
        u->used += part - u->stream.avail_out;
        if (code != Z_OK && code != Z_STREAM_END) return broken(u, code);
    }
    return ARMILLA_OK;
}

/* What follows a member: another one, zeros (of a tape or a disk block), or the end. */
static armilla_status next_member(unpacking *u, bool *more)
{
    const unsigned char *end = u->packed->start + u->packed->count;
    const unsigned char *at = u->packed->start + (u->fed - u->stream.avail_in), *rest = at;
    *more = armilla_gzip_recognize(at, (size_t)(end - at));
    if (*more) return inflateReset(&u->stream) == Z_OK ? ARMILLA_OK : broken(u, Z_DATA_ERROR);
    while (at < end && *at == 0) at++;
    if (at == end) return ARMILLA_OK;
    return armilla_fail(u->context, ARMILLA_BAD_DATA,
                        "%s: %lld bytes that are no gzip data follow behind byte %lld; copy it again", u->packed->path,
                        (long long)(end - rest), (long long)(rest - u->packed->start));
}

static armilla_status unpack_all(unpacking *u)
{
    bool more = true;
    armilla_status status = ARMILLA_OK;
    u->stream.zalloc = take;
    u->stream.zfree = release;
    u->stream.opaque = u->context;
    const int code = inflateInit2(&u->stream, MAX_WBITS + 16); /* 16: gzip's header and checksum */
    if (code != Z_OK) return broken(u, code);
    while (status == ARMILLA_OK && more) {
        status = unpack_member(u);
        if (status == ARMILLA_OK) status = next_member(u, &more);
    }
    (void)inflateEnd(&u->stream);
    return status;
}

armilla_status armilla_bytes_unpack(armilla_context *context, armilla_bytes *bytes)
{
    unpacking u = {.context = context, .packed = bytes, .limit = armilla_memory_left(context) - RESERVE};
    if (armilla_spill_allowed(context)) u.limit = INT64_MAX / 4;
    if (!armilla_gzip_recognize(bytes->start, bytes->count)) return ARMILLA_OK;
    armilla_call_step(context, 0, 2); /* unpacking, then parsing */
    armilla_status status = unpack_all(&u);
    armilla_call_step(context, 1, 2);
    if (status == ARMILLA_OK && u.used == 0)
        status =
            armilla_fail(context, ARMILLA_BAD_DATA, "%s: is empty, once unpacked; check how it was made", bytes->path);
    if (status == ARMILLA_OK) status = armilla_grow(context, u.used, 1, &u.block);
    if (status != ARMILLA_OK) {
        armilla_release(context, u.block);
        return status;
    }
    const char *path = bytes->path;
    /* The rest of what honest text unpacks to; a file that is all repetition is not given a thousand times its size. */
    armilla_memory_add_input(context, armilla_min64(u.used, MOST_CREDIT * (int64_t)bytes->count));
    armilla_bytes_free(context, bytes);
    *bytes =
        (armilla_bytes){.path = path, .start = u.block, .count = (size_t)u.used, .memory = u.block, .unpacked = true};
    return ARMILLA_OK;
}
