/* Files that are plainly something else than data: pages, documents, spreadsheets, archives. Their names may say
 * otherwise: what a browser saves for want of the file itself is called as that would be. */
#include "files/files.h"

#include "base/ascii.h"

#include <string.h>

enum { LOOKED_AT = 4096, FIRST = 256 /* bytes */ };

#define SPREADSHEET "is a spreadsheet; save the sheet as CSV in the program that made it, and give that file"
#define PACKED "; unpack it first, or compress it by gzip, which is read"

/* Compressed by bzip2: behind the block size a block begins, or the end of an empty stream. */
static bool is_bzip2(const unsigned char *at, size_t count)
{
    return count >= 10 && at[3] >= '1' && at[3] <= '9' &&
           (memcmp(at + 4, "1AY&SY", 6) == 0 || memcmp(at + 4, "\x17rE8P\x90", 6) == 0);
}

/* Compressed by xz: of the flags only the kind of check may be set. */
static bool is_xz(const unsigned char *at, size_t count)
{
    return count >= 8 && at[6] == 0 && at[7] < 16;
}

/* Compressed by zstd (RFC 8878): the frame's header, a reserved bit of which is 0, and that of the first block, which has at
 * most 128 KiB. */
static bool is_zstd(const unsigned char *at, size_t count)
{
    enum { MAGIC = 4, BLOCK = 3, RESERVED = 8, SINGLE = 32, RESERVED_KIND = 3 };
    static const unsigned char dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
    if (count <= MAGIC || (at[MAGIC] & RESERVED)) return false;
    const unsigned char flags = at[MAGIC];
    const bool single = flags & SINGLE;
    const size_t window = single ? 0 : 1, size_bytes = single && flags < 64 ? 1 : content[flags >> 6];
    const size_t header = window + dictionary[flags & 3] + size_bytes;
    const unsigned char *block = at + MAGIC + 1 + header;
    if (count < MAGIC + 1 + header + BLOCK) return false;
    const unsigned long size = (block[0] | (unsigned long)block[1] << 8 | (unsigned long)block[2] << 16) >> 3;
    return ((block[0] >> 1) & 3) != RESERVED_KIND && size <= 128 << 10;
}

/* An archive without entries: all it says of them is 0. */
static bool is_empty_zip(const unsigned char *at, size_t count)
{
    static const unsigned char none[16];
    return count >= 4 + sizeof none && memcmp(at + 4, none, sizeof none) == 0;
}

/* It begins and ends with the same word. */
static bool is_parquet(const unsigned char *at, size_t count)
{
    return count >= 12 && memcmp(at + count - 4, "PAR1", 4) == 0;
}

static bool is_pdf(const unsigned char *at, size_t count)
{
    return count >= 8 && at[5] >= '1' && at[5] <= '9' && at[6] == '.';
}

/* Behind the magic a segment with its length in front, and behind that another one. */
static bool is_jpeg(const unsigned char *at, size_t count)
{
    enum { LENGTH = 4 };
    if (count < LENGTH + 2 || at[3] < 0xc0 || at[3] == 0xff) return false;
    const size_t next = LENGTH + ((size_t)at[LENGTH] << 8 | at[LENGTH + 1]);
    return next >= LENGTH + 2 && next < count && at[next] == 0xff;
}

#define WORD(text) text, sizeof(text) - 1

/* Magic words are long enough not to be met by chance; where they are short, more is asked. */
static const struct container {
    const char *magic;
    size_t length;
    bool (*is_it)(const unsigned char *at, size_t count); /* behind the magic; NULL: that is enough */
    const char *message;
} containers[] = {
    {WORD("PK\x05\x06"), is_empty_zip, "is an empty .npz or zip archive; give a file with data"},
    {WORD("\x1f\x8b\x08"), NULL,
     "is compressed by gzip in a way that cannot be read, or twice; unpack it first (gunzip)"},
    {WORD("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), NULL, SPREADSHEET},
    {WORD("%PDF-"), is_pdf, "is a PDF, which holds no table; give the table itself, as CSV"},
    {WORD("{\\rtf1"), NULL, "is a document (RTF), which holds no table; give the table itself, as CSV"},
    {WORD("BZh"), is_bzip2, "is compressed by bzip2" PACKED},
    {WORD("\xfd"
          "7zXZ\0"),
     is_xz, "is compressed by xz" PACKED},
    {WORD("\x28\xb5\x2f\xfd"), is_zstd, "is compressed by zstd" PACKED},
    {WORD("7z\xbc\xaf\x27\x1c"), NULL, "is a 7z archive; unpack it, and give the file in it"},
    {WORD("Rar!\x1a\x07"), NULL, "is a RAR archive; unpack it, and give the file in it"},
    {WORD("PAR1"), is_parquet, "is a Parquet file, which is not read; save it as CSV or .npy (pandas.read_parquet)"},
    {WORD("ARROW1\0\0"), NULL, "is a Feather file, which is not read; save it as CSV or .npy (pandas.read_feather)"},
    {WORD("SQLite format 3\0"), NULL, "is a database of SQLite; save the table as CSV"},
    {WORD("RDX3\nX\n"), NULL, "is a file of R's save; write the matrix by write.csv or Matrix::writeMM"},
    {WORD("RDX2\nX\n"), NULL, "is a file of R's save; write the matrix by write.csv or Matrix::writeMM"},
    {WORD("\xff\xd8\xff"), is_jpeg, "is a JPEG image, which is not read; make PNG of it (mogrify -format png)"},
};

static bool is_container(const struct container *row, const armilla_bytes *bytes)
{
    return bytes->count >= row->length && memcmp(bytes->start, row->magic, row->length) == 0 &&
           (!row->is_it || row->is_it(bytes->start, bytes->count));
}

/* Whether a byte near the beginning is in no text: magic words are words, too. */
static bool is_binary(const unsigned char *at, const unsigned char *end)
{
    for (int i = 0; i < FIRST && at < end; i++, at++)
        if (*at < ' ' && !memchr("\t\r\n", *at, 3)) return true;
    return false;
}

/* Behind a byte order mark and blanks. */
static const unsigned char *skip_blanks(const unsigned char *at, const unsigned char *end)
{
    if (end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    while (at < end && memchr(" \t\r\n", *at, 4)) at++;
    return at;
}

static bool begins(const unsigned char *at, const unsigned char *end, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(end - at) >= length && armilla_ascii_begins((const char *)at, word, length);
}

/* What text is that begins with markup; NULL: anything else. */
static const char *find_markup(const unsigned char *at, const unsigned char *end)
{
    static const char *const page[] = {"<!doctype html", "<html", "<head", "<body", "<!--", "<script", "<meta"};
    for (size_t i = 0; i < sizeof page / sizeof *page; i++)
        if (begins(at, end, page[i]))
            return "is a web page (HTML), not data: what a site shows instead of a file; download the file itself";
    if (begins(at, end, "<?xml") || begins(at, end, "<svg")) return "is XML, which is not read; save the table as CSV";
    return NULL;
}

/* An object, or a list. A bracket may be a word before a vector of numbers, which no commas separate. */
static const char *find_json(const unsigned char *at, const unsigned char *end)
{
    if (at == end || (*at != '{' && *at != '[')) return NULL;
    const bool object = *at == '{';
    at = skip_blanks(at + 1, end);
    while (!object && at < end && memchr("+-.0123456789eE", *at, 15)) at++;
    at = skip_blanks(at, end);
    if (at == end || !memchr(object ? "\"}" : "\"[{,", *at, object ? 2 : 4)) return NULL;
    return "is JSON, which is not read; save its numbers as CSV or .npy (pandas.read_json)";
}

/* A zip archive with the parts of an office document: they come first in the archive. */
static bool is_workbook(const armilla_bytes *bytes)
{
    static const char *const endings = ".xlsx .xlsm .xls .ods";
    static const char *const parts[] = {"[Content_Types].xml", "mimetypeapplication/vnd.oasis", "_rels/", "xl/",
                                        "docProps/"};
    enum { NAME = 30 }; /* where the name of the first entry stands */
    if (bytes->count < NAME || memcmp(bytes->start, "PK\x03\x04", 4) != 0) return false;
    if (armilla_has_ending(endings, bytes->path, strlen(bytes->path))) return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t length = strlen(parts[i]);
        if (bytes->count - NAME >= length && memcmp(bytes->start + NAME, parts[i], length) == 0) return true;
    }
    return false;
}

armilla_status armilla_refuse_container(armilla_context *context, const armilla_bytes *bytes)
{
    const size_t looked_at = bytes->count < LOOKED_AT ? bytes->count : LOOKED_AT;
    const unsigned char *end = bytes->start + looked_at, *text = skip_blanks(bytes->start, end);
    const bool binary = is_binary(bytes->start, end);
    const char *message = is_workbook(bytes) ? SPREADSHEET : NULL;
    for (size_t i = 0; i < sizeof containers / sizeof *containers && !message; i++) {
        const unsigned char first = (unsigned char)containers[i].magic[0];
        const bool word = first > ' ' && first < 0x7f && first != '%' && first != '{';
        if ((binary || !word) && is_container(&containers[i], bytes)) message = containers[i].message;
    }
    if (!message && !binary) message = find_markup(text, end);
    if (!message && !binary) message = find_json(text, end);
    return message ? armilla_fail(context, ARMILLA_BAD_DATA, "%s: %s", bytes->path, message) : ARMILLA_OK;
}
