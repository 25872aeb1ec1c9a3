/* The pass that sums XX'. */
#include "data/gram.h"

#include "base/size.h"
#include "linalg/dense.h"

/* self: where each thread packs what its kernel multiplies. */
static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    armilla_panel spacious = *panel;
    spacious.scratch = (char *)self + (size_t)thread * ARMILLA_KERNEL_SCRATCH;
    armilla_panel_gram(&spacious, sums); /* G += X_b X_b' */
    return ARMILLA_OK;
}

armilla_status armilla_data_gram(armilla_context *context, const armilla_data *X, armilla_type work, double *G)
{
    const armilla_traversal_plan plan = {.X = X, .kernels = armilla_kernels_for(context, work), .length = X->m * X->m};
    armilla_traversal *traversal = NULL;
    char *packing = NULL;
    armilla_status status = armilla_traversal_new(context, &plan, &traversal);
    const int64_t threads = status == ARMILLA_OK ? armilla_traversal_threads(traversal) : 0;
    if (status == ARMILLA_OK)
        status = armilla_grow(context, threads * ARMILLA_KERNEL_SCRATCH + ARMILLA_LINE, 1, &packing);
    if (status == ARMILLA_OK) status = armilla_traverse(traversal, plan.length, visit, armilla_align(packing), G);
    if (status == ARMILLA_OK) armilla_reflect(X->m, G);
    armilla_release(context, packing);
    armilla_traversal_free(traversal);
    return status;
}
