/* Small and thin problems, for any processor. */
#define BYTES 16
#define ISA_NAME "portable"
#define TABLE armilla_thin_portable
#include "linalg/kernels/thin.h"
