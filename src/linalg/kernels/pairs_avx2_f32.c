/* Products of samples with samples in float for x86-64 with AVX2 and FMA. */
#define REAL float
#define LANES 8
#define TYPE_TAG ARMILLA_F32
#define ISA_NAME "avx2"
#define TABLE armilla_pairs_avx2_f32
#include "linalg/kernels/pairs.h"
