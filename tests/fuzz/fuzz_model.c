/* A model out of an input: what can be opened is used. */
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

/* Codes and a check of n samples that are made up, and the model's first sample. */
static void apply(armilla_context *context, const armilla_model *model, const armilla_model_summary *summary)
{
    const int64_t m = summary->m, n = summary->n, numbers = m * n + n * summary->rank + m;
    armilla_data *data = NULL;
    armilla_check check;
    double *X = calloc((size_t)numbers, sizeof *X);
    fuzz_holds(X != NULL, "there is memory");
    double *codes = X + m * n, *sample = codes + n * summary->rank;
    for (int64_t i = 0; i < m * n; i++) X[i] = (double)(i % 7);
    armilla_status status = armilla_data_wrap_dense(context, ARMILLA_F64, X, m, n, m, &data);
    fuzz_holds(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY, "numbers can be wrapped");
    if (data && (status = armilla_model_transform(context, model, data, 1, codes)) != ARMILLA_OK)
        fuzz_failed_well(context, status);
    if (data && (status = armilla_model_check(context, model, data, &check)) != ARMILLA_OK)
        fuzz_failed_well(context, status);
    if ((status = armilla_model_reconstruct(context, model, 0, 1, sample)) != ARMILLA_OK)
        fuzz_failed_well(context, status);
    armilla_data_free(data);
    free(X);
}

void fuzz_model(const fuzz_target *target, armilla_context *context, unsigned choice)
{
    armilla_model *model = NULL;
    armilla_model_summary summary;
    (void)choice;
    const armilla_status status = armilla_model_open(context, target->file, &model);
    fuzz_holds((status == ARMILLA_OK) == (model != NULL), "a model is there if and only if it could be read");
    if (status != ARMILLA_OK) {
        fuzz_failed_well(context, status);
        return;
    }
    armilla_model_summarize(model, &summary);
    read_names(model, &summary);
    if (summary.m <= MOST_NUMBERS && summary.n <= MOST_NUMBERS && summary.rank <= MOST_NUMBERS &&
        summary.m * summary.n <= MOST_NUMBERS)
        apply(context, model, &summary);
    armilla_model_free(model);
}
