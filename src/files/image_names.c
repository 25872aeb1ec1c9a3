/* Which files of a folder are images, and in which order. A folder either has images itself, or folders of images, one
 * for each class: then names are CLASS/FILE, and the class is the sample's label. */
#include "files/images.h"

#include "base/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_image_name(const char *name)
{
    return name[0] != '.' && armilla_has_ending(armilla_image_endings, name, strlen(name));
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

armilla_status armilla_image_path(armilla_context *context, const char *folder, const char *name, char **path)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    const armilla_status status = armilla_grow(context, (int64_t)size, 1, path);
    if (status == ARMILLA_OK) snprintf(*path, size, "%s/%s", folder, name);
    return status;
}

static bool is_jpeg_name(const char *name)
{
    return name[0] != '.' && armilla_has_ending(".jpg .jpeg", name, strlen(name));
}

/* A folder that is looked through. */
typedef struct listing {
    armilla_context *context;
    const char *root;
    char *path, *name, *inner; /* of a class, of a file in it, and of what may be a class */
    armilla_names *images;     /* all that were found, in any order; NULL: one is enough to know */
    armilla_names *classes;    /* folders in the root, while that is looked through; NULL: they are no matter */
    bool any, jpeg;            /* there are images; there are JPEG files, which are not read */
} listing;

static bool is_folder(listing *l, const char *name, armilla_status *status)
{
    struct stat facts;
    if (name[0] == '.') return false;
    *status = armilla_image_path(l->context, l->root, name, &l->inner);
    return *status == ARMILLA_OK && l->context->io->stat(l->inner, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static armilla_status take_entry(listing *l, const char *class, const char *name)
{
    armilla_status status = ARMILLA_OK;
    if (l->classes && !is_image_name(name) && is_folder(l, name, &status))
        return armilla_names_add(l->context, l->classes, name, strlen(name));
    l->jpeg = l->jpeg || is_jpeg_name(name);
    if (status != ARMILLA_OK || !is_image_name(name)) return status;
    l->any = true;
    if (!l->images) return ARMILLA_OK;
    if (!class) return armilla_names_add(l->context, l->images, name, strlen(name));
    status = armilla_image_path(l->context, class, name, &l->name);
    return status == ARMILLA_OK ? armilla_names_add(l->context, l->images, l->name, strlen(l->name)) : status;
}

/* The images of the root, or of a class in it. */
static armilla_status look_through(listing *l, const char *class)
{
    const armilla_io *io = l->context->io;
    const char *path = l->root;
    armilla_status status = ARMILLA_OK;
    const struct dirent *entry = NULL;
    if (class) {
        status = armilla_image_path(l->context, l->root, class, &l->path);
        if (status != ARMILLA_OK) return status;
        path = l->path;
    }
    DIR *folder = armilla_io_opendir(io, path);
    /* A subfolder that cannot be opened counts as one without images while the folder is only being recognized. */
    if (!folder && class && !l->images) return ARMILLA_OK;
    if (!folder) return armilla_cannot_open(l->context, path);
    do {
        errno = 0; /* which tells the end from a failure */
        entry = io->readdir(folder);
        if (entry)
            status = take_entry(l, class, entry->d_name);
        else if (errno)
            status = armilla_fail(l->context, ARMILLA_IO_ERROR, "%s: listing the folder failed: %s; try again", path,
                                  armilla_error_text(errno));
    } while (entry && status == ARMILLA_OK && (l->images || !l->any));
    (void)io->closedir(folder);
    return status;
}

armilla_status armilla_images_list(armilla_context *context, const char *path, armilla_names *images, bool *any,
                                   bool *classes)
{
    armilla_names folders = {.count = 0};
    listing l = {.context = context, .root = path, .images = images, .classes = &folders};
    armilla_status status = look_through(&l, NULL);
    l.classes = NULL;
    *classes = false;
    for (int64_t i = 0; i < folders.count && status == ARMILLA_OK && (*classes || !l.any); i++) {
        status = look_through(&l, armilla_names_at(&folders, i));
        *classes = l.any && images;
    }
    *any = l.any || l.jpeg;
    if (status == ARMILLA_OK && images && !l.any && l.jpeg)
        status = armilla_fail(context, ARMILLA_BAD_DATA,
                              "%s: has JPEG images, which are not read; make PNG of them, for instance by "
                              "mogrify -format png *.jpg",
                              path);
    armilla_release(context, l.path);
    armilla_release(context, l.name);
    armilla_release(context, l.inner);
    armilla_names_free(context, &folders);
    return status;
}

armilla_status armilla_images_sort(armilla_context *context, const armilla_names *found, armilla_names *sorted)
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

armilla_status armilla_images_classes(armilla_context *context, const armilla_names *images, armilla_names *labels)
{
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; i < images->count && status == ARMILLA_OK; i++) {
        const char *name = armilla_names_at(images, i);
        status = armilla_names_add(context, labels, name, strcspn(name, "/"));
    }
    return status;
}
