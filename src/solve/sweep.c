/* The sweep as a visitor of the pass over X. All its sums are one flat vector,
 * [G | scalars | tally | A]; where A is not wanted the vector ends before it. A form of data may want U and A to lie
 * in another way than m x r (armilla_layout). */
#include "solve/sweep.h"

#include "base/size.h"
#include "linalg/dense.h"
#include "sets/column.h"

#include <string.h>

enum { CROSS, CHANGE, SCALARS };

/* One thread's panel of numbers. */
typedef struct bench {
    double *C, *W, *previous; /* r x width */
    void *typed;              /* W in the working type */
    double *scratch;          /* for the step */
} bench;

struct armilla_sweep {
    armilla_context *context;
    const armilla_data *X;
    armilla_traversal *traversal;
    armilla_type type;
    int64_t r, tally, runs;
    void *packed; /* the basis as the data's layout has it; NULL where that is m x r */
    double *A;    /* m x r where the data have a layout, else inside sums */
    bench *benches;
    double *numbers; /* of all benches */
    char *typed;
    char *U; /* room for the plan's U on whole cache lines, which products read fastest */
    double *sums;
    const armilla_sweep_plan *plan; /* of the run under way */
};

static int64_t scalar_offset(const armilla_sweep *sweep)
{
    return sweep->r * sweep->r;
}

static int64_t tally_offset(const armilla_sweep *sweep)
{
    return scalar_offset(sweep) + SCALARS;
}

static int64_t bench_numbers(int64_t r, int64_t area)
{
    return 3 * area + armilla_column_room(r);
}

static int64_t product_offset(const armilla_sweep *sweep)
{
    return tally_offset(sweep) + sweep->tally;
}

static int64_t whole_length(const armilla_sweep *sweep)
{
    const armilla_layout *layout = sweep->X->ops->layout;
    return product_offset(sweep) + (layout ? layout->sums(sweep->X, sweep->r) : sweep->X->m * sweep->r);
}

static void lay_out_benches(armilla_sweep *sweep, int threads, int64_t area)
{
    const size_t typed_bytes = (size_t)area * armilla_type_size(sweep->type);
    for (int t = 0; t < threads; t++) {
        double *start = sweep->numbers + t * bench_numbers(sweep->r, area);
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
    *made = (armilla_sweep){.context = context, .X = X, .type = work, .r = r, .tally = tally};
    const int64_t length = whole_length(made);
    const armilla_layout *layout = X->ops->layout;
    status = armilla_traversal_new(context, X, armilla_kernels_for(context, work), threads, length, &made->traversal);
    if (status != ARMILLA_OK) goto failed;
    const int used = armilla_traversal_threads(made->traversal);
    const int64_t area = r * armilla_traversal_width(made->traversal);
    if ((status = armilla_take(context, used, sizeof *made->benches, &made->benches)) != ARMILLA_OK) goto failed;
    if ((status = armilla_take(context, used * bench_numbers(r, area), sizeof(double), &made->numbers)) != ARMILLA_OK)
        goto failed;
    if ((status = armilla_take(context, used * area, armilla_type_size(work), &made->typed)) != ARMILLA_OK) goto failed;
    if ((status = armilla_take(context, X->m * r * (int64_t)armilla_type_size(work) + ARMILLA_LINE, 1, &made->U)) !=
        ARMILLA_OK)
        goto failed;
    if ((status = armilla_take(context, length, sizeof(double), &made->sums)) != ARMILLA_OK) goto failed;
    if (layout && (status = armilla_take(context, layout->basis_bytes(X, work, r), 1, &made->packed)) != ARMILLA_OK)
        goto failed;
    if (layout && (status = armilla_take(context, X->m * r, sizeof(double), &made->A)) != ARMILLA_OK) goto failed;
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
    armilla_release(sweep->context, sweep->A);
    armilla_release(sweep->context, sweep->packed);
    armilla_release(sweep->context, sweep->sums);
    armilla_release(sweep->context, sweep->U);
    armilla_release(sweep->context, sweep->typed);
    armilla_release(sweep->context, sweep->numbers);
    armilla_release(sweep->context, sweep->benches);
    armilla_traversal_free(sweep->traversal);
    armilla_release(sweep->context, sweep);
}

/* G += WW', in parts: a part's sum is made in the working type, as that of A. */
static void add_gram(const armilla_kernels *kernels, int64_t r, int64_t count, const void *W, double *G)
{
    enum { PART = 120 };
    const size_t size = armilla_type_size(kernels->type);
    for (int64_t first = 0; first < count; first += PART) {
        const void *part = (const char *)W + (size_t)(first * r) * size;
        const armilla_columns codes = {
            .values = part, .m = r, .count = count - first < PART ? count - first : PART, .stride = r};
        kernels->accumulate(&codes, r, part, G);
    }
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
    if (plan->U) ops->products(panel, r, ops->layout ? sweep->packed : armilla_align(sweep->U), b->C);
    if (plan->previous) {
        const size_t size = armilla_type_size(sweep->type);
        armilla_fetch(sweep->type, r * count, (const char *)plan->previous + (size_t)(panel->first * r) * size,
                      b->previous);
        memcpy(b->W, b->previous, (size_t)(r * count) * sizeof(double));
    }
    /* W_b from C */
    const armilla_code_panel codes = {r, panel->first, count, b->C, b->W, b->scratch, sums + tally_offset(sweep)};
    plan->step(plan->self, &codes);
    const void *typed = round_codes(sweep, b, panel->first, count);
    /* <C,W>, ||W - W_previous||^2 */
    add_scalars(r * count, plan->U ? b->C : NULL, b->W, plan->previous ? b->previous : NULL,
                sums + scalar_offset(sweep));
    if (plan->sums) {
        /* A += X_b W_b', G += W_b W_b' */
        ops->accumulate(panel, r, typed, sums + product_offset(sweep));
        add_gram(panel->kernels, r, count, typed, sums);
    }
    return ARMILLA_OK;
}

armilla_status armilla_sweep_run(armilla_sweep *sweep, const armilla_sweep_plan *plan)
{
    const int64_t r = sweep->r, length = plan->sums ? whole_length(sweep) : product_offset(sweep);
    const armilla_layout *layout = sweep->X->ops->layout;
    armilla_team *team = armilla_traversal_team(sweep->traversal);
    sweep->plan = plan;
    if (layout && plan->U) layout->pack(sweep->X, sweep->type, r, team, plan->U, sweep->packed);
    if (!layout && plan->U)
        memcpy(armilla_align(sweep->U), plan->U, (size_t)(sweep->X->m * r) * armilla_type_size(sweep->type));
    const armilla_status status = armilla_traverse(sweep->traversal, length, visit, sweep, sweep->sums);
    sweep->plan = NULL;
    sweep->runs++;
    if (status != ARMILLA_OK)
        return armilla_fail(sweep->context, status, "a panel of the data could not be loaded: %s",
                            armilla_status_text(status));
    if (layout && plan->sums) layout->unpack(sweep->X, r, team, sweep->sums + product_offset(sweep), sweep->A);
    return ARMILLA_OK;
}

const double *armilla_sweep_A(const armilla_sweep *sweep)
{
    return sweep->A ? sweep->A : sweep->sums + product_offset(sweep);
}

const double *armilla_sweep_G(const armilla_sweep *sweep)
{
    return sweep->sums;
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
