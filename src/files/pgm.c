/* PGM, Netpbm's gray images: P5 (bytes, or two bytes big end first where the largest value is above 255) and P2
 * (decimal text). Comments run from # to the end of the line. Values are kept as they are, whatever the largest. */
#include "files/images.h"

#include "base/size.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_VALUE = 65535, MOST_SIDE = 1000000 };

typedef struct reading {
    armilla_context *context;
    const armilla_bytes *bytes;
    size_t at;
} reading;

bool armilla_pgm_recognize(const unsigned char *start, size_t count)
{
    return count >= 3 && start[0] == 'P' && (start[1] == '2' || start[1] == '5') &&
           (strchr(" \t\r\n", start[2]) || start[2] == '#') && start[2];
}

static armilla_status refuse(const reading *r, const char *what)
{
    return armilla_fail(r->context, ARMILLA_BAD_DATA, "%s: is not a right PGM image: byte %zu: %s; save it again",
                        r->bytes->path, r->at, what);
}

static int peek(const reading *r)
{
    return r->at < r->bytes->count ? r->bytes->start[r->at] : -1;
}

static bool is_blank(int letter)
{
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

static void skip_blanks(reading *r)
{
    while (is_blank(peek(r)) || peek(r) == '#')
        if (r->bytes->start[r->at++] == '#')
            while (peek(r) >= 0 && peek(r) != '\n') r->at++;
}

/* A number of at most `most` behind blanks. */
static armilla_status parse_number(reading *r, int64_t most, int64_t *number)
{
    skip_blanks(r);
    if (peek(r) < 0) return refuse(r, "the file is cut short");
    if (peek(r) < '0' || peek(r) > '9') return refuse(r, "a number is expected");
    int64_t value = 0;
    for (; peek(r) >= '0' && peek(r) <= '9'; r->at++) {
        value = 10 * value + (peek(r) - '0');
        if (value > most) return refuse(r, "a number is too large");
    }
    *number = value;
    return ARMILLA_OK;
}

static armilla_status parse_header(reading *r, armilla_image *image, int64_t *largest)
{
    armilla_status status = parse_number(r, MOST_SIDE, &image->width);
    if (status == ARMILLA_OK) status = parse_number(r, MOST_SIDE, &image->height);
    if (status == ARMILLA_OK) status = parse_number(r, MOST_VALUE, largest);
    if (status != ARMILLA_OK) return status;
    if (image->width < 1 || image->height < 1 || *largest < 1) return refuse(r, "a size or the largest value is 0");
    if (!is_blank(peek(r))) return refuse(r, "a blank is expected behind the largest value");
    r->at++;
    image->depth = *largest < 256 ? 8 : 16;
    return ARMILLA_OK;
}

static armilla_status read_text(reading *r, const armilla_image *image, int64_t largest)
{
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; i < image->width * image->height && status == ARMILLA_OK; i++) {
        int64_t value = 0;
        status = parse_number(r, largest, &value);
        image->pixels[i] = (uint16_t)value;
    }
    return status;
}

static armilla_status read_binary(reading *r, const armilla_image *image, int64_t largest)
{
    const size_t width = image->depth == 16 ? 2 : 1;
    for (int64_t i = 0; i < image->width * image->height; i++, r->at += width) {
        const unsigned char *at = r->bytes->start + r->at;
        image->pixels[i] = (uint16_t)(width == 2 ? at[0] << 8 | at[1] : at[0]);
        if (image->pixels[i] > largest) return refuse(r, "a value is above the largest that the header declares");
    }
    return ARMILLA_OK;
}

armilla_status armilla_pgm_decode(armilla_context *context, const armilla_bytes *bytes, armilla_image *image)
{
    reading r = {.context = context, .bytes = bytes, .at = 2};
    armilla_image made = {.pixels = NULL};
    int64_t largest = 0;
    if (!armilla_pgm_recognize(bytes->start, bytes->count)) return refuse(&r, "it does not begin with P2 or P5");
    const bool text = bytes->start[1] == '2';
    armilla_status status = parse_header(&r, &made, &largest);
    if (status != ARMILLA_OK) return status;
    /* A pixel takes one byte at least, text or not: before memory is taken. */
    const int64_t pixels = made.width * made.height, least = !text && made.depth == 16 ? 2 : 1;
    if (pixels * least > (int64_t)(bytes->count - r.at)) return refuse(&r, "the file is cut short");
    status = armilla_grow(context, pixels, sizeof *made.pixels, &made.pixels);
    if (status == ARMILLA_OK) status = text ? read_text(&r, &made, largest) : read_binary(&r, &made, largest);
    if (status == ARMILLA_OK) skip_blanks(&r);
    if (status == ARMILLA_OK && r.at < bytes->count) status = refuse(&r, "something stands behind the pixels");
    if (status == ARMILLA_OK)
        *image = made;
    else
        armilla_release(context, made.pixels);
    return status;
}
