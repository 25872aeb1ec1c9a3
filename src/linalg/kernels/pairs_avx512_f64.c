/* Products of samples with samples in double for x86-64 with AVX-512. */
#define REAL double
#define LANES 8
#define TYPE_TAG ARMILLA_F64
#define ISA_NAME "avx512"
#define TABLE armilla_pairs_avx512_f64
#include "linalg/kernels/pairs.h"
