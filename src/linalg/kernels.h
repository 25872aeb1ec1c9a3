/* The leaf kernels of a sweep: the only code that is compiled once per number type and per instruction set.
 *
 * Order of summation is fixed per result: products() gives c_kj from u_k and x_j alone, with the same bits wherever
 * the column stands and whatever stands beside it; accumulate() adds a panel's columns in their order. */
#ifndef ARMILLA_LINALG_KERNELS_H
#define ARMILLA_LINALG_KERNELS_H

#include "base/context.h"

/* Columns of X in the kernels' type, and what the caller will want next. */
typedef struct armilla_columns {
    const void *values;
    int64_t m, count, stride; /* stride: elements between columns */
    const void *ahead;        /* bytes that are fetched into the cache on the way */
    int64_t ahead_bytes;      /* 0: none */
    int64_t ahead_stride;     /* these are columns of the type, so many elements apart; 0: they are something else */
    void *scratch;            /* ARMILLA_KERNEL_SCRATCH bytes on whole cache lines, for accumulate and gram; NULL: they
                                 are slower */
    bool packed_codes;        /* for accumulate: W is as pack_codes left it, and there is scratch */
} armilla_columns;

/* With fewer atoms no scratch is used. */
enum {
    ARMILLA_KERNEL_SCRATCH = 192 * 1024,
    ARMILLA_LEAST_PACKED = 8,
    ARMILLA_USUALLY_PACKED = 48,
    ARMILLA_MOST_PACKED = 512
};

/* The atoms that columns are multiplied with. */
typedef struct armilla_atoms {
    const void *values; /* m x r in the kernels' type */
    int64_t r;
    bool packed; /* by the kernels' `pack`: where there are many features, products of such atoms are faster */
    bool tiled;  /* by the kernels' `tile`: products in another order of summation */
} armilla_atoms;

/* Codes of a few columns, r x count, on their way to where they are kept. Sums are of the codes as these are stored. */
typedef struct armilla_settling {
    int64_t r, count;
    const double *W;
    const double *C;        /* U'X; NULL: there is none */
    const void *previous;   /* codes in the type that these replace, perhaps in the same place; NULL: none */
    void *typed;            /* W in the type */
    double *diagonal;       /* r: += that of WW'; NULL: not wanted */
    double *cross, *change; /* += <C,W>, += ||W - W_previous||^2 */
} armilla_settling;

/* w = q scaled to length 1, at every scale; false, with w undefined, where q = 0. s: unused. As sets have it. */
typedef bool (*armilla_scaling)(int64_t r, int64_t s, const double *q, double *w);

/* Codes on the sphere: products that are scaled to length 1. */
typedef struct armilla_projecting {
    armilla_settling codes;  /* what becomes of them; W and C are not there */
    armilla_scaling scaling; /* of columns whose squared length is no ordinary number; where they have no direction the
                                code is the first axis */
} armilla_projecting;

typedef struct armilla_kernels {
    const char *name;  /* instruction set: "portable", "avx2", "avx512" */
    armilla_type type; /* of X, U and W */

    /* C = U'X. X: m x count; U: m x r; C: r x count. Column-major. */
    void (*products)(const armilla_columns *X, const armilla_atoms *U, double *C);

    /* c_q = x_q'u_q for so many pairs of columns of m numbers, with the bits of products without tiles. */
    void (*dots)(int64_t m, int64_t count, const void *const *x, const void *const *u, double *c);

    /* Atoms first ... last-1 of U (m x r) into their places of packed, which has as many numbers. */
    void (*pack)(int64_t m, const armilla_atoms *U, int64_t first, int64_t last, void *packed);

    /* Whether products of tiled atoms are faster; the numbers that these have; and the tiles of some runs of features, of
     * `tiled_runs`, into their places. A result is then summed in another order, which is again a function of u_k and x_j
     * alone. */
    bool (*tiles_pay)(int64_t m, int64_t r);
    int64_t (*tiled_numbers)(int64_t m, int64_t r);
    int64_t (*tiled_runs)(int64_t m);
    void (*tile)(int64_t m, const armilla_atoms *U, int64_t first, int64_t last, void *tiled);

    /* A += XW', or A = XW' where it is new. W: r x count; A: m x r. The panel's sum is made in the type, then added in
     * double. */
    void (*accumulate)(const armilla_columns *X, int64_t r, const void *W, bool is_new, double *A);

    /* W (r x count) as accumulate wants it where it is given the same W often; at least ARMILLA_LEAST_PACKED atoms and
     * at most ARMILLA_MOST_PACKED columns. */
    void (*pack_codes)(int64_t r, int64_t count, const void *W, void *packed);

    /* G += WW' in the same way, of columns W with m = r: the lower triangle, and perhaps more. */
    void (*gram)(const armilla_columns *W, double *G);

    /* The same for assignments to atoms, A(:,assignments[j]) += x_j: added in double, in the order of the columns. */
    void (*gather)(const armilla_columns *X, const int32_t *assignments, double *A);

    /* to = count numbers of a storage type in the kernels' type, rounded to nearest; only of f64 in f32 is that not
     * exact. */
    void (*convert[ARMILLA_TYPE_COUNT])(int64_t count, const void *from, void *to);

    /* New codes become those of the type, and the sums over them are added (below). */
    void (*settle)(const armilla_settling *codes);

    /* Products with tiled atoms, their codes on the sphere and the sums over these, in one; and whether there is such a
     * kernel for the shape. The sums over a few columns are made in the type. */
    bool (*has_unit_codes)(int64_t m, int64_t r);
    void (*unit_codes)(const armilla_columns *X, const armilla_atoms *U, const armilla_projecting *to);

    /* For the preparation of columns, which is in double: to = from; to = factor*from; both in one; to = from - mean. */
    void (*fetch)(int64_t count, const void *from, double *to);
    void (*scale)(int64_t count, double factor, const double *from, void *to);
    void (*rescale)(int64_t count, double factor, const void *from, void *to);
    void (*center)(int64_t count, const double *mean, const void *from, void *to);
} armilla_kernels;

/* The best kernels of the precision that this CPU runs. */
const armilla_kernels *armilla_kernels_choose(armilla_type type);

/* Those of the call in progress; where it has none of its own, the best. */
const armilla_kernels *armilla_kernels_for(const armilla_context *context, armilla_type type);
/* At the beginning of a call: it has the kernels of that name until its end; NULL, or where this CPU does not run them:
 * the best. */
void armilla_kernels_pin(armilla_context *context, const char *name);
/* Whether this build has kernels of the name, for every precision, and this CPU runs them. */
bool armilla_kernels_available(const char *name);

/* Every kernel table of this build, whether or not the CPU runs it; NULL past the last. */
const armilla_kernels *armilla_kernels_row(size_t index);
/* Whether this CPU runs that instruction set, by the name of a kernel table. */
bool armilla_instructions_supported(const char *name);

/* count numbers between double and the type (stored.c); rounding is to nearest. To types that are no working precision
 * only numbers that they hold may go. */
void armilla_store(armilla_type type, int64_t count, const double *from, void *to);
void armilla_fetch(armilla_type type, int64_t count, const void *from, double *to);
void armilla_fetch_add(armilla_type type, int64_t count, const void *from, double *to); /* to += from */

/* The unit roundoff's double: 2^-23, 2^-52; 0 for types that are no working precision. */
double armilla_epsilon(armilla_type type);

#endif
