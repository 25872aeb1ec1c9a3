/* The sparse products in float for any CPU. */
#define REAL float
#define TYPE_TAG ARMILLA_F32
#define ISA_NAME "portable"
#define TABLE armilla_sparse_portable_f32
#include "linalg/kernels/sparse.h"
