/* "Did you mean": the candidate nearest to a mistyped word, if one is near enough to be worth naming. */
#ifndef ARMILLA_CLI_GUESS_H
#define ARMILLA_CLI_GUESS_H

#include <stddef.h>

typedef struct cli_guess {
    const char *word;
    const char *best; /* NULL: nothing is near */
    size_t least;     /* its distance; before any, the largest that counts as near */
    char hint[96];    /* "; did you mean 'best'?", or "" */
} cli_guess;

void guess_begin(cli_guess *guess, const char *word);
/* opening stands before the word in the hint: "--" for options. */
void guess_offer(cli_guess *guess, const char *opening, const char *candidate);
/* Names the candidate, however near it is. */
void guess_take(cli_guess *guess, const char *opening, const char *candidate);

#endif
