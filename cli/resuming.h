/* How an interrupted fit is gone on with. */
#ifndef ARMILLA_CLI_RESUMING_H
#define ARMILLA_CLI_RESUMING_H

#include "fitting.h"

/* After a signal or the time limit: the complete command that goes on from the checkpoint; where there is none, how there
 * would have been one. */
void resuming_report(cli_session *session, const fit_settings *settings);

#endif
