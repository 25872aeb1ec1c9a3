/* Code steps side by side, for any processor. */
#define BYTES 16
#define ISA_NAME "portable"
#define TABLE armilla_codes_portable
#include "linalg/kernels/codes.h"
