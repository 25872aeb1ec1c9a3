/* Cells: centres, and samples beside those of the same cell. Centres are learned by a few steps of spherical k-means on
 * some of the samples. This is another driver than cluster/kmeans.c: it wants no minimum, so that it has no seeding, no
 * tries, no revival of empty cells (small ones are dropped) and no end but a number of steps, and it assigns samples by the
 * search for neighbours itself, which has to find the cells of all samples anyway. The driver there is made of the sweep
 * of the solvers, which lies above this folder. */
#include "graph/cells.h"

#include "base/random.h"
#include "base/size.h"
#include "data/column.h"
#include "data/traverse.h"
#include "graph/search.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_SAMPLES = 1000,      /* fewer are compared with all */
    TRAINED = 48,              /* samples for each centre that it is learned from, */
    TRAINED_BYTES = 128 << 20, /* as long as they take no more than this */
    STEPS = 10,                /* of Lloyd's iteration: better cells save little more */
    SURPLUS = 4                /* samples of a cell, on average, for each that it must have */
};

int64_t armilla_cells_wanted(int64_t n, int64_t least)
{
    const int64_t root = (int64_t)sqrt((double)n);
    return n < LEAST_SAMPLES ? 0 : armilla_min64(root, n / (SURPLUS * (least + 1)));
}

static size_t column_bytes(const armilla_cells *cells)
{
    return (size_t)cells->m * armilla_type_size(cells->work);
}

armilla_status armilla_cells_rank(const armilla_cells *cells, const armilla_data *X, const void *among, int64_t n,
                                  int64_t count, armilla_ranking *made)
{
    armilla_context *context = cells->context;
    armilla_data *targets = NULL;
    armilla_status status = armilla_data_borrow_dense(context, cells->work, among, cells->m, n, &targets);
    if (status != ARMILLA_OK) return status;
    armilla_search search = {.context = context, .queries = X, .X = targets, .work = cells->work, .count = count};
    status = armilla_search_open(&search);
    if (status == ARMILLA_OK) status = armilla_search_run(&search);
    if (status == ARMILLA_OK) {
        *made = search.found;
        search.found = (armilla_ranking){.count = 0};
    }
    armilla_search_close(&search);
    armilla_data_free(targets);
    return status;
}

/* The nearest centre of each sample. */
static armilla_status assign(const armilla_cells *cells, const armilla_data *X, armilla_ranking *nearest)
{
    return armilla_cells_rank(cells, X, cells->centers, cells->count, 1, nearest);
}

/* Centres = the directions of the sums of their samples; those without any stay. */
static armilla_status move_centers(armilla_cells *cells, const char *columns, int64_t n, const armilla_ranking *nearest)
{
    const int64_t m = cells->m;
    const size_t bytes = column_bytes(cells);
    double *sums = NULL;
    armilla_status status = armilla_take(cells->context, m * cells->count, sizeof *sums, &sums);
    if (status != ARMILLA_OK) return status;
    for (int64_t j = 0; j < n; j++)
        armilla_fetch_add(cells->work, m, columns + (size_t)j * bytes, sums + nearest->targets[j] * m);
    for (int64_t k = 0; k < cells->count; k++) {
        double *sum = sums + k * m;
        if (armilla_make_unit(m, sum) > 0) armilla_store(cells->work, m, sum, cells->centers + (size_t)k * bytes);
    }
    armilla_release(cells->context, sums);
    return ARMILLA_OK;
}

/* Columns that are copied out of X, in the working type. */
typedef struct copying {
    const armilla_cells *cells;
    char *to;
} copying;

static void copy_column(void *self, int64_t place, double *column)
{
    const copying *c = self;
    armilla_store(c->cells->work, c->cells->m, column, c->to + (size_t)place * column_bytes(c->cells));
}

/* to = `count` of the samples. */
static armilla_status copy_some(const armilla_cells *cells, const armilla_data *X, int64_t count, uint64_t seed,
                                char *to)
{
    copying copy = {cells, to};
    int64_t *drawn = NULL;
    armilla_status status = armilla_take(cells->context, count, sizeof *drawn, &drawn);
    if (status == ARMILLA_OK) {
        armilla_draw_stratified(X->n, count, seed, ARMILLA_STREAM_CELLS, drawn);
        const armilla_gathering gathering = {
            .X = X, .work = cells->work, .count = count, .columns = drawn, .visit = copy_column, .self = &copy};
        status = armilla_data_visit(cells->context, &gathering);
    }
    armilla_release(cells->context, drawn);
    return status;
}

/* So many samples of all that are compared with the centres are next. */
static void tell_step(armilla_context *context, int64_t done, int64_t count, int64_t all)
{
    armilla_call_round(context, ARMILLA_PHASE_CELLS, (double)done / (double)all, (double)(done + count) / (double)all);
}

/* Samples that centres are learned from. */
static int64_t learned_from(const armilla_cells *cells, const armilla_data *X)
{
    const int64_t fits = armilla_max64(4 * cells->count, TRAINED_BYTES / (int64_t)column_bytes(cells));
    return armilla_min64(X->n, armilla_min64(fits, TRAINED * cells->count));
}

/* Centres of some of the samples, from as many of them. */
static armilla_status learn_centers(armilla_cells *cells, const armilla_data *X, uint64_t seed)
{
    armilla_context *context = cells->context;
    const size_t bytes = column_bytes(cells);
    const int64_t count = learned_from(cells, X);
    char *columns = NULL;
    armilla_data *some = NULL;
    armilla_status status = armilla_take(context, count, bytes, &columns);
    if (status == ARMILLA_OK) status = copy_some(cells, X, count, seed, columns);
    if (status == ARMILLA_OK) status = armilla_data_borrow_dense(context, cells->work, columns, cells->m, count, &some);
    for (int64_t k = 0; k < cells->count && status == ARMILLA_OK; k++)
        memcpy(cells->centers + (size_t)k * bytes, columns + (size_t)(k * count / cells->count) * bytes, bytes);
    for (int step = 0; step < STEPS && status == ARMILLA_OK; step++) {
        armilla_ranking nearest = {.count = 0};
        tell_step(context, step * count, count, STEPS * count + 2 * X->n);
        status = assign(cells, some, &nearest);
        if (status == ARMILLA_OK) status = move_centers(cells, columns, count, &nearest);
        armilla_ranking_release(context, &nearest);
    }
    armilla_data_free(some);
    armilla_release(context, columns);
    return status;
}

/* Centres of cells with too few samples are given up. */
static armilla_status drop_small(armilla_cells *cells, const armilla_data *X, int64_t least)
{
    const size_t bytes = column_bytes(cells);
    armilla_ranking nearest = {.count = 0};
    int64_t *sizes = NULL, kept = 0;
    armilla_status status = assign(cells, X, &nearest);
    if (status == ARMILLA_OK) status = armilla_take(cells->context, cells->count, sizeof *sizes, &sizes);
    for (int64_t j = 0; j < X->n && status == ARMILLA_OK; j++) sizes[nearest.targets[j]]++;
    for (int64_t k = 0; k < cells->count && status == ARMILLA_OK; k++)
        if (sizes[k] > least)
            memmove(cells->centers + (size_t)kept++ * bytes, cells->centers + (size_t)k * bytes, bytes);
    if (status == ARMILLA_OK) cells->count = kept;
    armilla_release(cells->context, sizes);
    armilla_ranking_release(cells->context, &nearest);
    return status;
}

/* A pass that puts every sample into its place. */
typedef struct sorting {
    const armilla_cells *cells;
    const int64_t *places;
    armilla_cell_lists *made;
} sorting;

static armilla_status sort_panel(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const sorting *s = self;
    const size_t bytes = column_bytes(s->cells), size = armilla_type_size(s->cells->work);
    (void)thread;
    (void)sums;
    for (int64_t j = 0; j < panel->count; j++)
        memcpy(s->made->values + (size_t)s->places[panel->first + j] * bytes,
               (const char *)panel->columns + (size_t)(j * panel->stride) * size, bytes);
    return ARMILLA_OK;
}

static armilla_status sort_columns(const armilla_cells *cells, const armilla_data *X, const int64_t *places,
                                   armilla_cell_lists *made)
{
    const armilla_traversal_plan plan = {.X = X, .kernels = armilla_kernels_for(cells->context, cells->work)};
    sorting self = {cells, places, made};
    armilla_traversal *pass = NULL;
    armilla_status status = armilla_traversal_new(cells->context, &plan, &pass);
    if (status == ARMILLA_OK) status = armilla_traverse(pass, 0, sort_panel, &self, NULL);
    armilla_traversal_free(pass);
    return status;
}

armilla_status armilla_cells_sort(const armilla_cells *cells, const armilla_data *X, armilla_cell_lists *made)
{
    armilla_context *context = cells->context;
    armilla_ranking nearest = {.count = 0};
    *made = (armilla_cell_lists){.n = X->n};
    armilla_status status = assign(cells, X, &nearest);
    if (status == ARMILLA_OK) status = armilla_take(context, cells->count + 2, sizeof *made->starts, &made->starts);
    if (status == ARMILLA_OK) status = armilla_take(context, X->n, sizeof *made->ids, &made->ids);
    if (status == ARMILLA_OK) status = armilla_grow(context, X->n, column_bytes(cells), &made->values);
    if (status == ARMILLA_OK) {
        int64_t *next = made->starts + 1; /* where the next of a cell goes: in the end, where its samples end */
        for (int64_t j = 0; j < X->n; j++) next[nearest.targets[j] + 1]++;
        for (int64_t k = 0; k < cells->count; k++) next[k + 1] += next[k];
        for (int64_t j = 0; j < X->n; j++) {
            const int64_t place = next[nearest.targets[j]]++;
            made->ids[place] = j;
            nearest.targets[j] = place;
        }
        status = sort_columns(cells, X, nearest.targets, made);
    }
    armilla_ranking_release(context, &nearest);
    return status;
}

void armilla_cell_lists_release(armilla_context *context, armilla_cell_lists *lists)
{
    armilla_release(context, lists->values);
    armilla_release(context, lists->ids);
    armilla_release(context, lists->starts);
    *lists = (armilla_cell_lists){.n = 0};
}

armilla_status armilla_cells_make(armilla_cells *cells, const armilla_data *X, int64_t wanted, int64_t least,
                                  uint64_t seed)
{
    cells->m = X->m;
    cells->count = wanted;
    armilla_status status = armilla_take(cells->context, wanted, column_bytes(cells), &cells->centers);
    const int64_t learned = STEPS * learned_from(cells, X), all = learned + 2 * X->n;
    if (status == ARMILLA_OK) status = learn_centers(cells, X, seed);
    tell_step(cells->context, learned, X->n, all);
    if (status == ARMILLA_OK) status = drop_small(cells, X, least);
    tell_step(cells->context, learned + X->n, X->n, all);
    if (status == ARMILLA_OK) status = armilla_cells_sort(cells, X, &cells->samples);
    return status;
}

void armilla_cells_release(armilla_cells *cells)
{
    armilla_cell_lists_release(cells->context, &cells->samples);
    armilla_release(cells->context, cells->centers);
}
