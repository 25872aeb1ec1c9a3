/* A fit with checkpoints. An end that is asked for within a step is held back until the step is over, so that the state
 * is one that can be gone on from; then it is written, and only then does the fit learn of it. */
#include "model/checkpoint.h"

#include "base/clock.h"
#include "base/ranks.h"
#include "base/sized.h"
#include "files/state_file.h"

#include <armilla/files.h>

#include <math.h>
#include <string.h>

#define EVERY 60

void armilla_checkpoint_default_sized(armilla_checkpoint *checkpoint, size_t size)
{
    const armilla_checkpoint none = {.size = sizeof none, .every = EVERY};
    armilla_sized_begin(&none, sizeof none, checkpoint, size);
}

static bool is_same_file(const armilla_context *context, const char *a, const char *b)
{
    struct stat first, second;
    if (strcmp(a, b) == 0) return true;
    return context->io->stat(a, &first) == 0 && context->io->stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

armilla_status armilla_checkpoint_check(armilla_context *context, const armilla_checkpoint *asked)
{
    const bool replaces =
        asked->path && (asked->overwrite || (asked->resume && is_same_file(context, asked->path, asked->resume)));
    if (!(asked->every >= 0) || !isfinite(asked->every))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("checkpoint_every") " is %g; give seconds, 0 or more", asked->every);
    return asked->path ? armilla_output_check(context, asked->path, replaces) : ARMILLA_OK;
}

static bool is_written(const armilla_checkpointing *c)
{
    return c->asked && c->asked->path;
}

static armilla_status resume(armilla_checkpointing *c, armilla_fit_state *f)
{
    armilla_state_file *file = NULL;
    const char *path = c->asked->resume;
    armilla_status status = armilla_state_file_open(f->context, path, &file);
    /* Ranks that do not share a file system may find other files there, of other steps. */
    status = armilla_ranks_meet(f->context, status, status == ARMILLA_OK ? armilla_state_file_token(file) : 0, NULL);
    if (status == ARMILLA_OK)
        status = armilla_checkpoint_compare(f->context, path, armilla_state_file_text(file), c->record);
    /* A time limit that has passed counts from the first step on: what is restored is made to the end. */
    armilla_call_defer_stop(f->context);
    if (status == ARMILLA_OK) status = armilla_state_file_restore(file, armilla_fit_list, f);
    (void)armilla_call_accept_stop(f->context);
    armilla_state_file_close(file);
    return armilla_ranks_end(f->context, status); /* what is restored may have been agreed on within it */
}

/* The fit goes on without one, and the one before stays. */
static armilla_status write_state(armilla_checkpointing *c, armilla_fit_state *f)
{
    armilla_checkpoint *asked = c->asked;
    int32_t failed = (int32_t)armilla_state_file_write(f->context, asked->path, c->record, armilla_fit_list, f);
    if (failed != ARMILLA_OK && armilla_ranks_rank(f->context) == 0)
        armilla_log(f->context, ARMILLA_LOG_WARNING, "no checkpoint is written, an earlier one stays: %s",
                    armilla_context_error(f->context));
    const armilla_status status = armilla_ranks_broadcast(f->context, &failed, sizeof failed);
    asked->failed = (armilla_status)failed;
    asked->written += failed == ARMILLA_OK;
    c->due = armilla_clock() + asked->every;
    return status;
}

/* Between two steps. With several ranks it is the clock of rank 0 that tells. */
static armilla_status offer(armilla_checkpointing *c, armilla_fit_state *f, bool ended)
{
    unsigned char due = armilla_clock() >= c->due;
    armilla_status status = armilla_ranks_agree(f->context, ARMILLA_NO_SLOT, ARMILLA_OK);
    if (status == ARMILLA_OK) status = armilla_ranks_broadcast(f->context, &due, sizeof due);
    if (status != ARMILLA_OK || c->closed) return status;
    c->closed = armilla_call_stopped(f->context, NULL);
    return due || ended || c->closed ? write_state(c, f) : ARMILLA_OK;
}

armilla_status armilla_checkpoint_begin(armilla_checkpointing *c, armilla_fit_state *f, bool *ended)
{
    const bool resumes = c->asked && c->asked->resume;
    armilla_status status = armilla_ranks_meet(f->context, ARMILLA_OK, (uint64_t)is_written(c) + 2U * resumes, NULL);
    if (status != ARMILLA_OK || (!is_written(c) && !resumes)) return status;
    c->due = armilla_clock() + c->asked->every;
    /* A limit on time ends the fit as any other stop does: behind a state that can be gone on from. */
    if (is_written(c)) f->problem->options.stop.time_limit = 0;
    if (f->context->ranks && armilla_ranks_rank(f->context) == 0)
        status = armilla_checkpoint_check(f->context, c->asked);
    status = armilla_ranks_agree(f->context, ARMILLA_NO_SLOT, status);
    if (status == ARMILLA_OK) status = armilla_ranks_end(f->context, armilla_checkpoint_describe(f, &c->record));
    if (status == ARMILLA_OK && resumes) status = resume(c, f);
    *ended = f->restarts.phase == ARMILLA_FIT_ENDED;
    /* An end that was asked for meanwhile changes the first step already. */
    c->closed = armilla_call_stopped(f->context, NULL);
    return status == ARMILLA_OK && is_written(c) && (*ended || c->closed) ? write_state(c, f) : status;
}

armilla_status armilla_checkpoint_step(armilla_checkpointing *c, armilla_fit_state *f, bool *ended)
{
    if (!is_written(c)) return armilla_fit_step(f, ended);
    armilla_call_defer_stop(f->context);
    const armilla_status status = armilla_fit_step(f, ended);
    (void)armilla_call_accept_stop(f->context);
    return status == ARMILLA_OK ? offer(c, f, *ended) : status;
}

void armilla_checkpoint_end(armilla_checkpointing *c, armilla_fit_state *f)
{
    armilla_release(f->context, c->record);
}
