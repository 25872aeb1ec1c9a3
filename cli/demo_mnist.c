/* armilla demo mnist, the paper's fourth and fifth figures: the threes of MNIST's test images in ten directions, two
 * for each image; by the default and by the paper's own algorithm, and with codes of both signs. */
#include "demo.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
    const char *name, *meaning, *options;
} fits[] = {
    {"model", "nonneg-sparse-sphere, fast", "--codes nonneg-sparse-sphere --sparsity 2 --trace @trace.csv"},
    {"palm", "nonneg-sparse-sphere, palm from random",
     "--codes nonneg-sparse-sphere --sparsity 2 --solver palm --start random --tol 0"},
    {"palm-svd", "nonneg-sparse-sphere, palm from svd",
     "--codes nonneg-sparse-sphere --sparsity 2 --solver palm --start svd --tol 0"},
    {"signed", "sparse-sphere, fast", "--codes sparse-sphere --sparsity 2"},
    {"signed-palm", "sparse-sphere, palm from random",
     "--codes sparse-sphere --sparsity 2 --solver palm --start random --tol 0"},
    {"centred", "sphere, fast, centred", "--codes sphere --center"},
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

static armilla_status run_fits(demo_job *job)
{
    armilla_status status = ARMILLA_OK;
    report_line(
        &job->session->report,
        "threes    of the test images, orthonormal, rank 10: relative error, and how many have the same atom first");
    for (size_t i = 0; i < sizeof fits / sizeof *fits && status == ARMILLA_OK && !job->session->exit; i++) {
        char model[64];
        double share = 0, error = 0;
        snprintf(model, sizeof model, "%s.npz", fits[i].name);
        status = demo_run(
            job, "fit %%1 --labels %%2 --keep-label 3 --rank 10 --precision f32 --seed %" PRId64 " %s --out @%s",
            job->session->settings.fit.seed, fits[i].options, model);
        if (status == ARMILLA_OK) status = find_share(job, model, &share, &error);
        if (status == ARMILLA_OK && !job->session->exit)
            report_line(&job->session->report, "          %-40s %.4f   %3.0f %%", fits[i].meaning, error, 100 * share);
    }
    return status;
}

/* The file of the folder of that name, or packed by gzip. */
static armilla_status find_input(demo_job *job, const char *name, char path[PATH_MAX])
{
    static const char *const endings[] = {"", ".gz"};
    const char *folder = job->session->settings.folder;
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

static armilla_status run(demo_job *job)
{
    armilla_status status = run_fits(job);
    if (status == ARMILLA_OK) status = demo_draw(job, "plot @model.npz --kind atoms --images 28x28 --out @atoms.svg");
    if (status == ARMILLA_OK) status = demo_draw(job, "plot @model.npz --kind convergence --out @convergence.svg");
    if (status == ARMILLA_OK) status = demo_draw(job, "plot @centred.npz --kind sphere --out @sphere.svg");
    return status;
}

static const char *const files[] = {"model.npz",  "trace.csv",       "palm.npz",    "palm-svd.npz",
                                    "signed.npz", "signed-palm.npz", "centred.npz", NULL};

static const char *const pictures[] = {"atoms", "convergence", "sphere", NULL};

const demo demo_mnist = {
    .name = "mnist", .files = files, .pictures = pictures, .data = "build/mnist", .find = find, .run = run};
