/* Preloaded into a program it sets the locale of the environment (LC_ALL) before main, as a host program of the library
 * may have done: every test can then be run in another locale. A locale that is not there ends the program. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Programs that tests start and that never set a locale of numbers: they rely on the decimal point. */
static const char *const left_alone[] = {"armilla", "armilla-mpi", "gnuplot"};

__attribute__((constructor)) static void enter(void)
{
    for (size_t i = 0; i < sizeof left_alone / sizeof *left_alone; i++)
        if (strcmp(program_invocation_short_name, left_alone[i]) == 0) return;
    if (setlocale(LC_ALL, "")) return;
    fprintf(stderr, "the locale %s is missing; tests/locale/make.sh makes it\n", getenv("LC_ALL"));
    _Exit(99);
}
