/* Files that are plainly something else than data: pages, documents, spreadsheets, archives. Their names may say
 * otherwise: what a browser saves for want of the file itself is called as that would be. */
#include "files/files.h"

#include <string.h>

enum { LOOKED_AT = 4096, FIRST = 256 /* bytes */ };

#define SPREADSHEET "is a spreadsheet; save the sheet as CSV in the program that made it, and give that file"
#define PACKED "; unpack it first, or compress it by gzip, which is read"

static const struct container {
    const char *magic, *message;
} containers[] = {
    {"PK\x05\x06", "is an empty .npz or zip archive; give a file with data"},
    {"\x1f\x8b", "is compressed by gzip in a way that cannot be read, or twice; unpack it first (gunzip)"},
    {"\xd0\xcf\x11\xe0", SPREADSHEET},
    {"%PDF", "is a PDF, which holds no table; give the table itself, as CSV"},
    {"{\\rtf", "is a document (RTF), which holds no table; give the table itself, as CSV"},
    {"BZh", "is compressed by bzip2" PACKED},
    {"\xfd"
     "7zXZ",
     "is compressed by xz" PACKED},
    {"\x28\xb5\x2f\xfd", "is compressed by zstd" PACKED},
    {"7z\xbc\xaf", "is a 7z archive; unpack it, and give the file in it"},
    {"Rar!", "is a RAR archive; unpack it, and give the file in it"},
    {"PAR1", "is a Parquet file, which is not read; save it as CSV or .npy (pandas.read_parquet)"},
    {"ARROW1", "is a Feather file, which is not read; save it as CSV or .npy (pandas.read_feather)"},
    {"SQLite format 3", "is a database of SQLite; save the table as CSV"},
    {"RDX3", "is a file of R's save; write the matrix by write.csv or Matrix::writeMM"},
    {"RDX2", "is a file of R's save; write the matrix by write.csv or Matrix::writeMM"},
    {"\xff\xd8\xff", "is a JPEG image, which is not read; make PNG of it (mogrify -format png)"},
};

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
    for (; *word; word++, at++)
        if (at == end || (*at >= 'A' && *at <= 'Z' ? *at | 32 : *at) != (unsigned char)*word) return false;
    return true;
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
        const size_t length = strlen(containers[i].magic);
        const unsigned char first = (unsigned char)containers[i].magic[0];
        const bool word = first > ' ' && first < 0x7f && first != '%' && first != '{';
        if (word && !binary) continue;
        if (bytes->count >= length && memcmp(bytes->start, containers[i].magic, length) == 0)
            message = containers[i].message;
    }
    if (!message && !binary) message = find_markup(text, end);
    if (!message && !binary) message = find_json(text, end);
    return message ? armilla_fail(context, ARMILLA_BAD_DATA, "%s: %s", bytes->path, message) : ARMILLA_OK;
}
