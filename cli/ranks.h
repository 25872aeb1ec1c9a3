/* What ranks that run a command together settle among themselves; nothing where there is one process. */
#ifndef ARMILLA_CLI_RANKS_H
#define ARMILLA_CLI_RANKS_H

#include "command.h"

/* Only the first rank prints. */
void ranks_mute_output(cli_session *session);

/* ARMILLA_BAD_ARGUMENT where ranks have different commands or options: they would wait for messages of each other that
 * never come. */
armilla_status ranks_compare(cli_session *session, char *const *arguments);

/* Ranks agree on one status and exit code out of what each has done by itself, and the signals it has had. */
armilla_status ranks_agree(cli_session *session, armilla_status status);

#endif
