/* What X is: a table of operations on panels of columns. A storage form is one file that fills the table; sweeps,
 * surveys, starts, transform and check see nothing else. */
#ifndef ARMILLA_DATA_DATA_H
#define ARMILLA_DATA_DATA_H

#include "base/context.h"
#include "linalg/kernels.h"

#include <armilla/data.h>

/* Columns first ... first+count-1 of X, ready to be multiplied. */
typedef struct armilla_panel {
    const armilla_data *data;
    const armilla_kernels *kernels;
    int64_t first, count;
    int64_t next, next_count; /* the columns that the same thread will probably want next */
    const void *columns;      /* in the kernels' type */
    int64_t stride;
    const void *ahead; /* where the next columns lie, to be fetched into the cache meanwhile */
    int64_t ahead_bytes;
} armilla_panel;

typedef struct armilla_data_ops {
    const char *storage[ARMILLA_TYPE_COUNT]; /* by data type: "dense f32" */
    /* Bytes of workspace that load needs for panels of that width. */
    size_t (*workspace)(const armilla_data *X, armilla_type work, int64_t width);
    /* Makes panel->first ... ready; first, count, next, kernels and data are set. Runs on several threads at once. */
    armilla_status (*load)(armilla_panel *panel, void *workspace);
    /* C = U'X_b (r x count). */
    void (*products)(const armilla_panel *panel, int64_t r, const void *U, double *C);
    /* A += X_b W' (m x r). */
    void (*accumulate)(const armilla_panel *panel, int64_t r, const void *W, double *A);
    /* Column first+j as m doubles. */
    void (*expand)(const armilla_panel *panel, int64_t j, double *column);
    void (*free)(armilla_data *X);
} armilla_data_ops;

/* First member of every storage form's struct. */
struct armilla_data {
    const armilla_data_ops *ops;
    armilla_context *context;
    armilla_type type;
    int64_t m, n;
    int64_t stored;
};

/* Checks 1 <= m, n and that m*n numbers can be counted; the sentence begins with `where` ("FILE: " or ""). */
armilla_status armilla_data_check_shape(armilla_context *context, const char *where, int64_t m, int64_t n);

/* Dense data that own their memory: values came from armilla_take, or lie inside a mapping of map_bytes at map. On
 * success, and only then, the data object owns it. */
armilla_status armilla_data_own_dense(armilla_context *context, armilla_type type, void *values, int64_t m, int64_t n,
                                      armilla_data **data);
armilla_status armilla_data_map_dense(armilla_context *context, armilla_type type, void *map, size_t map_bytes,
                                      const void *values, int64_t m, int64_t n, armilla_data **data);

/* How the data are prepared before they are factorised, in this order: weights, centring, unit length. */
typedef struct armilla_preparation {
    const double *idf;  /* m weights, or NULL */
    const double *mean; /* m numbers subtracted from the (weighted) samples, or NULL */
    bool unit_length;   /* then scale each sample to length 1 (zero samples stay) */
} armilla_preparation;

/* A view of inner with the preparation applied on the fly; inner and the arrays must outlive it. */
armilla_status armilla_data_prepare(armilla_context *context, const armilla_data *inner,
                                    const armilla_preparation *preparation, armilla_data **data);

/* Column j as m doubles that have been through the working type, as sweeps see it. */
armilla_status armilla_data_column(armilla_context *context, const armilla_data *data, armilla_type work, int64_t j,
                                   double *column);

/* Operations of every form whose loaded panels are dense. */
void armilla_panel_products(const armilla_panel *panel, int64_t r, const void *U, double *C);
void armilla_panel_accumulate(const armilla_panel *panel, int64_t r, const void *W, double *A);
void armilla_panel_expand(const armilla_panel *panel, int64_t j, double *column);

/* The width of panels for this data: a function of the shape and type alone, so that sums do not depend on the
 * machine. */
int64_t armilla_panel_width(const armilla_data *X, armilla_type work);

#endif
