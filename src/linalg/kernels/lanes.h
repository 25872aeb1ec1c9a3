/* Numbers of several columns side by side: vectors of doubles, BYTES each, that together are one number of ARMILLA_LANES
 * columns. For kernels that are written once and compiled per instruction set. */
#include "linalg/code_kernels.h"

#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    LANES = ARMILLA_LANES,
    WIDTH = BYTES / (int)sizeof(double), /* lanes of a vector */
    GROUPS = LANES / WIDTH,              /* vectors that are one number of every lane */
    TOGETHER = 8 / GROUPS                /* sums that stay in registers, so that none waits for the one before */
};
#define EACH_GROUP for (int g = 0; g < GROUPS; g++)

typedef double vector __attribute__((vector_size(BYTES), aligned(sizeof(double)), may_alias));
typedef int64_t mask __attribute__((vector_size(BYTES))); /* all bits of a lane, or none */

/* One number of every lane. */
typedef struct lanes {
    vector of[GROUPS];
} lanes;

INLINE vector spread(double number)
{
    return number - (vector){0};
}

/* a where the mask is set, b elsewhere. */
INLINE vector choose(mask where, vector a, vector b)
{
    return (vector)((where & (mask)a) | (~where & (mask)b));
}

INLINE vector larger(vector a, vector b)
{
    return choose((mask)(a > b), a, b);
}
