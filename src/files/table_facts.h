/* What the columns of a text table hold, numbers or not. */
#ifndef ARMILLA_FILES_TABLE_FACTS_H
#define ARMILLA_FILES_TABLE_FACTS_H

#include "files/files.h"

/* By one pass over the bytes; options are settled ones. */
armilla_status armilla_table_facts_read(armilla_context *context, const armilla_bytes *bytes,
                                        const armilla_read_options *options, armilla_table_facts **facts);

#endif
