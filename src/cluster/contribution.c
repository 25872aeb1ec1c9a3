/* What atoms contribute to samples. A basis of free scale has atoms of any length, which alone says how much a coefficient
 * means. */
#include "cluster/contribution.h"

#include "cluster/keep_clusters.h"
#include "linalg/kernels.h"

#include <math.h>

void armilla_atom_lengths(const armilla_model *model, double *lengths)
{
    const armilla_type type = model->summary.precision;
    const int64_t m = model->summary.m;
    for (int64_t k = 0; k < model->summary.rank; k++) {
        double square = 0;
        for (int64_t i = 0; i < m && model->basis->scalable; i++) {
            double x = 0;
            armilla_fetch(type, 1, (const char *)model->U + (size_t)(k * m + i) * armilla_type_size(type), &x);
            square += x * x;
        }
        lengths[k] = model->basis->scalable ? sqrt(square) : 1;
    }
}

int64_t armilla_largest_contribution(int64_t r, const double *code, const double *lengths)
{
    int64_t best = 0;
    for (int64_t k = 1; k < r; k++)
        if (code[k] * lengths[k] > code[best] * lengths[best]) best = k;
    return best;
}

armilla_status armilla_largest_contributions(armilla_context *context, const armilla_model *model, const void *codes,
                                             const armilla_samples *share, int64_t *atoms)
{
    const int64_t r = model->summary.rank;
    double *code = NULL, *lengths = NULL;
    armilla_status status = armilla_take(context, r, sizeof *code, &code);
    if (status == ARMILLA_OK) status = armilla_take(context, r, sizeof *lengths, &lengths);
    if (status == ARMILLA_OK) armilla_atom_lengths(model, lengths);
    for (int64_t j = share->first; j < share->last && status == ARMILLA_OK; j++) {
        (void)armilla_code_fetch(model, codes, j, code);
        atoms[j] = armilla_largest_contribution(r, code, lengths);
    }
    armilla_release(context, lengths);
    armilla_release(context, code);
    return status;
}
