/* Gray images as numbers: PNG and PGM, from bytes. */
#ifndef ARMILLA_FILES_IMAGES_H
#define ARMILLA_FILES_IMAGES_H

#include "files/files.h"

/* Decoders take the bytes that they may allocate; <= 0: any. */

/* Gray values as they are stored, 0 ... 255 (depth 8) or 0 ... 65535 (depth 16), row by row. */
typedef struct armilla_image {
    int64_t width, height;
    int depth;
    uint16_t *pixels; /* the caller's */
} armilla_image;

bool armilla_png_recognize(const unsigned char *start, size_t count);
armilla_status armilla_png_decode(armilla_context *context, const armilla_bytes *bytes, armilla_image *image);

bool armilla_pgm_recognize(const unsigned char *start, size_t count);
armilla_status armilla_pgm_decode(armilla_context *context, const armilla_bytes *bytes, armilla_image *image);

#endif
