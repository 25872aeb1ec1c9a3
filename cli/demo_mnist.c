/* armilla demo mnist, the paper's fourth and fifth figures: the threes of MNIST's test images in ten directions, two
 * for each image; by the default and by the paper's own algorithm, and with codes of both signs. */
#include "demo.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

typedef struct fit_row {
    const char *model, *meaning, *codes;
    int64_t sparsity;
    const char *palm;  /* the start from which palm goes all the way; NULL: the default solver and start */
    const char *trace; /* the file of it, or NULL */
    bool center;
} fit_row;

static const fit_row fits[] = {
    {"model.npz", "nonneg-sparse-sphere, fast", "nonneg-sparse-sphere", .sparsity = 2, .trace = "trace.csv"},
    {"palm.npz", "nonneg-sparse-sphere, palm from random", "nonneg-sparse-sphere", .sparsity = 2, .palm = "random"},
    {"palm-svd.npz", "nonneg-sparse-sphere, palm from svd", "nonneg-sparse-sphere", .sparsity = 2, .palm = "svd"},
    {"signed.npz", "sparse-sphere, fast", "sparse-sphere", .sparsity = 2},
    {"signed-palm.npz", "sparse-sphere, palm from random", "sparse-sphere", .sparsity = 2, .palm = "random"},
    {"centred.npz", "sphere, fast, centred", "sphere", .center = true},
};

/* Share of the samples whose largest entry is that of the same atom, the most frequent one. */
static armilla_status find_share(demo_job *job, const char *name, double *share, double *error)
{
    char path[PATH_MAX];
    armilla_model *model = NULL;
    armilla_model_summary summary;
    const armilla_status status = armilla_model_open(job->session->context, demo_path(job, name, path), &model);
    if (status != ARMILLA_OK) return status;
    int64_t counts[10] = {0}, most = 0;
    armilla_model_summarize(model, &summary);
    const float *V = armilla_model_codes(model);
    for (int64_t j = 0; j < summary.n; j++) {
        int64_t largest = 0;
        for (int64_t k = 1; k < 10; k++)
            if (fabsf(V[10 * j + k]) > fabsf(V[10 * j + largest])) largest = k;
        counts[largest]++;
    }
    for (int k = 0; k < 10; k++) most = counts[k] > most ? counts[k] : most;
    *share = (double)most / (double)summary.n;
    *error = summary.relative_error;
    armilla_model_free(model);
    return ARMILLA_OK;
}

static armilla_status run_fit(demo_job *job, const fit_row *row)
{
    fit_settings *settings = fit_settings_of(demo_begin(job, &command_fit));
    armilla_options *fit = &settings->fit;
    settings->common.operands[0] = job->inputs[0];
    settings->reading.labels = job->inputs[1];
    settings->reading.keep.labels = "3";
    settings->common.out = demo_name(job, row->model);
    settings->trace = row->trace ? demo_name(job, row->trace) : NULL;
    fit->rank = 10;
    fit->precision = "f32";
    fit->seed = job->settings->seed;
    fit->codes = row->codes;
    fit->sparsity = row->sparsity;
    fit->center = row->center;
    if (row->palm) {
        fit->solver = "palm";
        fit->start = row->palm;
        fit->tol = 0;
    }
    return demo_run(job);
}

static armilla_status run(demo_job *job)
{
    armilla_status status = ARMILLA_OK;
    message_line(
        &job->session->messages,
        "threes    of the test images, orthonormal, rank 10: relative error, and how many have the same atom first");
    for (size_t i = 0; i < sizeof fits / sizeof *fits && status == ARMILLA_OK && !job->session->exit; i++) {
        double share = 0, error = 0;
        status = run_fit(job, &fits[i]);
        if (status == ARMILLA_OK) status = find_share(job, fits[i].model, &share, &error);
        if (status == ARMILLA_OK && !job->session->exit)
            message_line(&job->session->messages, "          %-40s %.4f   %3.0f %%", fits[i].meaning, error,
                         100 * share);
    }
    return status;
}

/* The file of the folder of that name, or packed by gzip. */
static armilla_status find_input(demo_job *job, const char *name, char path[PATH_MAX])
{
    static const char *const endings[] = {"", ".gz"};
    const char *folder = job->settings->folder;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, PATH_MAX, "%s/%s%s", folder, name, endings[i]);
        if (access(path, R_OK) == 0) return ARMILLA_OK;
    }
    return fail(
        job->session, ARMILLA_CANNOT_OPEN,
        "%s/%s: cannot be opened; `make mnist` in Armilla's source fetches MNIST into build/mnist, and --data DIR "
        "says where its files are",
        folder, name);
}

static armilla_status find(demo_job *job)
{
    const armilla_status status = find_input(job, "t10k-images-idx3-ubyte", job->inputs[0]);
    return status == ARMILLA_OK ? find_input(job, "t10k-labels-idx1-ubyte", job->inputs[1]) : status;
}

static const char *const files[] = {"model.npz",  "trace.csv",       "palm.npz",    "palm-svd.npz",
                                    "signed.npz", "signed-palm.npz", "centred.npz", NULL};

static const demo_picture pictures[] = {
    {.kind = "atoms", .model = "model.npz"},
    {.kind = "convergence", .model = "model.npz"},
    {.kind = "sphere", .model = "centred.npz"},
    {.kind = NULL},
};

const demo demo_mnist = {
    .name = "mnist", .files = files, .pictures = pictures, .data = "build/mnist", .find = find, .run = run};
