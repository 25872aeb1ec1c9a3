/* The memory of a sweep, and what is read of its last run. */
#include "solve/sweep_sums.h"

#include "data/slots.h"
#include "sets/column.h"

#include <string.h>

static int64_t workspace_numbers(const armilla_sweep *sweep)
{
    return sweep->assigning ? ARMILLA_STRIP * sweep->r
                            : 3 * ARMILLA_STRIP * sweep->r + armilla_column_workspace(sweep->r);
}

static void lay_out_workspaces(armilla_sweep *sweep, int threads)
{
    const int64_t area = ARMILLA_STRIP * sweep->r, width = armilla_traversal_width(sweep->traversal);
    const size_t size = armilla_type_size(sweep->type), typed_bytes = (size_t)(sweep->r * width) * size;
    const size_t part_bytes = sweep->panels ? (size_t)armilla_sweep_part_numbers(sweep) * size : 0;
    for (int t = 0; t < threads; t++) {
        double *start = sweep->numbers + t * workspace_numbers(sweep);
        armilla_sweep_workspace *b = &sweep->workspaces[t];
        b->C = start;
        if (!sweep->assigning) {
            b->W = start + area;
            b->Q = start + 2 * area;
            b->scratch = start + 3 * area;
            b->typed = sweep->typed + (size_t)t * typed_bytes;
        }
        if (sweep->packing) b->packing = (char *)armilla_align(sweep->packing) + (size_t)t * ARMILLA_KERNEL_SCRATCH;
        b->column = sweep->columns + t * sweep->X->m;
        if (sweep->panels) b->part = (char *)armilla_align(sweep->panels) + (size_t)t * part_bytes;
    }
}

/* What the layout of the data needs. */
static armilla_status take_layout(armilla_sweep *sweep, int threads)
{
    const armilla_layout *layout = sweep->X->ops->layout;
    armilla_context *context = sweep->context;
    if (!layout) return ARMILLA_OK;
    const armilla_samples share = armilla_data_share(context, sweep->X);
    const int64_t bytes =
        threads * armilla_sweep_part_numbers(sweep) * (int64_t)armilla_type_size(sweep->type) + ARMILLA_LINE;
    /* Not zeroed: all of it is written before it is read, by the threads, which had better be the first to touch it. */
    armilla_status status =
        armilla_grow(context, layout->basis_bytes(sweep->X, sweep->type, sweep->r), 1, &sweep->packed);
    if (status == ARMILLA_OK) status = armilla_grow(context, sweep->X->m * sweep->r, sizeof(double), &sweep->A);
    if (status == ARMILLA_OK && !armilla_traversal_direct(sweep->traversal) && !sweep->transposed)
        status = armilla_grow(context, bytes, 1, &sweep->panels);
    if (status == ARMILLA_OK && sweep->transposed && !sweep->own_copy)
        status = armilla_samples_take(context, &share, sweep->r, armilla_type_size(sweep->type), &sweep->kept);
    return status;
}

/* What is to be made: the arguments of armilla_sweep_new. */
static armilla_status new_sweep(const armilla_sweep *wanted, armilla_sweep **sweep)
{
    armilla_context *context = wanted->context;
    const armilla_data *X = wanted->X;
    const armilla_type work = wanted->type;
    const int64_t r = wanted->r;
    armilla_sweep *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    *made = *wanted;
    const int64_t length = armilla_sweep_whole_length(made);
    armilla_traversal_plan plan = {
        .X = X,
        .kernels = armilla_kernels_for(context, work),
        .length = length,
        .parts = armilla_sweep_part_numbers(made),
        .made = made->transposed != NULL,
    };
    const int64_t products = made->by_features ? X->m * r : 0; /* that no vector has */
    plan.length -= products;
    plan.beside = products;
    status = armilla_traversal_new(context, &plan, &made->traversal);
    if (status != ARMILLA_OK) goto failed;
    const int used = armilla_traversal_threads(made->traversal);
    const int64_t area = r * armilla_traversal_width(made->traversal);
    if ((status = armilla_take(context, used, sizeof *made->workspaces, &made->workspaces)) != ARMILLA_OK) goto failed;
    if ((status = armilla_take(context, used * workspace_numbers(made), sizeof(double), &made->numbers)) != ARMILLA_OK)
        goto failed;
    if ((status = armilla_take(context, used * X->m, sizeof(double), &made->columns)) != ARMILLA_OK) goto failed;
    if (!made->assigning &&
        (status = armilla_take(context, used * area, armilla_type_size(work), &made->typed)) != ARMILLA_OK)
        goto failed;
    const int64_t tiled = armilla_kernels_for(context, work)->tiled_numbers(X->m, r);
    const int64_t basis_bytes = X->ops->layout ? 0 : tiled * (int64_t)armilla_type_size(work);
    if ((status = armilla_take(context, basis_bytes + ARMILLA_LINE, 1, &made->U)) != ARMILLA_OK) goto failed;
    const int64_t packed_from = made->by_features ? ARMILLA_LEAST_PACKED : 2 * ARMILLA_LEAST_PACKED; /* saves memory */
    if (!made->assigning && r >= packed_from &&
        (status = armilla_grow(context, used * ARMILLA_KERNEL_SCRATCH + ARMILLA_LINE, 1, &made->packing)) != ARMILLA_OK)
        goto failed;
    if ((status = armilla_take(context, length, sizeof(double), &made->sums)) != ARMILLA_OK) goto failed;
    if ((status = take_layout(made, used)) != ARMILLA_OK) goto failed;
    if (made->by_features && (status = armilla_features_new(made, used)) != ARMILLA_OK) goto failed;
    lay_out_workspaces(made, used);
    *sweep = made;
    return ARMILLA_OK;
failed:
    made->own_copy = NULL; /* still the caller's */
    armilla_sweep_free(made);
    return status;
}

armilla_status armilla_sweep_new(armilla_context *context, const armilla_data *X, armilla_type work, int64_t r,
                                 int64_t tally, armilla_sweep **sweep)
{
    const armilla_sweep wanted = {.context = context, .X = X, .type = work, .r = r, .tally = tally};
    return new_sweep(&wanted, sweep);
}

armilla_status armilla_sweep_new_whole(armilla_context *context, const armilla_data *X, armilla_type work, int64_t r,
                                       int64_t tally, armilla_sweep **sweep)
{
    armilla_sweep wanted = {.context = context, .X = X, .type = work, .r = r, .tally = tally};
    bool pays = false;
    armilla_status status = armilla_transposed_pays(context, X, work, r, &pays);
    if (pays) status = armilla_transposed_new(context, X, work, &wanted.own_copy);
    wanted.transposed = wanted.own_copy;
    wanted.by_features = armilla_features_pay(context, X, work, r);
    if (status == ARMILLA_OK) status = new_sweep(&wanted, sweep);
    if (status != ARMILLA_OK) armilla_transposed_free(wanted.own_copy);
    return status;
}

armilla_status armilla_sweep_new_beside(const armilla_sweep *other, int64_t r, armilla_sweep **sweep)
{
    const armilla_sweep wanted = {
        .context = other->context, .X = other->X, .type = other->type, .r = r, .transposed = other->transposed};
    return new_sweep(&wanted, sweep);
}

armilla_status armilla_sweep_new_assigning(armilla_context *context, const armilla_data *X, armilla_type work,
                                           int64_t r, int64_t tally, armilla_sweep **sweep)
{
    const armilla_partitions one = {.count = 1, .atoms = r, .counters = tally};
    return armilla_sweep_new_partitions(context, X, work, &one, sweep);
}

armilla_status armilla_sweep_new_partitions(armilla_context *context, const armilla_data *X, armilla_type work,
                                            const armilla_partitions *partitions, armilla_sweep **sweep)
{
    const armilla_sweep wanted = {.context = context,
                                  .X = X,
                                  .type = work,
                                  .r = partitions->count * partitions->atoms,
                                  .tally = partitions->count * partitions->counters,
                                  .assigning = true,
                                  .partitions = partitions->count,
                                  .assigned = true,
                                  .diagonal = true};
    return new_sweep(&wanted, sweep);
}

void armilla_sweep_free(armilla_sweep *sweep)
{
    if (!sweep) return;
    armilla_features_free(sweep->features);
    armilla_transposed_free(sweep->own_copy);
    armilla_release(sweep->context, sweep->kept);
    armilla_release(sweep->context, sweep->panels);
    armilla_release(sweep->context, sweep->A);
    armilla_release(sweep->context, sweep->packed);
    armilla_release(sweep->context, sweep->sums);
    armilla_release(sweep->context, sweep->packing);
    armilla_release(sweep->context, sweep->U);
    armilla_release(sweep->context, sweep->typed);
    armilla_release(sweep->context, sweep->columns);
    armilla_release(sweep->context, sweep->numbers);
    armilla_release(sweep->context, sweep->workspaces);
    armilla_traversal_free(sweep->traversal);
    armilla_release(sweep->context, sweep);
}

const double *armilla_sweep_A(const armilla_sweep *sweep)
{
    return sweep->A ? sweep->A : sweep->sums + armilla_sweep_product_offset(sweep);
}

const double *armilla_sweep_G(const armilla_sweep *sweep)
{
    return sweep->diagonal ? NULL : sweep->sums;
}

void armilla_sweep_copy(const armilla_sweep *sweep, double *A, double *G)
{
    armilla_team_copy(armilla_sweep_team(sweep), (size_t)(sweep->X->m * sweep->r) * sizeof *A, armilla_sweep_A(sweep),
                      A);
    const size_t bytes = (size_t)(sweep->r * sweep->r) * sizeof *G;
    if (!sweep->diagonal) {
        memcpy(G, sweep->sums, bytes);
        return;
    }
    memset(G, 0, bytes);
    for (int64_t k = 0; k < sweep->r; k++) G[k * sweep->r + k] = sweep->sums[k];
}

const double *armilla_sweep_sizes(const armilla_sweep *sweep)
{
    return sweep->diagonal ? sweep->sums : NULL;
}

const double *armilla_sweep_tally(const armilla_sweep *sweep)
{
    return sweep->sums + armilla_sweep_tally_offset(sweep);
}

double armilla_sweep_cross(const armilla_sweep *sweep)
{
    return sweep->sums[armilla_sweep_scalar_offset(sweep) + ARMILLA_SWEEP_CROSS];
}

double armilla_sweep_change(const armilla_sweep *sweep)
{
    return sweep->sums[armilla_sweep_scalar_offset(sweep) + ARMILLA_SWEEP_CHANGE];
}

int64_t armilla_sweep_count(const armilla_sweep *sweep)
{
    return sweep->runs;
}

int64_t *armilla_sweep_runs(armilla_sweep *sweep)
{
    return &sweep->runs;
}

const armilla_traversal *armilla_sweep_traversal(const armilla_sweep *sweep)
{
    return sweep->traversal;
}

armilla_type armilla_sweep_type(const armilla_sweep *sweep)
{
    return sweep->type;
}

int armilla_sweep_threads(const armilla_sweep *sweep)
{
    return armilla_traversal_threads(sweep->traversal);
}

const armilla_team *armilla_sweep_team(const armilla_sweep *sweep)
{
    return armilla_traversal_team(sweep->traversal);
}
