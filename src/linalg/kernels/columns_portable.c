/* The numbers of columns, for any processor. */
#define BYTES 16
#define ISA_NAME "portable"
#define TABLE armilla_columns_portable
#include "linalg/kernels/columns.h"
