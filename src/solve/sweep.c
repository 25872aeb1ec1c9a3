/* The sweep as a visitor of the pass over X. All its sums are one vector, [G | scalars | tally | A]; where A is not
 * wanted the vector ends before it, and where codes are assignments, so that G is diagonal, it begins with the diagonal. A form
 * of data may want U and A to lie in another way than m x r (armilla_layout): then there are r sums that are wanted
 * beside A, and A, in a segment of its own. */
#include "solve/sweep.h"

#include "base/size.h"
#include "linalg/dense.h"
#include "sets/column.h"

#include <string.h>

enum { CROSS, CHANGE, SCALARS };

/* Columns whose numbers are made at a time, so that they stay in the first caches; panels may be wider. It is also how
 * many columns of G are summed in the working type. */
enum { STRIP = 120 };

/* One thread's numbers. */
typedef struct workspace {
    double *C, *W, *previous, *Q; /* r x STRIP */
    void *typed;                  /* the panel's W in the working type */
    double *scratch;              /* for the step */
    int32_t before[STRIP];        /* the previous assignments */
    char *part;                   /* the panel's XW', where the data have a layout and it is not written directly */
} workspace;

struct armilla_sweep {
    armilla_context *context;
    const armilla_data *X;
    armilla_traversal *traversal;
    armilla_type type;
    int64_t r, tally, runs;
    bool assigning; /* no plan has codes of numbers */
    bool assigned;  /* the last run, or the one in progress, has assignments */
    void *packed;   /* the basis as the data's layout has it; NULL where that is m x r */
    double *A;      /* m x r where the data have a layout, else inside sums */
    char *panels;   /* XW' of the panels of each thread, where it is not written directly */
    workspace *workspaces;
    double *numbers; /* of all workspaces */
    char *typed;
    char *U; /* space for the plan's U on whole cache lines, which products read fastest */
    double *sums;
    const armilla_sweep_plan *plan; /* of the run in progress */
};

static int64_t scalar_offset(const armilla_sweep *sweep)
{
    return sweep->assigned ? sweep->r : sweep->r * sweep->r;
}

static int64_t tally_offset(const armilla_sweep *sweep)
{
    return scalar_offset(sweep) + SCALARS;
}

static int64_t workspace_numbers(const armilla_sweep *sweep)
{
    return sweep->assigning ? STRIP * sweep->r : 4 * STRIP * sweep->r + armilla_column_workspace(sweep->r);
}

static int64_t product_offset(const armilla_sweep *sweep)
{
    return tally_offset(sweep) + sweep->tally;
}

/* The sums in double that a run has; what a layout's A begins behind is whole cache lines. */
static int64_t whole_length(const armilla_sweep *sweep)
{
    enum { STEP = ARMILLA_LINE / sizeof(double) };
    const int64_t before = product_offset(sweep);
    return sweep->X->ops->layout ? (before + sweep->r + STEP - 1) / STEP * STEP : before + sweep->X->m * sweep->r;
}

/* Numbers of A in the data's layout; 0 where they have none. */
static int64_t part_numbers(const armilla_sweep *sweep)
{
    const armilla_layout *layout = sweep->X->ops->layout;
    return layout ? layout->numbers(sweep->X, sweep->type, sweep->r) : 0;
}

static void lay_out_workspaces(armilla_sweep *sweep, int threads)
{
    const int64_t area = STRIP * sweep->r, width = armilla_traversal_width(sweep->traversal);
    const size_t size = armilla_type_size(sweep->type), typed_bytes = (size_t)(sweep->r * width) * size;
    const size_t part_bytes = sweep->panels ? (size_t)part_numbers(sweep) * size : 0;
    for (int t = 0; t < threads; t++) {
        double *start = sweep->numbers + t * workspace_numbers(sweep);
        workspace *b = &sweep->workspaces[t];
        b->C = start;
        if (!sweep->assigning) {
            b->W = start + area;
            b->previous = start + 2 * area;
            b->Q = start + 3 * area;
            b->scratch = start + 4 * area;
            b->typed = sweep->typed + (size_t)t * typed_bytes;
        }
        if (sweep->panels) b->part = (char *)armilla_align(sweep->panels) + (size_t)t * part_bytes;
    }
}

/* What the layout of the data needs. */
static armilla_status take_layout(armilla_sweep *sweep, int threads)
{
    const armilla_layout *layout = sweep->X->ops->layout;
    armilla_context *context = sweep->context;
    if (!layout) return ARMILLA_OK;
    const int64_t bytes = threads * part_numbers(sweep) * (int64_t)armilla_type_size(sweep->type) + ARMILLA_LINE;
    armilla_status status =
        armilla_take(context, layout->basis_bytes(sweep->X, sweep->type, sweep->r), 1, &sweep->packed);
    if (status == ARMILLA_OK) status = armilla_take(context, sweep->X->m * sweep->r, sizeof(double), &sweep->A);
    /* Not zeroed: accumulate writes all of it, and the threads had better be the first to touch it. */
    if (status == ARMILLA_OK && !armilla_traversal_direct(sweep->traversal))
        status = armilla_grow(context, bytes, 1, &sweep->panels);
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
    const int64_t length = whole_length(made);
    const armilla_traversal_plan plan = {
        .X = X, .kernels = armilla_kernels_for(context, work), .length = length, .parts = part_numbers(made)};
    status = armilla_traversal_new(context, &plan, &made->traversal);
    if (status != ARMILLA_OK) goto failed;
    const int used = armilla_traversal_threads(made->traversal);
    const int64_t area = r * armilla_traversal_width(made->traversal);
    if ((status = armilla_take(context, used, sizeof *made->workspaces, &made->workspaces)) != ARMILLA_OK) goto failed;
    if ((status = armilla_take(context, used * workspace_numbers(made), sizeof(double), &made->numbers)) != ARMILLA_OK)
        goto failed;
    if (!made->assigning &&
        (status = armilla_take(context, used * area, armilla_type_size(work), &made->typed)) != ARMILLA_OK)
        goto failed;
    if ((status = armilla_take(context, X->m * r * (int64_t)armilla_type_size(work) + ARMILLA_LINE, 1, &made->U)) !=
        ARMILLA_OK)
        goto failed;
    if ((status = armilla_take(context, length, sizeof(double), &made->sums)) != ARMILLA_OK) goto failed;
    if ((status = take_layout(made, used)) != ARMILLA_OK) goto failed;
    lay_out_workspaces(made, used);
    *sweep = made;
    return ARMILLA_OK;
failed:
    armilla_sweep_free(made);
    return status;
}

armilla_status armilla_sweep_new(armilla_context *context, const armilla_data *X, armilla_type work, int64_t r,
                                 int64_t tally, armilla_sweep **sweep)
{
    const armilla_sweep wanted = {.context = context, .X = X, .type = work, .r = r, .tally = tally};
    return new_sweep(&wanted, sweep);
}

armilla_status armilla_sweep_new_assigning(armilla_context *context, const armilla_data *X, armilla_type work,
                                           int64_t r, int64_t tally, armilla_sweep **sweep)
{
    const armilla_sweep wanted = {
        .context = context, .X = X, .type = work, .r = r, .tally = tally, .assigning = true, .assigned = true};
    return new_sweep(&wanted, sweep);
}

void armilla_sweep_free(armilla_sweep *sweep)
{
    if (!sweep) return;
    armilla_release(sweep->context, sweep->panels);
    armilla_release(sweep->context, sweep->A);
    armilla_release(sweep->context, sweep->packed);
    armilla_release(sweep->context, sweep->sums);
    armilla_release(sweep->context, sweep->U);
    armilla_release(sweep->context, sweep->typed);
    armilla_release(sweep->context, sweep->numbers);
    armilla_release(sweep->context, sweep->workspaces);
    armilla_traversal_free(sweep->traversal);
    armilla_release(sweep->context, sweep);
}

/* G += WW': the sum over a strip is made in the working type, as that of A. */
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

/* Where the panel's codes from column j on lie in the working type: in their place or in the workspace. */
static char *codes_at(const armilla_sweep *sweep, const workspace *b, const armilla_panel *panel, int64_t j)
{
    const size_t size = armilla_type_size(sweep->type);
    char *codes = sweep->plan->codes;
    return codes ? codes + (size_t)((panel->first + j) * sweep->r) * size
                 : (char *)b->typed + (size_t)(j * sweep->r) * size;
}

/* C = U'X_b */
static void multiply(const armilla_sweep *sweep, const armilla_panel *strip, double *C)
{
    const armilla_data_ops *ops = strip->data->ops;
    if (sweep->plan->U) ops->products(strip, sweep->r, ops->layout ? sweep->packed : armilla_align(sweep->U), C);
}

/* The assignments of a strip of columns, and what G, <C,W> and ||W - W_previous||^2 are where w = e_name. */
static void make_assignments(const armilla_sweep *sweep, const armilla_panel *strip, workspace *b, double *sums)
{
    const armilla_sweep_plan *plan = sweep->plan;
    const int64_t r = sweep->r, count = strip->count;
    int32_t *assignments = plan->assignments ? plan->assignments + strip->first : NULL;
    double *scalars = sums + scalar_offset(sweep);
    const armilla_code_panel panel = {.r = r,
                                      .first = strip->first,
                                      .count = count,
                                      .C = b->C,
                                      .tally = sums + tally_offset(sweep),
                                      .assignments = assignments};
    multiply(sweep, strip, b->C);
    if (assignments) memcpy(b->before, assignments, (size_t)count * sizeof *assignments);
    plan->step(plan->self, &panel);
    for (int64_t j = 0; j < count && assignments; j++) {
        sums[assignments[j]] += 1;
        scalars[CROSS] += b->C[j * r + assignments[j]];
        scalars[CHANGE] += assignments[j] == b->before[j] ? 0 : 2;
    }
}

/* The codes of a strip of columns. They are rounded to the working type, so that every sum is of the codes as they are
 * stored. */
static void make_codes(const armilla_sweep *sweep, const armilla_panel *strip, workspace *b, void *typed, double *sums)
{
    const armilla_sweep_plan *plan = sweep->plan;
    const int64_t r = sweep->r, count = strip->count;
    multiply(sweep, strip, b->C);
    if (plan->previous) {
        const size_t size = armilla_type_size(sweep->type);
        armilla_fetch(sweep->type, r * count, (const char *)plan->previous + (size_t)(strip->first * r) * size,
                      b->previous);
        memcpy(b->W, b->previous, (size_t)(r * count) * sizeof(double));
    }
    /* W_b from C */
    const armilla_code_panel codes = {.r = r,
                                      .first = strip->first,
                                      .count = count,
                                      .C = b->C,
                                      .W = b->W,
                                      .Q = b->Q,
                                      .scratch = b->scratch,
                                      .tally = sums + tally_offset(sweep)};
    plan->step(plan->self, &codes);
    armilla_store(sweep->type, r * count, b->W, typed);
    armilla_fetch(sweep->type, r * count, typed, b->W);
    /* <C,W>, ||W - W_previous||^2 */
    add_scalars(r * count, plan->U ? b->C : NULL, b->W, plan->previous ? b->previous : NULL,
                sums + scalar_offset(sweep));
    /* G += W_b W_b' */
    if (plan->sums) add_gram(strip->kernels, r, count, typed, sums);
}

/* A += X_b W_b', or A = X_b W_b' where the data have a layout. */
static void add_products(const armilla_sweep *sweep, const armilla_panel *panel, const void *typed, void *A)
{
    const armilla_data_ops *ops = panel->data->ops;
    if (sweep->assigned)
        ops->gather(panel, sweep->r, sweep->plan->assignments + panel->first, A);
    else
        ops->accumulate(panel, sweep->r, typed, A);
}

/* The slot's A, where the data have a layout. */
static void add_part(const armilla_sweep *sweep, const armilla_panel *panel, const workspace *b, const void *typed,
                     double *part)
{
    const int64_t numbers = part_numbers(sweep);
    add_products(sweep, panel, typed, b->part ? (void *)b->part : part);
    if (b->part) (panel->opens ? armilla_fetch : armilla_fetch_add)(sweep->type, numbers, b->part, part);
}

/* The codes of a strip, whichever kind they are. */
static void visit_strip(const armilla_sweep *sweep, const armilla_panel *panel, const armilla_panel *strip,
                        workspace *b, double *sums)
{
    if (sweep->assigned)
        make_assignments(sweep, strip, b, sums);
    else
        make_codes(sweep, strip, b, codes_at(sweep, b, panel, strip->first - panel->first), sums);
}

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const armilla_sweep *sweep = self;
    const armilla_layout *layout = panel->data->ops->layout;
    const int64_t r = sweep->r, count = panel->count;
    workspace *b = &sweep->workspaces[thread];
    if (count <= STRIP) visit_strip(sweep, panel, panel, b, sums);
    for (int64_t j = 0; j < count && count > STRIP; j += STRIP) {
        const armilla_panel strip = armilla_panel_cut(panel, j, armilla_min64(STRIP, count - j));
        const armilla_status status = armilla_call_pass(sweep->context, thread, strip.first, sweep->X->n);
        if (status != ARMILLA_OK) return status;
        visit_strip(sweep, panel, &strip, b, sums);
    }
    if (!sweep->plan->sums) return ARMILLA_OK;
    const void *typed = sweep->assigned ? NULL : codes_at(sweep, b, panel, 0);
    if (layout) {
        const int32_t *assignments = sweep->assigned ? sweep->plan->assignments + panel->first : NULL;
        add_part(sweep, panel, b, typed, sums + whole_length(sweep));
        layout->add_shifts(panel, r, typed, assignments, sums + product_offset(sweep));
    } else
        add_products(sweep, panel, typed, sums + product_offset(sweep));
    return ARMILLA_OK;
}

/* The segments of a run's vector: the sums in double, and A where the data have a layout. */
enum { SUMS, PARTS, SEGMENTS };

/* A from where the data's layout has it. */
static void unpack_sums(const armilla_sweep *sweep)
{
    const armilla_parts parts = {.X = sweep->X,
                                 .r = sweep->r,
                                 .work = sweep->type,
                                 .sums = armilla_traversal_sums(sweep->traversal),
                                 .segment = PARTS,
                                 .shifted = sweep->sums + product_offset(sweep)};
    sweep->X->ops->layout->unpack(&parts, armilla_traversal_team(sweep->traversal), sweep->A);
}

static armilla_status traverse(armilla_sweep *sweep, bool sums)
{
    const bool narrow = armilla_traversal_part_type(sweep->traversal) == ARMILLA_F32;
    const armilla_segment segments[SEGMENTS] = {
        [SUMS] = {.kind = ARMILLA_SUM,
                  .count = sums ? whole_length(sweep) : product_offset(sweep),
                  .result = sweep->sums},
        [PARTS] = {.kind = narrow ? ARMILLA_SUM_F32 : ARMILLA_SUM, .count = part_numbers(sweep), .written = true},
    };
    return armilla_traverse_into(sweep->traversal, segments, sums ? SEGMENTS : PARTS, visit, sweep);
}

/* The basis where products want it. */
static void place_basis(armilla_sweep *sweep, const void *U)
{
    const armilla_layout *layout = sweep->X->ops->layout;
    if (layout)
        layout->pack(sweep->X, sweep->type, sweep->r, armilla_traversal_team(sweep->traversal), U, sweep->packed);
    else
        memcpy(armilla_align(sweep->U), U, (size_t)(sweep->X->m * sweep->r) * armilla_type_size(sweep->type));
}

armilla_status armilla_sweep_run(armilla_sweep *sweep, const armilla_sweep_plan *plan)
{
    sweep->assigned = sweep->assigning || plan->assignments;
    sweep->plan = plan;
    if (plan->U) place_basis(sweep, plan->U);
    const armilla_status status = traverse(sweep, plan->sums);
    sweep->plan = NULL;
    sweep->runs++;
    if (status != ARMILLA_OK) return status; /* whoever could not load a panel has said why */
    if (sweep->X->ops->layout && plan->sums) unpack_sums(sweep);
    return ARMILLA_OK;
}

const double *armilla_sweep_A(const armilla_sweep *sweep)
{
    return sweep->A ? sweep->A : sweep->sums + product_offset(sweep);
}

const double *armilla_sweep_G(const armilla_sweep *sweep)
{
    return sweep->assigned ? NULL : sweep->sums;
}

void armilla_sweep_copy(const armilla_sweep *sweep, double *A, double *G)
{
    memcpy(A, armilla_sweep_A(sweep), (size_t)(sweep->X->m * sweep->r) * sizeof *A);
    memcpy(G, armilla_sweep_G(sweep), (size_t)(sweep->r * sweep->r) * sizeof *G);
}

const double *armilla_sweep_sizes(const armilla_sweep *sweep)
{
    return sweep->assigned ? sweep->sums : NULL;
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

int64_t *armilla_sweep_runs(armilla_sweep *sweep)
{
    return &sweep->runs;
}

int armilla_sweep_threads(const armilla_sweep *sweep)
{
    return armilla_traversal_threads(sweep->traversal);
}

const armilla_team *armilla_sweep_team(const armilla_sweep *sweep)
{
    return armilla_traversal_team(sweep->traversal);
}
