/* Checkpoints of a fit: what a file says that it is of, going on from one, and writing one between two steps. */
#ifndef ARMILLA_MODEL_CHECKPOINT_H
#define ARMILLA_MODEL_CHECKPOINT_H

#include "model/fit.h"

#include <armilla/checkpoint.h>

typedef struct armilla_checkpointing {
    armilla_checkpoint *asked;
    char *record; /* the text of the file: of which data and options it is */
    double due;   /* by armilla_clock */
    bool closed;  /* the fit has been stopped, and its state is written: what follows belongs to the result alone */
} armilla_checkpointing;

/* Whether path can be written; by one rank. */
armilla_status armilla_checkpoint_check(armilla_context *context, const armilla_checkpoint *asked);

/* Begins the checkpoints of an open fit, and resumes from the file where one is given. *ended: that fit had finished.
 * Must be ended whatever it returns. */
armilla_status armilla_checkpoint_begin(armilla_checkpointing *c, armilla_fit_state *f, bool *ended);
/* A step of the fit that can be gone on from afterwards; then the file, where it is time for it. */
armilla_status armilla_checkpoint_step(armilla_checkpointing *c, armilla_fit_state *f, bool *ended);
void armilla_checkpoint_end(armilla_checkpointing *c, armilla_fit_state *f);

/* What a checkpoint of the fit says that it is of, as JSON; *text from armilla_take. */
armilla_status armilla_checkpoint_describe(armilla_fit_state *f, char **text);
/* ARMILLA_BAD_DATA, with what differs in the text, where the record of the file at path is not the fit's own. */
armilla_status armilla_checkpoint_compare(armilla_context *context, const char *path, const char *record,
                                          const char *own);

#endif
