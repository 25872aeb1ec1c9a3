/* Names of outputs that are not whole yet, and what killed processes left under such names. */
#ifndef ARMILLA_FILES_LEFTOVERS_H
#define ARMILLA_FILES_LEFTOVERS_H

#include "base/context.h"
#include "base/temporary.h"

/* Removes files of such names from the directory that the first `length` bytes of the path are (0: the present one),
 * but only regular ones of this user that nobody has written to for an hour, and that no process on any machine has
 * locked, as armilla_output has its temporaries. Whatever cannot be looked at or removed stays: nothing fails. */
void armilla_leftovers_remove(armilla_context *context, const char *path, size_t length);

#endif
