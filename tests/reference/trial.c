/* A problem ready for the library, in either precision. */
#include "reference/reference.h"

#include "model/model.h"

#include <stdlib.h>
#include <string.h>

void reference_trial_new(reference_trial *trial, const reference_pair *pair, armilla_type type, int64_t m, int64_t n,
                         int64_t r, int64_t s, const double *X)
{
    *trial = (reference_trial){.pair = pair, .type = type, .m = m, .n = n, .r = r, .s = s};
    trial->X = reference_copy(m * n, X);
    if (type == ARMILLA_F32) {
        reference_round_to_f32(m * n, trial->X);
        trial->typed = reference_floats(m * n, trial->X);
    } else {
        trial->typed = reference_copy(m * n, X);
    }
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, type, trial->typed, m, n, m, &trial->data));
    armilla_options_default(&trial->options);
    trial->options.rank = r;
    trial->options.basis = pair->basis;
    trial->options.codes = pair->codes;
    trial->options.sparsity = pair->sparse ? s : 0;
    trial->options.solver = "palm";
    trial->options.precision = armilla_type_word(type);
    trial->options.threads = 1;
    trial->options.max_iter = 20;
    trial->options.tol = 0;
}

void reference_trial_free(reference_trial *trial)
{
    armilla_data_free(trial->data);
    free(trial->typed);
    free(trial->X);
    *trial = (reference_trial){0};
}

void *reference_trial_batch(const reference_trial *trial, int64_t first, int64_t count, int64_t step,
                            armilla_data **data)
{
    const size_t column = (size_t)trial->m * armilla_type_size(trial->type);
    char *batch = calloc((size_t)count, column);
    assert_non_null(batch);
    for (int64_t j = 0; j < count; j++)
        memcpy(batch + (size_t)j * column, (const char *)trial->typed + (size_t)(first + j * step) * column, column);
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, trial->type, batch, trial->m, count, trial->m, data));
    return batch;
}

armilla_model *reference_trial_fit(const reference_trial *trial)
{
    armilla_model *model = NULL;
    REFERENCE_OK(armilla_fit(reference_context, trial->data, &trial->options, &model));
    assert_non_null(model);
    return model;
}

void reference_trial_fast(reference_trial *trial, const reference_pair *pair, armilla_type type, reference_kind kind,
                          uint64_t *random, const int64_t shape[4])
{
    double *X = reference_new(shape[0] * shape[1]);
    reference_data(random, kind, pair, shape[0], shape[1], shape[2], shape[3], X);
    reference_trial_new(trial, pair, type, shape[0], shape[1], shape[2], shape[3], X);
    trial->options.solver = "fast";
    free(X);
}

void reference_trial_scene(const reference_trial *trial, const char *what)
{
    reference_scene("%s x %s, %s, m = %d, n = %d, r = %d, s = %d, start %s, seed %d, %s", trial->pair->basis,
                    trial->pair->codes, armilla_type_word(trial->type), (int)trial->m, (int)trial->n, (int)trial->r,
                    (int)trial->s, trial->options.start ? trial->options.start : "by the pair",
                    (int)trial->options.seed, what);
}

armilla_model_summary reference_summary(const armilla_model *model)
{
    armilla_model_summary summary;
    armilla_model_summarize(model, &summary);
    return summary;
}

const armilla_trace_entry *reference_trace(const armilla_model *model, int64_t *count)
{
    *count = armilla_model_trace_count(model);
    return model->trace;
}
