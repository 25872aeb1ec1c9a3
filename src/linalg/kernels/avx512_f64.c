/* The panel products in double for x86-64 with AVX-512. */
#define REAL double
#define LANES 8
#define TYPE_TAG ARMILLA_F64
#define ISA_NAME "avx512"
#define TABLE armilla_kernels_avx512_f64
#define BELOW armilla_kernels_avx2_f64 /* for columns shorter than a vector */
#include "linalg/kernels/panel.h"
