/* The pass over X. Panels and slots are functions of the data alone, never of threads or of the machine. */
#include "data/traverse.h"

#include "base/size.h"
#include "data/sparse.h"

enum {
    PANEL_BYTES = 296 * 1024, /* fits beside others in a 512 KiB second-level cache */
    LEAST_WIDTH = 72,         /* below this the sums cost more than a panel in the third-level cache */
    MOST_WIDTH = 120,
    WIDTH_STEP = 6,      /* the kernels' block of samples */
    FEW_SLOTS = 64,      /* slots of dense data; more only where each has so many panels */
    SLOT_PANELS = 8,     /* that a vector of sums costs little beside them, */
    MOST_SLOTS = 1024,   /* and no more than this */
    DENSE_KEPT = 4,      /* vectors that are added where the sums are read */
    SPARSE_MEETING = 16, /* entries of a panel in each feature that are worth its sums in the cache */
    SPARSE_MOST_WIDTH = 4096,
    SPARSE_LEAST_SLOTS =
        8, /* with tall sparse data the sums cost as much as the sweep: few slots, no more than leave */
    SPARSE_FEW_SLOTS =
        24, /* so many entries of a slot for each feature. All of these are kept. Where there are more, */
    SPARSE_PER_FEATURE = 12, /* vectors are added as the slots are finished, which pays from so many entries on */
    SPARSE_PER_FEATURE_MORE = 48,
    THREAD_NUMBERS = 1 << 15, /* entries of X that are worth another thread */
    FEW_THREADS = 16,         /* more only where the sums that each wants are fewer than the entries of X for it */
    ALIGNMENT = 64
};

struct armilla_traversal {
    armilla_context *context;
    const armilla_data *X;
    const armilla_kernels *kernels;
    armilla_reducer *reducer;
    int threads;
    int64_t width, slots; /* width: the most columns of a panel */
    bool direct;          /* the layout's sums of a panel are those of its slot, in the working type */
    int64_t *first_of;    /* each slot's first column, and n: they rise */
    char *workspace;      /* per thread */
    size_t workspace_bytes;
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* So many columns that several of them meet in a feature, but enough panels for the slots. */
static int64_t sparse_width(const armilla_data *X)
{
    const double meeting =
        SPARSE_MEETING * (double)X->m * (double)X->n / (double)armilla_max64(armilla_data_stored(X), 1);
    const int64_t most = armilla_min64(divide_up(X->n, SPARSE_LEAST_SLOTS), SPARSE_MOST_WIDTH);
    return armilla_max64(LEAST_WIDTH, meeting < (double)most ? (int64_t)meeting : most);
}

int64_t armilla_panel_width(const armilla_data *X, armilla_type work)
{
    if (armilla_sparse_of(X)) return sparse_width(X);
    const int64_t fitting = PANEL_BYTES / (int64_t)armilla_type_size(work) / X->m;
    return armilla_max64(LEAST_WIDTH, armilla_min64(fitting - fitting % WIDTH_STEP, MOST_WIDTH));
}

/* How many slots at most, for data of so many panels. */
static int64_t slot_bound(const armilla_data *X, int64_t panels)
{
    const int64_t per_feature = armilla_data_stored(X) / X->m;
    const int64_t few = armilla_min64(per_feature / SPARSE_PER_FEATURE, SPARSE_FEW_SLOTS);
    const int64_t many = armilla_min64(per_feature / SPARSE_PER_FEATURE_MORE, MOST_SLOTS);
    if (armilla_sparse_of(X)) return armilla_max64(SPARSE_LEAST_SLOTS, armilla_max64(few, many));
    return armilla_max64(FEW_SLOTS, armilla_min64(panels / SLOT_PANELS, MOST_SLOTS));
}

/* The first column before which at least so many entries and columns stand. */
static int64_t find_column(const armilla_data *X, int64_t weight)
{
    int64_t low = 0, high = X->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (armilla_sparse_before(X, middle) + middle < weight)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The width of a slot's panels: all of it where that is little more than a panel. */
static int64_t slot_width(const armilla_traversal *t, int64_t slot)
{
    if (!armilla_sparse_of(t->X)) return armilla_panel_width(t->X, t->kernels->type);
    const int64_t wanted = sparse_width(t->X), columns = t->first_of[slot + 1] - t->first_of[slot];
    return divide_up(columns, divide_up(columns, wanted + wanted / 2));
}

/* The widest panel; whether no slot has more than one. */
static bool measure_slots(armilla_traversal *t)
{
    bool one_panel = true;
    t->width = 0;
    for (int64_t s = 0; s < t->slots; s++) {
        const int64_t width = slot_width(t, s), columns = t->first_of[s + 1] - t->first_of[s];
        t->width = armilla_max64(t->width, armilla_min64(width, columns));
        one_panel &= width >= columns;
    }
    return one_panel;
}

/* Where slot s of so many would begin: of equal numbers of panels, or of equal numbers of entries. */
static int64_t slot_start(const armilla_data *X, int64_t slots, int64_t slot_columns, int64_t s)
{
    if (s == slots) return X->n;
    if (!armilla_sparse_of(X)) return s * slot_columns;
    return find_column(X, (int64_t)((double)(armilla_data_stored(X) + X->n) / (double)slots * (double)s));
}

/* The same slots for every pass over the same data, whatever it sums and in which type, so that whoever has the samples
 * of some slots has them for all passes. Every slot has a column: visitors write a slot's results when they see its first
 * panel. A sample with more than a slot's share of the entries is a reason for fewer slots. */
static armilla_status cut_slots(armilla_traversal *t)
{
    const int64_t width = armilla_panel_width(t->X, ARMILLA_F32), panels = divide_up(t->X->n, width);
    const int64_t per_slot = divide_up(panels, slot_bound(t->X, panels)), wanted = divide_up(panels, per_slot);
    const armilla_status status = armilla_take(t->context, wanted + 1, sizeof *t->first_of, &t->first_of);
    if (status != ARMILLA_OK) return status;
    for (int64_t s = 1; s <= wanted; s++) {
        const int64_t end = slot_start(t->X, wanted, per_slot * width, s);
        if (end > t->first_of[t->slots]) t->first_of[++t->slots] = end;
    }
    return ARMILLA_OK;
}

/* Threads do not change results: where sums are long, they are no more than their vectors fit beside the data. */
static int most_threads(const armilla_traversal *t, const armilla_traversal_plan *plan)
{
    const int64_t numbers = armilla_max64(1, plan->length + plan->parts), stored = armilla_data_stored(t->X);
    const int64_t most = armilla_min64(t->slots, 1 + stored / THREAD_NUMBERS);
    const int64_t long_sums = armilla_max64(FEW_THREADS, stored / numbers);
    return (int)armilla_max64(1, armilla_min64(most, long_sums));
}

static armilla_status take_reducer(armilla_traversal *t, const armilla_traversal_plan *plan, bool one_panel)
{
    const int64_t keep = plan->parts > 0 ? SPARSE_FEW_SLOTS : DENSE_KEPT;
    const bool kept = t->slots <= keep;
    t->direct = one_panel && (kept || t->kernels->type == ARMILLA_F64);
    const size_t part_bytes = (size_t)plan->parts * armilla_type_size(armilla_traversal_part_type(t));
    return armilla_reducer_new(
        t->context,
        &(armilla_reducer_plan){.slots = t->slots,
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
    if ((status = cut_slots(made)) != ARMILLA_OK) goto failed;
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
    armilla_release(traversal->context, traversal->first_of);
    armilla_release(traversal->context, traversal);
}

int64_t armilla_traversal_width(const armilla_traversal *traversal)
{
    return traversal->width;
}

int64_t armilla_traversal_slots(const armilla_traversal *traversal)
{
    return traversal->slots;
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
    *first = traversal->first_of[*first];
    *last = traversal->first_of[*last];
}

int armilla_traversal_threads(const armilla_traversal *traversal)
{
    return traversal->threads;
}

const armilla_team *armilla_traversal_team(const armilla_traversal *traversal)
{
    return armilla_reducer_team(traversal->reducer);
}

typedef struct pass {
    armilla_traversal *traversal;
    armilla_visitor visitor;
    void *self;
} pass;

static armilla_status visit_slot(void *self, int64_t slot, int thread, void *sums)
{
    const pass *p = self;
    const armilla_traversal *t = p->traversal;
    const int64_t last = t->first_of[slot + 1], width = slot_width(t, slot);
    int64_t own_first = 0, own_last = 0;
    armilla_reducer_slots(t->reducer, &own_first, &own_last);
    for (int64_t first = t->first_of[slot]; first < last; first += width) {
        armilla_panel panel = {
            .context = t->context, .data = t->X, .kernels = t->kernels, .first = first, .slot = slot};
        panel.count = armilla_min64(width, last - first);
        panel.opens = first == t->first_of[slot];
        /* Behind the slot's last panel: the slot that is free when the other threads have taken one each. */
        panel.next = first + width < last ? first + width : t->first_of[armilla_min64(slot + t->threads, own_last)];
        panel.next_count = armilla_min64(width, t->X->n - panel.next);
        armilla_status status = armilla_call_pass(t->context, thread, first, t->X->n);
        if (status == ARMILLA_OK) status = t->X->ops->load(&panel, t->workspace + (size_t)thread * t->workspace_bytes);
        if (status == ARMILLA_OK) status = p->visitor(p->self, &panel, thread, sums);
        if (status != ARMILLA_OK) return status;
    }
    return ARMILLA_OK;
}

armilla_status armilla_traverse_into(armilla_traversal *traversal, const armilla_segment *segments, int count,
                                     armilla_visitor visitor, void *self)
{
    pass p = {traversal, visitor, self};
    const armilla_reduction reduction = {segments, count, visit_slot, &p};
    armilla_context *context = traversal->context;
    const armilla_status status = armilla_reduce(traversal->reducer, &reduction);
    if (status == ARMILLA_STOPPED) return armilla_call_explain(context);
    if (status != ARMILLA_OK && !armilla_context_error(context)[0])
        return armilla_fail(context, status, "a panel of the data could not be loaded: %s",
                            armilla_status_text(status));
    return status;
}

armilla_status armilla_traverse(armilla_traversal *traversal, int64_t length, armilla_visitor visitor, void *self,
                                double *sums)
{
    const armilla_segment all = {.kind = ARMILLA_SUM, .count = length, .result = sums};
    return armilla_traverse_into(traversal, &all, 1, visitor, self);
}
