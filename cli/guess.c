/* Nearest words by edit distance. */
#include "guess.h"

#include <armilla/options.h>

#include <stdio.h>
#include <string.h>

void guess_begin(cli_guess *guess, const char *word)
{
    guess->word = word;
    guess->best = NULL;
    guess->least = 1 + strlen(word) / 3;
    guess->hint[0] = '\0';
}

void guess_offer(cli_guess *guess, const char *opening, const char *candidate)
{
    const size_t length = strlen(guess->word);
    const bool begins = length > 1 && strncmp(candidate, guess->word, length) == 0; /* --norm for --normalize */
    const size_t distance = begins ? 1 : armilla_word_distance(guess->word, candidate);
    const bool shorter = guess->best && strlen(candidate) < strlen(guess->best); /* of equally near ones */
    if (distance > guess->least || (guess->best && distance == guess->least && !shorter)) return;
    guess->least = distance;
    guess_take(guess, opening, candidate);
}

void guess_take(cli_guess *guess, const char *opening, const char *candidate)
{
    guess->best = candidate;
    snprintf(guess->hint, sizeof guess->hint, "; did you mean '%s%s'?", opening, candidate);
}
