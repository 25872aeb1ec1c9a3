/* NNDSVD (Boutsidis and Gallopoulos, 2008): of each singular pair the positive or the negative parts, whichever
 * carry more. sigma_k*v_k = X'u_k, so the parts of v_k are read off the sums of C_k = u_k'X. */
#include "start/start.h"

#include <math.h>

static double part_norm(int64_t m, const double *u, double sign)
{
    double sum = 0;
    for (int64_t i = 0; i < m; i++)
        if (sign * u[i] > 0) sum += u[i] * u[i];
    return sqrt(sum);
}

static void keep_better_part(int64_t m, double *u, const armilla_row_sums *c)
{
    const double up = part_norm(m, u, 1), down = part_norm(m, u, -1);
    const double positive = up * sqrt(c->positive_squares), negative = down * sqrt(c->negative_squares);
    const double sign = positive >= negative ? 1 : -1, norm = sign > 0 ? up : down;
    const double scale = norm > 0 ? sqrt(fmax(positive, negative)) / norm : 0;
    for (int64_t i = 0; i < m; i++) u[i] = scale * fmax(sign * u[i], 0);
}

typedef struct choosing {
    int64_t m;
    double *U;
    const armilla_row_sums *sums;
} choosing;

static void choose_parts(void *self, int64_t first, int64_t last)
{
    const choosing *c = self;
    for (int64_t k = first; k < last; k++) keep_better_part(c->m, c->U + k * c->m, &c->sums[k]);
}

static armilla_status make(armilla_problem *problem, uint64_t seed, double *U)
{
    armilla_context *context = problem->context;
    armilla_row_sums *sums = NULL;
    armilla_status status = armilla_take(context, problem->r, sizeof *sums, &sums);
    if (status == ARMILLA_OK) status = armilla_leading_directions(problem, seed, U);
    if (status == ARMILLA_OK) {
        armilla_store(problem->options.type, problem->m * problem->r, U, problem->U_typed);
        status = armilla_row_sums_of(problem->sweep, problem->r, problem->U_typed, sqrt(problem->squared_norm), sums);
    }
    if (status == ARMILLA_OK)
        armilla_team_share(armilla_sweep_team(problem->sweep), problem->r, choose_parts,
                           &(choosing){problem->m, U, sums});
    armilla_release(context, sums);
    return status;
}

const armilla_start armilla_start_nndsvd = {
    .name = "nndsvd",
    .meaning = "nonnegative parts of the leading singular vectors",
    .make = make,
};
