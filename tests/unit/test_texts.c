/* Arrays of strings: UTF-8 into NumPy's four bytes a character and back, what is no character, other byte orders. */
#include "fixture.h"

#include "files/texts.h"

#include <stdlib.h>
#include <string.h>

#define NO_CHARACTER "\xef\xbf\xbd" /* U+FFFD */

/* The text as a string array of one, in the given byte order, read again. */
static void comes_back(const char *text, char kind, bool swapped)
{
    armilla_names names = {0}, back = {0};
    armilla_texts texts;
    support_ok(context, armilla_names_add(context, &names, text, strlen(text)));
    support_ok(context, armilla_texts_make(context, &names, &texts));
    assert_int_equal(texts.descriptor[0], kind);
    assert_int_equal(texts.bytes, (kind == 'U' ? 4 : 1) * strtol(texts.descriptor + 1, NULL, 10));
    unsigned char *block = texts.block;
    for (size_t i = 0; i < texts.bytes && swapped; i += 4) {
        const unsigned char word[4] = {block[i + 3], block[i + 2], block[i + 1], block[i]};
        memcpy(block + i, word, sizeof word);
    }
    const armilla_array array = {
        .kind = kind, .width = (int)texts.bytes, .swapped = swapped, .dimensions = 1, .shape = {1, 1}, .values = block};
    support_ok(context, armilla_texts_read(context, &array, &back));
    assert_int_equal(back.count, 1);
    assert_string_equal(armilla_names_at(&back, 0), text);
    armilla_release(context, block);
    armilla_names_free(context, &names);
    armilla_names_free(context, &back);
}

static void characters_come_back(void **state)
{
    /* The first and the last of each length, and both sides of the gap of UTF-16. */
    static const char *const texts[] = {"",
                                        "a\x01\x7f",
                                        "\xc2\x80 \xdf\xbf",
                                        "\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf",
                                        "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf",
                                        "a" NO_CHARACTER "z"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int swapped = 0; swapped < 2; swapped++) comes_back(texts[i], 'U', swapped);
}

/* Names that are no UTF-8 are written as bytes. */
static void bytes_that_are_no_character_are_kept(void **state)
{
    static const char *const texts[] = {
        "a\x80z",             /* no first byte */
        "a\xffz",             /* never a byte */
        "a\xf5\x80\x80\x80z", /* beyond the last */
        "a\xe2\x82z",         /* cut short */
        "a\xc3",              /* at the end */
        "a\xed\xa0\x80z",     /* half of a pair */
        "a\xed\xbf\xbfz",
        "a\xf4\x90\x80\x80z", /* one past the last */
        "a\xc0\x80z",         /* 0 as two bytes */
        "a\xc1\xbfz",         /* more bytes than it needs */
        "a\xe0\x9f\xbfz",
        "a\xf0\x8f\xbf\xbfz",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) comes_back(texts[i], 'S', false);
}

/* Words that others wrote: no characters, and strings that fill their place to the end. */
static void words_that_are_no_character_are_marked(void **state)
{
    static const uint32_t words[] = {'a', 0xD800, 0xDFFF, 0x110000, UINT32_MAX, 'z', 'b', 0, 'c', 0, 0, 0};
    armilla_names names = {0};
    const armilla_array array = {
        .kind = 'U', .width = 24, .dimensions = 1, .shape = {2, 1}, .values = (const unsigned char *)words};
    (void)state;
    support_ok(context, armilla_texts_read(context, &array, &names));
    assert_int_equal(names.count, 2);
    assert_string_equal(armilla_names_at(&names, 0), "a" NO_CHARACTER NO_CHARACTER NO_CHARACTER NO_CHARACTER "z");
    assert_string_equal(armilla_names_at(&names, 1), "b");
    armilla_names_free(context, &names);
}

static void bytes_are_taken_as_they_are(void **state)
{
    armilla_names names = {0};
    const armilla_array array = {
        .kind = 'S', .width = 3, .dimensions = 1, .shape = {3, 1}, .values = (const unsigned char *)"abcd\0\0\0\0\0"};
    (void)state;
    support_ok(context, armilla_texts_read(context, &array, &names));
    assert_int_equal(names.count, 3);
    assert_string_equal(armilla_names_at(&names, 0), "abc");
    assert_string_equal(armilla_names_at(&names, 1), "d");
    assert_string_equal(armilla_names_at(&names, 2), "");
    armilla_names_free(context, &names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(characters_come_back),
        TEST(bytes_that_are_no_character_are_kept),
        TEST(words_that_are_no_character_are_marked),
        TEST(bytes_are_taken_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
