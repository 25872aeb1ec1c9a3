/* Columns of X one by one, dense or sparse: for what looks at the numbers themselves instead of multiplying them. Here,
 * and nowhere else, a column of one form is distinguished from one of the other. */
#ifndef ARMILLA_DATA_COLUMN_H
#define ARMILLA_DATA_COLUMN_H

#include "data/sparse.h"

/* The numbers that are stored of a column; it is these less shift times the mean, and 0 less that elsewhere. */
typedef struct armilla_column {
    int64_t m, count;
    const int64_t *rows; /* their features, rising; NULL: all of them, count is m */
    double *values;
    double shift;        /* not below 0; 0 unless rows is not NULL */
    const double *mean;  /* NULL where shift is 0 */
    double mean_squared; /* ||mean||^2 */
} armilla_column;

static inline int64_t armilla_column_feature(const armilla_column *column, int64_t i)
{
    return column->rows ? column->rows[i] : i;
}

/* ||column||^2: exact to rounding, also where nearly nothing is left of it. */
double armilla_column_square(const armilla_column *column);

/* What columns of one form are read into, one after another: m of each; rows NULL for dense forms. */
typedef struct armilla_column_buffer {
    int64_t *rows;
    double *values;
} armilla_column_buffer;

/* So many buffers, one for each thread of a pass; all zeros may be released. */
typedef struct armilla_column_buffers {
    int64_t m;
    int64_t *rows;
    double *values;
} armilla_column_buffers;

armilla_status armilla_column_buffers_take(armilla_context *context, const armilla_data *X, int64_t count,
                                           armilla_column_buffers *buffers);
void armilla_column_buffers_release(armilla_context *context, armilla_column_buffers *buffers);
armilla_column_buffer armilla_column_buffer_of(const armilla_column_buffers *buffers, int thread);

/* Column first+j of a loaded panel. */
armilla_column armilla_panel_column(const armilla_panel *panel, int64_t j, armilla_column_buffer buffer);
/* The same with all m numbers, also of a sparse form. */
armilla_column armilla_panel_whole_column(const armilla_panel *panel, int64_t j, armilla_column_buffer buffer);

/* Single columns of X, in any order, each loaded by itself; all zeros may be closed. */
typedef struct armilla_column_reader {
    armilla_context *context;
    armilla_panel panel;
    void *workspace;
    armilla_column_buffers buffer;
} armilla_column_reader;

armilla_status armilla_column_reader_open(armilla_context *context, const armilla_data *X, armilla_type work,
                                          armilla_column_reader *reader);
void armilla_column_reader_close(armilla_column_reader *reader);
/* Column j, 0 ... n-1, in numbers that have been through the working type; it lasts until the next one is read. */
armilla_status armilla_column_read(armilla_column_reader *reader, int64_t j, armilla_column *column);

/* Columns of X that are wanted, by number: in any order and more than once. */
typedef struct armilla_gathering {
    const armilla_data *X;
    armilla_type work;
    int64_t count;
    const int64_t *columns;                                   /* below 0: nothing is wanted at this place */
    void (*visit)(void *self, int64_t place, double *column); /* m numbers, as sweeps see them, to be used up */
    void *self;
} armilla_gathering;

/* Visits every place once, in the order of the columns, so that each is loaded once and a source is read forwards.
 * Whatever reads X at random comes through here. */
armilla_status armilla_data_visit(armilla_context *context, const armilla_gathering *gathering);

/* out (m x count doubles): the columns; a place that wants nothing stays as it is. */
armilla_status armilla_data_gather(armilla_context *context, const armilla_data *X, armilla_type work, int64_t count,
                                   const int64_t *columns, double *out);

#endif
