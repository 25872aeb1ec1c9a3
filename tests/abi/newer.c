/* Compiled against headers whose structs have grown, run with a library that is older than these: what the library does
 * not know is refused where it is asked for, and all else works. */
#include <armilla/armilla.h>

#include <stdio.h>
#include <string.h>

enum { M = 4, N = 8 };

#define HOLDS(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) return fprintf(stderr, "newer.c:%d: %s\n", __LINE__, #condition), 1;                         \
    } while (0)

int main(void)
{
    double values[M * N];
    armilla_context *context = NULL;
    armilla_data *X = NULL;
    armilla_model *model = NULL;
    armilla_options options;
    armilla_model_summary summary;
    armilla_read_options read;
    for (int i = 0; i < M * N; i++) values[i] = 1 + i % 7;
    HOLDS(armilla_context_new(NULL, &context) == ARMILLA_OK);
    HOLDS(armilla_data_wrap_dense(context, ARMILLA_F64, values, M, N, M, &X) == ARMILLA_OK);
    memset(&options, 0xa5, sizeof options);
    armilla_options_default(&options);
    HOLDS(options.size == sizeof options && options.grown[0] == 0 && options.grown[3] == 0);
    options.rank = 2;
    options.threads = 1;
    HOLDS(armilla_fit(context, X, &options, &model) == ARMILLA_OK);
    memset(&summary, 0xa5, sizeof summary);
    armilla_model_summarize(model, &summary);
    HOLDS(summary.rank == 2 && summary.grown[0] == 0 && summary.grown[3] == 0);
    HOLDS(summary.size == sizeof summary - sizeof summary.grown); /* as much as that library has */
    armilla_model_free(model);
    model = NULL;
    options.grown[3] = 1;
    HOLDS(armilla_fit(context, X, &options, &model) == ARMILLA_NOT_BUILT && !model);
    HOLDS(strstr(armilla_context_error(context), "armilla_options: sets a member that this library"));
    armilla_read_options_default(&read);
    read.grown[0] = 1;
    HOLDS(armilla_data_open(context, "none", &read, &X) == ARMILLA_NOT_BUILT);
    armilla_data_free(X);
    armilla_context_free(context);
    return 0;
}
