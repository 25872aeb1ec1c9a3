/* The sparse products in double for x86-64 with AVX2 and FMA. */
#define REAL double
#define TYPE_TAG ARMILLA_F64
#define ISA_NAME "avx2"
#define TABLE armilla_sparse_avx2_f64
#include "linalg/kernels/sparse.h"
