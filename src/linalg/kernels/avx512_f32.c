/* The panel products in float for x86-64 with AVX-512. */
#define REAL float
#define LANES 16
#define TYPE_TAG ARMILLA_F32
#define ISA_NAME "avx512"
#define TABLE armilla_kernels_avx512_f32
#define BELOW armilla_kernels_avx2_f32 /* for columns shorter than a vector */
#include "linalg/kernels/panel.h"
