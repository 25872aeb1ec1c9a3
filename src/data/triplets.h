/* A sparse matrix from entries in any order, as coordinate files have them. */
#ifndef ARMILLA_DATA_TRIPLETS_H
#define ARMILLA_DATA_TRIPLETS_H

#include "base/team.h"
#include "data/sparse_matrix.h"

/* Entry k has (*values)[k] at (*features)[k], samples[k], counted from 0. */
typedef struct armilla_triplets {
    int64_t m, n;
    int64_t count;
    int32_t **features; /* taken over, and set to NULL, where they already lie as the matrix wants them */
    double **values;    /* as well */
    const int32_t *samples;
    double
        mirror; /* 1 or -1: an entry off the diagonal also stands, times this, at the mirrored place; 0: it does not */
} armilla_triplets;

/* The entries' own arrays become the matrix's. */
static inline void armilla_triplets_hand_over(const armilla_triplets *from, armilla_sparse_matrix *to)
{
    to->rows = *from->features;
    to->values = *from->values;
    *from->features = NULL;
    *from->values = NULL;
}

/* Compressed columns, one per sample, features rising; what belongs to one place is added up in the order given. The
 * result does not depend on the number of threads. Indices are in range. */
armilla_status armilla_triplets_compress(armilla_context *context, const armilla_team *team,
                                         const armilla_triplets *from, armilla_sparse_matrix *made);

/* The same by blocks of samples, for entries without mirrored ones whose matrix has 32-bit indices. *done is false, and
 * nothing has happened, where a block is too large for the cache or memory is too short. */
armilla_status armilla_triplets_block(armilla_context *context, const armilla_team *team, const armilla_triplets *from,
                                      armilla_sparse_matrix *made, bool *done);

/* The same for entries that are spilled (base/spill.h), as the matrix then is: samples are sorted in runs that fit in
 * memory, by the function above. Samples and columns alone are counted there. */
armilla_status armilla_triplets_spill(armilla_context *context, const armilla_team *team, const armilla_triplets *from,
                                      armilla_sparse_matrix *made);

#endif
