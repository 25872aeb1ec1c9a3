/* What the unit tests share: a context, a temporary directory, an allocator that counts and fails, and cmocka. */
#ifndef ARMILLA_TESTS_SUPPORT_H
#define ARMILLA_TESTS_SUPPORT_H

#include <armilla/base.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/data.h"
#include "files/files.h"

/* Counts blocks, and fails the allocation that brings the countdown to 0. Freeing never fails. May be shared by
 * threads. Start from SUPPORT_ALLOCATOR. */
typedef struct support_allocator {
    int64_t live;           /* blocks that are not freed */
    int64_t taken;          /* allocations asked for so far */
    int64_t countdown;      /* allocations that still succeed; -1: all do */
    bool fail_all_after;    /* not only one fails, but all from there on */
    size_t largest, newest; /* bytes: of the largest and of the last block asked for; of one thread */
} support_allocator;

#define SUPPORT_ALLOCATOR ((support_allocator){.countdown = -1})

/* A context on the C library's allocator, or on that one; the caller frees it. Fails the test where it cannot. Either
 * way fresh memory, and memory given back, is NaN: what reads it shows. Tests make no context otherwise (a test looks). */
armilla_context *support_context(void);
armilla_context *support_context_with(support_allocator *allocator);
/* Before a test: an empty DIR and a context whose blocks are counted. After it both are gone, and the test fails where a
 * block is left. */
void support_begin(support_allocator *allocator, armilla_context **context);
void support_end(const support_allocator *allocator, armilla_context *context);
/* The allocator as contexts take it. */
armilla_allocator support_allocator_table(support_allocator *allocator);

/* Puts DIR/name into buffer and returns it. DIR is this process's own, and removed when the process ends. */
const char *support_path(char buffer[], size_t size, const char *name);
/* Entries in DIR: what a call has left behind. */
int support_entries(void);
/* Removes everything in DIR. */
void support_clean(void);

/* A whole file at once; reading ends with a NUL that count does not count, and the caller frees with free. */
void support_write_file(const char *path, const void *bytes, size_t count);
char *support_read_file(const char *path, size_t *count);

/* Reads by the format from an exact copy of the bytes on the heap, so that a read past the end is seen by the
 * sanitizer; messages call it "a" with the format's first ending. */
armilla_status support_read(armilla_context *context, const armilla_format *format, const void *start, size_t count,
                            const armilla_read_options *options, armilla_data **data);

/* All samples in f64 as a pass loads them; the caller frees the workspace with free when it is done with the panel. */
armilla_panel support_load(const armilla_data *data, void **workspace);
/* Whether sparse data have indices of 64 bits. */
bool support_has_index64(const armilla_data *data);

/* Fails the test unless the call gave the status and its message holds the part. */
void support_fails(const armilla_context *context, armilla_status got, armilla_status wanted, const char *part);
/* Fails the test, showing the message, unless the status is ARMILLA_OK. */
void support_ok(const armilla_context *context, armilla_status got);

#endif
