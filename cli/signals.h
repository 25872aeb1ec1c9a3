/* INT and TERM. Until work is worth saving they end the process at once; afterwards the first one asks for a clean
 * end and the second one kills. */
#ifndef ARMILLA_CLI_SIGNALS_H
#define ARMILLA_CLI_SIGNALS_H

void signals_install(void);
/* The file that is named where an input becomes shorter while it is mapped: the process then ends with status 74, and
 * leaves no unfinished output. */
void signals_reading(const char *path);
/* From here on a signal that ends the process at once does so with a line that says so: not before --quiet is known. */
void signals_report(void);
/* From here on a signal only sets a flag: there is a fit to save or a temporary file to remove. */
void signals_defer(void);
/* From here on a signal ends the process silently with this status: ranks have agreed on their end and reported it, and
 * a launcher that sees the first of them exit may send TERM to the others. */
void signals_settle(int status);
/* 130 or 143 where one came, else 0. */
int signals_exit(void);

#endif
