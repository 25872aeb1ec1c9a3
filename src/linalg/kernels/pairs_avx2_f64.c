/* Products of samples with samples in double for x86-64 with AVX2 and FMA. */
#define REAL double
#define LANES 4
#define TYPE_TAG ARMILLA_F64
#define ISA_NAME "avx2"
#define TABLE armilla_pairs_avx2_f64
#include "linalg/kernels/pairs.h"
