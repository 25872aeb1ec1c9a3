/* Stored zip archives (PKWARE's APPNOTE 6.3): local header and bytes for each entry, then the central directory. The
 * time stamp is fixed, so that equal contents give equal files. zip64 records stand only where a number does not fit
 * the old field, since some readers know the old ones alone. */
#include "files/zip.h"

#include "base/size.h"

#include <string.h>
#include <zlib.h>

#define FULL16 0xFFFFu
#define FULL32 0xFFFFFFFFu
#define VERSION_OLD 20
#define VERSION_ZIP64 45
#define MADE_ON_UNIX (3u << 8)
#define FIRST_DAY 0x0021u             /* 1 January 1980, midnight */
#define PLAIN_FILE (0100644ull << 16) /* what unpacking on Unix gives */
#define MOST_NAME 255
#define RECORD_BYTES 512

typedef struct entry {
    char *name;
    uint32_t check; /* CRC-32 */
    uint64_t size, offset;
} entry;

struct armilla_zip {
    armilla_context *context;
    armilla_output *output;
    uint64_t written;
    uint32_t full; /* the first number that is in a zip64 record */
    entry *entries;
    int64_t count, capacity;
    bool counting;  /* armilla_zip_put writes nothing */
    uint32_t check; /* of what it was handed so far */
    uint64_t size;  /* and how many bytes */
};

/* A header that is being put together, little end first. */
typedef struct record {
    unsigned char bytes[RECORD_BYTES];
    size_t count;
} record;

static void put(record *r, int width, uint64_t value)
{
    for (int i = 0; i < width; i++) r->bytes[r->count++] = (unsigned char)(value >> 8 * i);
}

static void put_name(record *r, const char *name)
{
    memcpy(r->bytes + r->count, name, strlen(name));
    r->count += strlen(name);
}

/* The value, or the mark that the zip64 record has it. */
static uint64_t fit16(uint64_t value)
{
    return value < FULL16 ? value : FULL16;
}

static uint64_t fit32(const armilla_zip *zip, uint64_t value)
{
    return value < zip->full ? value : FULL32;
}

static armilla_status emit(armilla_zip *zip, const void *bytes, size_t count)
{
    zip->written += count;
    return armilla_output_write(zip->output, bytes, count);
}

armilla_status armilla_zip_new(armilla_context *context, armilla_output *output, armilla_zip **zip)
{
    armilla_zip *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    made->output = output;
    made->full = FULL32;
    *zip = made;
    return ARMILLA_OK;
}

void armilla_zip_set_full(armilla_zip *zip, uint32_t full)
{
    zip->full = full;
}

void armilla_zip_free(armilla_zip *zip)
{
    if (!zip) return;
    for (int64_t i = 0; i < zip->count; i++) armilla_release(zip->context, zip->entries[i].name);
    armilla_release(zip->context, zip->entries);
    armilla_release(zip->context, zip);
}

/* With a copy of the name, which becomes the entry's. */
static armilla_status remember(armilla_zip *zip, const char *name, entry *e)
{
    if (zip->count == zip->capacity) {
        const int64_t capacity = zip->capacity ? 2 * zip->capacity : 16;
        armilla_status status = armilla_grow(zip->context, capacity, sizeof *zip->entries, &zip->entries);
        if (status != ARMILLA_OK) return status;
        zip->capacity = capacity;
    }
    armilla_status status = armilla_copy_text(zip->context, name, &e->name);
    if (status == ARMILLA_OK) zip->entries[zip->count++] = *e;
    return status;
}

/* Version needed ... uncompressed size: the same in the local header and in the directory. */
static void put_common(const armilla_zip *zip, record *r, const entry *e, bool zip64)
{
    put(r, 2, zip64 ? VERSION_ZIP64 : VERSION_OLD);
    put(r, 2, 0); /* flags */
    put(r, 2, 0); /* stored */
    put(r, 2, 0); /* time */
    put(r, 2, FIRST_DAY);
    put(r, 4, e->check);
    put(r, 4, fit32(zip, e->size));
    put(r, 4, fit32(zip, e->size));
    put(r, 2, strlen(e->name));
}

static void make_local(const armilla_zip *zip, record *r, const entry *e)
{
    const bool large = e->size >= zip->full;
    put(r, 4, 0x04034b50);
    put_common(zip, r, e, large);
    put(r, 2, large ? 20 : 0);
    put_name(r, e->name);
    if (!large) return;
    put(r, 2, 1); /* the zip64 record */
    put(r, 2, 16);
    put(r, 8, e->size);
    put(r, 8, e->size);
}

static void make_central(const armilla_zip *zip, record *r, const entry *e)
{
    const bool large = e->size >= zip->full, far = e->offset >= zip->full;
    const unsigned extra = (large ? 16u : 0u) + (far ? 8u : 0u);
    put(r, 4, 0x02014b50);
    put(r, 2, MADE_ON_UNIX | (extra ? VERSION_ZIP64 : VERSION_OLD));
    put_common(zip, r, e, extra > 0);
    put(r, 2, extra ? extra + 4 : 0);
    put(r, 2, 0); /* comment */
    put(r, 2, 0); /* disk */
    put(r, 2, 0); /* internal attributes */
    put(r, 4, PLAIN_FILE);
    put(r, 4, fit32(zip, e->offset));
    put_name(r, e->name);
    if (extra == 0) return;
    put(r, 2, 1);
    put(r, 2, extra);
    for (int i = 0; large && i < 2; i++) put(r, 8, e->size);
    if (far) put(r, 8, e->offset);
}

armilla_status armilla_zip_begin(armilla_zip *zip, const char *name, uint64_t size, uint32_t check)
{
    entry e = {.check = check, .size = size, .offset = zip->written};
    record local = {.count = 0};
    if (strlen(name) > MOST_NAME)
        return armilla_fail(zip->context, ARMILLA_BAD_ARGUMENT, "the name of an array is longer than %d bytes",
                            MOST_NAME);
    zip->counting = false;
    const armilla_status status = remember(zip, name, &e);
    if (status != ARMILLA_OK) return status;
    make_local(zip, &local, &e);
    return emit(zip, local.bytes, local.count);
}

armilla_status armilla_zip_put(armilla_zip *zip, const void *bytes, size_t count)
{
    enum { AT_ONCE = 1 << 22 }; /* bytes that are used before they may leave memory */
    armilla_status status = ARMILLA_OK;
    for (size_t done = 0; done < count && status == ARMILLA_OK;) {
        const unsigned char *at = (const unsigned char *)bytes + done;
        const size_t part = count - done < AT_ONCE ? count - done : AT_ONCE;
        zip->check = (uint32_t)crc32_z(zip->check, at, part);
        if (!zip->counting) status = emit(zip, at, part);
        if (part == AT_ONCE) armilla_spill_drop(zip->context, at, AT_ONCE);
        done += part;
    }
    zip->size += count;
    return status;
}

/* Hands all bytes out; what there were of them. */
static armilla_status make_all(armilla_zip *zip, const armilla_zip_source *source, bool counting)
{
    zip->counting = counting;
    zip->check = (uint32_t)crc32_z(0, NULL, 0);
    zip->size = 0;
    return source->make(source->self, zip);
}

armilla_status armilla_zip_add_made(armilla_zip *zip, const char *name, const armilla_zip_source *source)
{
    armilla_status status = make_all(zip, source, true);
    const uint32_t check = zip->check;
    const uint64_t size = zip->size;
    if (status == ARMILLA_OK) status = armilla_zip_begin(zip, name, size, check);
    if (status == ARMILLA_OK) status = make_all(zip, source, false);
    if (status == ARMILLA_OK && (zip->check != check || zip->size != size))
        status = armilla_fail(zip->context, ARMILLA_IO_ERROR,
                              "array %s changed while it was written; leave its file as it is, and start again", name);
    return status;
}

/* The zip64 end of the directory, and the record that says where it is. */
static void make_end64(record *r, const armilla_zip *zip, uint64_t start, uint64_t size)
{
    put(r, 4, 0x06064b50);
    put(r, 8, 44); /* bytes of this record that follow */
    put(r, 2, MADE_ON_UNIX | VERSION_ZIP64);
    put(r, 2, VERSION_ZIP64);
    put(r, 4, 0); /* disks */
    put(r, 4, 0);
    put(r, 8, (uint64_t)zip->count);
    put(r, 8, (uint64_t)zip->count);
    put(r, 8, size);
    put(r, 8, start);
    put(r, 4, 0x07064b50);
    put(r, 4, 0);
    put(r, 8, start + size);
    put(r, 4, 1);
}

static void make_end(record *r, const armilla_zip *zip, uint64_t start, uint64_t size)
{
    const uint64_t count = (uint64_t)zip->count;
    if (count >= FULL16 || start >= zip->full || size >= zip->full) make_end64(r, zip, start, size);
    put(r, 4, 0x06054b50);
    put(r, 4, 0); /* disks */
    put(r, 2, fit16(count));
    put(r, 2, fit16(count));
    put(r, 4, fit32(zip, size));
    put(r, 4, fit32(zip, start));
    put(r, 2, 0); /* comment */
}

armilla_status armilla_zip_finish(armilla_zip *zip)
{
    const uint64_t start = zip->written;
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; i < zip->count && status == ARMILLA_OK; i++) {
        record central = {.count = 0};
        make_central(zip, &central, &zip->entries[i]);
        status = emit(zip, central.bytes, central.count);
    }
    if (status != ARMILLA_OK) return status;
    record end = {.count = 0};
    make_end(&end, zip, start, zip->written - start);
    return emit(zip, end.bytes, end.count);
}
