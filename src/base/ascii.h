/* Letters as the files and options have them, whatever the host program's locale: in Turkish I is no capital i. */
#ifndef ARMILLA_BASE_ASCII_H
#define ARMILLA_BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>

static inline unsigned char armilla_ascii_lower(unsigned char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte | 32) : byte;
}

/* Whether the first `count` bytes, or the texts up to their ends, are the same but for capitals. */
static inline bool armilla_ascii_begins(const char *a, const char *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (armilla_ascii_lower((unsigned char)a[i]) != armilla_ascii_lower((unsigned char)b[i])) return false;
        if (!a[i]) return true;
    }
    return true;
}

static inline bool armilla_ascii_same(const char *a, const char *b)
{
    return armilla_ascii_begins(a, b, (size_t)-1);
}

#endif
