/* The panel products in double for any CPU. */
#define REAL double
#define LANES 2
#define TYPE_TAG ARMILLA_F64
#define ISA_NAME "portable"
#define TABLE armilla_kernels_portable_f64
#include "linalg/kernels/panel.h"
