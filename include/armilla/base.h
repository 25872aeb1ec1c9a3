/* Status codes, stop reasons, number types and the context: what every other header uses. */
#ifndef ARMILLA_BASE_H
#define ARMILLA_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define ARMILLA_API
#else
#define ARMILLA_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Why a call failed: X(name, exit status of the command, meaning). */
#define ARMILLA_STATUS_LIST(X)                                                                                         \
    X(ARMILLA_OK, 0, "success")                                                                                        \
    X(ARMILLA_BAD_ARGUMENT, 64, "an argument or option is out of its own range")                                       \
    X(ARMILLA_BAD_DATA, 65, "the data are malformed, or the options do not fit them")                                  \
    X(ARMILLA_CANNOT_OPEN, 66, "the input cannot be opened or read")                                                   \
    X(ARMILLA_NOT_BUILT, 69, "this build does not have the feature")                                                   \
    X(ARMILLA_INTERNAL, 70, "internal error")                                                                          \
    X(ARMILLA_NO_MEMORY, 71, "out of memory")                                                                          \
    X(ARMILLA_CANNOT_CREATE, 73, "the output cannot be created, or exists")                                            \
    X(ARMILLA_IO_ERROR, 74, "reading or writing failed")                                                               \
    X(ARMILLA_STOPPED, 130, "stopped by the caller before there was a result")

/* Why the iteration ended: X(name, word in --json and in the model file). */
#define ARMILLA_STOP_LIST(X)                                                                                           \
    X(ARMILLA_STOP_CONVERGED, "converged")                                                                             \
    X(ARMILLA_STOP_MAX_ITER, "max-iter")                                                                               \
    X(ARMILLA_STOP_TIME_LIMIT, "time-limit")                                                                           \
    X(ARMILLA_STOP_INTERRUPTED, "interrupted")

/* What a long call is at: X(name, words for people). */
#define ARMILLA_STAGE_LIST(X)                                                                                          \
    X(ARMILLA_STAGE_READING, "reading")                                                                                \
    X(ARMILLA_STAGE_SURVEY, "looking at the data")                                                                     \
    X(ARMILLA_STAGE_START, "start")                                                                                    \
    X(ARMILLA_STAGE_ITERATIONS, "iterations")                                                                          \
    X(ARMILLA_STAGE_CODES, "final codes")                                                                              \
    X(ARMILLA_STAGE_CLUSTERS, "clusters")                                                                              \
    X(ARMILLA_STAGE_CHECK, "checking")                                                                                 \
    X(ARMILLA_STAGE_WRITING, "writing")                                                                                \
    X(ARMILLA_STAGE_NEIGHBORS, "neighbours")

/* Types of numbers: X(name, C type, word, NumPy's descriptor on this machine's byte order; "" where it has none). Those
 * that can be computed in, working precisions and the types of a model's factors, come first; dense data may be stored
 * in any. C has no type for f16 (IEEE 754's binary16) and bf16 (the upper half of an f32): their bits are integers. */
#define ARMILLA_PRECISION_LIST(X)                                                                                      \
    X(ARMILLA_F32, float, "f32", "f4")                                                                                 \
    X(ARMILLA_F64, double, "f64", "f8")
#define ARMILLA_TYPE_LIST(X)                                                                                           \
    ARMILLA_PRECISION_LIST(X)                                                                                          \
    X(ARMILLA_U8, uint8_t, "u8", "u1")                                                                                 \
    X(ARMILLA_F16, uint16_t, "f16", "f2")                                                                              \
    X(ARMILLA_BF16, uint16_t, "bf16", "")                                                                              \
    X(ARMILLA_I8, int8_t, "i8", "i1")

/* Kinds of calls: X(name, words for people). */
#define ARMILLA_WORK_LIST(X)                                                                                           \
    X(ARMILLA_WORK_OTHER, "another call")                                                                              \
    X(ARMILLA_WORK_READ, "reading")                                                                                    \
    X(ARMILLA_WORK_RECIPE, "choosing the preparation")                                                                 \
    X(ARMILLA_WORK_FIT, "a fit")                                                                                       \
    X(ARMILLA_WORK_CLUSTER, "clusters")                                                                                \
    X(ARMILLA_WORK_NEIGHBORS, "neighbours")                                                                            \
    X(ARMILLA_WORK_TRANSFORM, "codes")                                                                                 \
    X(ARMILLA_WORK_CHECK, "a check")                                                                                   \
    X(ARMILLA_WORK_WRITE, "writing")                                                                                   \
    X(ARMILLA_WORK_STRUCTURE, "the verdict on structure")

#define ARMILLA_ENUM_STATUS(name, code, text) name,
#define ARMILLA_ENUM_STOP(name, word) name,
#define ARMILLA_ENUM_TYPE(name, type, word, numpy) name,
typedef enum armilla_status { ARMILLA_STATUS_LIST(ARMILLA_ENUM_STATUS) ARMILLA_STATUS_COUNT } armilla_status;
typedef enum armilla_stop { ARMILLA_STOP_LIST(ARMILLA_ENUM_STOP) ARMILLA_STOP_COUNT } armilla_stop;
typedef enum armilla_stage { ARMILLA_STAGE_LIST(ARMILLA_ENUM_STOP) ARMILLA_STAGE_COUNT } armilla_stage;
typedef enum armilla_work { ARMILLA_WORK_LIST(ARMILLA_ENUM_STOP) ARMILLA_WORK_COUNT } armilla_work;
typedef enum armilla_type { ARMILLA_TYPE_LIST(ARMILLA_ENUM_TYPE) ARMILLA_TYPE_COUNT } armilla_type;
#define ARMILLA_COUNT_TYPE(name, type, word, numpy) +1
enum { ARMILLA_PRECISION_COUNT = 0 ARMILLA_PRECISION_LIST(ARMILLA_COUNT_TYPE) };
#undef ARMILLA_COUNT_TYPE
#undef ARMILLA_ENUM_STATUS
#undef ARMILLA_ENUM_STOP
#undef ARMILLA_ENUM_TYPE

/* What the lists above say of each: a message, the exit status of the command, a word. */
ARMILLA_API const char *armilla_status_text(armilla_status status);
ARMILLA_API int armilla_status_exit(armilla_status status);
ARMILLA_API const char *armilla_stop_word(armilla_stop stop);
ARMILLA_API const char *armilla_stage_word(armilla_stage stage);
ARMILLA_API const char *armilla_type_word(armilla_type type);
/* Bytes of a number; 0 where there is no such type. */
ARMILLA_API size_t armilla_type_size(armilla_type type);
/* The precision that data of the type are worked in where none is asked for: f64 for f64, f32 for all others. */
ARMILLA_API armilla_type armilla_type_precision(armilla_type type);

/* ARMILLA_VERSION of the library that is running. */
ARMILLA_API const char *armilla_version(void);

/* Structs grow: a later release may put members at the end of each, never elsewhere. So the first member of every
 * struct is its size as the program was compiled. The functions that end in _default set it, with all other members, in
 * structs that a program fills; by hand it is `.size = sizeof options`. The library reads no more of a struct than
 * there is, and of a longer one than it knows everything behind must be 0, as it is by default: what is not is refused
 * with ARMILLA_NOT_BUILT, because the program asks for what this library does not have. In structs that the library
 * fills, size is how much it has filled. Functions of this kind are inline here and hand the size to one that ends in
 * _sized. */

/* resize() has the meaning of realloc; bytes == 0 frees and returns NULL. It may be called from several threads. */
typedef struct armilla_allocator {
    size_t size;
    void *(*resize)(void *user, void *block, size_t bytes);
    void *user;
} armilla_allocator;

typedef enum armilla_log_level { ARMILLA_LOG_INFO, ARMILLA_LOG_WARNING } armilla_log_level;
typedef void (*armilla_log_function)(void *user, armilla_log_level level, const char *message);

/* A context holds the allocator, the log and the text of the last error. Calls that share a context must not run
 * at the same time, nor within each other: a function that the library calls back uses another one (its own call is
 * refused with ARMILLA_BAD_ARGUMENT). Different contexts are independent. It must outlive the objects made with it.
 * Threads are started by a call that wants them and have ended when it returns, so that a program may fork between
 * calls. */
typedef struct armilla_context armilla_context;

/* allocator may be NULL: the C library's. */
ARMILLA_API armilla_status armilla_context_new(const armilla_allocator *allocator, armilla_context **context);
ARMILLA_API void armilla_context_free(armilla_context *context);
/* Replaces, in place, every character that would move a terminal or end a line by '?': for names and texts out of files,
 * before they are printed. Error messages have been through it. Returns text. */
ARMILLA_API char *armilla_plain_text(char *text);
/* The message about the last failure, "" where there was none. */
ARMILLA_API const char *armilla_context_error(const armilla_context *context);
ARMILLA_API void armilla_context_set_log(armilla_context *context, armilla_log_function log, void *user);

/* Writes into text, of that size, how users of this program name a field of the options, with the value where that is
 * not NULL: "--normalize l2" or "normalize='l2'" for normalize and l2. A field that several structs have is named by a
 * word before a point, such as write.format. It may be called on any thread of a call. */
typedef void (*armilla_wording)(void *user, const char *field, const char *value, char *text, size_t size);
/* Messages and warnings from now on; NULL: as C has them, "normalize l2". */
ARMILLA_API void armilla_context_set_wording(armilla_context *context, armilla_wording wording, void *user);
/* The help of an option or the meaning of a table's row, in which fields are marked by control characters, with the
 * fields as the wording (NULL: C's) says them, into buffer, which it returns. */
ARMILLA_API const char *armilla_wording_apply(armilla_wording wording, void *user, const char *text, char *buffer,
                                              size_t size);
/* Files are mapped where they can be: their numbers are used where they lie, and take no memory. They must then stay as
 * they are; one that becomes shorter ends the process by a signal (SIGBUS). With `never`, all that is opened with the
 * context from then on (data, labels, lists, models) is read into memory instead: a file that becomes shorter meanwhile
 * is ARMILLA_IO_ERROR, and later it may change or go. */
ARMILLA_API void armilla_context_set_never_map(armilla_context *context, bool never);
/* How many threads calls with the context take that are given none (threads <= 0), or have no such argument; <= 0: the
 * cores that this process may use, which is how a context begins. */
ARMILLA_API void armilla_context_set_threads(armilla_context *context, int threads);

/* The most bytes that everything made with the context may take together: data, names, models, workspace and scratch
 * memory. What would take more fails with ARMILLA_NO_MEMORY before it is taken. bytes <= 0: no limit, as at first; or
 * ARMILLA_MEMORY_BY_INPUT: 1 GiB, and for each byte of the files and arrays that were opened 64 bytes, times 1 + the
 * largest rank of the fits so far (files of gzip count up to five times, for what they unpack to); never more than 7/8 of what this process could have had when that was set. Files
 * that are mapped do not count, nor do arrays that are borrowed, stacks of threads, and what BLAS, libzip and jansson
 * take for themselves. */
#define ARMILLA_MEMORY_BY_INPUT (-1)
ARMILLA_API void armilla_context_set_memory(armilla_context *context, int64_t bytes);
/* The limit as it is now, INT64_MAX where there is none; the bytes taken now; and the most that were so far. */
ARMILLA_API int64_t armilla_context_memory_limit(const armilla_context *context);
ARMILLA_API int64_t armilla_context_memory_live(const armilla_context *context);
ARMILLA_API int64_t armilla_context_memory_peak(const armilla_context *context);

/* The directory of files for arrays with a number or more for each sample (codes, lengths) that do not fit into the
 * limit: without a name, as large as the arrays, gone when these are released or the process ends. It should be on a
 * disk; NULL, as at first: there are none, and what does not fit is refused. */
ARMILLA_API armilla_status armilla_context_set_temporary(armilla_context *context, const char *directory);

/* Memory of the context, for what a program keeps beside the library's objects: it is counted, and comes from the
 * same allocator. *block = count zeroed elements of that size; ARMILLA_NO_MEMORY where the product overflows, the limit
 * is passed or the allocator refuses. A count of 0 gives a block that can be released, never NULL. */
ARMILLA_API armilla_status armilla_take(armilla_context *context, int64_t count, size_t size, void *block);
/* As armilla_take, but with the old content kept and the added part not zeroed. *block may be NULL. */
ARMILLA_API armilla_status armilla_grow(armilla_context *context, int64_t count, size_t size, void *block);
/* NULL is fine. */
ARMILLA_API void armilla_release(armilla_context *context, void *block);

/* How far a call with the context has come. */
typedef struct armilla_progress {
    size_t size;
    armilla_stage stage;
    bool stopping;   /* the end has been asked for, or the time is up: what is left to do is what a result needs */
    double fraction; /* of the stage, 0 ... 1; of iterations that of the most there may be */
    /* What is in progress in the stage: bytes of a file, samples of a pass; 0 of 0 where nothing is counted. */
    int64_t done, total;
    double seconds;   /* since the stage began */
    double remaining; /* seconds that the stage will still take at this rate; NaN where that cannot be said yet */
    /* Everything that is expected: of this call, and of those that the program has announced
     * (armilla_context_expect). */
    const char *phase; /* what is in progress, in words: a stage, or one of its parts */
    double whole;      /* the part that is done, 0 ... 1; never falls, and is no more than 0.99 before the end */
    double left;       /* seconds; NaN where nothing is known */
    /* The seconds that are likely left, at least and at most: iterations end when they have converged, and nobody knows
     * when. Both are `left` where nothing of the kind is to come. */
    double soonest, latest;
} armilla_progress;

/* Nonzero asks the call to end. A fit or a clustering then returns the best that it has; what has nothing yet, and every
 * other call, returns ARMILLA_STOPPED, and what it has filled is unfinished. Either within about the time of two passes
 * over the data. Called many times a second, always on the thread that made the call; it must not use the context. */
typedef int (*armilla_watch)(void *user, const armilla_progress *progress);

/* watch is notified of, and asked in, every long call with the context from now on: reading, fits, transform,
 * reconstruct, clusters, writing. NULL: nobody is. */
ARMILLA_API void armilla_context_set_watch(armilla_context *context, armilla_watch watch, void *user);

/* A call that a program is going to make, as far as it knows: what is 0 is not known, or does not apply. */
typedef struct armilla_workload {
    size_t size;
    armilla_work work;
    int64_t threads;           /* <= 0: those that this process may use */
    int64_t bytes;             /* of the file, for ARMILLA_WORK_READ */
    bool text;                 /* which is text */
    int64_t features, samples; /* of the data; */
    int64_t entries;           /* those that are stored, of sparse data; 0: they are dense */
    int64_t rank;              /* codes of a model have as many numbers */
    bool codes;                /* codes are clustered beside the data, or alone where there are no features */
    int64_t k;                 /* clusters; 0: their number is found */
    int64_t count;             /* neighbours of each; */
    int64_t queries;           /* 0: of the samples themselves */
    double recall;             /* 0 or 1: all */
    int64_t restarts, max_iter, tries;
    int64_t rounds; /* restarts that are fitted whole; 0: as many as screening leaves */
    bool graph;     /* clusters by a graph of neighbours */
    double limit;   /* seconds that it may take; 0: no limit */
    double
        code_seconds; /* that the final code of a sample takes on one core, beside products; 0: nothing to speak of */
} armilla_workload;

/* *seconds = what the call will take on an ordinary machine with so many threads: a rough guess. */
ARMILLA_API armilla_status armilla_workload_seconds(armilla_context *context, const armilla_workload *workload,
                                                    double *seconds);
/* The call is going to be made, after those that were announced before; a second announcement of the same kind of work
 * takes the place of the first where that has not begun. Progress is then that of all of them, until NULL, as at first:
 * that of each call by itself. */
ARMILLA_API armilla_status armilla_context_expect(armilla_context *context, const armilla_workload *workload);

#ifdef __cplusplus
}
#endif

#endif
