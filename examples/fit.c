/* Factorizes six samples of three features into two nonnegative parts, and prints the code of each sample: points on
 * a quarter circle, where the angle between two codes and the distance between them say the same thing.
 *
 *     cc fit.c $(pkg-config --cflags --libs armilla) -o fit && ./fit */
#include <armilla/armilla.h>
#include <stdio.h>

int main(void)
{
    /* One sample per row here; the same bytes are one sample per column of X (3 x 6), as the library sees it. */
    const double samples[6][3] = {{1.0, 0.1, 0.0}, {0.9, 0.2, 0.1}, {1.1, 0.0, 0.1},
                                  {0.1, 0.2, 1.0}, {0.0, 0.1, 0.9}, {0.1, 0.1, 1.1}};
    armilla_context *context = NULL;
    armilla_data *X = NULL;
    armilla_model *model = NULL;
    armilla_options options;
    armilla_status status = armilla_context_new(NULL, &context);

    armilla_options_default(&options);
    options.rank = 2;
    options.model = "spherical-nmf"; /* nonnegative basis, nonnegative codes on a sphere */
    if (status == ARMILLA_OK) status = armilla_data_wrap_dense(context, ARMILLA_F64, samples, 3, 6, 3, &X);
    if (status == ARMILLA_OK) status = armilla_fit(context, X, &options, &model);
    if (status == ARMILLA_OK) {
        const double *V = (const double *)armilla_model_codes(model); /* 2 x 6, column-major */
        armilla_model_summary summary;
        int j;
        armilla_model_summarize(model, &summary);
        printf("relative error %.3f, radius %.3f, after %d iterations\n", summary.relative_error, summary.radius,
               (int)summary.iterations);
        for (j = 0; j < 6; j++) printf("sample %d: code (%.3f, %.3f)\n", j, V[2 * j], V[2 * j + 1]);
    } else {
        fprintf(stderr, "fit: %s\n", context ? armilla_context_error(context) : armilla_status_text(status));
    }

    armilla_model_free(model);
    armilla_data_free(X);
    armilla_context_free(context);
    return armilla_status_exit(status);
}
