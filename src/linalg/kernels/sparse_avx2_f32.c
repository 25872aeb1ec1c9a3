/* The sparse products in float for x86-64 with AVX2 and FMA. */
#define REAL float
#define TYPE_TAG ARMILLA_F32
#define ISA_NAME "avx2"
#define TABLE armilla_sparse_avx2_f32
#include "linalg/kernels/sparse.h"
