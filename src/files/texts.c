/* Arrays of strings: NumPy's U has four bytes a character and S one, each string filled up with zeros. */
#include "files/texts.h"

#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REPLACEMENT 0xFFFDu /* what stands for bytes that are no character */

enum { UTF8_MOST = 4, UTF32_BYTES = 4 };

/* The first character that needs one byte more than 1, 2 and 3. */
static const uint32_t limits[] = {0x80, 0x800, 0x10000};

static uint32_t checked(uint32_t character)
{
    const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
    return character > 0x10FFFF || surrogate ? REPLACEMENT : character;
}

static uint32_t character_at(const armilla_array *array, const unsigned char *at)
{
    uint32_t word = 0;
    memcpy(&word, at, sizeof word);
    if (array->swapped) word = __builtin_bswap32(word);
    return checked(word);
}

/* The bytes of the character in UTF-8, and how many. */
static size_t encode(uint32_t character, char to[UTF8_MOST])
{
    static const unsigned char marks[] = {0, 0xC0, 0xE0, 0xF0};
    size_t more = 0;
    while (more < 3 && character >= limits[more]) more++;
    for (size_t i = more; i > 0; i--, character >>= 6) to[i] = (char)(0x80 | (character & 63));
    to[0] = (char)(marks[more] | character);
    return more + 1;
}

/* The next character of UTF-8 text that ends with 0; *at goes behind it. More bytes than it needs are no character:
 * some write 0 as two bytes, which would end the text here. */
static uint32_t decode(const char **at)
{
    const unsigned char first = (unsigned char)*(*at)++;
    const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    uint32_t character = first & (0x3Fu >> more);
    if (first < 0x80) return first;
    if (first < 0xC0 || first > 0xF4) return REPLACEMENT;
    for (int i = 0; i < more; i++) {
        const unsigned char next = (unsigned char)**at;
        if ((next & 0xC0) != 0x80) return REPLACEMENT;
        character = character << 6 | (next & 63);
        (*at)++;
    }
    return character < limits[more - 1] ? REPLACEMENT : checked(character);
}

static armilla_status add_wide(armilla_context *context, const armilla_array *array, const unsigned char *at,
                               char *buffer, armilla_names *names)
{
    const int64_t most = array->width / UTF32_BYTES;
    size_t used = 0;
    for (int64_t k = 0; k < most; k++) {
        const uint32_t character = character_at(array, at + k * UTF32_BYTES);
        if (character == 0) break;
        used += encode(character, buffer + used);
    }
    return armilla_names_add(context, names, buffer, used);
}

armilla_status armilla_texts_read(armilla_context *context, const armilla_array *array, armilla_names *names)
{
    char *buffer = NULL;
    armilla_status status = armilla_grow(context, (int64_t)array->width + UTF8_MOST, 1, &buffer);
    for (int64_t i = 0; i < array->shape[0] && status == ARMILLA_OK; i++) {
        const unsigned char *at = array->values + i * array->width;
        if (array->kind == 'U')
            status = add_wide(context, array, at, buffer, names);
        else
            status = armilla_names_add(context, names, (const char *)at, (size_t)array->width);
    }
    armilla_release(context, buffer);
    return status;
}

/* Characters of the text; -1 where bytes of it are none. U+FFFD may stand in it itself. */
static int64_t count_characters(const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    int64_t count = 0;
    while (*text) {
        const bool itself = strncmp(text, replacement, strlen(replacement)) == 0;
        if (decode(&text) == REPLACEMENT && !itself) return -1;
        count++;
    }
    return count;
}

static void put_little(uint32_t word, unsigned char *to)
{
    for (int i = 0; i < UTF32_BYTES; i++) to[i] = (unsigned char)(word >> 8 * i);
}

static void put_wide(const char *text, unsigned char *to)
{
    for (; *text; to += UTF32_BYTES) put_little(decode(&text), to);
}

static void put_bytes(const char *text, unsigned char *to)
{
    memcpy(to, text, strlen(text));
}

/* The longest in characters and in bytes; characters are -1 where some name is no UTF-8. */
static void find_longest(const armilla_names *names, int64_t *characters, int64_t *bytes)
{
    *characters = *bytes = 1;
    for (int64_t i = 0; i < names->count; i++) {
        const char *name = armilla_names_at(names, i);
        const int64_t count = *characters < 0 ? -1 : count_characters(name);
        *characters = count < 0 ? -1 : armilla_max64(*characters, count);
        *bytes = armilla_max64(*bytes, (int64_t)strlen(name));
    }
}

armilla_status armilla_texts_make(armilla_context *context, const armilla_names *names, armilla_texts *texts)
{
    int64_t characters = 0, longest = 0, total = 0;
    unsigned char *made = NULL;
    find_longest(names, &characters, &longest);
    const bool wide = characters >= 0;
    const int64_t width = wide ? characters * UTF32_BYTES : longest;
    if (!armilla_size_area(names->count, width, &total))
        return armilla_fail(context, ARMILLA_NO_MEMORY, "out of memory for names of up to %lld bytes",
                            (long long)longest);
    const armilla_status status = armilla_grow_large(context, total, 1, &made);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < names->count; i++) {
        unsigned char *to = made + i * width;
        memset(to, 0, (size_t)width);
        (wide ? put_wide : put_bytes)(armilla_names_at(names, i), to);
    }
    *texts = (armilla_texts){.block = made, .bytes = (size_t)total};
    snprintf(texts->descriptor, sizeof texts->descriptor, "%c%" PRId64, wide ? 'U' : 'S', wide ? characters : longest);
    return ARMILLA_OK;
}
