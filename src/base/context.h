/* The context: allocator, log, error text and system calls. Everything fallible takes one; nothing is global. */
#ifndef ARMILLA_BASE_CONTEXT_H
#define ARMILLA_BASE_CONTEXT_H

#include "base/call.h"
#include "base/io.h"
#include "base/plan.h"
#include "base/spill.h"
#include "base/wording.h"

#include <armilla/base.h>
#include <armilla/ranks.h>

#include <pthread.h>

/* Bytes of a message about a failure. */
enum { ARMILLA_MESSAGE = 1024 };

/* What the blocks of a context take together, and may take (base/memory.c). */
typedef struct armilla_memory {
    int64_t live, peak; /* bytes; atomic */
    int64_t limit;      /* INT64_MAX: none */
    int64_t call;       /* the limit of the call in progress; INT64_MAX: none of its own */
    bool by_input;      /* the limit follows from what is read */
    int64_t free;       /* and then: what this process could have when that was asked for */
    int64_t input;      /* and: bytes of all inputs so far */
    int64_t rank;       /* the largest that a fit was asked for */
} armilla_memory;

struct armilla_context {
    armilla_allocator allocator;
    armilla_memory memory;
    armilla_spill spill; /* arrays that are not in memory */
    armilla_log_function log;
    void *log_user;
    armilla_wording wording; /* NULL: fields as C has them */
    void *wording_user;
    armilla_watch watch;
    void *watch_user;
    armilla_call call; /* in progress */
    armilla_plan plan; /* what it and those after it will take */
    bool planned;      /* by the program: not by each call anew */
    const armilla_io *io;
    bool never_map;      /* files are read, not mapped */
    int threads;         /* of calls that are given none; <= 0: the cores of this process */
    int64_t most_narrow; /* sizes beyond it need 64-bit indices: INT32_MAX, and less where a test says so */
    char *temporary;     /* the directory for arrays that do not fit into memory; NULL: they are refused */
    void *spilled;       /* those that are in files there (base/samples.c) */
    armilla_ranks table_of_ranks;
    const armilla_ranks *ranks; /* those that make calls together, the table above; NULL: this process alone */
    bool failed_on_all;         /* the last call of all ranks has failed on all of them */
    struct armilla_pool *pool;  /* of the call in progress: its threads (base/team.h) */
    pthread_mutex_t helper_lock;
    armilla_helper *helpers;    /* of the call in progress */
    pthread_mutex_t error_lock; /* of the text below, which any thread may write */
    char error[ARMILLA_MESSAGE];
};

/* The text of the last error, as it is. */
void armilla_set_error(armilla_context *context, const char *message);

/* Puts the message into the context and returns status, so that callers can `return armilla_fail(...)`. On any thread:
 * while a job runs on several (base/team.h), each has its own place until all are done. */
armilla_status armilla_fail(armilla_context *context, armilla_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ARMILLA_BAD_ARGUMENT where one of the pointers, or the context, is NULL; the message names the first. For public
 * functions: ARMILLA_NOT_NULL(context, X, options, model). */
armilla_status armilla_not_null(armilla_context *context, const char *function, const char *names,
                                const void *const pointers[], size_t count);
#define ARMILLA_NOT_NULL(context, ...)                                                                                 \
    armilla_not_null((context), __func__, #__VA_ARGS__, (const void *const[]){__VA_ARGS__},                            \
                     sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))

void armilla_log(armilla_context *context, armilla_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ARMILLA_NO_MEMORY, with what is needed and allowed in the text, where so many bytes more are past the limit: for sizes
 * that a file or an option declares, before anything is taken. what: "FILE: its numbers need". */
armilla_status armilla_memory_afford(armilla_context *context, const char *what, double bytes);

/* Bytes that may still be taken. Without a limit it is half of the machine's memory, the most that a file may ask for
 * by what it declares. */
int64_t armilla_memory_left(const armilla_context *context);

/* Whether an input of so many bytes should be in memory: it takes no more than half of what may be taken. */
bool armilla_memory_holds(const armilla_context *context, int64_t bytes);

/* An input of so many bytes was opened, and a fit of that rank is in progress: limits by input rise. Fewer than 0 bytes: it
 * was only looked at. */
void armilla_memory_add_input(armilla_context *context, int64_t bytes);
void armilla_memory_add_rank(armilla_context *context, int64_t rank);

/* A call's own limit, on all that the context holds while it runs; <= 0: none. Returns what armilla_memory_leave takes
 * at the end of the call. */
int64_t armilla_memory_enter(armilla_context *context, int64_t bytes);
void armilla_memory_leave(armilla_context *context, int64_t outer);

/* What this process can have before the machine, its control group or its limits refuse; INT64_MAX where that is
 * unknown. */
int64_t armilla_memory_free(const armilla_io *io);

/* *copy = a copy of text that armilla_release frees; NULL for NULL. */
armilla_status armilla_copy_text(armilla_context *context, const char *text, char **copy);

#endif
