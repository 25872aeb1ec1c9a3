/* What ranks that run a command together settle among themselves; nothing where there is one process. */
#ifndef ARMILLA_CLI_RANKS_H
#define ARMILLA_CLI_RANKS_H

#include "command.h"

/* Of several ranks the first one speaks. */
void ranks_mute_output(cli_session *session);

/* ARMILLA_BAD_ARGUMENT where ranks have different commands or options: they would wait for messages of each other that
 * never come. */
armilla_status ranks_compare(cli_session *session, char *const *arguments);

/* Of what each rank has done by itself, and which signals it has had, something becomes everybody's. */
armilla_status ranks_agree(cli_session *session, armilla_status status);

#endif
