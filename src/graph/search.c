/* The exact search: blocks and passes. What is done with a panel is its form's. */
#include "graph/search.h"

#include "base/size.h"
#include "base/team.h"
#include "data/sparse.h"

#include <math.h>

double armilla_search_put(armilla_search *search, int thread, int64_t query, double value, int64_t column)
{
    void *floors = armilla_search_floors(search, thread);
    const int64_t row = thread * search->most + query;
    armilla_ranking_put(&search->own, row, value, column);
    const double floor =
        fmax(armilla_number_at(search->listed, floors, query), armilla_ranking_floor(&search->own, row));
    armilla_number_put(search->listed, floors, query, floor);
    return floor;
}

/* The block's part of the queries' columns. */
static void cut_block(const void *self, int64_t slot, int64_t *first, int64_t *last)
{
    const armilla_search *s = self;
    (void)slot;
    *first = armilla_max64(*first, s->first);
    *last = armilla_min64(*last, s->last);
}

/* Columns from the block on: with those before it, its queries have met. */
static void cut_rest(const void *self, int64_t slot, int64_t *first, int64_t *last)
{
    const armilla_search *s = self;
    (void)slot;
    *first = armilla_max64(*first, s->first + 1);
    *last = armilla_max64(*first, *last);
}

/* Before a pass the lists of the threads are empty, and what is found already must be exceeded. */
static void clear_lists(armilla_search *s)
{
    const int64_t count = s->last - s->first;
    for (int t = 0; t < s->threads; t++) {
        armilla_ranking_clear(&s->own, t * s->most, t * s->most + count);
        for (int64_t q = 0; q < count; q++)
            armilla_number_put(s->listed, armilla_search_floors(s, t), q,
                               armilla_ranking_floor(&s->found, s->first + q));
    }
}

static void join_lists(void *self, int64_t first, int64_t last)
{
    armilla_search *s = self;
    for (int64_t q = first; q < last; q++)
        for (int t = 0; t < s->threads; t++) armilla_ranking_join(&s->found, s->first + q, &s->own, t * s->most + q);
}

static armilla_status run_block(armilla_search *s)
{
    const armilla_segment nothing = {.kind = ARMILLA_SUM, .count = 0};
    const armilla_portion block = {cut_block, s}, rest = {cut_rest, s};
    clear_lists(s);
    armilla_call_nested_enter(s->context);
    armilla_status status = armilla_traverse_some(s->asking, &block, &nothing, 1, s->form->place, s);
    armilla_call_nested_leave(s->context);
    if (status != ARMILLA_OK) return status;
    s->form->ready(s);
    const bool whole = !armilla_search_same(s);
    status = armilla_traverse_some(s->pass, whole ? NULL : &rest, &nothing, 1, s->form->meet, s);
    if (status == ARMILLA_OK) armilla_team_share(armilla_traversal_team(s->pass), s->last - s->first, join_lists, s);
    return status;
}

static void sort_lists(void *self, int64_t first, int64_t last)
{
    armilla_search *s = self;
    for (int64_t q = first; q < last; q++) armilla_ranking_sort(&s->found, q);
}

/* The part of all pairs that have met before a block: each meets those behind it. */
static double met(int64_t block, int64_t blocks)
{
    const double rest = 1 - (double)block / (double)blocks;
    return 1 - rest * rest;
}

armilla_status armilla_search_run(armilla_search *search)
{
    const int64_t n = search->queries->n, blocks = (n + search->most - 1) / search->most;
    armilla_status status = ARMILLA_OK;
    armilla_ranking_clear(&search->found, 0, n);
    for (int64_t b = 0; b < blocks && status == ARMILLA_OK; b++) {
        search->first = b * search->most;
        search->last = armilla_min64(n, search->first + search->most);
        armilla_call_step(search->context, b, blocks);
        if (armilla_search_same(search)) armilla_call_guess(search->context, met(b, blocks), met(b + 1, blocks));
        status = run_block(search);
    }
    if (status == ARMILLA_OK) armilla_team_share(armilla_traversal_team(search->pass), n, sort_lists, search);
    return status;
}

static armilla_status open_pass(armilla_search *s, const armilla_data *X, armilla_traversal **pass)
{
    const armilla_traversal_plan plan = {.X = X, .kernels = armilla_kernels_for(s->context, s->work)};
    return armilla_traversal_new(s->context, &plan, pass);
}

static armilla_status take_lists(armilla_search *s)
{
    armilla_status status = armilla_ranking_take(s->context, s->queries->n, s->count, &s->found);
    if (status == ARMILLA_OK) status = armilla_ranking_take(s->context, s->threads * s->most, s->count, &s->own);
    if (status == ARMILLA_OK)
        status = armilla_take(s->context, s->threads * s->most, armilla_type_size(s->listed), &s->floors);
    return status;
}

armilla_status armilla_search_open(armilla_search *search)
{
    const bool sparse = armilla_sparse_of(search->X) != NULL;
    search->form = sparse ? &armilla_search_sparse : &armilla_search_dense;
    search->listed = sparse ? ARMILLA_F64 : search->work;
    search->kernels = armilla_pair_kernels_for(search->context, search->listed);
    armilla_status status = open_pass(search, search->queries, &search->asking);
    if (status == ARMILLA_OK) status = open_pass(search, search->X, &search->pass);
    if (status != ARMILLA_OK) return status;
    search->threads = armilla_traversal_threads(search->pass);
    search->most = armilla_min64(search->queries->n, search->form->most(search));
    status = take_lists(search);
    if (status == ARMILLA_OK) status = search->form->take(search);
    if (status != ARMILLA_OK) return status;
    search->workspace_bytes = search->form->workspace(search) / ARMILLA_LINE * ARMILLA_LINE + ARMILLA_LINE;
    return armilla_take(search->context, search->threads, search->workspace_bytes, &search->workspace);
}

void armilla_search_close(armilla_search *search)
{
    armilla_context *context = search->context;
    armilla_release(context, search->workspace);
    if (search->form) search->form->release(search);
    armilla_release(context, search->floors);
    armilla_ranking_release(context, &search->own);
    armilla_ranking_release(context, &search->found);
    armilla_traversal_free(search->pass);
    armilla_traversal_free(search->asking);
}
