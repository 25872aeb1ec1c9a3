/* A folder of gray images of one size as data: a sample per image, a feature per pixel, row by row. 8-bit images are
 * held as bytes, 16-bit ones as f32. Samples come in the natural order of the file names: runs of digits compare as
 * numbers, so that image10 follows image9. A single image is one sample. */
#include "files/images.h"

#include "base/size.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char endings[] = ".png .pgm";

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

static bool is_image_name(const char *name)
{
    return name[0] != '.' && armilla_has_ending(endings, name, strlen(name));
}

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* Two runs of digits as numbers; both pointers go behind them. */
static int compare_runs(const char **a, const char **b)
{
    while (**a == '0') ++*a;
    while (**b == '0') ++*b;
    const char *first = *a, *second = *b;
    while (is_digit(**a)) ++*a;
    while (is_digit(**b)) ++*b;
    if (*a - first != *b - second) return *a - first < *b - second ? -1 : 1;
    return memcmp(first, second, (size_t)(*a - first));
}

static int compare_names(const void *left, const void *right)
{
    const char *a = *(const char *const *)left, *b = *(const char *const *)right;
    while (*a && *b) {
        int order = 0;
        if (is_digit(*a) && is_digit(*b))
            order = compare_runs(&a, &b);
        else
            order = (unsigned char)*a++ - (unsigned char)*b++;
        if (order) return order;
    }
    if (*a || *b) return *a ? 1 : -1;
    return strcmp(*(const char *const *)left, *(const char *const *)right); /* 1 and 01 */
}

/* *any = whether the folder has images; found = all of them, in any order, or NULL where one is enough to know. */
static armilla_status list_images(armilla_context *context, const char *path, armilla_names *found, bool *any)
{
    *any = false;
    const armilla_io *io = context->io;
    armilla_status status = ARMILLA_OK;
    const struct dirent *entry = NULL;
    DIR *folder = armilla_io_opendir(io, path);
    if (!folder) return armilla_cannot_open(context, path);
    do {
        errno = 0; /* which tells the end from a failure */
        entry = io->readdir(folder);
        *any = *any || (entry && is_image_name(entry->d_name));
        if (found && entry && is_image_name(entry->d_name))
            status = armilla_names_add(context, found, entry->d_name, strlen(entry->d_name));
        else if (!entry && errno)
            status = armilla_fail(context, ARMILLA_IO_ERROR, "%s: listing the folder failed: %s; try again", path,
                                  strerror(errno));
    } while (entry && status == ARMILLA_OK && (found || !*any));
    (void)io->closedir(folder);
    return status;
}

/* *sorted = the names in their natural order. */
static armilla_status sort_names(armilla_context *context, const armilla_names *found, armilla_names *sorted)
{
    const char **order = NULL;
    armilla_status status = armilla_grow(context, found->count, sizeof *order, &order);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < found->count; i++) order[i] = armilla_names_at(found, i);
    qsort(order, (size_t)found->count, sizeof *order, compare_names);
    for (int64_t i = 0; i < found->count && status == ARMILLA_OK; i++)
        status = armilla_names_add(context, sorted, order[i], strlen(order[i]));
    armilla_release(context, order);
    return status;
}

static armilla_status join_path(armilla_context *context, const char *folder, const char *name, char **path)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    const armilla_status status = armilla_grow(context, (int64_t)size, 1, path);
    if (status == ARMILLA_OK) snprintf(*path, size, "%s/%s", folder, name);
    return status;
}

static armilla_status gather_file(gathering *g, const char *folder, const char *name, int64_t j, char **path)
{
    armilla_bytes bytes;
    armilla_status status = join_path(g->context, folder, name, path);
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

/* What all images may take is known before the first is read, since the first says how much they need. */
static armilla_status credit_folder(gathering *g, const char *folder, const armilla_names *names)
{
    armilla_status status = ARMILLA_OK;
    char *path = NULL;
    for (int64_t j = 0; j < names->count && status == ARMILLA_OK; j++) {
        struct stat facts;
        status = join_path(g->context, folder, armilla_names_at(names, j), &path);
        if (status == ARMILLA_OK && g->context->io->stat(path, &facts) == 0)
            armilla_memory_add_input(g->context, facts.st_size);
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

static armilla_status read_directory(armilla_context *context, const char *path, const armilla_read_options *options,
                                     armilla_data **data)
{
    armilla_names found = {.count = 0}, names = {.count = 0};
    gathering g = {.context = context};
    (void)options;
    armilla_data *made = NULL;
    bool any = false;
    armilla_status status = list_images(context, path, &found, &any);
    if (status == ARMILLA_OK && !any)
        status =
            armilla_fail(context, ARMILLA_BAD_DATA, "%s: has no images (%s) in it; give another folder", path, endings);
    if (status == ARMILLA_OK) status = sort_names(context, &found, &names);
    g.count = names.count;
    if (status == ARMILLA_OK) status = gather_folder(&g, path, &names);
    if (status == ARMILLA_OK) status = finish(&g, &made);
    if (status == ARMILLA_OK) status = armilla_data_adopt_names(made, ARMILLA_SAMPLE_NAMES, "", &names);
    if (status == ARMILLA_OK)
        *data = made;
    else
        armilla_data_free(made);
    armilla_release(context, g.values);
    armilla_names_free(context, &found);
    armilla_names_free(context, &names);
    return status;
}

static bool recognize(const unsigned char *start, size_t count)
{
    return armilla_png_recognize(start, count) || armilla_pgm_recognize(start, count);
}

/* One image in it is enough. */
static armilla_status recognize_directory(armilla_context *context, const char *path, bool *found)
{
    return list_images(context, path, NULL, found);
}

const armilla_format armilla_format_images = {
    .name = "images",
    .endings = endings,
    .meaning =
        "a folder of PNG or PGM images of one size, one sample each, in the order of their names; colours become "
        "gray",
    .recognize = recognize,
    .read = read_one,
    .recognize_directory = recognize_directory,
    .read_directory = read_directory,
};
