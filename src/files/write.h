/* Writers of data files: one function and one row each. Every output appears whole or not at all. */
#ifndef ARMILLA_FILES_WRITE_H
#define ARMILLA_FILES_WRITE_H

#include "data/data.h"

#include <armilla/files.h>

#include <locale.h>

/* One file being written. */
typedef struct armilla_writing {
    armilla_context *context;
    const armilla_data *data;
    const char *path;
    const armilla_write_options *options;
    locale_t plain; /* a "C" locale, which is in force */
} armilla_writing;

typedef struct armilla_writer {
    const char *name;    /* as in the formats table, where that kind of file is read too */
    const char *endings; /* ".npy"; several separated by spaces */
    const char *meaning;
    unsigned keeps; /* bit k: what armilla_naming k says is in the file */
    armilla_status (*write)(const armilla_writing *w);
} armilla_writer;

/* NULL past the last row; NULL where there is no such name. */
const armilla_writer *armilla_writers_row(size_t index);
const armilla_writer *armilla_writers_find(const char *name);

extern const armilla_writer armilla_writer_npy, armilla_writer_npz, armilla_writer_mtx, armilla_writer_csv,
    armilla_writer_svmlight, armilla_writer_idx;

/* ARMILLA_STOPPED where the caller wants the writing to end, of which `done` of `total` lines or blocks are written;
 * asked once for each. */
armilla_status armilla_writing_go_on(const armilla_writing *w, int64_t done, int64_t total);

/* The data as lines, one per sample or one per feature, whatever their form. */
typedef struct armilla_lines {
    armilla_context *context;
    armilla_type type;
    int64_t count, width;
    const char *values; /* dense: number k of line i is at values + i*line_step + k*place_step, in bytes */
    int64_t line_step, place_step;
    armilla_sparse_matrix matrix; /* sparse: one line per column */
    bool owned;                   /* the matrix was made for this */
} armilla_lines;

armilla_status armilla_lines_open(armilla_context *context, const armilla_data *data, bool by_feature,
                                  armilla_lines *lines);
void armilla_lines_close(armilla_lines *lines);
bool armilla_lines_sparse(const armilla_lines *lines);
/* numbers = line i, width doubles. */
void armilla_lines_get(const armilla_lines *lines, int64_t i, double *numbers);
/* Sparse: the entries of line i are *first ... *last-1, each with a place in the line and a value. */
void armilla_lines_range(const armilla_lines *lines, int64_t i, int64_t *first, int64_t *last);
int64_t armilla_lines_place(const armilla_lines *lines, int64_t entry);
double armilla_lines_value(const armilla_lines *lines, int64_t entry);

#endif
