/* The pass over X. Panels and slots are functions of the data alone, never of threads or of the machine. */
#include "data/traverse.h"

#include "base/size.h"
#include "data/slots.h"
#include "data/sparse.h"

enum {
    DENSE_KEPT = 4,           /* vectors that are added where the sums are read, */
    SPARSE_KEPT = 24,         /* and all of as many as sparse data have where they are few (data/slots.c) */
    THREAD_NUMBERS = 1 << 15, /* entries of X that are worth another thread */
    FEW_THREADS = 16,         /* more only where the sums that each wants are fewer than the entries of X for it */
    MANY_SUMS = 80 * 1024,    /* doubles that do not stay in a second-level cache beside a panel, */
    MOST_SUMS = 512 * 1024,   /* nor in a third-level one beside those of other threads: */
    WIDE = 240,               /* columns of a panel then, */
    WIDEST = 336,
    WIDE_BYTES =
        4 << 20, /* as far as these stay in a third-level cache, beside the panels of others and the next ones, */
    WIDEST_BYTES =
        64 << 20,    /* or reading X again costs little beside the most sums, as far as copies of panels have space, */
    MANY_ATOMS = 48, /* or beside so many atoms */
    ALIGNMENT = 64
};

struct armilla_traversal {
    armilla_context *context;
    const armilla_data *X;
    const armilla_kernels *kernels;
    armilla_reducer *reducer;
    int threads;
    int64_t width; /* the most columns of a panel */
    armilla_slots slots;
    int64_t wanted;  /* columns of a panel */
    bool direct;     /* the layout's sums of a panel are those of its slot, in the working type */
    char *workspace; /* per thread */
    size_t workspace_bytes;
};

/* Each panel of dense data adds to all of the slot's sums: where these are too many for a cache, panels are wider than the
 * data alone would have them. */
static int64_t wanted_width(const armilla_traversal *t, int64_t sums)
{
    const int64_t width = armilla_panel_width(t->X, t->kernels->type), m = t->X->m;
    const int64_t wide = sums >= MOST_SUMS ? WIDEST : sums >= MANY_SUMS ? WIDE : 0;
    const int64_t bytes = sums >= MOST_SUMS ? WIDEST_BYTES : WIDE_BYTES;
    const int64_t fitting = bytes / (m * (int64_t)armilla_type_size(t->kernels->type));
    if (armilla_sparse_of(t->X)) return width;
    return armilla_max64(width, sums / m >= MANY_ATOMS ? wide : armilla_min64(wide, fitting));
}

int64_t armilla_traversal_slot_width(const armilla_traversal *traversal, int64_t slot)
{
    return armilla_slots_width(&traversal->slots, traversal->X, traversal->wanted, slot);
}

/* The widest panel; whether no slot has more than one. */
static bool measure_slots(armilla_traversal *t)
{
    bool one_panel = true;
    t->width = 0;
    for (int64_t s = 0; s < t->slots.count; s++) {
        const int64_t width = armilla_traversal_slot_width(t, s),
                      columns = t->slots.first_of[s + 1] - t->slots.first_of[s];
        t->width = armilla_max64(t->width, armilla_min64(width, columns));
        one_panel &= width >= columns;
    }
    return one_panel;
}

/* Threads do not change results: where sums are long, they are no more than their vectors fit beside the data. */
static int most_threads(const armilla_traversal *t, const armilla_traversal_plan *plan)
{
    const int64_t numbers = armilla_max64(1, plan->length + (plan->made ? 0 : plan->parts)),
                  stored = armilla_data_stored(t->X);
    const int64_t most = armilla_min64(t->slots.count, 1 + stored / THREAD_NUMBERS);
    const int64_t long_sums = armilla_max64(FEW_THREADS, stored / numbers);
    return (int)armilla_max64(1, armilla_min64(most, long_sums));
}

static armilla_status take_reducer(armilla_traversal *t, const armilla_traversal_plan *plan, bool one_panel)
{
    const int64_t parts = plan->made ? 0 : plan->parts, keep = parts > 0 ? SPARSE_KEPT : DENSE_KEPT;
    const bool kept = t->slots.count <= keep;
    t->direct = one_panel && (kept || t->kernels->type == ARMILLA_F64);
    const size_t part_bytes = (size_t)parts * armilla_type_size(armilla_traversal_part_type(t));
    return armilla_reducer_new(
        t->context,
        &(armilla_reducer_plan){.slots = t->slots.count,
                                .keep = keep,
                                .bytes = (size_t)plan->length * sizeof(double) + part_bytes,
                                .exchange_bytes = (size_t)(plan->length + plan->parts) * sizeof(double),
                                .threads = most_threads(t, plan)},
        &t->reducer);
}

armilla_status armilla_traversal_new(armilla_context *context, const armilla_traversal_plan *plan,
                                     armilla_traversal **traversal)
{
    const armilla_data *X = plan->X;
    armilla_traversal *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    *made = (armilla_traversal){.context = context, .X = X, .kernels = plan->kernels};
    armilla_slots_find(X, &made->slots);
    made->wanted = wanted_width(made, plan->length + plan->beside);
    const bool one_panel = measure_slots(made);
    if ((status = take_reducer(made, plan, one_panel)) != ARMILLA_OK) goto failed;
    made->threads = armilla_reducer_team(made->reducer)->threads;
    made->workspace_bytes = X->ops->workspace(X, plan->kernels->type, made->width);
    made->workspace_bytes += ALIGNMENT - made->workspace_bytes % ALIGNMENT;
    status = armilla_take(context, made->threads, made->workspace_bytes, &made->workspace);
    if (status != ARMILLA_OK) goto failed;
    *traversal = made;
    return ARMILLA_OK;
failed:
    armilla_traversal_free(made);
    return status;
}

void armilla_traversal_free(armilla_traversal *traversal)
{
    if (!traversal) return;
    armilla_reducer_free(traversal->reducer);
    armilla_release(traversal->context, traversal->workspace);
    armilla_release(traversal->context, traversal);
}

const armilla_data *armilla_traversal_data(const armilla_traversal *traversal)
{
    return traversal->X;
}

int64_t armilla_traversal_width(const armilla_traversal *traversal)
{
    return traversal->width;
}

int64_t armilla_traversal_slots(const armilla_traversal *traversal)
{
    return traversal->slots.count;
}

void armilla_traversal_slot(const armilla_traversal *traversal, int64_t slot, int64_t *first, int64_t *last)
{
    *first = traversal->slots.first_of[slot];
    *last = traversal->slots.first_of[slot + 1];
}

bool armilla_traversal_direct(const armilla_traversal *traversal)
{
    return traversal->direct;
}

armilla_type armilla_traversal_part_type(const armilla_traversal *traversal)
{
    return traversal->direct ? traversal->kernels->type : ARMILLA_F64;
}

const armilla_reducer *armilla_traversal_sums(const armilla_traversal *traversal)
{
    return traversal->reducer;
}

void armilla_traversal_columns(const armilla_traversal *traversal, int64_t *first, int64_t *last)
{
    armilla_reducer_slots(traversal->reducer, first, last);
    *first = traversal->slots.first_of[*first];
    *last = traversal->slots.first_of[*last];
}

int armilla_traversal_threads(const armilla_traversal *traversal)
{
    return traversal->threads;
}

const armilla_team *armilla_traversal_team(const armilla_traversal *traversal)
{
    return armilla_reducer_team(traversal->reducer);
}

/* The columns of a slot that a pass visits. */
typedef struct columns {
    int64_t first, last;
} columns;

static columns slot_columns(const armilla_traversal *t, const armilla_portion *portion, int64_t slot)
{
    columns own = {t->slots.first_of[slot], t->slots.first_of[slot + 1]};
    if (portion) portion->cut(portion->self, slot, &own.first, &own.last);
    return own;
}

int64_t armilla_traversal_count(const armilla_traversal *traversal, const armilla_portion *portion)
{
    int64_t count = 0;
    for (int64_t slot = 0; slot < traversal->slots.count; slot++) {
        const columns own = slot_columns(traversal, portion, slot);
        count += own.last - own.first;
    }
    return count;
}

typedef struct pass {
    armilla_traversal *traversal;
    const armilla_portion *portion; /* NULL: all columns */
    bool unread;                    /* panels are not loaded */
    armilla_visitor visitor;
    void *self;
} pass;

static bool has_columns(const void *self, int64_t slot)
{
    const pass *p = self;
    const columns own = slot_columns(p->traversal, p->portion, slot);
    return own.first < own.last;
}

/* The column at which this thread probably continues after the slot's last panel: the slot that is free when the other
 * threads have taken one each. */
static int64_t column_after(const pass *p, int64_t slot)
{
    const armilla_traversal *t = p->traversal;
    int64_t own_first = 0, own_last = 0, next = slot + t->threads;
    armilla_reducer_slots(t->reducer, &own_first, &own_last);
    while (p->portion && next < own_last && !has_columns(p, next)) next++;
    if (next >= own_last) return t->X->n; /* what comes behind is another rank's, if anybody's */
    return slot_columns(t, p->portion, next).first;
}

static armilla_status visit_slot(void *self, int64_t slot, int thread, void *sums)
{
    const pass *p = self;
    const armilla_traversal *t = p->traversal;
    const columns own = slot_columns(t, p->portion, slot);
    const int64_t width = armilla_traversal_slot_width(t, slot);
    for (int64_t first = own.first; first < own.last; first += width) {
        armilla_panel panel = {
            .context = t->context, .data = t->X, .kernels = t->kernels, .first = first, .slot = slot};
        panel.count = armilla_min64(width, own.last - first);
        panel.opens = first == own.first;
        panel.until = own.last;
        panel.then = column_after(p, slot);
        panel.next = first + width < own.last ? first + width : panel.then;
        panel.next_count = armilla_min64(width, t->X->n - panel.next);
        armilla_status status = armilla_call_pass(t->context, thread, first, t->X->n);
        if (status == ARMILLA_OK && !p->unread)
            status = t->X->ops->load(&panel, t->workspace + (size_t)thread * t->workspace_bytes);
        if (status == ARMILLA_OK) status = p->visitor(p->self, &panel, thread, sums);
        if (status != ARMILLA_OK) return status;
    }
    armilla_samples_passed(t->context, t->X->n, own.first, own.last);
    return ARMILLA_OK;
}

static armilla_status run_pass(pass *p, const armilla_segment *segments, int count)
{
    armilla_traversal *traversal = p->traversal;
    const armilla_reduction reduction = {segments, count, visit_slot, p, p->portion ? has_columns : NULL};
    armilla_context *context = traversal->context;
    const armilla_status status = armilla_reduce(traversal->reducer, &reduction);
    if (!p->portion && !p->unread)
        armilla_call_passed(context, traversal->X->n); /* else whoever takes the portions knows when it is all */
    if (status == ARMILLA_STOPPED) return armilla_call_explain(context);
    if (status != ARMILLA_OK && !armilla_context_error(context)[0])
        return armilla_fail(context, status, "a panel of the data could not be loaded: %s",
                            armilla_status_text(status));
    return status;
}

armilla_status armilla_traverse_some(armilla_traversal *traversal, const armilla_portion *portion,
                                     const armilla_segment *segments, int count, armilla_visitor visitor, void *self)
{
    pass p = {traversal, portion, false, visitor, self};
    return run_pass(&p, segments, count);
}

armilla_status armilla_traverse_unread(armilla_traversal *traversal, const armilla_segment *segments, int count,
                                       armilla_visitor visitor, void *self)
{
    pass p = {traversal, NULL, true, visitor, self};
    return run_pass(&p, segments, count);
}

armilla_status armilla_traverse_into(armilla_traversal *traversal, const armilla_segment *segments, int count,
                                     armilla_visitor visitor, void *self)
{
    return armilla_traverse_some(traversal, NULL, segments, count, visitor, self);
}

armilla_status armilla_traverse(armilla_traversal *traversal, int64_t length, armilla_visitor visitor, void *self,
                                double *sums)
{
    const armilla_segment all = {.kind = ARMILLA_SUM, .count = length, .result = sums};
    return armilla_traverse_into(traversal, &all, 1, visitor, self);
}
