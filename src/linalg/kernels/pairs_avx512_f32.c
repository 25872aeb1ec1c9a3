/* Products of samples with samples in float for x86-64 with AVX-512. */
#define REAL float
#define LANES 16
#define TYPE_TAG ARMILLA_F32
#define ISA_NAME "avx512"
#define TABLE armilla_pairs_avx512_f32
#include "linalg/kernels/pairs.h"
