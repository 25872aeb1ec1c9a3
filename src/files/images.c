/* A folder of gray images of one size as data: a sample per image, a feature per pixel, row by row. 8-bit images are
 * held as bytes, 16-bit ones as f32. Samples come in the natural order of the file names: runs of digits compare as
 * numbers, so that image10 follows image9. A single image is one sample. image_names.c finds the files. */
#include "files/images.h"

#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char armilla_image_endings[] = ".png .pgm";

static const struct kind {
    bool (*recognize)(const unsigned char *start, size_t count);
    armilla_status (*decode)(armilla_context *context, const armilla_bytes *bytes, armilla_image *image);
} kinds[] = {{armilla_png_recognize, armilla_png_decode}, {armilla_pgm_recognize, armilla_pgm_decode}};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Images being gathered. */
typedef struct gathering {
    armilla_context *context;
    int64_t count, m;
    int64_t width, height;
    int depth;
    const char *first;
    void *values; /* u8 or f32 */
} gathering;

static armilla_status decode(const gathering *g, const armilla_bytes *bytes, armilla_image *image)
{
    for (int i = 0; i < KINDS; i++)
        if (kinds[i].recognize(bytes->start, bytes->count)) return kinds[i].decode(g->context, bytes, image);
    const armilla_status status = armilla_refuse_container(g->context, bytes);
    if (status != ARMILLA_OK) return status;
    return armilla_fail(g->context, ARMILLA_BAD_DATA,
                        "%s: is neither a PNG nor a PGM (P2, P5) image; convert it to one", bytes->path);
}

static armilla_type held_type(int depth)
{
    return depth == 8 ? ARMILLA_U8 : ARMILLA_F32;
}

/* The first image says what all are like. */
static armilla_status begin(gathering *g, const char *path, const armilla_image *image)
{
    int64_t all = 0;
    size_t bytes = 0;
    g->width = image->width;
    g->height = image->height;
    g->depth = image->depth;
    g->m = image->width * image->height;
    g->first = path;
    const size_t size = armilla_type_size(held_type(g->depth));
    if (!armilla_size_area(g->m, g->count, &all) || !armilla_size_multiply(all, size, &bytes) ||
        (int64_t)bytes > armilla_memory_left(g->context)) {
        char what[128];
        snprintf(what, sizeof what, "%" PRId64 " images of %" PRId64 " x %" PRId64 " pixels need", g->count, g->width,
                 g->height);
        const armilla_status status =
            armilla_memory_afford(g->context, what, (double)g->m * (double)g->count * (double)size);
        if (status != ARMILLA_OK) return status;
        return armilla_fail(g->context, ARMILLA_NO_MEMORY,
                            "out of memory: %s more than half of this machine's memory; make them smaller", what);
    }
    return armilla_grow(g->context, all, size, &g->values);
}

static armilla_status check_alike(const gathering *g, const char *path, const armilla_image *image)
{
    if (image->width != g->width || image->height != g->height)
        return armilla_fail(g->context, ARMILLA_BAD_DATA,
                            "%s: has %" PRId64 " x %" PRId64 " pixels, and %s, the first image, %" PRId64 " x %" PRId64
                            "; images of one size are needed",
                            path, image->width, image->height, g->first, g->width, g->height);
    if (image->depth != g->depth)
        return armilla_fail(g->context, ARMILLA_BAD_DATA,
                            "%s: has %d bits per pixel, and %s, the first image, %d; save all with the same", path,
                            image->depth, g->first, g->depth);
    return ARMILLA_OK;
}

static void store(const gathering *g, int64_t j, const uint16_t *pixels)
{
    unsigned char *bytes = (unsigned char *)g->values + j * g->m;
    float *numbers = (float *)g->values + j * g->m;
    for (int64_t i = 0; i < g->m; i++)
        if (g->depth == 8)
            bytes[i] = (unsigned char)pixels[i];
        else
            numbers[i] = pixels[i];
}

static armilla_status gather(gathering *g, int64_t j, const armilla_bytes *bytes)
{
    armilla_image image = {.pixels = NULL};
    armilla_status status = decode(g, bytes, &image);
    if (status != ARMILLA_OK) return status;
    status = j == 0 ? begin(g, bytes->path, &image) : check_alike(g, bytes->path, &image);
    if (status == ARMILLA_OK) store(g, j, image.pixels);
    armilla_release(g->context, image.pixels);
    return status;
}

static armilla_status finish(gathering *g, armilla_data **data)
{
    const armilla_status status =
        armilla_data_own_dense(g->context, held_type(g->depth), g->values, g->m, g->count, data);
    if (status != ARMILLA_OK) return status;
    g->values = NULL;
    (*data)->image[0] = g->height;
    (*data)->image[1] = g->width;
    return ARMILLA_OK;
}

static armilla_status read_one(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                               armilla_data **data)
{
    gathering g = {.context = context, .count = 1};
    (void)options;
    armilla_status status = gather(&g, 0, bytes);
    if (status == ARMILLA_OK) status = finish(&g, data);
    armilla_release(context, g.values);
    return status;
}

static armilla_status gather_file(gathering *g, const char *folder, const char *name, int64_t j, char **path)
{
    armilla_bytes bytes;
    armilla_status status = armilla_image_path(g->context, folder, name, path);
    if (status != ARMILLA_OK) return status;
    const int64_t input = g->context->memory.input;
    if ((status = armilla_bytes_open(g->context, *path, &bytes)) != ARMILLA_OK) return status;
    armilla_memory_add_input(g->context, input - g->context->memory.input); /* credit_folder has counted it */
    status = gather(g, j, &bytes);
    armilla_bytes_free(g->context, &bytes);
    if (status == ARMILLA_OK) {
        const int64_t size = g->m * (int64_t)armilla_type_size(held_type(g->depth));
        if (armilla_call_reached(g->context, (j + 1) * size, g->count * size))
            status = armilla_call_explain(g->context);
    }
    return status;
}

/* What all images may take is known before the first is read, since the first says how much they need. Opening a pipe
 * would wait for its other end, and a device may have none. */
static armilla_status credit_folder(gathering *g, const char *folder, const armilla_names *names)
{
    armilla_status status = ARMILLA_OK;
    char *path = NULL;
    for (int64_t j = 0; j < names->count && status == ARMILLA_OK; j++) {
        struct stat facts;
        status = armilla_image_path(g->context, folder, armilla_names_at(names, j), &path);
        if (status != ARMILLA_OK || g->context->io->stat(path, &facts) != 0) continue;
        if (S_ISREG(facts.st_mode))
            armilla_memory_add_input(g->context, facts.st_size);
        else if (!S_ISDIR(facts.st_mode))
            status = armilla_fail(g->context, ARMILLA_CANNOT_OPEN,
                                  "%s: is a pipe or a device and not an image; take it out of the folder", path);
    }
    armilla_release(g->context, path);
    return status;
}

static armilla_status gather_folder(gathering *g, const char *folder, const armilla_names *names)
{
    char *first = NULL, *path = NULL;
    armilla_status status = credit_folder(g, folder, names);
    if (status == ARMILLA_OK) status = gather_file(g, folder, armilla_names_at(names, 0), 0, &first);
    for (int64_t j = 1; j < names->count && status == ARMILLA_OK; j++)
        status = gather_file(g, folder, armilla_names_at(names, j), j, &path);
    armilla_release(g->context, first);
    armilla_release(g->context, path);
    return status;
}

/* The names of the images, in their order, and labels where they are in folders of classes. */
static armilla_status name_images(armilla_context *context, const char *path, armilla_names *names,
                                  armilla_names *labels)
{
    armilla_names found = {.count = 0};
    bool any = false, classes = false;
    armilla_status status = armilla_images_list(context, path, &found, &any, &classes);
    if (status == ARMILLA_OK && !any)
        status = armilla_fail(context, ARMILLA_BAD_DATA,
                              "%s: has no images (%s) in it, nor in folders in it; give another folder", path,
                              armilla_image_endings);
    if (status == ARMILLA_OK) status = armilla_images_sort(context, &found, names);
    if (status == ARMILLA_OK && classes) status = armilla_images_classes(context, names, labels);
    armilla_names_free(context, &found);
    return status;
}

static armilla_status read_directory(armilla_context *context, const char *path, const armilla_read_options *options,
                                     armilla_data **data)
{
    armilla_names names = {.count = 0}, labels = {.count = 0};
    gathering g = {.context = context};
    (void)options;
    armilla_data *made = NULL;
    armilla_status status = name_images(context, path, &names, &labels);
    g.count = names.count;
    if (status == ARMILLA_OK) status = gather_folder(&g, path, &names);
    if (status == ARMILLA_OK) status = finish(&g, &made);
    if (status == ARMILLA_OK) status = armilla_data_adopt_names(made, ARMILLA_SAMPLE_NAMES, "", &names);
    if (status == ARMILLA_OK && labels.count)
        status = armilla_data_adopt_names(made, ARMILLA_SAMPLE_LABELS, "", &labels);
    armilla_release(context, g.values);
    armilla_names_free(context, &names);
    armilla_names_free(context, &labels);
    return armilla_data_give(status, made, data);
}

static bool recognize(const unsigned char *start, size_t count)
{
    return armilla_png_recognize(start, count) || armilla_pgm_recognize(start, count);
}

/* One image in it is enough. */
static armilla_status recognize_directory(armilla_context *context, const char *path, bool *found)
{
    bool classes = false;
    return armilla_images_list(context, path, NULL, found, &classes);
}

const armilla_format armilla_format_images = {
    .name = "images",
    .endings = ".png .pgm",
    .meaning =
        "a folder of PNG or PGM images of one size, one sample each, in the order of their names, or of such folders, "
        "one for each class; colours become gray",
    .recognize = recognize,
    .read = read_one,
    .recognize_directory = recognize_directory,
    .read_directory = read_directory,
};
