/* PNG through libpng, whose errors and memory are ours: it jumps back here, and allocates from the context. Values are
 * those in the file: no gamma is applied and transparency is left out. Fewer than 8 bits are spread over 0 ... 255.
 * Colours become gray as luma (ITU-R BT.601), 0.299 R + 0.587 G + 0.114 B, in 16-bit fixed point, rounded. */
#include "files/images.h"

#include "base/size.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

enum { SIGNATURE = 8, MOST_RATIO = 1100, MOST_CHUNK = 8 << 20 }; /* deflate reaches 1032 : 1 */
#define MOST_SIDE 1000000u

static const unsigned char signature[SIGNATURE] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

typedef struct reading {
    armilla_context *context;
    const armilla_bytes *bytes;
    size_t used;
    png_structp png;
    png_infop info;
    bool no_memory, whole;
    char message[128];
    png_uint_32 width, height;
    size_t row_bytes;
    int channels, bits;
    unsigned char *raw; /* height rows */
} reading;

bool armilla_png_recognize(const unsigned char *start, size_t count)
{
    return count >= SIGNATURE && memcmp(start, signature, SIGNATURE) == 0;
}

static void on_error(png_structp png, png_const_charp message)
{
    reading *r = png_get_error_ptr(png);
    snprintf(r->message, sizeof r->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void *take(png_structp png, png_alloc_size_t size)
{
    reading *r = png_get_mem_ptr(png);
    void *block = NULL;
    if (armilla_take(r->context, (int64_t)size, 1, &block) == ARMILLA_OK) return block;
    r->no_memory = true;
    return NULL;
}

static void release(png_structp png, void *block)
{
    const reading *r = png_get_mem_ptr(png);
    armilla_release(r->context, block);
}

static void feed(png_structp png, png_bytep to, size_t count)
{
    reading *r = png_get_io_ptr(png);
    if (count > r->bytes->count - r->used) png_error(png, "the file is cut short");
    memcpy(to, r->bytes->start + r->used, count);
    r->used += count;
}

/* A file that deflate has made small may ask for a thousand times its size: before anything is taken. */
static void check_memory(reading *r, uint64_t needed)
{
    r->no_memory = armilla_memory_afford(r->context, "its pixels need", (double)needed) != ARMILLA_OK;
    if (r->no_memory) png_error(r->png, "out of memory");
    r->no_memory = needed > (uint64_t)armilla_memory_left(r->context);
    if (!r->no_memory) return;
    (void)armilla_fail(r->context, ARMILLA_NO_MEMORY,
                       "out of memory: its %u x %u pixels need more than half of this machine's memory; check how it "
                       "was made",
                       (unsigned)r->width, (unsigned)r->height);
    png_error(r->png, "out of memory");
}

/* To 8 or 16 bits in one or three channels. */
static void ask_for_plain_values(reading *r)
{
    const int colour = png_get_color_type(r->png, r->info);
    if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(r->png);
    if (colour == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(r->png);
    png_set_strip_alpha(r->png);
    png_read_update_info(r->png, r->info);
    r->channels = png_get_channels(r->png, r->info);
    r->bits = png_get_bit_depth(r->png, r->info);
    r->row_bytes = png_get_rowbytes(r->png, r->info);
    check_memory(r, (r->row_bytes + sizeof(uint16_t) * (uint64_t)r->width) * r->height);
}

/* The size that the header declares is one that the file can hold: before memory is taken for it. */
static void check_size(reading *r)
{
    const uint64_t packed_row = png_get_rowbytes(r->png, r->info);
    r->width = png_get_image_width(r->png, r->info);
    r->height = png_get_image_height(r->png, r->info);
    if (packed_row * r->height / MOST_RATIO > r->bytes->count)
        png_error(r->png, "it declares more pixels than its bytes can hold");
}

/* Everything that libpng may jump out of; what is changed lies in r. */
static bool read_image(reading *r)
{
    if (setjmp(png_jmpbuf(r->png))) return false;
    png_set_read_fn(r->png, r, feed);
    png_set_user_limits(r->png, MOST_SIDE, MOST_SIDE);
    png_set_chunk_malloc_max(r->png, MOST_CHUNK);
    png_read_info(r->png, r->info);
    check_size(r);
    const int passes = png_set_interlace_handling(r->png);
    ask_for_plain_values(r);
    r->raw = png_malloc(r->png, r->row_bytes * r->height);
    for (int pass = 0; pass < passes; pass++)
        for (png_uint_32 y = 0; y < r->height; y++) png_read_row(r->png, r->raw + y * r->row_bytes, NULL);
    png_read_end(r->png, NULL);
    return r->whole = true;
}

static uint32_t sample_at(const reading *r, const unsigned char *row, int64_t place)
{
    return r->bits == 16 ? (uint32_t)row[2 * place] << 8 | row[2 * place + 1] : row[place];
}

static uint16_t gray_at(const reading *r, const unsigned char *row, int64_t x)
{
    if (r->channels == 1) return (uint16_t)sample_at(r, row, x);
    const uint64_t red = sample_at(r, row, 3 * x), green = sample_at(r, row, 3 * x + 1),
                   blue = sample_at(r, row, 3 * x + 2);
    return (uint16_t)((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
}

static armilla_status make_gray(const reading *r, armilla_image *image)
{
    armilla_image made = {.width = r->width, .height = r->height, .depth = r->bits};
    const armilla_status status = armilla_grow(r->context, made.width * made.height, sizeof *made.pixels, &made.pixels);
    if (status != ARMILLA_OK) return status;
    for (int64_t y = 0; y < made.height; y++)
        for (int64_t x = 0; x < made.width; x++)
            made.pixels[y * made.width + x] = gray_at(r, r->raw + (size_t)y * r->row_bytes, x);
    *image = made;
    return ARMILLA_OK;
}

armilla_status armilla_png_decode(armilla_context *context, const armilla_bytes *bytes, armilla_image *image)
{
    reading r = {.context = context, .bytes = bytes};
    armilla_status status = ARMILLA_OK;
    r.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &r, on_error, on_warning, &r, take, release);
    if (r.png) r.info = png_create_info_struct(r.png);
    if (!r.info)
        status = armilla_fail(context, ARMILLA_NO_MEMORY, "%s: out of memory", bytes->path);
    else if (!read_image(&r) && r.no_memory)
        status = armilla_fail(context, ARMILLA_NO_MEMORY, "%s: %s", bytes->path, armilla_context_error(context));
    else if (!r.whole)
        status = armilla_fail(context, ARMILLA_BAD_DATA, "%s: is not a whole PNG image: %s; copy or save it again",
                              bytes->path, r.message);
    if (status == ARMILLA_OK) status = make_gray(&r, image);
    armilla_release(context, r.raw);
    if (r.png) png_destroy_read_struct(&r.png, &r.info, NULL);
    return status;
}
