/* Whether a .mat of version 5 is whole. matio takes a variable that is cut short, or whose compressed bytes are
 * damaged, for one with zeros in it; so the elements of the file are walked here first, and compressed ones unpacked
 * once to see that they end where they should and that their checksum is right. */
#include "convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { HEADER = 128, TAG = 8, COMPRESSED = 15, PART = 1 << 16 };

static uint32_t word_at(const unsigned char *at, bool big)
{
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) word |= (uint32_t)at[i] << 8 * (big ? 3 - i : i);
    return word;
}

/* Unpacks `size` bytes of the file into nothing. */
static bool unpacks(FILE *file, uint64_t size)
{
    unsigned char from[PART], to[PART];
    z_stream stream;
    int state = Z_OK;
    memset(&stream, 0, sizeof stream);
    if (inflateInit(&stream) != Z_OK) return false;
    while (size > 0 && state == Z_OK) {
        const size_t count = fread(from, 1, size < PART ? (size_t)size : PART, file);
        if (count == 0) break;
        size -= count;
        stream.next_in = from;
        stream.avail_in = (unsigned)count;
        do {
            stream.next_out = to;
            stream.avail_out = sizeof to;
            state = inflate(&stream, Z_NO_FLUSH);
        } while (state == Z_OK && stream.avail_out == 0);
        if (state == Z_BUF_ERROR) state = Z_OK; /* more is needed */
    }
    inflateEnd(&stream);
    return state == Z_STREAM_END;
}

/* Elements until the end of the file, each a tag and as many bytes as it says. */
static armilla_status walk(conversion *c, FILE *file, bool big, uint64_t end)
{
    unsigned char tag[TAG];
    for (uint64_t at = HEADER; at < end;) {
        if (fseeko(file, (off_t)at, SEEK_SET) != 0 || fread(tag, 1, TAG, file) != TAG || end - at < TAG)
            return refuse(c, ARMILLA_BAD_DATA, "%s: is cut short at byte %" PRIu64 "; copy it again", c->path, at);
        const uint64_t size = word_at(tag + 4, big);
        if (size > end - at - TAG)
            return refuse(c, ARMILLA_BAD_DATA, "%s: is cut short: %" PRIu64 " bytes are missing; copy it again",
                          c->path, size - (end - at - TAG));
        if (word_at(tag, big) == COMPRESSED && !unpacks(file, size))
            return refuse(c, ARMILLA_BAD_DATA,
                          "%s: the compressed variable at byte %" PRIu64 " is damaged; copy it again", c->path, at);
        at += TAG + size;
    }
    return ARMILLA_OK;
}

armilla_status mat_check(conversion *c)
{
    unsigned char head[HEADER];
    armilla_status status = ARMILLA_OK;
    FILE *file = fopen(c->path, "rbe");
    if (!file) return refuse(c, ARMILLA_CANNOT_OPEN, "%s: cannot be opened", c->path);
    const bool whole = fread(head, 1, HEADER, file) == HEADER && fseeko(file, 0, SEEK_END) == 0;
    const bool big = head[126] == 'M', right = big ? head[127] == 'I' : head[126] == 'I' && head[127] == 'M';
    /* Version 5 is 0x0100; 7.3, which is HDF5, 0x0200; version 4 has no such header. */
    if (whole && right && head[big ? 124 : 125] == 1) status = walk(c, file, big, (uint64_t)ftello(file));
    fclose(file);
    return status;
}
