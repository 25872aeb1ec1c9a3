/* A model out of an input: what can be opened is used, in all the ways that the command has. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 1 << 12 };

static void read_names(const armilla_model *model, const armilla_model_summary *summary)
{
    const int64_t counts[ARMILLA_NAMING_COUNT] = {summary->m, summary->n, summary->n};
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT; kind++)
        for (int64_t i = 0; i < counts[kind]; i++) {
            const char *name = armilla_model_name(model, (armilla_naming)kind, i);
            if (name) fuzz_holds(strlen(name) < FUZZ_MEMORY, "names end");
        }
}

/* What was chosen for the fit lies inside of what it was chosen from; the trace can be read to its end. */
static void read_lists(const armilla_model *model, const armilla_model_summary *summary)
{
    int64_t of = 0;
    armilla_trace_entry entry;
    const int64_t *features = armilla_model_kept_features(model, &of);
    for (int64_t i = 0; features && i < summary->m; i++)
        fuzz_holds(features[i] >= 0 && features[i] < of, "features are kept from those that there are");
    const int64_t *samples = armilla_model_kept_samples(model, &of);
    for (int64_t j = 0; samples && j < summary->n; j++)
        fuzz_holds(samples[j] >= 0 && samples[j] < of, "samples are kept from those that there are");
    const int64_t *zeros = armilla_model_zero_samples(model, &of);
    for (int64_t i = 0; zeros && i < of; i++)
        fuzz_holds(zeros[i] >= 0 && zeros[i] < summary->n, "samples of length 0 are samples");
    for (int64_t k = 0; armilla_model_trace_entry(model, k, &entry); k++)
        fuzz_holds(entry.iteration == k, "the trace counts its iterations");
}

static void must_fail_well(const armilla_context *context, armilla_status status)
{
    if (status != ARMILLA_OK) fuzz_failed_well(context, status);
}

/* The model as the start of a fit. */
static void go_on(armilla_context *context, const armilla_model *model, const armilla_data *data)
{
    armilla_model_summary summary;
    armilla_model *next = NULL;
    armilla_options options;
    armilla_options_default(&options);
    armilla_model_summarize(model, &summary);
    options.rank = summary.rank;
    options.basis = summary.basis;
    options.codes = summary.codes;
    options.sparsity = summary.sparsity;
    options.start_model = model;
    options.max_iter = 2;
    options.threads = 1;
    must_fail_well(context, armilla_fit(context, data, &options, &next));
    armilla_model_free(next);
    next = NULL;
    must_fail_well(context, armilla_model_update(context, model, data, &options, &next));
    armilla_model_free(next);
}

/* All of it for n samples that are made up, and the model's first sample. */
static void apply(armilla_context *context, const armilla_model *model, const armilla_model_summary *summary,
                  unsigned choice)
{
    const int64_t m = summary->m, n = summary->n, numbers = m * n + n * summary->rank + m;
    armilla_data *data = NULL;
    armilla_check check;
    double *X = calloc((size_t)numbers, sizeof *X);
    fuzz_holds(X != NULL, "there is memory");
    double *codes = X + m * n, *sample = codes + n * summary->rank;
    for (int64_t i = 0; i < m * n; i++) X[i] = (double)(i % 7);
    int64_t *places = calloc((size_t)(m * n + n + 1), sizeof *places), *starts = places + m * n;
    fuzz_holds(places != NULL, "there is memory");
    for (int64_t i = 0; i < m * n; i++) places[i] = i % m;
    for (int64_t j = 0; j <= n; j++) starts[j] = j * m;
    const armilla_status status =
        choice & 1 ? armilla_data_wrap_sparse(context, ARMILLA_F64, ARMILLA_I64, X, places, starts, m, n, &data)
                   : armilla_data_wrap_dense(context, ARMILLA_F64, X, m, n, m, &data);
    fuzz_holds(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY, "numbers can be wrapped");
    if (data) must_fail_well(context, armilla_model_transform(context, model, data, 1, codes));
    if (data) must_fail_well(context, armilla_model_check(context, model, data, &check));
    if (data && choice & 2) go_on(context, model, data);
    must_fail_well(context, armilla_model_reconstruct(context, model, 0, 1, sample));
    armilla_data_free(data);
    free(places);
    free(X);
}

void fuzz_model(const fuzz_target *target, armilla_context *context, unsigned choice)
{
    armilla_model *model = NULL;
    armilla_model_summary summary;
    const armilla_status status = armilla_model_open(context, target->file, &model);
    fuzz_holds((status == ARMILLA_OK) == (model != NULL), "a model is there if and only if it could be read");
    if (status != ARMILLA_OK) {
        fuzz_failed_well(context, status);
        return;
    }
    armilla_model_summarize(model, &summary);
    read_names(model, &summary);
    read_lists(model, &summary);
    if (summary.m <= MOST_NUMBERS && summary.n <= MOST_NUMBERS && summary.rank <= MOST_NUMBERS &&
        summary.m * summary.n <= MOST_NUMBERS)
        apply(context, model, &summary, choice);
    armilla_model_free(model);
}
