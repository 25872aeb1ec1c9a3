/* Ranks that are threads of this process, each with a context of its own: a table of armilla/ranks.h without MPI. */
#ifndef ARMILLA_TESTS_RANKS_H
#define ARMILLA_TESTS_RANKS_H

#include "base/context.h"

#include <armilla/ranks.h>

/* What a rank does; its number and the context that has the table. Not cmocka's checks: these belong to one thread. */
typedef void (*reference_rank_body)(void *self, int rank, armilla_context *context);

/* Runs body as so many ranks at the same time; returns when all have ended, and never where one waits for another that
 * will not come. cut: the message, counted over all, whose sender alone finds the connection lost, until it has ended:
 * then all do; -1: none. Every message is received as what it was sent as. */
void reference_run_ranks(int size, int64_t cut, reference_rank_body body, void *self);

#endif
