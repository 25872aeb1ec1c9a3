/* The sweep as a visitor of the pass over X. */
#include "solve/sweep_sums.h"

#include "linalg/dense.h"

#include <string.h>

enum { SMALL_BASIS = 1 << 16 }; /* numbers that one thread packs by itself */

/* Columns whose numbers are made at a time, so that they stay in the first caches; panels may be wider. And how many
 * columns of G are summed in the working type. */
enum { STRIP = ARMILLA_STRIP, GRAM_STRIP = 2 * STRIP };

/* The address of the panel's codes from column j on in the working type: in their place or in the workspace. */
static char *codes_at(const armilla_sweep *sweep, const armilla_sweep_workspace *b, const armilla_panel *panel,
                      int64_t j)
{
    const size_t size = armilla_type_size(sweep->type);
    char *codes = sweep->plan->codes ? sweep->plan->codes : sweep->kept;
    return codes ? codes + (size_t)((panel->first + j) * sweep->r) * size
                 : (char *)b->typed + (size_t)(j * sweep->r) * size;
}

/* G += WW', of which the lower triangle is read: the sum over some columns is made in the working type, as that of A. */
static void add_gram(const armilla_sweep *sweep, const armilla_panel *panel, const armilla_sweep_workspace *b,
                     double *G)
{
    armilla_columns codes = {.m = sweep->r, .stride = sweep->r, .scratch = b->packing};
    for (int64_t j = 0; j < panel->count; j += GRAM_STRIP) {
        codes.values = codes_at(sweep, b, panel, j);
        codes.count = armilla_min64(GRAM_STRIP, panel->count - j);
        panel->kernels->gram(&codes, G);
    }
}

/* C = U'X_b */
static void multiply(const armilla_sweep *sweep, const armilla_panel *strip, double *C)
{
    const armilla_data_ops *ops = strip->data->ops;
    armilla_panel meeting = *strip;
    meeting.tiled = sweep->tiled;
    if (sweep->plan->U) ops->products(&meeting, sweep->r, ops->layout ? sweep->packed : armilla_align(sweep->U), C);
}

void armilla_multiply_some(const armilla_panel *panel, const armilla_columns *X, int64_t r, const void *U, double *C)
{
    const armilla_atoms atoms = {.values = U, .r = r};
    panel->kernels->products(X, &atoms, C);
}

/* Column k of the slot's A, which begins as 0. */
static double *changing_column(const armilla_sweep *sweep, int64_t k, double *sums)
{
    const int64_t m = sweep->X->m;
    double *column = sums + armilla_sweep_product_offset(sweep) + k * m,
           *counter = sums + armilla_sweep_counter_offset(sweep) + k;
    if (*counter == 0) memset(column, 0, (size_t)m * sizeof *column);
    *counter += 1;
    return column;
}

/* A(:,before) -= x, A(:,now) += x */
static void add_change(const armilla_sweep *sweep, int32_t before, int32_t now, const double *x, double *sums)
{
    const int64_t m = sweep->X->m;
    double *from = changing_column(sweep, before, sums), *to = changing_column(sweep, now, sums);
    for (int64_t i = 0; i < m; i++) from[i] -= x[i];
    for (int64_t i = 0; i < m; i++) to[i] += x[i];
}

/* The new assignments of a strip of columns, by the plan's step or by what makes its own products. */
static void choose_atoms(const armilla_sweep *sweep, const armilla_panel *strip, const armilla_sweep_workspace *b,
                         int thread, double *tally)
{
    const armilla_sweep_plan *plan = sweep->plan;
    int32_t *assignments = plan->assignments ? plan->assignments + strip->first : NULL;
    const void *U = sweep->X->ops->layout ? sweep->packed : armilla_align(sweep->U);
    const armilla_code_panel panel = {.r = sweep->r,
                                      .first = strip->first,
                                      .count = strip->count,
                                      .C = b->C,
                                      .tally = tally,
                                      .assignments = assignments,
                                      .assignment_stride = plan->assignment_stride};
    if (plan->assign) {
        plan->assign(plan->self, &(armilla_assigning){strip, U, plan->U, b->C, assignments, tally, thread});
        return;
    }
    multiply(sweep, strip, b->C);
    plan->step(plan->self, &panel);
}

/* Nothing where there are codes instead. */
static armilla_memberships memberships_of(const armilla_sweep *sweep, const armilla_panel *panel)
{
    const armilla_sweep_plan *plan = sweep->plan;
    if (!plan->assignments) return (armilla_memberships){.atoms = NULL};
    return (armilla_memberships){plan->assignments + panel->first, armilla_max64(sweep->partitions, 1),
                                 plan->assignment_stride};
}

/* Those of column j that differ from the previous ones. */
static void add_changes(const armilla_sweep *sweep, const armilla_panel *strip, const armilla_sweep_workspace *b,
                        int64_t j, double *sums)
{
    const armilla_memberships made = memberships_of(sweep, strip);
    const int32_t *before = sweep->plan->before + strip->first + j;
    bool expanded = false;
    for (int64_t p = 0; p < made.partitions; p++) {
        const int64_t place = p * made.stride;
        if (made.atoms[place + j] == before[place]) continue;
        if (!expanded) strip->data->ops->expand(strip, j, b->column);
        expanded = true;
        add_change(sweep, before[place], made.atoms[place + j], b->column, sums);
    }
}

/* The assignments of a strip of columns by all partitions, and the diagonal of G. */
static void make_memberships(const armilla_sweep *sweep, const armilla_panel *strip, const armilla_sweep_workspace *b,
                             int thread, double *sums)
{
    choose_atoms(sweep, strip, b, thread, sums + armilla_sweep_tally_offset(sweep));
    const armilla_memberships made = memberships_of(sweep, strip);
    for (int64_t p = 0; p < made.partitions; p++)
        for (int64_t j = 0; j < strip->count; j++) sums[made.atoms[p * made.stride + j]] += 1;
    for (int64_t j = 0; j < strip->count && sweep->plan->A_before; j++) add_changes(sweep, strip, b, j, sums);
}

/* The assignments of a strip of columns, and what G, <C,W> and ||W - W_previous||^2 are where w = e_name. */
static void make_assignments(const armilla_sweep *sweep, const armilla_panel *strip, armilla_sweep_workspace *b,
                             int thread, double *sums)
{
    const armilla_sweep_plan *plan = sweep->plan;
    const int64_t r = sweep->r, count = strip->count;
    int32_t *assignments = plan->assignments ? plan->assignments + strip->first : NULL;
    double *scalars = sums + armilla_sweep_scalar_offset(sweep);
    if (assignments) memcpy(b->before, assignments, (size_t)count * sizeof *assignments);
    choose_atoms(sweep, strip, b, thread, sums + armilla_sweep_tally_offset(sweep));
    for (int64_t j = 0; j < count && assignments; j++) {
        const bool changes = assignments[j] != b->before[j];
        sums[assignments[j]] += 1;
        if (!plan->assign) scalars[ARMILLA_SWEEP_CROSS] += b->C[j * r + assignments[j]];
        scalars[ARMILLA_SWEEP_CHANGE] += changes ? 2 : 0;
        if (!changes || !plan->A_before) continue;
        strip->data->ops->expand(strip, j, b->column);
        add_change(sweep, b->before[j], assignments[j], b->column, sums);
    }
}

/* The codes of a strip of columns. They are rounded to the working type, so that every sum is of the codes as they are
 * stored. */
static void make_codes(const armilla_sweep *sweep, const armilla_panel *strip, armilla_sweep_workspace *b, void *typed,
                       double *sums)
{
    const armilla_sweep_plan *plan = sweep->plan;
    const int64_t r = sweep->r, count = strip->count;
    const size_t size = armilla_type_size(sweep->type);
    const char *previous = plan->previous ? (const char *)plan->previous + (size_t)(strip->first * r) * size : NULL;
    double *scalars = sums + armilla_sweep_scalar_offset(sweep);
    armilla_settling settling = {.r = r,
                                 .count = count,
                                 .previous = previous,
                                 .typed = typed,
                                 .diagonal = plan->sums && sweep->diagonal ? sums : NULL,
                                 .cross = scalars + ARMILLA_SWEEP_CROSS,
                                 .change = scalars + ARMILLA_SWEEP_CHANGE};
    if (sweep->scales) {
        armilla_panel_unit_codes(strip, armilla_align(sweep->U), &(armilla_projecting){settling, plan->scaled});
        return;
    }
    multiply(sweep, strip, b->C);
    if (previous && !plan->ignores_previous) strip->kernels->fetch(r * count, previous, b->W);
    /* W_b from C */
    const armilla_code_panel codes = {.r = r,
                                      .first = strip->first,
                                      .count = count,
                                      .C = b->C,
                                      .W = b->W,
                                      .Q = b->Q,
                                      .scratch = b->scratch,
                                      .tally = sums + armilla_sweep_tally_offset(sweep)};
    plan->step(plan->self, &codes);
    settling.W = b->W;
    settling.C = plan->U ? b->C : NULL;
    strip->kernels->settle(&settling);
}

/* A += X_b W_b', or A = X_b W_b' where the data have a layout. */
static void add_products(const armilla_sweep *sweep, const armilla_panel *panel, const armilla_sweep_workspace *b,
                         const void *typed, void *A)
{
    const armilla_data_ops *ops = panel->data->ops;
    armilla_panel spacious = *panel;
    spacious.scratch = b->packing;
    if (sweep->assigned) {
        const armilla_memberships memberships = memberships_of(sweep, panel);
        ops->gather(panel, sweep->r, &memberships, A);
    } else
        ops->accumulate(&spacious, sweep->r, typed, A);
}

/* The slot's A, where the data have a layout. */
static void add_part(const armilla_sweep *sweep, const armilla_panel *panel, const armilla_sweep_workspace *b,
                     const void *typed, double *part)
{
    const int64_t numbers = armilla_sweep_part_numbers(sweep);
    if (sweep->transposed) return; /* when all codes are there */
    add_products(sweep, panel, b, typed, b->part ? (void *)b->part : part);
    if (b->part) (panel->opens ? armilla_fetch : armilla_fetch_add)(sweep->type, numbers, b->part, part);
}

/* The codes of a strip, whichever kind they are. */
static void visit_strip(const armilla_sweep *sweep, const armilla_panel *panel, const armilla_panel *strip, int thread,
                        double *sums)
{
    armilla_sweep_workspace *b = &sweep->workspaces[thread];
    if (sweep->partitions > 1)
        make_memberships(sweep, strip, b, thread, sums);
    else if (sweep->assigned)
        make_assignments(sweep, strip, b, thread, sums);
    else
        make_codes(sweep, strip, b, codes_at(sweep, b, panel, strip->first - panel->first), sums);
}

static bool wants_products(const armilla_sweep_plan *plan)
{
    return plan->sums && !plan->gram_alone;
}

/* The strip from column j on. What comes next is the next one, where there is one in the panel. */
static armilla_panel cut_strip(const armilla_panel *panel, int64_t j)
{
    const int64_t count = armilla_min64(STRIP, panel->count - j), left = panel->count - j - count;
    armilla_panel strip = armilla_panel_cut(panel, j, count);
    const int64_t bytes = panel->stride * (int64_t)armilla_type_size(panel->kernels->type);
    if (panel->ahead_stride == 0 || left == 0) return strip;
    strip.ahead = (const char *)strip.columns + count * bytes;
    strip.ahead_bytes = left * bytes;
    return strip;
}

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const armilla_sweep *sweep = self;
    const armilla_layout *layout = panel->data->ops->layout;
    const int64_t r = sweep->r, count = panel->count;
    const armilla_sweep_workspace *b = &sweep->workspaces[thread];
    if (count <= STRIP) visit_strip(sweep, panel, panel, thread, sums);
    for (int64_t j = 0; j < count && count > STRIP; j += STRIP) {
        const armilla_panel strip = cut_strip(panel, j);
        const armilla_status status = armilla_call_pass(sweep->context, thread, strip.first, sweep->X->n);
        if (status != ARMILLA_OK) return status;
        visit_strip(sweep, panel, &strip, thread, sums);
    }
    if (!sweep->plan->sums || sweep->plan->A_before) return ARMILLA_OK;
    const void *typed = sweep->assigned ? NULL : codes_at(sweep, b, panel, 0);
    if (typed && !sweep->diagonal) add_gram(sweep, panel, b, sums); /* G += W_b W_b' */
    if (!wants_products(sweep->plan)) return ARMILLA_OK;
    if (sweep->by_features) {
        armilla_features_take_codes(sweep, panel, typed);
        return ARMILLA_OK;
    }
    if (layout) {
        const armilla_memberships memberships = memberships_of(sweep, panel);
        add_part(sweep, panel, b, typed, sums + armilla_sweep_whole_length(sweep));
        layout->add_shifts(panel, r, typed, &memberships, sums + armilla_sweep_product_offset(sweep));
    } else
        add_products(sweep, panel, b, typed, sums + armilla_sweep_product_offset(sweep));
    return ARMILLA_OK;
}

/* The segments of a run's vector: the sums in double, and A, which the first panel of a slot writes. */
enum { SUMS, PRODUCTS, SEGMENTS };

/* A from where the data's layout has it. */
static void unpack_sums(const armilla_sweep *sweep)
{
    const armilla_parts parts = {.X = sweep->X,
                                 .r = sweep->r,
                                 .work = sweep->type,
                                 .sums = armilla_traversal_sums(sweep->traversal),
                                 .segment = PRODUCTS,
                                 .shifted = sweep->sums + armilla_sweep_product_offset(sweep),
                                 .transposed = sweep->transposed};
    sweep->X->ops->layout->unpack(&parts, armilla_traversal_team(sweep->traversal), sweep->A);
}

/* XW' where it is made of changes: columns that most slots do not have. */
static armilla_segment change_segment(const armilla_sweep *sweep)
{
    return (armilla_segment){.kind = ARMILLA_SUM,
                             .count = sweep->X->m * sweep->r,
                             .columns = sweep->r,
                             .counters = armilla_sweep_counter_offset(sweep),
                             .result = sweep->sums + armilla_sweep_product_offset(sweep)};
}

/* XW' where it is in parts of the slots, or where it is made as it is read. */
static armilla_segment part_segment(armilla_sweep *sweep)
{
    const bool narrow = armilla_traversal_part_type(sweep->traversal) == ARMILLA_F32;
    const int64_t numbers = armilla_sweep_part_numbers(sweep);
    const void *codes = sweep->plan->codes ? sweep->plan->codes : sweep->kept;
    int64_t first = 0, last = 0;
    armilla_traversal_columns(sweep->traversal, &first, &last);
    sweep->product = (armilla_transposed_product){sweep->transposed, {.r = sweep->r, .W = codes, .last = last}};
    if (sweep->transposed)
        return (armilla_segment){
            .kind = ARMILLA_SUM, .count = numbers, .make = armilla_transposed_make, .maker = &sweep->product};
    return (armilla_segment){.kind = narrow ? ARMILLA_SUM_F32 : ARMILLA_SUM, .count = numbers, .written = true};
}

/* XW' as m x r. */
static armilla_segment plain_segment(const armilla_sweep *sweep)
{
    return (armilla_segment){.kind = ARMILLA_SUM,
                             .count = sweep->X->m * sweep->r,
                             .result = sweep->sums + armilla_sweep_product_offset(sweep),
                             .written = true};
}

static armilla_status traverse(armilla_sweep *sweep)
{
    const bool layout = sweep->X->ops->layout, products = wants_products(sweep->plan) && !sweep->by_features;
    const armilla_segment segments[SEGMENTS] = {
        [SUMS] = {.kind = ARMILLA_SUM,
                  .count = products && layout ? armilla_sweep_whole_length(sweep) : armilla_sweep_product_offset(sweep),
                  .result = sweep->sums},
        [PRODUCTS] = sweep->plan->A_before ? change_segment(sweep)
                     : layout              ? part_segment(sweep)
                                           : plain_segment(sweep),
    };
    const int count = products ? SEGMENTS : PRODUCTS;
    if (sweep->unread) return armilla_traverse_unread(sweep->traversal, segments, count, visit, sweep);
    return armilla_traverse_some(sweep->traversal, sweep->plan->portion, segments, count, visit, sweep);
}

/* A basis on its way to where products want it. */
typedef struct placing {
    const armilla_sweep *sweep;
    armilla_atoms U;
} placing;

static void pack_atoms(void *self, int64_t first, int64_t last)
{
    const placing *p = self;
    const armilla_sweep *sweep = p->sweep;
    armilla_kernels_for(sweep->context, sweep->type)->pack(sweep->X->m, &p->U, first, last, armilla_align(sweep->U));
}

static void tile_atoms(void *self, int64_t first, int64_t last)
{
    const placing *p = self;
    const armilla_sweep *sweep = p->sweep;
    armilla_kernels_for(sweep->context, sweep->type)->tile(sweep->X->m, &p->U, first, last, armilla_align(sweep->U));
}

/* Products with some of the atoms must have the bits of those with all where codes are assignments, unless these are made
 * for several partitions: they have no tiles. */
static void place_basis(armilla_sweep *sweep, const void *U)
{
    const armilla_layout *layout = sweep->X->ops->layout;
    const armilla_kernels *kernels = armilla_kernels_for(sweep->context, sweep->type);
    const int64_t m = sweep->X->m, r = sweep->r;
    const armilla_team *team = armilla_traversal_team(sweep->traversal);
    placing p = {sweep, {.values = U, .r = r}};
    sweep->tiled = !layout && (!sweep->assigned || sweep->partitions > 1) && kernels->tiles_pay(m, r);
    sweep->scales = sweep->tiled && sweep->plan->scaled && kernels->has_unit_codes(m, r);
    const armilla_share place = sweep->tiled ? tile_atoms : pack_atoms;
    const int64_t pieces = sweep->tiled ? kernels->tiled_runs(m) : r;
    if (layout)
        layout->pack(sweep->X, sweep->type, r, team, U, sweep->packed);
    else if (m * r < SMALL_BASIS)
        place(&p, 0, pieces);
    else
        armilla_team_share(team, pieces, place, &p);
}

/* Numbers first ... last-1 of A = A of the previous assignments and the changes. */
static void add_before(void *self, int64_t first, int64_t last)
{
    const armilla_sweep *sweep = self;
    double *A = sweep->sums + armilla_sweep_product_offset(sweep);
    for (int64_t i = first; i < last; i++) A[i] += sweep->plan->A_before[i];
}

/* What follows from the sums of a run. */
static void complete_sums(armilla_sweep *sweep)
{
    const armilla_sweep_plan *plan = sweep->plan;
    const int64_t numbers = sweep->X->m * sweep->r;
    if (sweep->X->ops->layout && wants_products(plan)) unpack_sums(sweep);
    if (plan->sums && !sweep->diagonal) armilla_reflect(sweep->r, sweep->sums);
    if (plan->A_before) armilla_team_share(armilla_sweep_team(sweep), numbers, add_before, sweep);
    /* <C,W> = <X,UW> = <U,XW'> */
    if (plan->basis)
        sweep->sums[armilla_sweep_scalar_offset(sweep) + ARMILLA_SWEEP_CROSS] =
            armilla_dot(numbers, plan->basis, armilla_sweep_A(sweep));
}

static armilla_status run(armilla_sweep *sweep, const armilla_sweep_plan *plan)
{
    sweep->assigned = sweep->assigning || plan->assignments;
    sweep->diagonal = sweep->assigned || plan->diagonal;
    sweep->plan = plan;
    sweep->scales = false;
    if ((sweep->transposed || sweep->by_features) &&
        (sweep->assigned || plan->portion || (plan->sums && !plan->codes && !sweep->kept)))
        return armilla_fail(sweep->context, ARMILLA_INTERNAL, "a sweep that sums by feature needs all codes");
    if (plan->U) place_basis(sweep, plan->U);
    armilla_status status = traverse(sweep);
    if (status == ARMILLA_OK && sweep->by_features && wants_products(plan)) status = armilla_features_sum(sweep);
    if (status == ARMILLA_OK) complete_sums(sweep); /* else whoever could not load a panel has said why */
    sweep->plan = NULL;
    return status;
}

armilla_status armilla_sweep_run(armilla_sweep *sweep, const armilla_sweep_plan *plan)
{
    const armilla_status status = run(sweep, plan);
    if (!plan->portion) sweep->runs++;
    return status;
}

static void keep_codes(void *self, const armilla_code_panel *panel)
{
    (void)self;
    (void)panel;
}

armilla_status armilla_sweep_gram(armilla_sweep *sweep, void *codes, double *G)
{
    const armilla_sweep_plan plan = {
        .previous = codes, .codes = codes, .sums = true, .gram_alone = true, .step = keep_codes};
    sweep->unread = true;
    const armilla_status status = run(sweep, &plan);
    sweep->unread = false;
    if (status == ARMILLA_OK) memcpy(G, sweep->sums, (size_t)(sweep->r * sweep->r) * sizeof *G);
    return status;
}

bool armilla_sweep_adds_changes(const armilla_sweep *sweep)
{
    return !sweep->X->ops->layout;
}
