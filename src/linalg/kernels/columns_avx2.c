/* The numbers of columns, for x86-64 with AVX2 and FMA. */
#define BYTES 32
#define ISA_NAME "avx2"
#define TABLE armilla_columns_avx2
#include "linalg/kernels/columns.h"
