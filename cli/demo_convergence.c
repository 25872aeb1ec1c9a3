/* armilla demo convergence, the paper's second experiment: palm with step weights that are safe and with one that is
 * too small, on the points of the cones; and all eight pairs of the paper on planted data, palm beside fast, from the
 * same random start. */
#include "demo.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FEATURES = 50,
    SAMPLES = 500,
    PARTS = 5,
    BASES = 2,
    CODES = 4,
    PALM = 0,
    FAST = 1,
    SOLVERS = 2,
    ITERATIONS = 500
};

static const char *const bases[BASES] = {"orthonormal", "nonnegative"};

static const struct {
    const char *name;
    int64_t sparsity; /* 0: none */
} codes[CODES] = {{"sphere", 0}, {"nonneg-sphere", 0}, {"sparse-sphere", 2}, {"nonneg-sparse-sphere", 2}};

static const struct {
    const char *name;
    double tol;
} solvers[SOLVERS] = {[PALM] = {"palm", 0}, [FAST] = {"fast", 1e-10}};

/* Sum of twelve uniform numbers: nearly normal, which is all that noise needs. */
static double noise(uint64_t seed, uint64_t index)
{
    double sum = -6;
    for (uint64_t k = 0; k < 12; k++) sum += demo_uniform(seed, 12 * index + k, 0, 1);
    return sum;
}

/* Sample j is made of two of the parts, at unit length, and of noise; nonnegative. */
static void plant(uint64_t seed, uint64_t j, double parts[PARTS][FEATURES], double sample[FEATURES])
{
    const int first = (int)demo_uniform(seed + 1, 4 * j, 0, PARTS);
    const int second = (first + 1 + (int)demo_uniform(seed + 1, 4 * j + 1, 0, PARTS - 1)) % PARTS;
    const double a = demo_uniform(seed + 1, 4 * j + 2, 0.2, 1.2), b = demo_uniform(seed + 1, 4 * j + 3, 0.2, 1.2);
    for (uint64_t i = 0; i < FEATURES; i++)
        sample[i] = fabs((a * parts[first][i] + b * parts[second][i]) / sqrt(a * a + b * b) +
                         0.05 * noise(seed + 2, j * FEATURES + i));
}

static armilla_status write_planted(demo_job *job, uint64_t seed)
{
    double parts[PARTS][FEATURES], sample[FEATURES];
    armilla_output *output = NULL;
    armilla_status status = demo_output(job, "planted.csv", &output);
    for (uint64_t k = 0; k < PARTS; k++)
        for (uint64_t i = 0; i < FEATURES; i++) parts[k][i] = pow(demo_uniform(seed, k * FEATURES + i, 0, 1), 4);
    for (uint64_t j = 0; j < SAMPLES && status == ARMILLA_OK; j++) {
        plant(seed, j, parts, sample);
        for (int i = 0; i < FEATURES && status == ARMILLA_OK; i++)
            status = armilla_output_print(output, "%.6f%c", sample[i], i + 1 < FEATURES ? ',' : '\n');
    }
    return demo_finish(job, output, status);
}

/* How a fit went: the objective as a share of ||X||^2. */
typedef struct course {
    double last;
    int64_t count; /* of iterations */
    int64_t rises; /* iterations after which the objective was higher, but for rounding */
    double objectives[ITERATIONS + 1];
} course;

static armilla_status read_course(demo_job *job, const char *name, course *found)
{
    char path[PATH_MAX];
    armilla_model *model = NULL;
    armilla_model_summary summary;
    const armilla_status status = armilla_model_open(job->session->context, demo_path(job, name, path), &model);
    if (status != ARMILLA_OK) return status;
    armilla_trace_entry entry;
    armilla_model_summarize(model, &summary);
    *found = (course){.count = armilla_model_trace_count(model) - 1};
    for (int64_t k = 0; k <= ITERATIONS && armilla_model_trace_entry(model, k, &entry); k++) {
        found->last = found->objectives[k] = entry.objective / summary.squared_norm;
        found->rises += k > 0 && found->objectives[k] > found->objectives[k - 1] + 1e-13;
    }
    armilla_model_free(model);
    return ARMILLA_OK;
}

/* Makes a fit of that file ready, from a random start. */
static armilla_options *begin_fit(demo_job *job, const char *data, const char *model, const char *trace)
{
    fit_settings *settings = fit_settings_of(demo_begin(job, &command_fit));
    settings->common.operands[0] = demo_name(job, data);
    settings->common.out = demo_name(job, model);
    settings->trace = demo_name(job, trace);
    settings->fit.start = "random";
    settings->fit.seed = job->settings->seed;
    return &settings->fit;
}

/* palm on the cones with that step weight. */
static armilla_status fit_cones(demo_job *job, const char *lambda, const char *model, const char *trace)
{
    armilla_options *fit = begin_fit(job, "data.csv", model, trace);
    fit->rank = 2;
    fit->codes = "nonneg-sphere";
    fit->solver = "palm";
    fit->max_iter = 60;
    fit->tol = 0;
    fit->lambda = lambda;
    return demo_run(job);
}

static armilla_status compare_weights(demo_job *job)
{
    const int64_t seed = job->settings->seed;
    course safe, small;
    armilla_status status = demo_write_cones(job, (uint64_t)seed);
    if (status == ARMILLA_OK) status = fit_cones(job, "1x", "model.npz", "trace.csv");
    if (status == ARMILLA_OK && !job->session->exit) status = fit_cones(job, "0.3x", "small.npz", "small.csv");
    if (status == ARMILLA_OK) status = read_course(job, "model.npz", &safe);
    if (status == ARMILLA_OK && !job->session->exit) status = read_course(job, "small.npz", &small);
    if (status != ARMILLA_OK || job->session->exit) return status;
    message_line(&job->session->messages,
                 "palm      on the points of the cones, orthonormal x nonneg-sphere, 60 iterations:");
    message_line(&job->session->messages, "          the objective rises after %2" PRId64 " with the safe lambda",
                 safe.rises);
    message_line(&job->session->messages, "          and after                 %2" PRId64 " with 0.3 of it",
                 small.rises);
    return ARMILLA_OK;
}

/* The first iteration of fast that is as good as the last of palm, to a millionth; -1 where none is. */
static int64_t reached(const course *palm, const course *fast)
{
    for (int64_t k = 0; k <= fast->count; k++)
        if (fast->objectives[k] <= palm->last * (1 + 1e-6)) return k;
    return -1;
}

static armilla_status fit_pair(demo_job *job, int basis, int code, int solver, course *found)
{
    char model[128], trace[128];
    snprintf(model, sizeof model, "%s-%s-%s.npz", bases[basis], codes[code].name, solvers[solver].name);
    snprintf(trace, sizeof trace, "%s-%s-%s.csv", bases[basis], codes[code].name, solvers[solver].name);
    armilla_options *fit = begin_fit(job, "planted.csv", model, trace);
    fit->rank = PARTS;
    fit->basis = bases[basis];
    fit->codes = codes[code].name;
    fit->sparsity = codes[code].sparsity;
    fit->solver = solvers[solver].name;
    fit->max_iter = ITERATIONS;
    fit->tol = solvers[solver].tol;
    const armilla_status status = demo_run(job);
    return status == ARMILLA_OK ? read_course(job, model, found) : status;
}

static armilla_status compare_solvers(demo_job *job, int basis, int code, armilla_output *output)
{
    course courses[SOLVERS];
    armilla_status status = ARMILLA_OK;
    for (int s = 0; s < SOLVERS && status == ARMILLA_OK && !job->session->exit; s++)
        status = fit_pair(job, basis, code, s, &courses[s]);
    if (status != ARMILLA_OK || job->session->exit) return status;
    const course *palm = &courses[PALM], *fast = &courses[FAST];
    message_line(&job->session->messages,
                 "          %-11s x %-20s %.6f   %.6f   %4" PRId64 "   %" PRId64 " and %" PRId64, bases[basis],
                 codes[code].name, palm->last, fast->last, reached(palm, fast), palm->rises, fast->rises);
    return armilla_output_print(output, "%s,%s,%.9g,%.9g,%" PRId64 ",%" PRId64 ",%" PRId64 "\n", bases[basis],
                                codes[code].name, palm->last, fast->last, reached(palm, fast), palm->rises,
                                fast->rises);
}

static armilla_status compare_pairs(demo_job *job, armilla_output *output)
{
    armilla_status status = write_planted(job, (uint64_t)job->settings->seed);
    message_line(&job->session->messages,
                 "pairs     on planted data, h/||X||^2 after 500 of palm, of fast, and when fast was there; rises");
    if (status == ARMILLA_OK)
        status = armilla_output_print(output, "basis,codes,palm,fast,fast_reaches_palm,rises_palm,rises_fast\n");
    for (int pair = 0; pair < BASES * CODES && status == ARMILLA_OK && !job->session->exit; pair++)
        status = compare_solvers(job, pair / CODES, pair % CODES, output);
    return status;
}

static armilla_status run(demo_job *job)
{
    armilla_output *output = NULL;
    armilla_status status = compare_weights(job);
    if (status == ARMILLA_OK) status = demo_output(job, "pairs.csv", &output);
    return status == ARMILLA_OK ? demo_finish(job, output, compare_pairs(job, output)) : status;
}

#define PAIR(name) name "-palm.npz", name "-palm.csv", name "-fast.npz", name "-fast.csv"
#define PAIRS_OF(basis)                                                                                                \
    PAIR(basis "-sphere"), PAIR(basis "-nonneg-sphere"), PAIR(basis "-sparse-sphere"),                                 \
        PAIR(basis "-nonneg-sparse-sphere")

static const char *const files[] = {"data.csv",
                                    "labels.txt",
                                    "planted.csv",
                                    "model.npz",
                                    "trace.csv",
                                    "small.npz",
                                    "small.csv",
                                    "pairs.csv",
                                    PAIRS_OF("orthonormal"),
                                    PAIRS_OF("nonnegative"),
                                    NULL};

static const demo_picture pictures[] = {{.kind = "convergence", .model = "model.npz"}, {.kind = NULL}};

const demo demo_convergence = {.name = "convergence", .files = files, .pictures = pictures, .run = run};
