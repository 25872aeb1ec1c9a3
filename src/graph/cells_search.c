/* Neighbours by cells: how many cells a query has to be compared with, and the comparison. */
#include "graph/cells.h"

#include "base/random.h"
#include "base/size.h"
#include "base/team.h"
#include "base/workload.h"
#include "linalg/pair_kernels.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    CHECKED = 400,  /* queries whose neighbours are found exactly */
    BLOCK = 4096,   /* queries that a thread compares at a time: most of them near each other, with cells in common */
    COLUMNS = 192,  /* samples of a cell that they are multiplied with at a time: these, a multiple of every group, */
    MOST_TIMES = 5, /* or some times as many, so that queries are packed less often, */
    CACHE = 256 << 10, /* as long as a second-level cache holds so many bytes of them */
    RANKED = 96,       /* products that are ranked at a time: what is found raises the floor for the next */
    GROUP_MOST = 64    /* columns of a group at most */
};

/* What all threads see. */
typedef struct probing {
    const armilla_cells *cells;
    const armilla_cell_lists *queries;
    bool same; /* they are the samples themselves */
    int64_t count, probed;
    int64_t columns; /* of a cell at a time */
    const armilla_pair_kernels *kernels;
    char *centers; /* packed as many */
    armilla_ranking *made;
    char *workspaces;
    size_t workspace_bytes;
    atomic_int_fast64_t next; /* query that no thread has taken */
    _Atomic armilla_status status;
} probing;

/* What one thread works with. */
typedef struct workspace {
    int64_t first; /* query of the block */
    char *few, *many, *tile, *floors, *none;
    armilla_ranking nearest; /* cells of each query of the block */
    int64_t *starts;         /* cells + 2 */
    int32_t *lists;          /* BLOCK x probed: queries by cell */
    int32_t *places;
} workspace;

static char *cut(char **at, size_t bytes)
{
    char *part = *at;
    *at += (bytes + ARMILLA_LINE - 1) / ARMILLA_LINE * ARMILLA_LINE;
    return part;
}

static int64_t widest(const probing *p)
{
    return armilla_max64(p->columns, armilla_packed_columns(p->kernels->many, p->cells->count));
}

static workspace lay_out(const probing *p, char *start, size_t *bytes)
{
    const size_t size = armilla_type_size(p->cells->work), m = (size_t)p->cells->m, wide = (size_t)widest(p);
    const size_t probes = (size_t)BLOCK * (size_t)p->probed;
    char *at = start;
    workspace w = {.first = 0};
    w.few = cut(&at, m * (size_t)p->kernels->few * size);
    w.many = cut(&at, m * ((size_t)p->columns + GROUP_MOST) * size);
    w.tile = cut(&at, (size_t)p->kernels->few * wide * size);
    w.floors = cut(&at, BLOCK * size);
    w.none = cut(&at, wide * size);
    w.nearest.count = p->probed;
    w.nearest.values = (double *)(void *)cut(&at, probes * sizeof(double));
    w.nearest.targets = (int64_t *)(void *)cut(&at, probes * sizeof(int64_t));
    w.starts = (int64_t *)(void *)cut(&at, (size_t)(p->cells->count + 2) * sizeof(int64_t));
    w.lists = (int32_t *)(void *)cut(&at, probes * sizeof(int32_t));
    w.places = (int32_t *)(void *)cut(&at, wide * sizeof(int32_t));
    *bytes = (size_t)(at - start);
    return w;
}

static const char *column_of(const probing *p, const armilla_cell_lists *lists, int64_t place)
{
    return lists->values + (size_t)(place * p->cells->m) * armilla_type_size(p->cells->work);
}

/* Just below the value, so that what equals it is above. */
static void put_below(armilla_type type, void *numbers, int64_t i, double value)
{
    if (type == ARMILLA_F32)
        ((float *)numbers)[i] = nextafterf((float)value, -INFINITY);
    else
        ((double *)numbers)[i] = nextafter(value, -INFINITY);
}

static void pack_one(const probing *p, const char *column, int64_t place, int64_t group, void *packed)
{
    const int64_t m = p->cells->m;
    const armilla_columns one = {.values = column, .m = m, .count = 1, .stride = m};
    p->kernels->pack(&one, place, group, packed);
}

/* The cells whose centres are nearest to each query of the block. */
static void rank_cells(const probing *p, workspace *w, int64_t first, int64_t count)
{
    const armilla_type type = p->cells->work;
    const int64_t m = p->cells->m, few = p->kernels->few, cells = p->cells->count;
    const int64_t wide = armilla_packed_columns(p->kernels->many, cells);
    armilla_ranking_clear(&w->nearest, 0, count);
    for (int64_t q = 0; q < count; q += few) {
        const int64_t some = armilla_min64(few, count - q);
        for (int64_t k = 0; k < some; k++) pack_one(p, column_of(p, p->queries, first + q + k), k, few, w->few);
        p->kernels->products(m, w->few, wide / p->kernels->many, p->centers, w->tile);
        for (int64_t k = 0; k < some; k++) {
            const char *row = w->tile + (size_t)(k * wide) * armilla_type_size(type);
            for (int64_t c = 0; c < cells; c++) {
                const double value = armilla_number_at(type, row, c);
                if (value > armilla_ranking_floor(&w->nearest, q + k))
                    armilla_ranking_put(&w->nearest, q + k, value, c);
            }
        }
    }
}

/* The queries of each cell. */
static void list_queries(const probing *p, workspace *w, int64_t count)
{
    const int64_t cells = p->cells->count;
    int64_t *next = w->starts + 1;
    memset(w->starts, 0, (size_t)(cells + 2) * sizeof *w->starts);
    for (int64_t i = 0; i < count * p->probed; i++) next[w->nearest.targets[i] + 1]++;
    for (int64_t c = 0; c < cells; c++) next[c + 1] += next[c];
    for (int64_t i = 0; i < count * p->probed; i++) w->lists[next[w->nearest.targets[i]]++] = (int32_t)(i / p->probed);
}

/* The products of a query with samples at `from` ... are ranked. */
static void rank_products(const probing *p, workspace *w, int64_t q, const char *row, int64_t from, int64_t count)
{
    const armilla_type type = p->cells->work;
    const int64_t id = p->queries->ids[w->first + q];
    const int64_t found = p->kernels->above(count, row, armilla_number_at(type, w->floors, q), w->none, w->places);
    for (int64_t i = 0; i < found; i++) {
        const int64_t target = p->cells->samples.ids[from + w->places[i]];
        const double value = armilla_number_at(type, row, w->places[i]);
        if ((p->same && target == id) || value < armilla_ranking_floor(p->made, id)) continue;
        armilla_ranking_put(p->made, id, value, target);
    }
    if (found > 0) put_below(type, w->floors, q, armilla_ranking_floor(p->made, id));
}

/* The queries of the block that want cell c meet its samples from `from` on. */
static void meet_columns(const probing *p, workspace *w, int64_t c, int64_t from, int64_t count)
{
    const int64_t m = p->cells->m, few = p->kernels->few, wide = armilla_packed_columns(p->kernels->many, count);
    const size_t size = armilla_type_size(p->cells->work);
    const armilla_columns columns = {
        .values = column_of(p, &p->cells->samples, from), .m = m, .count = count, .stride = m};
    p->kernels->pack(&columns, 0, p->kernels->many, w->many);
    for (int64_t i = w->starts[c]; i < w->starts[c + 1]; i += few) {
        const int64_t some = armilla_min64(few, w->starts[c + 1] - i);
        for (int64_t k = 0; k < some; k++)
            pack_one(p, column_of(p, p->queries, w->first + w->lists[i + k]), k, few, w->few);
        p->kernels->products(m, w->few, wide / p->kernels->many, w->many, w->tile);
        for (int64_t k = 0; k < some; k++)
            for (int64_t j = 0; j < count; j += RANKED)
                rank_products(p, w, w->lists[i + k], w->tile + (size_t)(k * wide + j) * size, from + j,
                              armilla_min64(RANKED, count - j));
    }
}

/* The cell that a place is in. */
static int64_t cell_at(const armilla_cell_lists *samples, int64_t cells, int64_t place)
{
    int64_t low = 0, high = cells;
    while (low + 1 < high) {
        const int64_t middle = (low + high) / 2;
        if (samples->starts[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The queries' own cells come first: what they find there the others have to exceed. */
static void search_block(const probing *p, workspace *w, int64_t first, int64_t count)
{
    const int64_t *starts = p->cells->samples.starts, cells = p->cells->count;
    const int64_t own = cell_at(p->queries, cells, first);
    w->first = first;
    rank_cells(p, w, first, count);
    list_queries(p, w, count);
    for (int64_t q = 0; q < count; q++) {
        const int64_t id = p->queries->ids[first + q];
        armilla_ranking_clear(p->made, id, id + 1);
        put_below(p->cells->work, w->floors, q, -INFINITY);
    }
    for (int64_t i = 0; i < cells; i++) {
        const int64_t c = own + i < cells ? own + i : own + i - cells;
        for (int64_t from = starts[c]; from < starts[c + 1] && w->starts[c] < w->starts[c + 1]; from += p->columns)
            meet_columns(p, w, c, from, armilla_min64(p->columns, starts[c + 1] - from));
    }
    for (int64_t q = 0; q < count; q++) armilla_ranking_sort(p->made, p->queries->ids[first + q]);
}

static void search_blocks(void *self, int thread)
{
    probing *p = self;
    const int64_t n = p->queries->n;
    size_t bytes = 0;
    workspace w = lay_out(p, p->workspaces + (size_t)thread * p->workspace_bytes, &bytes);
    for (int64_t i = 0; i < widest(p); i++) armilla_number_put(p->cells->work, w.none, i, INFINITY);
    for (;;) {
        const int64_t first = atomic_fetch_add(&p->next, BLOCK);
        if (first >= n) return;
        const armilla_status status = armilla_call_pass(p->cells->context, thread, first, n);
        if (status != ARMILLA_OK) {
            atomic_store(&p->status, status);
            return;
        }
        search_block(p, &w, first, armilla_min64(BLOCK, n - first));
    }
}

static armilla_status pack_centers(probing *p)
{
    const int64_t m = p->cells->m, wide = armilla_packed_columns(p->kernels->many, p->cells->count);
    const armilla_columns columns = {.values = p->cells->centers, .m = m, .count = p->cells->count, .stride = m};
    const armilla_status status =
        armilla_take(p->cells->context, wide, (size_t)m * armilla_type_size(p->cells->work), &p->centers);
    if (status == ARMILLA_OK) p->kernels->pack(&columns, 0, p->kernels->many, p->centers);
    return status;
}

static armilla_status search_all(probing *p)
{
    armilla_context *context = p->cells->context;
    const armilla_team team = armilla_team_of(context, (p->queries->n + BLOCK - 1) / BLOCK);
    char *block = NULL;
    (void)lay_out(p, NULL, &p->workspace_bytes);
    armilla_status status = pack_centers(p);
    if (status == ARMILLA_OK) status = armilla_take(context, team.threads, p->workspace_bytes + ARMILLA_LINE, &block);
    if (status == ARMILLA_OK) {
        p->workspaces = armilla_align(block);
        armilla_team_run(&team, search_blocks, p);
        if (atomic_load(&p->status) != ARMILLA_OK) status = armilla_call_explain(context);
    }
    armilla_release(context, block);
    armilla_release(context, p->centers);
    return status;
}

/* Some queries whose neighbours are found exactly. */
typedef struct trial {
    int64_t count;
    char *values;
    int64_t *ids;
    armilla_data *data;
    armilla_ranking nearest; /* samples, by their places in the cells */
    armilla_ranking cells;   /* all of them */
} trial;

static void release_trial(armilla_context *context, trial *t)
{
    armilla_data_free(t->data);
    armilla_ranking_release(context, &t->cells);
    armilla_ranking_release(context, &t->nearest);
    armilla_release(context, t->ids);
    armilla_release(context, t->values);
}

static armilla_status open_trial(const probing *p, uint64_t seed, trial *t)
{
    const armilla_cells *cells = p->cells;
    armilla_context *context = cells->context;
    const size_t bytes = (size_t)cells->m * armilla_type_size(cells->work);
    const int64_t wanted = p->count + (p->same ? 1 : 0); /* a query is among the samples */
    t->count = armilla_min64(CHECKED, p->queries->n);
    armilla_status status = armilla_take(context, t->count, sizeof *t->ids, &t->ids);
    if (status == ARMILLA_OK) status = armilla_take(context, t->count, bytes, &t->values);
    if (status != ARMILLA_OK) return status;
    armilla_draw_stratified(p->queries->n, t->count, seed, ARMILLA_STREAM_CELLS, t->ids);
    for (int64_t i = 0; i < t->count; i++)
        memcpy(t->values + (size_t)i * bytes, column_of(p, p->queries, t->ids[i]), bytes);
    status = armilla_data_borrow_dense(context, cells->work, t->values, cells->m, t->count, &t->data);
    if (status == ARMILLA_OK)
        status = armilla_cells_rank(cells, t->data, cells->samples.values, cells->samples.n, wanted, &t->nearest);
    if (status == ARMILLA_OK)
        status = armilla_cells_rank(cells, t->data, cells->centers, cells->count, cells->count, &t->cells);
    return status;
}

/* at[i] = how many neighbours of the trial are in the cell that is the i-th for their query. */
static void count_ranks(const probing *p, const trial *t, int64_t *at)
{
    const int64_t cells = p->cells->count;
    for (int64_t q = 0; q < t->count; q++) {
        int64_t left = p->count;
        for (int64_t i = 0; i < t->nearest.count && left > 0; i++) {
            const int64_t place = t->nearest.targets[q * t->nearest.count + i];
            if (p->same && place == t->ids[q]) continue;
            const int64_t cell = cell_at(&p->cells->samples, cells, place);
            int64_t rank = 0;
            while (t->cells.targets[q * cells + rank] != cell) rank++;
            at[rank]++;
            left--;
        }
    }
}

/* The fewest cells by which the trial finds what is wanted. */
static armilla_status choose_probed(probing *p, const armilla_neighbors_plan *plan, armilla_neighbors_found *found)
{
    armilla_context *context = p->cells->context;
    const int64_t cells = p->cells->count;
    trial t = {.count = 0};
    int64_t *at = NULL, hits = 0;
    armilla_status status = armilla_take(context, cells, sizeof *at, &at);
    if (status == ARMILLA_OK) status = open_trial(p, plan->seed, &t);
    if (status == ARMILLA_OK) {
        const double all = (double)(t.count * p->count);
        count_ranks(p, &t, at);
        p->probed = 0;
        while (p->probed < cells && (p->probed == 0 || (double)hits < plan->recall * all)) hits += at[p->probed++];
        *found = (armilla_neighbors_found){
            .recall = (double)hits / all, .checked = t.count, .cells = cells, .probed = p->probed};
    }
    release_trial(context, &t);
    armilla_release(context, at);
    return status;
}

armilla_status armilla_cells_search(const armilla_cells *cells, const armilla_cell_lists *queries,
                                    const armilla_neighbors_plan *plan, armilla_ranking *made,
                                    armilla_neighbors_found *found)
{
    probing p = {.cells = cells,
                 .queries = queries,
                 .same = queries == &cells->samples,
                 .count = plan->count,
                 .kernels = armilla_pair_kernels_for(cells->context, cells->work),
                 .made = made};
    const int64_t bytes = COLUMNS * cells->m * (int64_t)armilla_type_size(cells->work);
    p.columns = COLUMNS * armilla_max64(1, armilla_min64(MOST_TIMES, CACHE / armilla_max64(1, bytes)));
    armilla_call_phase(cells->context, ARMILLA_PHASE_RECALL);
    armilla_status status = choose_probed(&p, plan, found);
    armilla_call_phase(cells->context, ARMILLA_PHASE_NEIGHBORS);
    armilla_call_plan_probed(cells->context, (double)queries->n,
                             (double)(p.probed * cells->samples.n) / (double)cells->count, (double)cells->m);
    if (status == ARMILLA_OK) status = armilla_ranking_take(cells->context, queries->n, plan->count, made);
    if (status == ARMILLA_OK) status = search_all(&p);
    return status;
}
