/* The panel products in float for any CPU. */
#define REAL float
#define LANES 4
#define TYPE_TAG ARMILLA_F32
#define ISA_NAME "portable"
#define TABLE armilla_kernels_portable_f32
#include "linalg/kernels/panel.h"
