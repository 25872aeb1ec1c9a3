/* Other programs, run as children: armilla-convert and gnuplot. */
#ifndef ARMILLA_CLI_CHILD_H
#define ARMILLA_CLI_CHILD_H

#include <sys/types.h>

/* Its exit status where there is no such program, and where there is one that cannot be run. */
enum { CHILD_MISSING = 127, CHILD_UNFIT = 126 };

/* Starts the program, which the search path finds where its name has no slash, with streams[i] as its descriptor i and
 * none besides. It ends when this process does, however that ends. -1 with errno where no process can be made. */
pid_t child_start(const char *program, const char *const *arguments, const int *streams, int count);

#endif
