/* The sample of X on which tries of k-means are screened: which local minimum a try ends in is decided there, at a
 * fraction of what it costs on all samples. */
#include "cluster/cluster.h"

#include "base/random.h"
#include "base/size.h"
#include "data/slots.h"
#include "data/traverse.h"

/* So many samples, and so many for each centre, tell the best try as well as all samples do: with half of that, 30
 * clusters of images ended up to a thousandth above the best of as many tries on all. Screening saves too little where
 * a sample is more than that part of all. */
enum { LEAST = 20000, PER_CENTER = 512, SHARE = 3 };

/* 0: tries are not screened. */
static int64_t sample_size(const armilla_kmeans_problem *whole)
{
    const int64_t wanted = armilla_max64(LEAST, PER_CENTER * whole->options->k);
    if (whole->options->tries < 2 || wanted > whole->X->n / SHARE) return 0;
    return wanted;
}

static armilla_status copy_samples(armilla_context *context, const armilla_data *raw, int64_t count, uint64_t seed,
                                   armilla_data **columns)
{
    int64_t *drawn = NULL;
    armilla_status status = armilla_take(context, count, sizeof *drawn, &drawn);
    if (status == ARMILLA_OK) {
        const armilla_kept features = {NULL, raw->m, raw->m}, samples = {drawn, count, raw->n};
        armilla_draw_stratified(raw->n, count, seed, ARMILLA_STREAM_SCREENED, drawn);
        status = armilla_data_copy(context, raw, &features, &samples, columns);
    }
    armilla_release(context, drawn);
    return status;
}

armilla_status armilla_kmeans_sample_make(armilla_context *context, const armilla_data *raw,
                                          const armilla_preparation *preparation, armilla_kmeans_problem *whole,
                                          armilla_kmeans_sample *sample)
{
    const int64_t count = sample_size(whole);
    armilla_data_facts facts;
    if (count == 0) return ARMILLA_OK;
    armilla_status status = copy_samples(context, raw, count, (uint64_t)whole->options->seed, &sample->columns);
    if (status == ARMILLA_OK) status = armilla_preparation_view(context, preparation, sample->columns, &sample->view);
    if (status != ARMILLA_OK) return status;
    const armilla_data *X = sample->view ? sample->view : sample->columns;
    const armilla_samples share = armilla_data_share(context, X);
    status = armilla_samples_take(context, &share, 1, sizeof *sample->squared_norms, &sample->squared_norms);
    if (status == ARMILLA_OK) status = armilla_survey(context, X, whole->work, &facts, sample->squared_norms);
    sample->problem = *whole;
    sample->problem.X = X;
    sample->problem.squared_norms = sample->squared_norms;
    whole->sample = &sample->problem;
    return status;
}

void armilla_kmeans_sample_free(armilla_context *context, armilla_kmeans_sample *sample)
{
    armilla_data_free(sample->view);
    armilla_data_free(sample->columns);
    armilla_release(context, sample->squared_norms);
}
