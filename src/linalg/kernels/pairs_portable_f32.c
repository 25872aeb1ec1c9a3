/* Products of samples with samples in float for plain C. */
#define REAL float
#define LANES 4
#define TYPE_TAG ARMILLA_F32
#define ISA_NAME "portable"
#define TABLE armilla_pairs_portable_f32
#include "linalg/kernels/pairs.h"
