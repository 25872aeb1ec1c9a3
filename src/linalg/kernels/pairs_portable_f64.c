/* Products of samples with samples in double for plain C. */
#define REAL double
#define LANES 2
#define TYPE_TAG ARMILLA_F64
#define ISA_NAME "portable"
#define TABLE armilla_pairs_portable_f64
#include "linalg/kernels/pairs.h"
