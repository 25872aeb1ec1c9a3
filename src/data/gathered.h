/* What views of dense data have in common whose numbers are gathered as they are loaded: some samples of other data
 * (keep.c), or its features in another order (pick.c). */
#ifndef ARMILLA_DATA_GATHERED_H
#define ARMILLA_DATA_GATHERED_H

#include "data/data.h"
#include "data/keep.h"

typedef struct armilla_gathered {
    armilla_data data;
    const armilla_data *inner;
    int64_t *places; /* in inner, one for each of ours */
} armilla_gathered;

static inline const armilla_gathered *armilla_gathered_of(const armilla_data *X)
{
    return (const armilla_gathered *)X;
}

/* A view by these operations of what is kept; its shape is still that of X. */
armilla_status armilla_gathered_new(armilla_context *context, const armilla_data *X, const armilla_data_ops *ops,
                                    const armilla_kept *kept, armilla_gathered **made);

/* Two of its operations. The workspace begins with the gathered columns, then follows that of inner. */
size_t armilla_gathered_workspace(const armilla_data *X, armilla_type work, int64_t width);
void armilla_gathered_free(armilla_data *data);

/* Bytes of the gathered columns. */
size_t armilla_gathered_bytes(const armilla_data *X, armilla_type work, int64_t width);

#endif
