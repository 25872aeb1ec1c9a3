/* Runs odd problems, each in a process of its own, so that a crash is a finding like any other:
 *     odd_problems [-v] SEED|FIRST-LAST|FILE ...      these, and those on the lines of a file
 *     odd_problems --seconds S [FIRST]                one after the other until the time is up
 * Prints each finding with the command that repeats it, and ends with the line "N passed, N failed". */
#include "odd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILD_REFUSED = 3, LONGEST = 1800 }; /* seconds after which a problem counts as endless */

typedef struct tally {
    const char *program;
    bool verbose;
    int64_t passed, failed, refused;
} tally;

static int run_here(uint64_t seed, bool verbose)
{
    odd_problem problem;
    char finding[512] = "";
    bool fitted = false;
    (void)alarm(LONGEST);
    odd_problem_draw(seed, &problem);
    if (verbose) printf("%" PRIu64 ": %s\n", seed, problem.words);
    const bool right = odd_examine(&problem, &fitted, finding, sizeof finding);
    if (!right) printf("seed %" PRIu64 ": %s\n    %s\n", seed, finding, problem.words);
    odd_problem_free(&problem);
    (void)fflush(stdout);
    return !right ? 1 : fitted ? 0 : CHILD_REFUSED;
}

static void run(tally *t, uint64_t seed)
{
    int state = 0;
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) _exit(run_here(seed, t->verbose));
    if (child < 0 || waitpid(child, &state, 0) != child) {
        perror("odd_problems");
        exit(2);
    }
    const int code = WIFEXITED(state) ? WEXITSTATUS(state) : 2;
    if (WIFSIGNALED(state)) printf("seed %" PRIu64 ": ended by signal %d\n", seed, WTERMSIG(state));
    if (code == 0 || code == CHILD_REFUSED) {
        t->passed++;
        t->refused += code == CHILD_REFUSED;
        return;
    }
    t->failed++;
    printf("    again: %s -v %" PRIu64 "\n", t->program, seed);
}

static void run_range(tally *t, const char *text)
{
    char *end = NULL;
    const uint64_t first = strtoull(text, &end, 10), last = *end == '-' ? strtoull(end + 1, NULL, 10) : first;
    for (uint64_t seed = first; seed <= last; seed++) run(t, seed);
}

/* A range at the beginning of each line; the rest of it is a remark. */
static void run_file(tally *t, const char *path)
{
    char line[512];
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(2);
    }
    while (fgets(line, sizeof line, file))
        if (line[0] >= '0' && line[0] <= '9') run_range(t, line);
    (void)fclose(file);
}

static void run_for(tally *t, double seconds, uint64_t first)
{
    struct timespec start, now;
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        run(t, first++);
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - start.tv_sec) < seconds);
    printf("the next seed is %" PRIu64 "\n", first);
}

int main(int count, char **words)
{
    tally t = {.program = words[0]};
    int i = 1;
    if (i < count && strcmp(words[i], "-v") == 0) t.verbose = ++i > 0;
    if (i + 1 < count && strcmp(words[i], "--seconds") == 0)
        run_for(&t, strtod(words[i + 1], NULL), i + 2 < count ? strtoull(words[i + 2], NULL, 10) : 1000000);
    else
        for (; i < count; i++)
            if (words[i][0] >= '0' && words[i][0] <= '9')
                run_range(&t, words[i]);
            else
                run_file(&t, words[i]);
    printf("%" PRId64 " of them refused by the fit\n%" PRId64 " passed, %" PRId64 " failed\n", t.refused, t.passed,
           t.failed);
    /* Where most are refused nothing much is tested. */
    return t.failed > 0 || t.passed == 0 || 2 * t.refused > t.passed + 10;
}
