/* The commands and their options, for who makes command lines of them. */
#ifndef ARMILLA_FUZZ_TABLES_H
#define ARMILLA_FUZZ_TABLES_H

#include <stdio.h>

/* Prints a list of the commands as JSON: for each its name, operands, and the rows of its option tables as they are
 * parsed. Returns 0, or 1 where it fails. */
int tables_print(FILE *stream);

#endif
