/* The copy by feature is made by counting: each slot counts its entries of every feature, so that it knows where it will
 * put them, and no two slots meet. */
#include "data/transposed.h"

#include "base/call.h"
#include "base/ranks.h"
#include "base/size.h"
#include "data/slots.h"
#include "data/sparse.h"
#include "data/traverse.h"

#include <string.h>

enum { CODES_PART = 32, COPY_PART = 4 }; /* of the memory that is left: what codes and a copy may take */

struct armilla_transposed {
    armilla_context *context;
    const armilla_sparse_kernels *kernels;
    int64_t m;
    armilla_slots slots;
    armilla_sparse_rows rows;
    int64_t *starts;
    char *entries;
    int32_t *panel_ends, *panel_slots;
};

/* Whether it pays for the samples of this process. */
static bool pays_here(const armilla_context *context, const armilla_data *X, armilla_type work, int64_t r)
{
    const armilla_samples share = armilla_data_share(context, X);
    armilla_slots slots;
    int64_t first = 0, last = 0;
    armilla_slots_find(X, &slots);
    armilla_slots_own(context, &slots, &first, &last);
    const double size = (double)armilla_type_size(work), m = (double)X->m, left = (double)armilla_memory_left(context);
    const double entries = (double)(armilla_sparse_before(X, share.last) - armilla_sparse_before(X, share.first));
    const double copy = entries * (double)armilla_sparse_entry_bytes(work) + m * sizeof(int64_t);
    const double counts = (double)(last - first) * m * sizeof(int32_t);
    const double parts = (double)(last - first) * m * (double)armilla_sparse_stride(work, r) * size;
    const double codes = (double)(share.last - share.first) * (double)r * size;
    if (share.first == share.last) return true;
    return copy + counts <= parts && CODES_PART * codes <= left && COPY_PART * (copy + counts) <= left;
}

armilla_status armilla_transposed_pays(armilla_context *context, const armilla_data *X, armilla_type work, int64_t r,
                                       bool *pays)
{
    *pays = false;
    if (!armilla_sparse_of(X) || X->n > INT32_MAX) return ARMILLA_OK;
    double against = pays_here(context, X, work, r) ? 0 : 1;
    const armilla_status status = armilla_ranks_most(context, ARMILLA_OK, &against);
    *pays = status == ARMILLA_OK && against == 0;
    return status;
}

/* The panels of the slots of this process. */
static armilla_status take_panels(armilla_transposed *t, const armilla_data *X, int64_t first, int64_t last)
{
    const armilla_type work = t->kernels->type;
    int64_t panels = 0;
    for (int64_t s = first; s < last; s++) {
        const int64_t width = armilla_slots_width(&t->slots, X, armilla_panel_width(X, work), s);
        panels += (t->slots.first_of[s + 1] - t->slots.first_of[s] + width - 1) / width;
    }
    armilla_status status = armilla_take(t->context, panels, sizeof *t->panel_ends, &t->panel_ends);
    if (status == ARMILLA_OK) status = armilla_take(t->context, panels, sizeof *t->panel_slots, &t->panel_slots);
    for (int64_t s = first; s < last && status == ARMILLA_OK; s++) {
        const int64_t width = armilla_slots_width(&t->slots, X, armilla_panel_width(X, work), s),
                      end = t->slots.first_of[s + 1];
        for (int64_t at = t->slots.first_of[s]; at < end; at += width) {
            t->panel_ends[t->rows.panels] = (int32_t)armilla_min64(at + width, end);
            t->panel_slots[t->rows.panels++] = (int32_t)s;
        }
    }
    return status;
}

/* Both passes over the panels. */
typedef struct filling {
    armilla_transposed *made;
    int64_t first_slot;
    int32_t
        *counts; /* m for each slot: of its entries of each feature; then the place of the next among the feature's */
} filling;

static armilla_status count_entries(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const filling *f = self;
    const armilla_sparse_panel *s = &panel->sparse;
    const int64_t count = armilla_index_at(s->index64, s->columns.starts, panel->count) -
                          armilla_index_at(s->index64, s->columns.starts, 0);
    int32_t *counts = f->counts + (panel->slot - f->first_slot) * f->made->m;
    (void)thread;
    (void)sums;
    for (int64_t i = 0; i < count; i++) counts[armilla_index_at(s->index64, s->columns.rows, i)]++;
    return ARMILLA_OK;
}

static armilla_status put_entries(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const filling *f = self;
    const armilla_transposed *made = f->made;
    const armilla_sparse_panel *s = &panel->sparse;
    const int64_t origin = armilla_index_at(s->index64, s->columns.starts, 0);
    const size_t size = armilla_type_size(made->kernels->type), bytes = 2 * size;
    int32_t *places = f->counts + (panel->slot - f->first_slot) * made->m;
    (void)thread;
    (void)sums;
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t last = armilla_index_at(s->index64, s->columns.starts, j + 1) - origin;
        const int32_t sample = (int32_t)(panel->first + j);
        for (int64_t i = armilla_index_at(s->index64, s->columns.starts, j) - origin; i < last; i++) {
            const int64_t feature = armilla_index_at(s->index64, s->columns.rows, i);
            char *entry = made->entries + (size_t)(made->starts[feature] + places[feature]++) * bytes;
            memcpy(entry, &sample, sizeof sample);
            memcpy(entry + size, (const char *)s->columns.values + (size_t)i * size, size);
        }
    }
    return ARMILLA_OK;
}

/* Counts become places, and their sums starts. */
static void place_entries(const filling *f, int64_t slots)
{
    armilla_transposed *made = f->made;
    for (int64_t i = 0; i < made->m; i++) {
        int32_t sum = 0;
        for (int64_t s = 0; s < slots; s++) {
            const int32_t count = f->counts[s * made->m + i];
            f->counts[s * made->m + i] = sum;
            sum += count;
        }
        made->starts[i + 1] = made->starts[i] + sum;
    }
}

static void cut_nothing(const void *self, int64_t slot, int64_t *first, int64_t *last)
{
    (void)self;
    (void)slot;
    (void)first;
    (void)last;
}

static armilla_status fill(filling *f, armilla_traversal *traversal, int64_t slots)
{
    armilla_transposed *made = f->made;
    const armilla_portion all = {.cut = cut_nothing};
    const armilla_segment nothing = {.kind = ARMILLA_SUM, .count = 0};
    armilla_status status = armilla_take(made->context, slots * made->m, sizeof *f->counts, &f->counts);
    if (status == ARMILLA_OK) status = armilla_traverse_some(traversal, &all, &nothing, 1, count_entries, f);
    if (status != ARMILLA_OK) return status;
    place_entries(f, slots);
    status = armilla_grow(made->context, made->starts[made->m], armilla_sparse_entry_bytes(made->kernels->type),
                          &made->entries);
    return status == ARMILLA_OK ? armilla_traverse_some(traversal, &all, &nothing, 1, put_entries, f) : status;
}

armilla_status armilla_transposed_new(armilla_context *context, const armilla_data *X, armilla_type work,
                                      armilla_transposed **transposed)
{
    const armilla_kernels *kernels = armilla_kernels_for(context, work);
    armilla_transposed *made = NULL;
    armilla_traversal *traversal = NULL;
    filling f = {0};
    int64_t first = 0, last = 0;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    made->kernels = armilla_sparse_kernels_like(kernels);
    made->m = X->m;
    armilla_slots_find(X, &made->slots);
    armilla_slots_own(context, &made->slots, &first, &last);
    f = (filling){.made = made, .first_slot = first};
    status = take_panels(made, X, first, last);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m + 1, sizeof *made->starts, &made->starts);
    if (status == ARMILLA_OK)
        status = armilla_traversal_new(context, &(armilla_traversal_plan){.X = X, .kernels = kernels}, &traversal);
    armilla_call_uninterrupted_enter(context);
    if (status == ARMILLA_OK) status = fill(&f, traversal, last - first);
    armilla_call_uninterrupted_leave(context);
    armilla_traversal_free(traversal);
    armilla_release(context, f.counts);
    made->rows.starts = made->starts;
    made->rows.entries = made->entries;
    made->rows.count = made->starts ? made->starts[X->m] : 0;
    made->rows.panel_ends = made->panel_ends;
    made->rows.panel_slots = made->panel_slots;
    if (status == ARMILLA_OK)
        *transposed = made;
    else
        armilla_transposed_free(made);
    return status;
}

void armilla_transposed_free(armilla_transposed *transposed)
{
    if (!transposed) return;
    armilla_context *context = transposed->context;
    armilla_release(context, transposed->entries);
    armilla_release(context, transposed->starts);
    armilla_release(context, transposed->panel_slots);
    armilla_release(context, transposed->panel_ends);
    armilla_release(context, transposed);
}

void armilla_transposed_make(const void *self, int64_t first, int64_t last, const armilla_window *where, double *buffer)
{
    const armilla_transposed_product *product = self;
    const armilla_transposed *X = product->X;
    const int64_t stride = armilla_sparse_stride(X->kernels->type, product->codes.r);
    armilla_sparse_piece piece = {.first = X->slots.first_of[first], .last = X->slots.first_of[last]};
    for (int64_t run = 0; run < where->runs; run++) {
        const int64_t begin = where->first + run * where->stride;
        for (int64_t at = begin; at < begin + where->run; at += piece.length) {
            piece.feature = at / stride;
            piece.k = at % stride;
            piece.length = armilla_min64(stride - piece.k, begin + where->run - at);
            X->kernels->sum_feature(&X->rows, &product->codes, &piece, buffer);
            for (int64_t k = armilla_max64(product->codes.r - piece.k, 0); k < piece.length; k++) buffer[k] = 0;
            buffer += piece.length;
        }
    }
}

int64_t armilla_transposed_cut(const armilla_transposed *transposed, int64_t at, int64_t of)
{
    enum { FEATURE = 8 }; /* entries that are as much work as writing a feature's sums */
    const int64_t m = transposed->m;
    const double wanted = (double)(transposed->starts[m] + FEATURE * m) / (double)of * (double)at;
    int64_t low = 0, high = m;
    if (at == of) return m;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if ((double)(transposed->starts[middle] + FEATURE * middle) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
