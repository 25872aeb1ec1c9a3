/* The pass over X. Panels and slots are functions of the data alone, never of threads or of the machine. */
#include "data/traverse.h"

#include "base/reduce.h"
#include "base/size.h"
#include "base/team.h"

enum {
    PANEL_BYTES = 296 * 1024, /* leaves room in a 512 KiB second-level cache */
    LEAST_WIDTH = 72,         /* below this the sums cost more than a panel in the third-level cache */
    MOST_WIDTH = 120,
    WIDTH_STEP = 6,   /* the kernels' block of samples */
    LEAST_SLOTS = 16, /* bounds on how many vectors of sums there can be: with */
    MOST_SLOTS = 64,  /* long vectors memory counts, with short ones parallelism */
    SLOT_NUMBERS = 1 << 24,
    SPARSE_MEETING = 16, /* entries of a panel in each feature that are worth its sums in the cache */
    SPARSE_MOST_WIDTH = 4096,
    SPARSE_LEAST_SLOTS = 8, /* with tall sparse data the sums cost as much as the sweep, and each slot has its */
    SPARSE_MOST_SLOTS = 24, /* own: few, and no more than leave so many entries of a slot for each feature */
    SPARSE_PER_FEATURE = 12,
    THREAD_NUMBERS = 1 << 15, /* entries of X that are worth another thread */
    ALIGNMENT = 64
};

struct armilla_traversal {
    armilla_context *context;
    const armilla_data *X;
    const armilla_kernels *kernels;
    armilla_reducer *reducer;
    int threads;
    int64_t width, slots; /* width: the most columns of a panel */
    bool single;          /* no slot has more than one panel */
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
    const double meeting = SPARSE_MEETING * (double)X->m * (double)X->n / (double)armilla_max64(X->stored, 1);
    const int64_t most = armilla_min64(divide_up(X->n, SPARSE_LEAST_SLOTS), SPARSE_MOST_WIDTH);
    return armilla_max64(LEAST_WIDTH, meeting < (double)most ? (int64_t)meeting : most);
}

int64_t armilla_panel_width(const armilla_data *X, armilla_type work)
{
    if (X->ops->before) return sparse_width(X);
    const int64_t fitting = PANEL_BYTES / (int64_t)armilla_type_size(work) / X->m;
    return armilla_max64(LEAST_WIDTH, armilla_min64(fitting - fitting % WIDTH_STEP, MOST_WIDTH));
}

/* How many slots at most. */
static int64_t slot_bound(const armilla_data *X, int64_t length)
{
    const int64_t cap = SLOT_NUMBERS / armilla_max64(length, 1);
    if (!X->ops->before) return armilla_max64(LEAST_SLOTS, armilla_min64(cap, MOST_SLOTS));
    return armilla_max64(SPARSE_LEAST_SLOTS, armilla_min64(X->stored / X->m / SPARSE_PER_FEATURE, SPARSE_MOST_SLOTS));
}

/* The first column before which at least so many entries and columns stand. */
static int64_t find_column(const armilla_data *X, int64_t weight)
{
    int64_t low = 0, high = X->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (X->ops->before(X, middle) + middle < weight)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The width of a slot's panels: all of it where that is little more than a panel. */
static int64_t slot_width(const armilla_traversal *t, int64_t slot)
{
    if (!t->X->ops->before) return t->width;
    const int64_t wanted = sparse_width(t->X), columns = t->first_of[slot + 1] - t->first_of[slot];
    return divide_up(columns, divide_up(columns, wanted + wanted / 2));
}

static void measure_slots(armilla_traversal *t)
{
    t->single = true;
    for (int64_t s = 0; s < t->slots; s++) {
        const int64_t width = slot_width(t, s);
        t->width = armilla_max64(t->width, width);
        t->single &= width >= t->first_of[s + 1] - t->first_of[s];
    }
}

/* Where slot s of so many would begin: of equal numbers of panels, or of equal numbers of entries. */
static int64_t slot_start(const armilla_traversal *t, int64_t slots, int64_t per_slot, int64_t s)
{
    const armilla_data *X = t->X;
    if (s == slots) return X->n;
    if (!X->ops->before) return s * per_slot * t->width;
    return find_column(X, (int64_t)((double)(X->stored + X->n) / (double)slots * (double)s));
}

/* Every slot has a column: visitors write a slot's results when they see its first panel. A sample with more than a
 * slot's share of the entries is a reason for fewer slots. */
static armilla_status cut_slots(armilla_traversal *t, int64_t length)
{
    const int64_t panels = divide_up(t->X->n, t->width), per_slot = divide_up(panels, slot_bound(t->X, length));
    const int64_t wanted = divide_up(panels, per_slot);
    const armilla_status status = armilla_take(t->context, wanted + 1, sizeof *t->first_of, &t->first_of);
    if (status != ARMILLA_OK) return status;
    for (int64_t s = 1; s <= wanted; s++) {
        const int64_t end = slot_start(t, wanted, per_slot, s);
        if (end > t->first_of[t->slots]) t->first_of[++t->slots] = end;
    }
    measure_slots(t);
    return ARMILLA_OK;
}

armilla_status armilla_traversal_new(armilla_context *context, const armilla_data *X, const armilla_kernels *kernels,
                                     int threads, int64_t length, armilla_traversal **traversal)
{
    armilla_traversal *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    *made = (armilla_traversal){.context = context, .X = X, .kernels = kernels};
    made->width = armilla_panel_width(X, kernels->type);
    if ((status = cut_slots(made, length)) != ARMILLA_OK) goto failed;
    made->threads = (int)armilla_max64(1, armilla_min64(threads, made->slots));
    made->threads = (int)armilla_min64(made->threads, 1 + X->stored / THREAD_NUMBERS);
    made->workspace_bytes = X->ops->workspace(X, kernels->type, made->width);
    made->workspace_bytes += ALIGNMENT - made->workspace_bytes % ALIGNMENT;
    status = armilla_take(context, made->threads, made->workspace_bytes, &made->workspace);
    if (status == ARMILLA_OK) status = armilla_reducer_new(context, made->slots, length, made->threads, &made->reducer);
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

bool armilla_traversal_single(const armilla_traversal *traversal)
{
    return traversal->single;
}

int armilla_traversal_threads(const armilla_traversal *traversal)
{
    return traversal->threads;
}

armilla_team *armilla_traversal_team(const armilla_traversal *traversal)
{
    return armilla_reducer_team(traversal->reducer);
}

typedef struct pass {
    armilla_traversal *traversal;
    armilla_visitor visitor;
    void *self;
} pass;

static armilla_status visit_slot(void *self, int64_t slot, int thread, double *sums)
{
    const pass *p = self;
    const armilla_traversal *t = p->traversal;
    const int64_t last = t->first_of[slot + 1], width = slot_width(t, slot);
    for (int64_t first = t->first_of[slot]; first < last; first += width) {
        armilla_panel panel = {.data = t->X, .kernels = t->kernels, .first = first, .slot = slot};
        panel.count = armilla_min64(width, last - first);
        panel.opens = first == t->first_of[slot];
        /* Behind the slot's last panel: the slot that is free when the other threads have taken one each. */
        panel.next = first + width < last ? first + width : t->first_of[armilla_min64(slot + t->threads, t->slots)];
        panel.next_count = armilla_min64(width, t->X->n - panel.next);
        armilla_status status = armilla_call_pass(t->context, thread, first, t->X->n);
        if (status == ARMILLA_OK) status = t->X->ops->load(&panel, t->workspace + (size_t)thread * t->workspace_bytes);
        if (status == ARMILLA_OK) status = p->visitor(p->self, &panel, thread, sums);
        if (status != ARMILLA_OK) return status;
    }
    return ARMILLA_OK;
}

armilla_status armilla_traverse(armilla_traversal *traversal, int64_t length, armilla_visitor visitor, void *self,
                                double *sums)
{
    pass p = {traversal, visitor, self};
    const armilla_status status = armilla_reduce(traversal->reducer, length, visit_slot, &p, sums);
    return status == ARMILLA_STOPPED ? armilla_call_explain(traversal->context) : status;
}
