/* What X is: a table of operations on panels of columns. A storage form is one file that fills the table; sweeps,
 * surveys, starts, transform and clustering see nothing else. */
#ifndef ARMILLA_DATA_DATA_H
#define ARMILLA_DATA_DATA_H

#include "base/context.h"
#include "base/reduce.h"
#include "linalg/kernels.h"
#include "linalg/sparse_kernels.h"

#include "data/keep.h"
#include "data/length.h"
#include "data/names.h"
#include "data/sparse_matrix.h"

#include <armilla/data.h>

/* What a sparse form's load gives. */
typedef struct armilla_sparse_panel {
    armilla_sparse_columns columns;
    const armilla_sparse_kernels *kernels;
    bool index64;         /* indices have 64 bits */
    const double *shifts; /* column j is less shifts[j] times the form's mean; NULL: by nothing */
} armilla_sparse_panel;

/* Columns first ... first+count-1 of X, ready to be multiplied. */
typedef struct armilla_panel {
    armilla_context *context; /* of the call, where a load that fails says why */
    const armilla_data *data;
    const armilla_kernels *kernels;
    int64_t first, count;
    int64_t slot;             /* where it stands in the pass (data/traverse.h) */
    bool opens;               /* it is the first panel of its slot */
    int64_t next, next_count; /* the columns that the same thread will probably want next */
    int64_t until, then;      /* and behind these all before `until`, then those from `then` on; both 0: who knows */
    const void *columns;      /* in the kernels' type; dense forms */
    int64_t stride;
    const void *ahead; /* where the next columns lie, to be fetched into the cache meanwhile */
    int64_t ahead_bytes;
    int64_t ahead_stride;            /* numbers between them where they are as `columns` are, else 0 */
    bool tiled;                      /* products see atoms in tiles (linalg/kernels.h), else packed */
    void *scratch;                   /* of the kernels (linalg/kernels.h), or NULL */
    armilla_sparse_panel sparse;     /* sparse forms */
    const struct armilla_panel *raw; /* of prepared data the panel before that; else NULL */
} armilla_panel;

/* XW' over all slots, where it is read: as accumulate lays it out. */
typedef struct armilla_parts {
    const armilla_data *X;
    int64_t r;
    armilla_type work;           /* which decides how the numbers lie */
    const armilla_reducer *sums; /* has them in this segment: layout->numbers of them */
    int segment;
    const double *shifted; /* the sums of add_shifts */
    const struct armilla_transposed
        *transposed; /* what they are made from as they are read; NULL: from parts of slots */
} armilla_parts;

/* How a form wants the basis and the sums to lie, where that is not m x r. Sweeps pack the basis once, before the
 * first panel, and unpack the sums once, after the last, as they read them from the reducer. */
typedef struct armilla_layout {
    /* Bytes of a packed basis. */
    int64_t (*basis_bytes)(const armilla_data *X, armilla_type work, int64_t r);
    /* packed = U (m x r in the working type), for products. */
    void (*pack)(const armilla_data *X, armilla_type work, int64_t r, const armilla_team *team, const void *U,
                 void *packed);
    /* How many numbers XW' has there. */
    int64_t (*numbers)(const armilla_data *X, armilla_type work, int64_t r);
    /* shifted += what unpack wants to know of the panel's codes (W, or where that is NULL memberships) beside XW'; r
     * numbers. */
    void (*add_shifts)(const armilla_panel *panel, int64_t r, const void *W, const armilla_memberships *memberships,
                       double *shifted);
    /* A (m x r) = the sum. */
    void (*unpack)(const armilla_parts *parts, const armilla_team *team, double *A);
} armilla_layout;

typedef struct armilla_data_ops {
    const char *storage[ARMILLA_TYPE_COUNT]; /* by data type: "dense f32" */
    /* Bytes of workspace that load needs for panels of that width. */
    size_t (*workspace)(const armilla_data *X, armilla_type work, int64_t width);
    /* Makes panel->first ... ready; first, count, next, kernels and data are set. Runs on several threads at once. */
    armilla_status (*load)(armilla_panel *panel, void *workspace);
    const armilla_layout *layout; /* of U and A below; NULL: m x r */
    /* C = U'X_b (r x count); U as the layout has packed it, or without one the kernels. */
    void (*products)(const armilla_panel *panel, int64_t r, const void *U, double *C);
    /* A += X_b W' (m x r, double), or A = X_b W' where the panel opens its slot. Forms with a layout: A = X_b W', as the
     * layout says, in the kernels' type. */
    void (*accumulate)(const armilla_panel *panel, int64_t r, const void *W, void *A);
    /* The same for assignments to atoms (0 ... r-1) by partitions: column first+j is added to those columns of A. */
    void (*gather)(const armilla_panel *panel, int64_t r, const armilla_memberships *memberships, void *A);
    /* Column first+j as m doubles. */
    void (*expand)(const armilla_panel *panel, int64_t j, double *column);
    const struct armilla_sparse_ops *sparse; /* of forms whose panels are sparse (data/sparse.h); else NULL */
    void (*free)(armilla_data *X);
} armilla_data_ops;

/* First member of every storage form's struct. */
struct armilla_data {
    const armilla_data_ops *ops;
    armilla_context *context;
    armilla_type type;
    int64_t m, n;
    armilla_names names[ARMILLA_NAMING_COUNT];
    armilla_kept kept[ARMILLA_KEPT_COUNT]; /* of what these data were chosen from */
    int64_t image[2];                      /* rows and columns of samples that are images, before any choice; else 0 */
    const struct armilla_blocks *blocks;   /* that they are read through (data/stream.h); NULL: they are in memory */
};

/* Checks 1 <= m, n and that m*n numbers can be counted; the message begins with `where` ("FILE: " or ""). */
armilla_status armilla_data_check_shape(armilla_context *context, const char *where, int64_t m, int64_t n);

/* Numbers inside a mapping of a file. */
typedef struct armilla_mapped {
    void *start;
    size_t bytes;
    const void *values;
    int64_t stride; /* numbers from one sample to the next; 0: m */
} armilla_mapped;

/* Dense data of the library's own numbers, m from one sample to the next: no input, which the limit of memory goes by. */
armilla_status armilla_data_borrow_dense(armilla_context *context, armilla_type type, const void *values, int64_t m,
                                         int64_t n, armilla_data **data);

/* Dense data that own their memory: values came from armilla_take, or are mapped. On success, and only then, the data
 * object owns it. */
armilla_status armilla_data_own_dense(armilla_context *context, armilla_type type, void *values, int64_t m, int64_t n,
                                      armilla_data **data);
armilla_status armilla_data_map_dense(armilla_context *context, armilla_type type, const armilla_mapped *mapped,
                                      int64_t m, int64_t n, armilla_data **data);

/* Sparse data that own their memory: a sparse matrix with one sample per column, rows of a column rising. On success,
 * and only then, the data object owns the arrays. */
armilla_status armilla_data_own_sparse(armilla_context *context, const armilla_sparse_matrix *matrix,
                                       armilla_data **data);

/* The numbers of dense data where they lie, samples *stride elements apart; NULL for other forms. */
const void *armilla_data_dense(const armilla_data *data, int64_t *stride);

/* A function of entries that leaves zeros zero, of count numbers in place; and its inverse. */
typedef struct armilla_entry_map {
    void (*apply)(int64_t count, double *x);
    void (*undo)(int64_t count, double *x);
} armilla_entry_map;

/* What columns go through as they are loaded, in this order: what a preparation comes to (data/preparation.h). */
typedef struct armilla_column_map {
    double total;                     /* what the entries of each sample are to add up to (data/total.h), or 0 */
    const armilla_entry_map *entries; /* or NULL */
    const double *weights;            /* m factors, or NULL */
    const double *mean;               /* m numbers subtracted from the (weighted) samples, or NULL */
    bool unit_length;                 /* then scale each sample to length 1 (zero samples stay) */
} armilla_column_map;

/* Unit length is all that is done. */
bool armilla_column_map_rescales(const armilla_column_map *map);
/* What centring leaves of a sample of m features is rounding where it is no longer than this part of the sample. */
double armilla_column_map_rounding(const armilla_column_map *map, int64_t m);

/* *view = inner with other operations, as a view's first member; what inner owns beside its numbers stays inner's. */
void armilla_data_view(armilla_data *view, const armilla_data *inner, const armilla_data_ops *ops,
                       armilla_context *context);

/* A view of inner with its columns mapped on the fly; inner and the arrays must outlive it. */
armilla_status armilla_data_prepare(armilla_context *context, const armilla_data *inner, const armilla_column_map *map,
                                    armilla_data **data);

/* Column j as m doubles that have been through the working type, as sweeps see it. */
armilla_status armilla_data_column(armilla_context *context, const armilla_data *data, armilla_type work, int64_t j,
                                   double *column);

/* Columns first ... first+count-1 of a loaded panel, for products and expand. */
armilla_panel armilla_panel_cut(const armilla_panel *panel, int64_t first, int64_t count);

/* Operations of every form whose loaded panels are dense. */
void armilla_panel_products(const armilla_panel *panel, int64_t r, const void *U, double *C);
/* Codes of the columns with tiled atoms (linalg/kernels.h). */
void armilla_panel_unit_codes(const armilla_panel *panel, const void *U, const armilla_projecting *to);
void armilla_panel_accumulate(const armilla_panel *panel, int64_t r, const void *W, void *A);
/* G += X_b X_b' (m x m): the lower triangle, and perhaps more. */
void armilla_panel_gram(const armilla_panel *panel, double *G);
void armilla_panel_gather(const armilla_panel *panel, int64_t r, const armilla_memberships *memberships, void *A);
void armilla_panel_expand(const armilla_panel *panel, int64_t j, double *column);
/* A column of it where it lies, in double; NULL where it does not. */
const double *armilla_panel_doubles(const armilla_panel *panel, int64_t j);
#define ARMILLA_DENSE_PANELS                                                                                           \
    .products = armilla_panel_products, .accumulate = armilla_panel_accumulate, .gather = armilla_panel_gather,        \
    .expand = armilla_panel_expand

/* The width of panels for this data: a function of the shape, stored entries and type alone, so that sums do not depend
 * on the machine. */
int64_t armilla_panel_width(const armilla_data *X, armilla_type work);

#endif
