/* A directory as 10x Genomics' programs write it: a Matrix Market file of features x cells, and a table of names for
 * each, any of them compressed by gzip. Samples are its columns, whatever the options say. */
#include "files/mtx.h"
#include "files/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 4 };

/* One of the files, and what it may be called. */
typedef struct member {
    const char *names[MOST_NAMES];
    int column; /* from 0, with the names; the first where that one is empty */
    armilla_naming kind;
} member;

static const member matrix = {.names = {"matrix.mtx", "matrix.mtx.gz"}};
/* id, name, kind: people know the name. */
static const member features = {
    {"features.tsv", "features.tsv.gz", "genes.tsv", "genes.tsv.gz"}, 1, ARMILLA_FEATURE_NAMES};
static const member barcodes = {{"barcodes.tsv", "barcodes.tsv.gz"}, 0, ARMILLA_SAMPLE_NAMES};

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

static armilla_status open_member(armilla_context *context, const char *directory, const member *wanted, char *path,
                                  armilla_bytes *bytes)
{
    bool found = false;
    armilla_status status = find_member(context, directory, wanted, path, &found);
    if (status != ARMILLA_OK) return status;
    if (!found)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: is no 10x directory: it has no %s%s; give one with matrix, features and barcodes",
                            directory, wanted->names[0], wanted->names[2] ? " or genes.tsv (or .gz)" : " (or .gz)");
    if ((status = armilla_bytes_open(context, path, bytes)) != ARMILLA_OK) return status;
    status = armilla_bytes_unpack(context, bytes);
    if (status != ARMILLA_OK) armilla_bytes_free(context, bytes);
    return status;
}

static armilla_status read_names(armilla_context *context, const armilla_bytes *bytes, int column, armilla_names *names)
{
    armilla_span rest = {bytes->start, bytes->start + bytes->count}, line = rest;
    armilla_status status = ARMILLA_OK;
    while (status == ARMILLA_OK && armilla_text_next_line(&rest, &line)) {
        if (line.start == line.end) continue;
        const armilla_span name = armilla_text_column(line, column);
        status = armilla_names_add(context, names, (const char *)name.start, (size_t)(name.end - name.start));
    }
    return status;
}

/* The names that stand in a column of the member become the data's. */
static armilla_status add_names(armilla_context *context, const char *directory, const member *wanted,
                                armilla_data *data)
{
    char path[PATH_MAX], where[PATH_MAX + 2];
    armilla_bytes bytes;
    armilla_names names = {0};
    armilla_status status = open_member(context, directory, wanted, path, &bytes);
    if (status != ARMILLA_OK) return status;
    status = read_names(context, &bytes, wanted->column, &names);
    armilla_bytes_free(context, &bytes);
    snprintf(where, sizeof where, "%s: ", path);
    if (status == ARMILLA_OK) status = armilla_data_adopt_names(data, wanted->kind, where, &names);
    armilla_names_free(context, &names);
    return status;
}

static armilla_status read_directory(armilla_context *context, const char *directory,
                                     const armilla_read_options *options, armilla_data **data)
{
    char path[PATH_MAX];
    armilla_bytes bytes;
    armilla_read_options inner = *options;
    armilla_data *made = NULL;
    inner.sample_columns = true;
    armilla_status status = open_member(context, directory, &matrix, path, &bytes);
    if (status != ARMILLA_OK) return status;
    status = armilla_mtx_read(context, &bytes, &inner, &made);
    armilla_bytes_free(context, &bytes);
    if (status == ARMILLA_OK) status = add_names(context, directory, &features, made);
    if (status == ARMILLA_OK) status = add_names(context, directory, &barcodes, made);
    if (status == ARMILLA_OK)
        *data = made;
    else
        armilla_data_free(made);
    return status;
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
