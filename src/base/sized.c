/* Copies between a program's structs and the library's. */
#include "base/sized.h"

#include "base/context.h"

#include <armilla/version.h>

#include <string.h>

enum { MOST_SIZE = 1 << 16 }; /* no struct will ever have so many bytes: what says so was never set */

static size_t size_of(const void *given)
{
    size_t size = 0;
    memcpy(&size, given, sizeof size);
    return size;
}

armilla_status armilla_sized_read(armilla_context *context, const char *name, const void *given, void *whole,
                                  size_t size)
{
    const size_t there = size_of(given);
    const unsigned char *bytes = given;
    if (there <= sizeof there || there > MOST_SIZE || there % sizeof there != 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "%s: its size is %zu, which cannot be; fill it by %s_default, or set .size = sizeof(%s)",
                            name, there, name, name);
    for (size_t i = size; i < there; i++)
        if (bytes[i] != 0)
            return armilla_fail(context, ARMILLA_NOT_BUILT,
                                "%s: sets a member that this library, version " ARMILLA_VERSION
                                ", does not have; use the newer one that the program was compiled for",
                                name);
    memcpy(whole, given, there < size ? there : size);
    memcpy(whole, &size, sizeof size);
    return ARMILLA_OK;
}

static void copy(const void *whole, size_t shared, void *given, size_t given_size, size_t size)
{
    if (!given || given_size < sizeof size) return;
    memset(given, 0, given_size);
    memcpy(given, whole, shared);
    memcpy(given, &size, sizeof size);
}

void armilla_sized_write(const void *whole, size_t size, void *given, size_t given_size)
{
    const size_t shared = size < given_size ? size : given_size;
    copy(whole, shared, given, given_size, shared);
}

void armilla_sized_begin(const void *whole, size_t size, void *given, size_t given_size)
{
    copy(whole, size < given_size ? size : given_size, given, given_size, given_size);
}

void armilla_sized_write_back(const void *whole, size_t size, void *given)
{
    const size_t there = size_of(given);
    memcpy(given, whole, there < size ? there : size);
    memcpy(given, &there, sizeof there);
}
