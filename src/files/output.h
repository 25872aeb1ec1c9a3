/* Outputs that stay in memory, with the same functions as those that become files. */
#ifndef ARMILLA_FILES_OUTPUT_H
#define ARMILLA_FILES_OUTPUT_H

#include <armilla/files.h>

armilla_status armilla_output_new_memory(armilla_context *context, armilla_output **output);
/* Hands over what was written, a block of the context's memory. */
void armilla_output_take(armilla_output *output, void **bytes, size_t *count);
/* Writes what is in memory to another output, and starts again. */
armilla_status armilla_output_move(armilla_output *memory, armilla_output *output);

/* Whether the output becomes a regular file, beside which there may be temporary ones. */
bool armilla_output_regular(const armilla_context *context, const char *path);

#endif
