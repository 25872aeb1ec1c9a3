/* How an interrupted fit is gone on with: --checkpoint and --resume, and what is said after an interruption. */
#ifndef ARMILLA_CLI_RESUMING_H
#define ARMILLA_CLI_RESUMING_H

#include "command.h"

/* Rows of a command that fits; its settings have a member `checkpoint`. */
#define OPTION_CHECKPOINT(settings)                                                                                    \
    OPTION_PATH("checkpoint", settings, checkpoint.path, "FILE",                                                       \
                "write the state of the fit there now and then, on INT and TERM, and at the end")
#define OPTION_CHECKPOINT_EVERY(settings)                                                                              \
    {                                                                                                                  \
        OPTION("checkpoint-every", REAL, settings, checkpoint.every),                                                  \
            .preset = "60", .low = 0, .high = 1e9, .value = "SECONDS",                                                 \
            .help = "time from one checkpoint to the next; fractions are allowed"                                      \
    }
#define OPTION_RESUME(settings)                                                                                        \
    OPTION_PATH("resume", settings, checkpoint.resume, "FILE",                                                         \
                "go on from that checkpoint; may be the file of --checkpoint. The model has the same bits")

/* What a command that was interrupted leaves. */
typedef struct cli_left {
    const armilla_checkpoint *checkpoint; /* NULL: nothing is fitted */
    const char *model;                    /* that was written; NULL: none */
    const char *other;                    /* another output; NULL: none */
} cli_left;

/* What can be said of the options before the data are read, which may take long. */
armilla_status resuming_check(cli_session *session, const armilla_checkpoint *checkpoint);
/* Names the data in front of a message of the fit, unless it is about the checkpoint. */
armilla_status resuming_about(cli_session *session, const armilla_checkpoint *checkpoint, armilla_status status);

/* After a signal or the time limit: the complete command that goes on from the checkpoint; where there is none, what the
 * model is good for and how there would have been one; where nothing is fitted, the command again. */
void resuming_report(cli_session *session, const cli_left *left);

/* At the end: a checkpoint that could not be written is a failure, though after a signal the exit status is that of the
 * signal. */
armilla_status resuming_finish(cli_session *session, const armilla_checkpoint *checkpoint);

#endif
