/* How much sooner `fast` has the objective of `palm` (docs/performance.md), by processor time of one thread, which other
 * programs disturb little.
 *
 * The data are read once; each fit runs in a process of its own, so that what a first fit loads and touches is counted.
 * Prints a line for each pair and seed:
 *
 *     basis codes seed goal palm_seconds fast_seconds fast_iterations fast_last palm_last
 *
 * goal: the objective of palm after 500 iterations; seconds: from the call on, until it was first there (-1: never). The
 * last objectives are those of the fits' ends. With --goals FILE what an earlier run printed of palm is not run again. */
#include <armilla/armilla.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GOAL_ITERATIONS = 500, PAIRS = 8, WORD = 32 };

typedef struct settings {
    const char *data, *samples, *goals, *only; /* which pairs, such as 015; NULL: all */
    bool columns, tfidf, finals;               /* finals: fast goes on after the goal */
    int64_t rank, sparsity, seed, seeds, palm, fast;
} settings;

typedef struct outcome {
    double goal, seconds, last;
    int64_t iterations;
} outcome;

/* What the callback looks for, and what it has seen. */
typedef struct watch {
    double goal; /* < 0: what is reached after GOAL_ITERATIONS */
    bool stops;
    int64_t count;
    double *seconds, *objectives;
} watch;

static settings chosen = {.rank = 10, .sparsity = 3, .seeds = 3, .palm = GOAL_ITERATIONS, .fast = GOAL_ITERATIONS};
static armilla_context *context;
static const char *const bases[] = {"orthonormal", "nonnegative"};
static const char *const codes[] = {"sphere", "nonneg-sphere", "sparse-sphere", "nonneg-sparse-sphere"};

static void must(armilla_status status)
{
    if (status == ARMILLA_OK) return;
    fprintf(stderr, "bench_quality: %s\n", armilla_context_error(context));
    exit(1);
}

static int look(void *user, const armilla_trace_entry *entry)
{
    watch *w = user;
    w->seconds[w->count] = (double)clock() / CLOCKS_PER_SEC;
    w->objectives[w->count++] = entry->objective;
    return w->stops && entry->objective <= w->goal;
}

static double end_of(const armilla_model *model)
{
    armilla_model_summary summary;
    armilla_model_summarize(model, &summary);
    return summary.objective;
}

static void fit(const armilla_data *X, const armilla_options *options, watch *w, outcome *found)
{
    const bool sets = !w->stops && w->goal < 0;
    armilla_options all = *options;
    armilla_model *model = NULL;
    const double begun = (double)clock() / CLOCKS_PER_SEC;
    w->seconds = calloc((size_t)options->max_iter + 2, sizeof *w->seconds);
    w->objectives = calloc((size_t)options->max_iter + 2, sizeof *w->objectives);
    if (!w->seconds || !w->objectives) exit(1);
    all.callback = look;
    all.callback_user = w;
    must(armilla_fit(context, X, &all, &model));
    if (sets) w->goal = w->objectives[w->count > GOAL_ITERATIONS ? GOAL_ITERATIONS : w->count - 1];
    *found = (outcome){.goal = w->goal, .seconds = -1, .last = w->objectives[w->count - 1], .iterations = -1};
    for (int64_t i = 0; i < w->count && found->iterations < 0; i++)
        if (w->objectives[i] <= w->goal) {
            found->seconds = w->seconds[i] - begun;
            found->iterations = i;
        }
    if (!w->stops) found->last = end_of(model);
}

/* In a process of its own. */
static outcome run(const armilla_data *X, const armilla_options *options, watch w)
{
    int ends[2];
    outcome found = {.seconds = -1};
    if (pipe(ends) != 0) exit(1);
    const pid_t child = fork();
    if (child == 0) {
        fit(X, options, &w, &found);
        _exit(write(ends[1], &found, sizeof found) == (ssize_t)sizeof found ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &found, sizeof found) != (ssize_t)sizeof found) exit(1);
    close(ends[0]);
    (void)waitpid(child, NULL, 0);
    return found;
}

/* What an earlier run has about palm. */
static bool known(const char *basis, const char *code, int64_t seed, outcome *palm)
{
    FILE *file = chosen.goals ? fopen(chosen.goals, "r") : NULL;
    char b[WORD], c[WORD], line[512];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        long long s, iterations;
        double fast, last;
        found = sscanf(line, "%31s %31s %lld %lf %lf %lf %lld %lf %lf", b, c, &s, &palm->goal, &palm->seconds, &fast,
                       &iterations, &last, &palm->last) == 9 &&
                strcmp(b, basis) == 0 && strcmp(c, code) == 0 && s == seed;
    }
    if (file) (void)fclose(file);
    return found;
}

static void compare(const armilla_data *X, int pair, int64_t seed)
{
    const char *basis = bases[pair / 4], *code = codes[pair % 4];
    armilla_options options;
    outcome palm, fast;
    armilla_options_default(&options);
    options.rank = chosen.rank;
    options.basis = basis;
    options.codes = code;
    options.sparsity = strstr(code, "sparse") ? chosen.sparsity : 0;
    options.start = "random";
    options.seed = seed;
    options.tol = 0;
    options.precision = "f32";
    options.threads = 1;
    options.normalize = "l2";
    options.tfidf = chosen.tfidf;
    if (!known(basis, code, seed, &palm)) {
        options.solver = "palm";
        options.max_iter = chosen.palm;
        palm = run(X, &options, (watch){.goal = -1});
    }
    options.solver = "fast";
    options.max_iter = chosen.fast;
    fast = run(X, &options, (watch){.goal = palm.goal, .stops = !chosen.finals});
    printf("%s %s %lld %.10g %.6f %.6f %lld %.10g %.10g\n", basis, code, (long long)seed, palm.goal, palm.seconds,
           fast.seconds, (long long)fast.iterations, fast.last, palm.last);
    (void)fflush(stdout);
}

static void usage(void)
{
    fprintf(stderr,
            "usage: bench_quality DATA [--columns] [--tfidf] [--keep 1-3000] [--pairs 01234567] [--first-seed S]\n"
            "                     [--seeds N] [--palm ITERATIONS] [--fast ITERATIONS] [--finals] [--goals FILE]\n"
            "                     [--rank R] [--sparsity S]\n");
    exit(64);
}

static void parse(int count, char **words)
{
    const struct flag {
        const char *name;
        bool *value;
    } flags[] = {{"--columns", &chosen.columns}, {"--tfidf", &chosen.tfidf}, {"--finals", &chosen.finals}};
    const struct text {
        const char *name, **value;
    } texts[] = {{"--keep", &chosen.samples}, {"--pairs", &chosen.only}, {"--goals", &chosen.goals}};
    const struct number {
        const char *name;
        int64_t *value;
    } numbers[] = {{"--first-seed", &chosen.seed}, {"--seeds", &chosen.seeds}, {"--palm", &chosen.palm},
                   {"--fast", &chosen.fast},       {"--rank", &chosen.rank},   {"--sparsity", &chosen.sparsity}};
    for (int i = 1; i < count; i++) {
        const int before = i;
        for (size_t k = 0; k < sizeof flags / sizeof flags[0] && i == before; k++)
            if (strcmp(words[i], flags[k].name) == 0) *flags[k].value = true, i++;
        for (size_t k = 0; k < sizeof texts / sizeof texts[0] && i + 1 < count && i == before; k++)
            if (strcmp(words[i], texts[k].name) == 0) *texts[k].value = words[i + 1], i += 2;
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0] && i + 1 < count && i == before; k++)
            if (strcmp(words[i], numbers[k].name) == 0) *numbers[k].value = strtoll(words[i + 1], NULL, 10), i += 2;
        if (i == before && (words[i][0] == '-' || chosen.data)) usage();
        if (i == before)
            chosen.data = words[i];
        else
            i--;
    }
    if (!chosen.data || chosen.palm < 1 || chosen.fast < 1) usage();
}

int main(int count, char **words)
{
    armilla_read_options reading;
    armilla_selection selection;
    armilla_data *all = NULL, *X = NULL;
    parse(count, words);
    must(armilla_context_new(NULL, &context));
    armilla_read_options_default(&reading);
    armilla_selection_default(&selection);
    reading.sample_columns = chosen.columns;
    reading.threads = 1;
    selection.samples = chosen.samples;
    must(armilla_data_open(context, chosen.data, &reading, &all));
    if (chosen.samples) must(armilla_data_select(context, all, &selection, &X));
    for (int pair = 0; pair < PAIRS; pair++)
        for (int64_t seed = chosen.seed; seed < chosen.seed + chosen.seeds; seed++)
            if (!chosen.only || strchr(chosen.only, '0' + pair)) compare(X ? X : all, pair, seed);
    return 0;
}
