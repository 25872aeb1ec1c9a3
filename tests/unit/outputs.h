/* What the tests of outputs share: a file to write, and what is in it. */
#ifndef ARMILLA_TESTS_OUTPUTS_H
#define ARMILLA_TESTS_OUTPUTS_H

#include "fixture.h"

#include <armilla/files.h>

#include <stdlib.h>
#include <string.h>

#define OLD "the old content\n"

static char target[256];

/* Before the tests of a program. */
static inline int name_target(void **state)
{
    (void)state;
    support_path(target, sizeof target, "target.bin");
    return 0;
}

static inline void assert_content(const char *path, const char *wanted, size_t size)
{
    size_t count = 0;
    char *bytes = support_read_file(path, &count);
    assert_int_equal(count, size);
    assert_memory_equal(bytes, wanted, size);
    free(bytes);
}

static inline char *pattern(size_t size)
{
    char *bytes = malloc(size + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) bytes[i] = (char)(i * 7 + i / 251);
    return bytes;
}

/* Writes size bytes in pieces of `piece`; commits. */
static inline armilla_status write_pattern(armilla_context *with, const char *path, bool overwrite, size_t size,
                                           size_t piece)
{
    armilla_output *output = NULL;
    char *bytes = pattern(size);
    armilla_status status = armilla_output_new(with, path, overwrite, &output);
    for (size_t at = 0; at < size && status == ARMILLA_OK; at += piece)
        status = armilla_output_write(output, bytes + at, size - at < piece ? size - at : piece);
    if (status == ARMILLA_OK) status = armilla_output_commit(output);
    armilla_output_free(output);
    free(bytes);
    return status;
}

#endif
