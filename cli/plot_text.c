/* Text in pictures. */
#include "plot.h"

#include <string.h>

/* How many bytes the UTF-8 character at text has; 0 where it is none that XML may hold: bytes that are no UTF-8, halves of
 * surrogate pairs, U+FFFE and U+FFFF, and the control characters past ASCII. */
static int utf8_length(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        int length;
        unsigned least; /* a smaller number has a shorter form */
    } forms[] = {{0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0xa0}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if ((text[0] & forms[i].mask) != forms[i].lead) continue;
        unsigned character = text[0] & (unsigned char)~forms[i].mask;
        for (int k = 1; k < forms[i].length; k++) {
            if ((text[k] & 0xc0) != 0x80) return 0;
            character = character << 6 | (text[k] & 0x3f);
        }
        const bool allowed = character >= forms[i].least && character <= 0x10ffff && character >> 11 != 0xd800 >> 11 &&
                             character != 0xfffe && character != 0xffff;
        return allowed ? forms[i].length : 0;
    }
    return 0;
}

static bool is_plain(unsigned char character)
{
    const unsigned char lower = character | 32;
    return (character >= '0' && character <= '9') || (lower >= 'a' && lower <= 'z') ||
           strchr(" .,:;/-+()=_", character);
}

/* Double quotes and octal escapes for whatever has a meaning to gnuplot: it substitutes backquotes in such strings
 * before it reads escapes, so that an escaped one is only a character. (In single quotes, which substitute nothing, a
 * doubled quote at the beginning of a string is misread.) Of more than `most` characters the last is an ellipsis. */
static void put_text(FILE *script, const char *text, int most, const char *percent)
{
    fputc('"', script);
    for (const unsigned char *start = (const unsigned char *)text, *at = start; *at; most--) {
        const int length = utf8_length(at);
        if (most == 1 && at[length ? length : 1]) {
            fputs("\342\200\246", script);
            break;
        }
        /* gnuplot escapes < and & in an SVG but not >, and XML has no ]]> in text: an invisible word joiner parts it. */
        if (*at == '>' && at - start >= 2 && at[-1] == ']' && at[-2] == ']') fputs("\342\201\240", script);
        if (length == 0 || *at == 0x7f)
            fputc('?', script);
        else if (*at < ' ')
            fputc(' ', script);
        else if (length > 1 || is_plain(*at))
            fwrite(at, 1, (size_t)length, script);
        else if (*at == '%')
            fputs(percent, script);
        else
            fprintf(script, "\\%03o", *at);
        at += length ? length : 1;
    }
    fputc('"', script);
}

void plot_text(FILE *script, const char *text, int most)
{
    put_text(script, text, most, "\\045");
}

void plot_tic_text(FILE *script, const char *text, int most)
{
    put_text(script, text, most, "\\045\\045");
}

void plot_path(FILE *script, const char *path)
{
    fputc('"', script);
    for (const unsigned char *at = (const unsigned char *)path; *at; at++)
        fprintf(script, is_plain(*at) ? "%c" : "\\%03o", *at);
    fputc('"', script);
}

/* Letters of the scripts from U+1100 on, and symbols there, are about as wide as they are high; others are narrower. */
double plot_text_width(const char *text, int most, double font)
{
    double width = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at && most > 0; most--) {
        const int length = utf8_length(at);
        width += length > 2 && *at >= 0xe1 ? 1 : *at >= 'A' && *at <= 'Z' ? 0.72 : 0.6;
        at += length ? length : 1;
    }
    return width * font;
}
