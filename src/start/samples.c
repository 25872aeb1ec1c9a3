/* Randomly drawn samples as atoms. */
#include "start/start.h"

#include "base/random.h"
#include "base/size.h"
#include "data/column.h"

static void swap(int64_t *a, int64_t *b)
{
    const int64_t t = *a;
    *a = *b;
    *b = t;
}

armilla_status armilla_shuffle_samples(armilla_problem *problem, uint64_t seed, int64_t **order)
{
    const int64_t n = problem->n;
    int64_t *made = NULL, nonzero = 0;
    const armilla_status status = armilla_take(problem->context, n, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    for (int64_t j = 0; j < n; j++) made[j] = j;
    for (int64_t j = 0; j < n; j++)
        if (problem->squared_norms[j] > 0) swap(&made[nonzero++], &made[j]);
    for (int64_t j = 0; j + 1 < nonzero; j++) {
        const uint64_t left = (uint64_t)(nonzero - j);
        swap(&made[j], &made[j + (int64_t)(armilla_random_bits(seed, ARMILLA_STREAM_SAMPLES, (uint64_t)j) % left)]);
    }
    *order = made;
    return ARMILLA_OK;
}

static armilla_status make(armilla_problem *problem, uint64_t seed, double *U)
{
    int64_t *order = NULL;
    armilla_status status = armilla_shuffle_samples(problem, seed, &order);
    const int64_t count = armilla_min64(problem->r, problem->n);
    if (status == ARMILLA_OK)
        status = armilla_data_gather(problem->context, problem->X, problem->options.type, count, order, U);
    armilla_release(problem->context, order);
    return status;
}

const armilla_start armilla_start_samples = {
    .name = "samples",
    .meaning = "randomly drawn samples",
    .make = make,
};
