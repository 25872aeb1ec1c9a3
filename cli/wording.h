/* How the command names the library's fields: as flags. */
#ifndef ARMILLA_CLI_WORDING_H
#define ARMILLA_CLI_WORDING_H

#include <stddef.h>

/* An armilla_wording: "--normalize l2" for normalize and l2. */
void wording_flag(void *user, const char *field, const char *value, char *text, size_t size);

/* A text of the library's tables with flags in it, into buffer, which it returns. */
const char *wording_apply(const char *text, char *buffer, size_t size);

#endif
