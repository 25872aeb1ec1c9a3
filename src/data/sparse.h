/* Sparse forms: what they have beside the operations of every form. A form is sparse where armilla_sparse_of says so, and
 * then its struct begins with armilla_sparse_data and its loaded panels with entries. */
#ifndef ARMILLA_DATA_SPARSE_H
#define ARMILLA_DATA_SPARSE_H

#include "data/data.h"

typedef struct armilla_sparse_ops {
    /* How many entries stand before column j, 0 ... n. */
    int64_t (*before)(const armilla_data *X, int64_t j);
} armilla_sparse_ops;

/* First member of every sparse form's struct. */
typedef struct armilla_sparse_data {
    armilla_data data;
    const double *mean;  /* centred: column j is its entries less shift_j times these; else NULL */
    double mean_squared; /* ||mean||^2 */
} armilla_sparse_data;

/* NULL for dense forms. */
static inline const armilla_sparse_data *armilla_sparse_of(const armilla_data *X)
{
    return X->ops->sparse ? (const armilla_sparse_data *)X : NULL;
}

/* The number of entries before column j of sparse data; and the largest number in so many neighbouring columns. */
int64_t armilla_sparse_before(const armilla_data *X, int64_t j);
int64_t armilla_sparse_most(const armilla_data *X, int64_t columns);

/* The entries of column first+j of a loaded panel, features rising, and their number; the column is these less *shift
 * times the form's mean. There is space for m rows and values. */
int64_t armilla_sparse_entries_at(const armilla_panel *panel, int64_t j, int64_t *rows, double *values, double *shift);

/* Operations of every form whose loaded panels are sparse. */
extern const armilla_layout armilla_layout_by_feature;
void armilla_sparse_products(const armilla_panel *panel, int64_t r, const void *packed, double *C);
void armilla_sparse_accumulate(const armilla_panel *panel, int64_t r, const void *W, void *part);
void armilla_sparse_gather(const armilla_panel *panel, int64_t r, const armilla_memberships *memberships, void *part);
void armilla_sparse_expand(const armilla_panel *panel, int64_t j, double *column);
#define ARMILLA_SPARSE_PANELS                                                                                          \
    .layout = &armilla_layout_by_feature, .products = armilla_sparse_products,                                         \
    .accumulate = armilla_sparse_accumulate, .gather = armilla_sparse_gather, .expand = armilla_sparse_expand

/* armilla_data_prepare (data/data.h) of sparse data, whose columns are never expanded. */
armilla_status armilla_data_prepare_sparse(armilla_context *context, const armilla_data *inner,
                                           const armilla_column_map *map, armilla_data **data);

#endif
