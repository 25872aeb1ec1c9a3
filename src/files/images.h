/* Gray images as numbers: PNG and PGM, from bytes. */
#ifndef ARMILLA_FILES_IMAGES_H
#define ARMILLA_FILES_IMAGES_H

#include "files/files.h"

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

/* How names of images end. */
extern const char armilla_image_endings[];

/* *any = whether the folder has images, or where it has none itself, folders in it have. images = the names of all, in any
 * order, or NULL where one is enough to know; *classes = whether they are CLASS/FILE. */
armilla_status armilla_images_list(armilla_context *context, const char *path, armilla_names *images, bool *any,
                                   bool *classes);
/* *sorted = the names in their natural order. */
armilla_status armilla_images_sort(armilla_context *context, const armilla_names *found, armilla_names *sorted);
/* labels = what stands before the slash of each name. */
armilla_status armilla_images_classes(armilla_context *context, const armilla_names *images, armilla_names *labels);
/* *path, which grows, = folder/name. */
armilla_status armilla_image_path(armilla_context *context, const char *folder, const char *name, char **path);

#endif
