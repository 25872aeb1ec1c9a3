/* A directory as 10x Genomics' programs write it: a Matrix Market file of features x cells, and a table of names for
 * each, any of them compressed by gzip. Samples are its columns, whatever the options say. */
#include "files/mtx.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

enum { MOST_NAMES = 4 };

/* One of the files, and what it may be called. */
typedef struct member {
    const char *names[MOST_NAMES];
    armilla_naming kind;
} member;

static const member matrix = {.names = {"matrix.mtx", "matrix.mtx.gz"}};
static const member tables[] = {
    {{"features.tsv", "features.tsv.gz", "genes.tsv", "genes.tsv.gz"}, ARMILLA_FEATURE_NAMES},
    {{"barcodes.tsv", "barcodes.tsv.gz"}, ARMILLA_SAMPLE_NAMES},
};

/* path = the first of the member's names that is there; *found = whether there is one. */
static armilla_status find_member(armilla_context *context, const char *directory, const member *wanted, char *path,
                                  bool *found)
{
    struct stat facts;
    *found = false;
    for (int i = 0; i < MOST_NAMES && wanted->names[i] && !*found; i++) {
        if (snprintf(path, PATH_MAX, "%s/%s", directory, wanted->names[i]) >= PATH_MAX) continue;
        *found = context->io->stat(path, &facts) == 0;
        if (!*found && errno != ENOENT) return armilla_cannot_open(context, path);
    }
    return ARMILLA_OK;
}

static armilla_status need_member(armilla_context *context, const char *directory, const member *wanted, char *path)
{
    bool found = false;
    const armilla_status status = find_member(context, directory, wanted, path, &found);
    if (status != ARMILLA_OK || found) return status;
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s: is no 10x directory: it has no %s%s; give one with matrix, features and barcodes",
                        directory, wanted->names[0], wanted->names[2] ? " or genes.tsv (or .gz)" : " (or .gz)");
}

static armilla_status read_matrix(armilla_context *context, const char *path, const armilla_read_options *options,
                                  armilla_data **data)
{
    armilla_bytes bytes;
    armilla_status status = armilla_bytes_open(context, path, &bytes);
    if (status != ARMILLA_OK) return status;
    status = armilla_bytes_unpack(context, &bytes);
    if (status == ARMILLA_OK) status = armilla_mtx_read(context, &bytes, options, data);
    armilla_bytes_free(context, &bytes);
    return status;
}

/* The names in the file become the data's. Options do not say which way the matrix lies, so the other size is no help. */
static armilla_status add_names(armilla_context *context, const char *path, armilla_naming kind, armilla_data *data)
{
    const int64_t sizes[2] = {kind == ARMILLA_FEATURE_NAMES ? data->m : -1,
                              kind == ARMILLA_FEATURE_NAMES ? -1 : data->n};
    armilla_names names = {.count = 0};
    armilla_status status = armilla_texts_open(context, path, kind, sizes, NULL, &names);
    if (status == ARMILLA_OK) status = armilla_data_adopt_names(data, kind, "", &names);
    armilla_names_free(context, &names);
    return status;
}

static armilla_status read_directory(armilla_context *context, const char *directory,
                                     const armilla_read_options *options, armilla_data **data)
{
    char path[PATH_MAX];
    armilla_read_options inner = *options;
    armilla_data *made = NULL;
    inner.sample_columns = true;
    armilla_status status = need_member(context, directory, &matrix, path);
    if (status == ARMILLA_OK) status = read_matrix(context, path, &inner, &made);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == ARMILLA_OK; i++) {
        status = need_member(context, directory, &tables[i], path);
        if (status == ARMILLA_OK) status = add_names(context, path, tables[i].kind, made);
    }
    return armilla_data_give(status, made, data);
}

static armilla_status recognize_directory(armilla_context *context, const char *directory, bool *found)
{
    char path[PATH_MAX];
    return find_member(context, directory, &matrix, path, found);
}

const armilla_format armilla_format_10x = {
    .name = "10x",
    .endings = "directory with matrix.mtx",
    .meaning = "matrix, features and barcodes in a directory; samples are its columns",
    .recognize_directory = recognize_directory,
    .read_directory = read_directory,
};
