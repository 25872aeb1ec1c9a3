/* Lists of names in .npz archives: UTF-8 here, NumPy's fixed-width strings of code points there. Bytes that are no UTF-8,
 * and numbers that are no characters, become U+FFFD. */
#include "files/npz.h"

#include "base/size.h"
#include "data/names.h"

#include <stdio.h>
#include <string.h>

enum { UNKNOWN = 0xfffd, MOST_BYTES = 4 };

static bool is_character(uint32_t code)
{
    return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/* The character that *text begins with, and *text behind it. */
static uint32_t next_character(const unsigned char **text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = *text;
    const int length = *at < 0x80 ? 1 : *at >> 5 == 6 ? 2 : *at >> 4 == 14 ? 3 : *at >> 3 == 30 ? 4 : 0;
    uint32_t code = length == 1 ? *at : length ? (uint32_t)*at & (0xffu >> (length + 1)) : 0;
    for (int i = 1; i < length; i++) {
        if (at[i] >> 6 != 2) { /* also at the end of the text */
            *text = at + 1;
            return UNKNOWN;
        }
        code = code << 6 | (at[i] & 63u);
    }
    *text = at + (length ? length : 1);
    return length && code >= least[length] && is_character(code) ? code : UNKNOWN;
}

static size_t put_character(uint32_t code, char *to)
{
    if (!is_character(code)) code = UNKNOWN;
    const size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; code >>= 6) to[i] = (char)(0x80 | (code & 63));
    to[0] = (char)(marks[length] | code);
    return length;
}

static int64_t count_characters(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    int64_t count = 0;
    while (*at && count < ARMILLA_MOST_NAME) {
        (void)next_character(&at);
        count++;
    }
    return count;
}

static void write_letters(const char *text, int64_t count, unsigned char *to)
{
    const unsigned char *at = (const unsigned char *)text;
    for (int64_t i = 0; i < count; i++) {
        const uint32_t code = next_character(&at);
        for (int b = 0; b < MOST_BYTES; b++) to[MOST_BYTES * i + b] = (unsigned char)(code >> 8 * b);
    }
}

armilla_status armilla_npz_writer_add_names(armilla_npz_writer *writer, const char *name,
                                            const struct armilla_names *names)
{
    armilla_context *context = armilla_npz_writer_context(writer);
    int64_t width = 1;
    char descriptor[32];
    unsigned char *letters = NULL;
    for (int64_t i = 0; i < names->count; i++)
        width = armilla_max64(width, count_characters(armilla_names_at(names, i)));
    armilla_status status = armilla_take(context, names->count, (size_t)(MOST_BYTES * width), &letters);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < names->count; i++) {
        const char *text = armilla_names_at(names, i);
        write_letters(text, count_characters(text), letters + MOST_BYTES * width * i);
    }
    snprintf(descriptor, sizeof descriptor, "U%d", (int)width);
    status = armilla_npz_writer_add_bytes(writer, name, descriptor, names->count, letters,
                                          (size_t)(MOST_BYTES * width * names->count));
    armilla_release(context, letters);
    return status;
}

static armilla_status add_text(armilla_context *context, const unsigned char *letters, int64_t width, char *room,
                               armilla_names *names)
{
    size_t used = 0;
    for (int64_t i = 0; i < width; i++) {
        uint32_t code = 0;
        for (int b = MOST_BYTES; b-- > 0;) code = code << 8 | letters[MOST_BYTES * i + b];
        if (code == 0) break;
        used += put_character(code, room + used);
    }
    return armilla_names_add(context, names, room, used);
}

armilla_status armilla_npz_read_names(armilla_npz *npz, const char *name, int64_t count, struct armilla_names *names)
{
    armilla_context *context = armilla_npz_context(npz);
    const unsigned char *letters = NULL;
    unsigned char *block = NULL;
    char where[ARMILLA_NPZ_WHERE], *room = NULL;
    size_t size = 0;
    int64_t width = 0;
    armilla_names made = {0};
    armilla_status status = armilla_npz_load_bytes(npz, name, where, &block, &size);
    if (status == ARMILLA_OK) status = armilla_array_texts(context, where, block, size, count, &letters, &width);
    if (status == ARMILLA_OK) status = armilla_take(context, width, MOST_BYTES, &room);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++)
        status = add_text(context, letters + MOST_BYTES * width * i, width, room, &made);
    if (status == ARMILLA_OK)
        *names = made;
    else
        armilla_names_free(context, &made);
    armilla_release(context, room);
    armilla_release(context, block);
    return status;
}
