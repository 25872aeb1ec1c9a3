/* Sparse matrices inside .npz archives, as scipy.sparse.save_npz leaves them. */
#ifndef ARMILLA_FILES_SCIPY_H
#define ARMILLA_FILES_SCIPY_H

#include "base/blocks.h"
#include "data/data.h"
#include "files/npz.h"

/* Whether the archive has the arrays that such a file has. */
bool armilla_scipy_is(const armilla_npz *npz);
armilla_status armilla_scipy_read(armilla_context *context, const char *path, armilla_npz *npz, bool sample_columns,
                                  armilla_data **data);

/* The same with values and features left in the file; *data untouched where they are compressed, or lie by feature. */
armilla_status armilla_scipy_stream(armilla_context *context, armilla_blocks *blocks, armilla_npz *npz,
                                    bool sample_columns, armilla_data **data);

#endif
