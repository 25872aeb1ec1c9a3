/* Samples drawn evenly from all. */
#ifndef ARMILLA_DATA_STRATIFIED_H
#define ARMILLA_DATA_STRATIFIED_H

#include "base/random.h"

/* drawn = one number of each of the `count` <= n equal runs that 0 ... n-1 are divided into, so that they rise and none
 * comes twice. */
void armilla_draw_stratified(int64_t n, int64_t count, uint64_t seed, armilla_stream stream, int64_t *drawn);

#endif
