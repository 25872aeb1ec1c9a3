/* Checkpoints: a fit that writes its state to a file now and then, and goes on from such a file. */
#ifndef ARMILLA_CHECKPOINT_H
#define ARMILLA_CHECKPOINT_H

#include <armilla/fit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The file that a fit writes its state to, how often, and the file that it resumes from. None of this changes a number
 * of the model. Strings are borrowed until the fit returns. */
typedef struct armilla_checkpoint {
    size_t size;
    const char *path;   /* written there; NULL: nowhere */
    double every;       /* seconds from one checkpoint to the next; 0: after every step of the fit */
    const char *resume; /* goes on from this checkpoint; NULL: from the beginning; may be path */
    bool overwrite;     /* a file at path that is not the one to go on from is replaced */
    int64_t written;    /* set by the fit: how many it wrote */
    armilla_status
        failed; /* set by the fit: why the last one could not be written; ARMILLA_OK: it was, or none was due */
} armilla_checkpoint;

ARMILLA_API void armilla_checkpoint_default_sized(armilla_checkpoint *checkpoint, size_t size);
/* No checkpoint; 60 seconds between two. */
static inline void armilla_checkpoint_default(armilla_checkpoint *checkpoint)
{
    armilla_checkpoint_default_sized(checkpoint, sizeof *checkpoint);
}

/* armilla_fit with checkpoints. The model has the same bits, however often the fit was interrupted, killed and resumed,
 * and on however many threads.
 *
 * A checkpoint is written between two steps of the fit (a start, an iteration, a step of sealing) when `every` seconds
 * have passed, when the fit is stopped (by the watch, its callback or time_limit), and at the end: resuming a finished
 * fit gives its model again. The file is replaced as a whole, after it has reached the disk, so that at any time either
 * the one before or the new one is there. One that cannot be written is a warning, the one before stays, and the fit
 * goes on; `failed` says so where it was the last. A stop within a step waits for the end of that step, unless it is
 * one that is repeated from its beginning (a start, a long solve of the last codes): a stop takes up to about four
 * sweeps.
 *
 * A checkpoint is refused with ARMILLA_BAD_DATA, and what differs in the text, where it is of other data or of other
 * options than these; threads, memory and time_limit may differ, and time_limit counts from this call on. The same status
 * is returned where a bit of it is not as it was written, where it is not whole, or of a format that this library does not
 * know; ARMILLA_CANNOT_OPEN where there is none; ARMILLA_CANNOT_CREATE, before anything is computed, where path cannot be
 * written. The callback goes on with the iteration after the checkpoint's last. docs/checkpoint.md has the layout. */
ARMILLA_API armilla_status armilla_fit_checkpointed(armilla_context *context, const armilla_data *X,
                                                    const armilla_options *options, armilla_checkpoint *checkpoint,
                                                    armilla_model **model);

#ifdef __cplusplus
}
#endif

#endif
