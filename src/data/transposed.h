/* The entries of sparse data by feature, in memory beside the data: XW' is then formed feature by feature, each number
 * of it in registers, written once, and by all threads without parts of their own. Values are those that sweeps see:
 * prepared, in the working type. The sums have the bits of those that panels add up, so it is a matter of memory and
 * speed alone who has such a copy. Each rank has the entries of its own samples. */
#ifndef ARMILLA_DATA_TRANSPOSED_H
#define ARMILLA_DATA_TRANSPOSED_H

#include "data/data.h"

typedef struct armilla_transposed armilla_transposed;

/* *pays: whether a copy is smaller than the parts of an XW' of that rank that it replaces, and leaves memory for the codes,
 * which it reads in no order. Ranks have one answer: all or none. */
armilla_status armilla_transposed_pays(armilla_context *context, const armilla_data *X, armilla_type work, int64_t r,
                                       bool *pays);

/* Reads X twice, which counts as no pass: nothing is learned from it. */
armilla_status armilla_transposed_new(armilla_context *context, const armilla_data *X, armilla_type work,
                                      armilla_transposed **made);
void armilla_transposed_free(armilla_transposed *transposed);

/* XW' of codes that are all there. */
typedef struct armilla_transposed_product {
    const armilla_transposed *X;
    armilla_sparse_codes codes;
} armilla_transposed_product;

/* An armilla_make_window (base/reduce.h) of numbers that lie by feature; self: such a product. */
void armilla_transposed_make(const void *self, int64_t first, int64_t last, const armilla_window *where,
                             double *buffer);

/* The feature before which a part `at` of `of` of all entries and features stands: equal work for threads. */
int64_t armilla_transposed_cut(const armilla_transposed *transposed, int64_t at, int64_t of);

#endif
