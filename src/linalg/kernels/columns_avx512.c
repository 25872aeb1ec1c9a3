/* The numbers of columns, for x86-64 with AVX-512. */
#define BYTES 64
#define ISA_NAME "avx512"
#define TABLE armilla_columns_avx512
#include "linalg/kernels/columns.h"
