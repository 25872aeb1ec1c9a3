/* The pass over X. Panels and slots are functions of the shape alone, never of threads or of the machine. */
#include "data/traverse.h"

#include "base/reduce.h"
#include "base/size.h"
#include "base/threads.h"

enum {
    PANEL_BYTES = 296 * 1024, /* leaves room in a 512 KiB second-level cache */
    LEAST_WIDTH = 48,         /* below this the sums cost more than a panel in the third-level cache */
    MOST_WIDTH = 120,
    WIDTH_STEP = 6,   /* the kernels' block of samples */
    LEAST_SLOTS = 16, /* bounds on how many vectors of sums there can be: with */
    MOST_SLOTS = 64,  /* long vectors memory counts, with short ones parallelism */
    SLOT_NUMBERS = 1 << 24,
    THREAD_NUMBERS = 1 << 15, /* entries of X that are worth another thread */
    ALIGNMENT = 64
};

struct armilla_traversal {
    armilla_context *context;
    const armilla_data *X;
    const armilla_kernels *kernels;
    armilla_reducer *reducer;
    int threads;
    int64_t width, panels, panels_per_slot;
    char *workspace; /* per thread */
    size_t workspace_bytes;
};

int64_t armilla_panel_width(const armilla_data *X, armilla_type work)
{
    const int64_t fitting = PANEL_BYTES / (int64_t)armilla_type_size(work) / X->m;
    return armilla_max64(LEAST_WIDTH, armilla_min64(fitting - fitting % WIDTH_STEP, MOST_WIDTH));
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

armilla_status armilla_traversal_new(armilla_context *context, const armilla_data *X, const armilla_kernels *kernels,
                                     int threads, int64_t length, armilla_traversal **traversal)
{
    armilla_traversal *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    const int64_t cap = SLOT_NUMBERS / armilla_max64(length, 1);
    *made = (armilla_traversal){.context = context, .X = X, .kernels = kernels};
    made->width = armilla_panel_width(X, kernels->type);
    made->panels = divide_up(X->n, made->width);
    made->panels_per_slot = divide_up(made->panels, armilla_max64(LEAST_SLOTS, armilla_min64(cap, MOST_SLOTS)));
    const int64_t slots = divide_up(made->panels, made->panels_per_slot);
    made->threads = (int)armilla_min64(armilla_threads_choose(threads), slots);
    made->threads = (int)armilla_min64(made->threads, 1 + X->stored / THREAD_NUMBERS);
    made->workspace_bytes = X->ops->workspace(X, kernels->type, made->width);
    made->workspace_bytes += ALIGNMENT - made->workspace_bytes % ALIGNMENT;
    status = armilla_take(context, made->threads, made->workspace_bytes, &made->workspace);
    if (status == ARMILLA_OK) status = armilla_reducer_new(context, slots, length, made->threads, &made->reducer);
    if (status != ARMILLA_OK) {
        armilla_traversal_free(made);
        return status;
    }
    *traversal = made;
    return ARMILLA_OK;
}

void armilla_traversal_free(armilla_traversal *traversal)
{
    if (!traversal) return;
    armilla_reducer_free(traversal->reducer);
    armilla_release(traversal->context, traversal->workspace);
    armilla_release(traversal->context, traversal);
}

int64_t armilla_traversal_width(const armilla_traversal *traversal)
{
    return traversal->width;
}

int armilla_traversal_threads(const armilla_traversal *traversal)
{
    return traversal->threads;
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
    const int64_t last = armilla_min64((slot + 1) * t->panels_per_slot, t->panels);
    for (int64_t index = slot * t->panels_per_slot; index < last; index++) {
        armilla_panel panel = {.data = t->X, .kernels = t->kernels, .first = index * t->width};
        panel.count = armilla_min64(t->width, t->X->n - panel.first);
        /* Behind the slot's last panel: the slot that is free when the other threads have taken one each. */
        const int64_t next = index + 1 < last ? index + 1 : (slot + t->threads) * t->panels_per_slot;
        panel.next = armilla_min64(next * t->width, t->X->n);
        panel.next_count = armilla_min64(t->width, t->X->n - panel.next);
        armilla_status status = t->X->ops->load(&panel, t->workspace + (size_t)thread * t->workspace_bytes);
        if (status == ARMILLA_OK) status = p->visitor(p->self, &panel, thread, sums);
        if (status != ARMILLA_OK) return status;
    }
    return ARMILLA_OK;
}

armilla_status armilla_traverse(armilla_traversal *traversal, int64_t length, armilla_visitor visitor, void *self,
                                double *sums)
{
    pass p = {traversal, visitor, self};
    return armilla_reduce(traversal->reducer, length, visit_slot, &p, sums);
}

armilla_status armilla_traverse_once(armilla_context *context, const armilla_data *X, armilla_type work, int threads,
                                     int64_t length, armilla_visitor visitor, void *self, double *sums)
{
    armilla_traversal *traversal = NULL;
    armilla_status status =
        armilla_traversal_new(context, X, armilla_kernels_for(context, work), threads, length, &traversal);
    if (status == ARMILLA_OK) status = armilla_traverse(traversal, length, visitor, self, sums);
    armilla_traversal_free(traversal);
    return status;
}
