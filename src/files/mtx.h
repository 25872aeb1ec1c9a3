/* Matrix Market, for formats that have such a file inside. */
#ifndef ARMILLA_FILES_MTX_H
#define ARMILLA_FILES_MTX_H

#include "files/files.h"

armilla_status armilla_mtx_read(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                                armilla_data **data);

#endif
