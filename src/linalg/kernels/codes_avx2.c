/* Code steps side by side for x86-64 with AVX2 and FMA. */
#define BYTES 32
#define ISA_NAME "avx2"
#define TABLE armilla_codes_avx2
#include "linalg/kernels/codes.h"
