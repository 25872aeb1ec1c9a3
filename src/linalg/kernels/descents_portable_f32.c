/* Descents side by side in single precision, for any processor. */
#define REAL float
#define TYPE ARMILLA_F32
#define BYTES 16
#define ISA_NAME "portable"
#define TABLE armilla_descents_portable_f32
#include "linalg/kernels/descents.h"
