/* Preloaded into a program it sets the locale of the environment (LC_ALL) before main, as a host program of the library
 * may have done: every test can then be run in another locale. A locale that is not there ends the program. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void enter(void)
{
    if (setlocale(LC_ALL, "")) return;
    fprintf(stderr, "the locale %s is missing; tests/locale/make.sh makes it\n", getenv("LC_ALL"));
    _Exit(99);
}
