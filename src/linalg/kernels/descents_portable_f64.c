/* Descents side by side in double precision, for any processor. */
#define REAL double
#define TYPE ARMILLA_F64
#define BYTES 16
#define ISA_NAME "portable"
#define TABLE armilla_descents_portable_f64
#include "linalg/kernels/descents.h"
