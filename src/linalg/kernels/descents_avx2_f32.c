/* Descents side by side in single precision, for x86-64 with AVX2 and FMA. */
#define REAL float
#define TYPE ARMILLA_F32
#define BYTES 32
#define ISA_NAME "avx2"
#define TABLE armilla_descents_avx2_f32
#include "linalg/kernels/descents.h"
