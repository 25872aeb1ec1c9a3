/* Descents side by side in double precision, for x86-64 with AVX2 and FMA. */
#define REAL double
#define TYPE ARMILLA_F64
#define BYTES 32
#define ISA_NAME "avx2"
#define TABLE armilla_descents_avx2_f64
#include "linalg/kernels/descents.h"
