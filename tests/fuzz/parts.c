/* From the bytes of an input to files: as they are, as the files of a directory, or as entries of an archive. What a
 * checksum guards is given the right one, since a fuzzer cannot guess it and would never get behind it. */
#include "fuzz.h"

#include <string.h>
#include <zlib.h>

enum { MOST_ENTRIES = 24, MOST_BYTES = 1 << 16, LOCAL = 30, CENTRAL = 46, END = 22, PNG_MAGIC = 8 };

static unsigned char buffer[MOST_BYTES];

static unsigned char *put(unsigned char *to, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) *to++ = (unsigned char)(value >> 8 * i);
    return to;
}

/* One part of the input: its first line is its name. */
typedef struct part {
    const unsigned char *name, *content;
    size_t length, count;
} part;

static size_t split(const unsigned char *bytes, size_t count, part parts[MOST_ENTRIES])
{
    const unsigned char *end = bytes + count;
    size_t found = 0;
    while (bytes < end && found < MOST_ENTRIES) {
        const unsigned char *stop = memmem(bytes, (size_t)(end - bytes), FUZZ_BETWEEN, strlen(FUZZ_BETWEEN));
        const unsigned char *last = stop ? stop : end;
        const unsigned char *line = memchr(bytes, '\n', (size_t)(last - bytes));
        const unsigned char *content = line ? line + 1 : last;
        parts[found++] = (part){bytes, content, (size_t)((line ? line : last) - bytes), (size_t)(last - content)};
        bytes = stop ? stop + strlen(FUZZ_BETWEEN) : end;
    }
    return found;
}

/* The fields that the header before an entry and the directory behind all entries share. */
static unsigned char *put_facts(unsigned char *to, const part *entry)
{
    to = put(to, 20, 2); /* version */
    to = put(to, 0, 2);  /* flags */
    to = put(to, 0, 2);  /* stored */
    to = put(to, 0x210000, 4);
    to = put(to, (uint32_t)crc32(0, entry->content, (uInt)entry->count), 4);
    to = put(to, (uint32_t)entry->count, 4);
    to = put(to, (uint32_t)entry->count, 4);
    to = put(to, (uint32_t)entry->length, 2);
    return put(to, 0, 2); /* extra */
}

static unsigned char *put_bytes(unsigned char *to, const unsigned char *bytes, size_t count)
{
    if (count) memcpy(to, bytes, count);
    return to + count;
}

static size_t build_archive(const part *parts, size_t count)
{
    uint32_t places[MOST_ENTRIES];
    unsigned char *to = buffer;
    for (size_t i = 0; i < count; i++) {
        places[i] = (uint32_t)(to - buffer);
        to = put_facts(put(to, 0x04034b50, 4), &parts[i]);
        to = put_bytes(to, parts[i].name, parts[i].length);
        to = put_bytes(to, parts[i].content, parts[i].count);
    }
    const uint32_t directory = (uint32_t)(to - buffer);
    for (size_t i = 0; i < count; i++) {
        to = put_facts(put(put(to, 0x02014b50, 4), 20, 2), &parts[i]);
        to = put(put(put(to, 0, 4), 0, 2), 0, 4); /* comment, disk; attributes */
        to = put_bytes(put(to, places[i], 4), parts[i].name, parts[i].length);
    }
    const uint32_t size = (uint32_t)(to - buffer) - directory;
    to = put(put(to, 0x06054b50, 4), 0, 4);
    to = put(put(to, (uint32_t)count, 2), (uint32_t)count, 2);
    to = put(put(put(to, size, 4), directory, 4), 0, 2);
    return (size_t)(to - buffer);
}

/* Chunks are length, kind, content, checksum; numbers are big-endian. */
static void repair_png(unsigned char *bytes, size_t count)
{
    if (count < PNG_MAGIC || memcmp(bytes, "\x89PNG\r\n\x1a\n", PNG_MAGIC) != 0) return;
    for (size_t at = PNG_MAGIC; count - at >= 12;) {
        const unsigned char *head = bytes + at;
        const size_t length = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | (size_t)head[3];
        if (length > count - at - 12) return;
        const uint32_t sum = (uint32_t)crc32(0, head + 4, (uInt)length + 4);
        for (int i = 0; i < 4; i++) bytes[at + 8 + length + (size_t)i] = (unsigned char)(sum >> (24 - 8 * i));
        at += length + 12;
    }
}

static void add_to_folder(const part *entry, unsigned char *content)
{
    char path[64] = "folder/";
    const size_t before = strlen(path);
    if (entry->length >= sizeof path - before) return;
    memcpy(path + before, entry->name, entry->length);
    if (memchr(path, 0, before + entry->length) || memchr(path + before, '/', entry->length)) return;
    repair_png(content, entry->count);
    fuzz_files_add(path, before + entry->length, content, entry->count);
}

void fuzz_unpack(const fuzz_target *target, const unsigned char *bytes, size_t count)
{
    part parts[MOST_ENTRIES];
    if (count > MOST_BYTES - MOST_ENTRIES * (LOCAL + CENTRAL + 2 * 64) - END)
        count = MOST_BYTES - MOST_ENTRIES * (LOCAL + CENTRAL + 2 * 64) - END;
    const size_t found = target->form == FUZZ_FILE ? 0 : split(bytes, count, parts);
    for (size_t i = 0; i < found; i++)
        if (parts[i].length > 64) parts[i].length = 64;
    if (target->form == FUZZ_ARCHIVE) {
        fuzz_files_add(target->file, strlen(target->file), buffer, build_archive(parts, found));
        return;
    }
    memcpy(buffer, bytes, count);
    if (target->form == FUZZ_FILE) repair_png(buffer, count);
    if (target->form == FUZZ_FILE) fuzz_files_add(target->file, strlen(target->file), buffer, count);
    for (size_t i = 0; i < found; i++) add_to_folder(&parts[i], buffer + (parts[i].content - bytes));
}
