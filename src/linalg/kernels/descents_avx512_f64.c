/* Descents side by side in double precision, for x86-64 with AVX-512. */
#define REAL double
#define TYPE ARMILLA_F64
#define BYTES 64
#define ISA_NAME "avx512"
#define TABLE armilla_descents_avx512_f64
#include "linalg/kernels/descents.h"
