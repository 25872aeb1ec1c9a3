/* Descents side by side in single precision, for x86-64 with AVX-512. */
#define REAL float
#define TYPE ARMILLA_F32
#define BYTES 64
#define ISA_NAME "avx512"
#define TABLE armilla_descents_avx512_f32
#include "linalg/kernels/descents.h"
