/* The sweep as a visitor of the pass over X. All its sums are one flat vector, [A | G | scalars | tally]. */
#include "solve/sweep.h"

#include "base/size.h"
#include "linalg/dense.h"

#include <string.h>

enum { CROSS, CHANGE, SCALARS };

/* One thread's panel of numbers. */
typedef struct bench {
    double *C, *W, *previous; /* r x width */
    void *typed;              /* W in the working type */
    double *scratch;          /* 2r */
} bench;

struct armilla_sweep {
    armilla_context *context;
    const armilla_data *X;
    armilla_traversal *traversal;
    armilla_type type;
    int64_t r, runs;
    bench *benches;
    double *numbers; /* of all benches */
    char *typed;
    char *U; /* room for the plan's U on whole cache lines, which products read fastest */
    double *sums;
    const armilla_sweep_plan *plan; /* of the run under way */
};

static int64_t gram_offset(const armilla_sweep *sweep)
{
    return sweep->X->m * sweep->r;
}

static int64_t scalar_offset(const armilla_sweep *sweep)
{
    return gram_offset(sweep) + sweep->r * sweep->r;
}

static int64_t tally_offset(const armilla_sweep *sweep)
{
    return scalar_offset(sweep) + SCALARS;
}

static void lay_out_benches(armilla_sweep *sweep, int threads, int64_t area)
{
    const size_t typed_bytes = (size_t)area * armilla_type_size(sweep->type);
    for (int t = 0; t < threads; t++) {
        double *start = sweep->numbers + t * (3 * area + 2 * sweep->r);
        sweep->benches[t] =
            (bench){start, start + area, start + 2 * area, sweep->typed + (size_t)t * typed_bytes, start + 3 * area};
    }
}

armilla_status armilla_sweep_new(armilla_context *context, const armilla_data *X, armilla_type work, int64_t r,
                                 int64_t tally, int threads, armilla_sweep **sweep)
{
    armilla_sweep *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    *made = (armilla_sweep){.context = context, .X = X, .type = work, .r = r};
    const int64_t length = tally_offset(made) + tally;
    status = armilla_traversal_new(context, X, armilla_kernels_for(context, work), threads, length, &made->traversal);
    if (status != ARMILLA_OK) goto failed;
    const int used = armilla_traversal_threads(made->traversal);
    const int64_t area = r * armilla_traversal_width(made->traversal);
    if ((status = armilla_take(context, used, sizeof *made->benches, &made->benches)) != ARMILLA_OK) goto failed;
    if ((status = armilla_take(context, used * (3 * area + 2 * r), sizeof(double), &made->numbers)) != ARMILLA_OK)
        goto failed;
    if ((status = armilla_take(context, used * area, armilla_type_size(work), &made->typed)) != ARMILLA_OK) goto failed;
    if ((status = armilla_take(context, X->m * r * (int64_t)armilla_type_size(work) + ARMILLA_LINE, 1, &made->U)) !=
        ARMILLA_OK)
        goto failed;
    if ((status = armilla_take(context, length, sizeof(double), &made->sums)) != ARMILLA_OK) goto failed;
    lay_out_benches(made, used, area);
    *sweep = made;
    return ARMILLA_OK;
failed:
    armilla_sweep_free(made);
    return status;
}

void armilla_sweep_free(armilla_sweep *sweep)
{
    if (!sweep) return;
    armilla_release(sweep->context, sweep->sums);
    armilla_release(sweep->context, sweep->U);
    armilla_release(sweep->context, sweep->typed);
    armilla_release(sweep->context, sweep->numbers);
    armilla_release(sweep->context, sweep->benches);
    armilla_traversal_free(sweep->traversal);
    armilla_release(sweep->context, sweep);
}

/* G += WW': the panel's sum in the working type, as that of A. */
static void add_gram(const armilla_kernels *kernels, int64_t r, int64_t count, const void *W, double *G)
{
    const armilla_columns codes = {.values = W, .m = r, .count = count, .stride = r};
    kernels->accumulate(&codes, r, W, G);
}

static void add_scalars(int64_t count, const double *C, const double *W, const double *previous, double *scalars)
{
    if (C) scalars[CROSS] += armilla_dot(count, C, W);
    if (previous) scalars[CHANGE] += armilla_squared_distance(count, W, previous);
}

/* Rounds the panel's codes to the working type, in their place or on the bench, so that every sum is of the codes as
 * they are stored; returns them typed. */
static const void *round_codes(const armilla_sweep *sweep, bench *b, int64_t first, int64_t count)
{
    const int64_t r = sweep->r;
    void *codes = sweep->plan->codes;
    void *place = codes ? (char *)codes + (size_t)(first * r) * armilla_type_size(sweep->type) : b->typed;
    armilla_store(sweep->type, r * count, b->W, place);
    armilla_fetch(sweep->type, r * count, place, b->W);
    return place;
}

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const armilla_sweep *sweep = self;
    const armilla_sweep_plan *plan = sweep->plan;
    const armilla_data_ops *ops = panel->data->ops;
    const int64_t r = sweep->r, count = panel->count;
    bench *b = &sweep->benches[thread];
    /* C = U'X_b */
    if (plan->U) ops->products(panel, r, armilla_align(sweep->U), b->C);
    if (plan->codes) {
        const size_t size = armilla_type_size(sweep->type);
        armilla_fetch(sweep->type, r * count, (const char *)plan->codes + (size_t)(panel->first * r) * size,
                      b->previous);
        memcpy(b->W, b->previous, (size_t)(r * count) * sizeof(double));
    }
    /* W_b from C */
    const armilla_code_panel codes = {r, panel->first, count, b->C, b->W, b->scratch, sums + tally_offset(sweep)};
    plan->step(plan->self, &codes);
    const void *typed = round_codes(sweep, b, panel->first, count);
    /* <C,W>, ||W - W_previous||^2 */
    add_scalars(r * count, plan->U ? b->C : NULL, b->W, plan->codes ? b->previous : NULL, sums + scalar_offset(sweep));
    if (plan->sums) {
        /* A += X_b W_b', G += W_b W_b' */
        ops->accumulate(panel, r, typed, sums);
        add_gram(panel->kernels, r, count, typed, sums + gram_offset(sweep));
    }
    return ARMILLA_OK;
}

armilla_status armilla_sweep_run(armilla_sweep *sweep, const armilla_sweep_plan *plan)
{
    sweep->plan = plan;
    if (plan->U)
        memcpy(armilla_align(sweep->U), plan->U, (size_t)(sweep->X->m * sweep->r) * armilla_type_size(sweep->type));
    const armilla_status status =
        armilla_traverse(sweep->traversal, tally_offset(sweep) + plan->tally, visit, sweep, sweep->sums);
    sweep->plan = NULL;
    sweep->runs++;
    if (status != ARMILLA_OK)
        return armilla_fail(sweep->context, status, "a panel of the data could not be loaded: %s",
                            armilla_status_text(status));
    return ARMILLA_OK;
}

const double *armilla_sweep_A(const armilla_sweep *sweep)
{
    return sweep->sums;
}

const double *armilla_sweep_G(const armilla_sweep *sweep)
{
    return sweep->sums + gram_offset(sweep);
}

const double *armilla_sweep_tally(const armilla_sweep *sweep)
{
    return sweep->sums + tally_offset(sweep);
}

double armilla_sweep_cross(const armilla_sweep *sweep)
{
    return sweep->sums[scalar_offset(sweep) + CROSS];
}

double armilla_sweep_change(const armilla_sweep *sweep)
{
    return sweep->sums[scalar_offset(sweep) + CHANGE];
}

int64_t armilla_sweep_count(const armilla_sweep *sweep)
{
    return sweep->runs;
}

int armilla_sweep_threads(const armilla_sweep *sweep)
{
    return armilla_traversal_threads(sweep->traversal);
}
