/* Small and thin problems, for x86-64 with AVX2. */
#define BYTES 32
#define ISA_NAME "avx2"
#define TABLE armilla_thin_avx2
#include "linalg/kernels/thin.h"
