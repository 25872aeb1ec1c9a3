/* Writers of data files: one function and one row each. Every output appears whole or not at all. */
#ifndef ARMILLA_FILES_WRITE_H
#define ARMILLA_FILES_WRITE_H

#include "data/column.h"

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
    armilla_writer_svmlight, armilla_writer_idx, armilla_writer_fbin, armilla_writer_fvecs;

/* ARMILLA_STOPPED where the caller wants the writing to end, of which `done` of `total` lines or blocks are written;
 * asked once for each. */
armilla_status armilla_writing_go_on(const armilla_writing *w, int64_t done, int64_t total);

/* The data as lines, one per sample or one per feature, whatever their form: read panel by panel, in order. Lines that
 * are features are collected from a pass over the panels, as many at a time as memory has space for. */
typedef struct armilla_lines {
    armilla_context *context;
    const armilla_data *data;
    bool by_feature;
    int64_t count, width;
    armilla_panel panel; /* loaded: count is 0 before the first */
    int64_t span;        /* columns of a panel at most */
    void *workspace;
    armilla_column_buffers buffer;
    double *held; /* by feature: lines first ... first+fitting-1 */
    int64_t first, fitting;
} armilla_lines;

armilla_status armilla_lines_open(armilla_context *context, const armilla_data *data, bool by_feature,
                                  armilla_lines *lines);
void armilla_lines_close(armilla_lines *lines);
/* The numbers of line i, until the next is read: all `width` of them where `whole`, or the data are dense, or lines are
 * features; else its entries (line.rows). */
armilla_status armilla_lines_read(armilla_lines *lines, int64_t i, bool whole, armilla_column *line);
/* Makes lines->panel one that sample j is in, in the type that the data are held in (of bytes: f32). */
armilla_status armilla_lines_load(armilla_lines *lines, int64_t j);

/* A file of lines that is being written. */
typedef struct armilla_line_file {
    const armilla_writing *w;
    armilla_lines lines;
    armilla_output *output; /* its first failure sticks: what follows returns it again */
} armilla_line_file;

/* How a file of lines is made. Lines are put in any order, on several threads, each of which has a file of its own:
 * what one leaves in `self` for another is atomic. */
typedef struct armilla_line_format {
    bool by_feature;                                              /* a line is a feature */
    bool entries;                                                 /* of sparse data a line has the entries alone */
    armilla_status (*begin)(armilla_line_file *file, void *self); /* puts what comes before all lines; NULL: nothing */
    armilla_status (*put)(armilla_line_file *file, void *self, int64_t i);
    armilla_status (*end)(armilla_line_file *file, void *self); /* puts what comes behind them; NULL: nothing */
    void *self;
} armilla_line_format;

armilla_status armilla_lines_write(const armilla_writing *w, const armilla_line_format *format);

#endif
