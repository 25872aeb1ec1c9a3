/* The labelled sets of cli/sets, as bytes of the program; cmake/Embed.cmake makes the table. */
#ifndef ARMILLA_CLI_EMBEDDED_H
#define ARMILLA_CLI_EMBEDDED_H

#include <stddef.h>

typedef struct embedded_file {
    const char *name;
    const unsigned char *bytes;
    size_t size;
} embedded_file;

/* Ends with a row whose name is NULL. */
extern const embedded_file embedded_files[];

#endif
