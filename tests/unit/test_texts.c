/* Arrays of strings: UTF-8 into NumPy's four bytes a character and back, what is no character, other byte orders. */
#include "fixture.h"

#include "files/texts.h"

#include <string.h>

#define NO_CHARACTER "\xef\xbf\xbd" /* U+FFFD */

/* The text as a string array of one, in the given byte order, read again: it is `wanted`. */
static void comes_back_as(const char *text, const char *wanted, bool swapped)
{
    armilla_names names = {0}, back = {0};
    int64_t characters = 0;
    unsigned char *block = NULL;
    size_t bytes = 0;
    support_ok(context, armilla_names_add(context, &names, text, strlen(text)));
    support_ok(context, armilla_texts_make(context, &names, &characters, &block, &bytes));
    assert_int_equal(bytes, 4 * characters);
    for (size_t i = 0; i < bytes && swapped; i += 4) {
        const unsigned char word[4] = {block[i + 3], block[i + 2], block[i + 1], block[i]};
        memcpy(block + i, word, sizeof word);
    }
    const armilla_array array = {
        .kind = 'U', .width = (int)bytes, .swapped = swapped, .dimensions = 1, .shape = {1, 1}, .values = block};
    support_ok(context, armilla_texts_read(context, &array, &back));
    assert_int_equal(back.count, 1);
    assert_string_equal(armilla_names_at(&back, 0), wanted);
    armilla_release(context, block);
    armilla_names_free(context, &names);
    armilla_names_free(context, &back);
}

static void characters_come_back(void **state)
{
    /* The first and the last of each length, and both sides of the gap of UTF-16. */
    static const char *const texts[] = {"", "a\x01\x7f", "\xc2\x80 \xdf\xbf",
                                        "\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf",
                                        "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int swapped = 0; swapped < 2; swapped++) comes_back_as(texts[i], texts[i], swapped);
}

/* Nothing that follows is lost, and nothing ends a text early. */
static void bytes_that_are_no_character_are_marked(void **state)
{
    static const char *const cases[][2] = {
        {"a\x80z", "a" NO_CHARACTER "z"},                                                    /* no first byte */
        {"a\xffz", "a" NO_CHARACTER "z"},                                                    /* never a byte */
        {"a\xf5\x80\x80\x80z", "a" NO_CHARACTER NO_CHARACTER NO_CHARACTER NO_CHARACTER "z"}, /* beyond the last */
        {"a\xe2\x82z", "a" NO_CHARACTER "z"},                                                /* cut short */
        {"a\xc3", "a" NO_CHARACTER},                                                         /* at the end */
        {"a\xed\xa0\x80z", "a" NO_CHARACTER "z"},                                            /* half of a pair */
        {"a\xed\xbf\xbfz", "a" NO_CHARACTER "z"},
        {"a\xf4\x90\x80\x80z", "a" NO_CHARACTER "z"}, /* one past the last */
        {"a\xc0\x80z", "a" NO_CHARACTER "z"},         /* 0 as two bytes */
        {"a\xc1\xbfz", "a" NO_CHARACTER "z"},         /* more bytes than it needs */
        {"a\xe0\x9f\xbfz", "a" NO_CHARACTER "z"},
        {"a\xf0\x8f\xbf\xbfz", "a" NO_CHARACTER "z"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) comes_back_as(cases[i][0], cases[i][1], i % 2);
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
        TEST(bytes_that_are_no_character_are_marked),
        TEST(words_that_are_no_character_are_marked),
        TEST(bytes_are_taken_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
