/* The sparse products in double for any CPU. */
#define REAL double
#define TYPE_TAG ARMILLA_F64
#define ISA_NAME "portable"
#define TABLE armilla_sparse_portable_f64
#include "linalg/kernels/sparse.h"
