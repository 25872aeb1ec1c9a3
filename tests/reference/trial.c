/* A problem ready for the library, in either precision. */
#include "reference/reference.h"

#include <stdlib.h>

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

armilla_model *reference_trial_fit(const reference_trial *trial)
{
    armilla_model *model = NULL;
    REFERENCE_OK(armilla_fit(reference_context, trial->data, &trial->options, &model));
    assert_non_null(model);
    return model;
}
