/* Long calls of the library under the command's eyes: how far they are, on a terminal, and signals that end them. */
#ifndef ARMILLA_CLI_WATCH_H
#define ARMILLA_CLI_WATCH_H

#include "messages.h"

/* For armilla_context_set_watch; user is a cli_messages. */
int watch_call(void *user, const armilla_progress *progress);

/* What is shown of the iterations in progress instead of how many are done; "" at the end. */
void watch_describe(cli_messages *messages, const char *text);

#endif
