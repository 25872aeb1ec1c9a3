/* The table of starting points, and which one suits a pair. */
#include "start/start.h"

#include <string.h>

static const armilla_start *const rows[] = {
    &armilla_start_random, &armilla_start_kmeans, &armilla_start_svd, &armilla_start_nndsvd, &armilla_start_samples,
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const armilla_start *armilla_starts_row(size_t index)
{
    return index < ROWS ? rows[index] : NULL;
}

const armilla_start *armilla_starts_find(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(name, rows[i]->name) == 0) return rows[i];
    return NULL;
}

/* By measurement (final error of palm on faces, reports and cells): singular vectors lead an orthonormal basis to lower
 * minima than samples do; their nonnegative parts a nonnegative one, unless codes are sparse, where atoms had better be
 * samples. */
const armilla_start *armilla_starts_default(const armilla_basis_set *basis, const armilla_code_set *codes)
{
    const bool assigns = !codes->spherical && !codes->conic;
    if (assigns) return &armilla_start_kmeans;
    if (basis->is_signed && (basis->gram_is_identity || !codes->sparse)) return &armilla_start_svd;
    return codes->sparse ? &armilla_start_kmeans : &armilla_start_nndsvd;
}
