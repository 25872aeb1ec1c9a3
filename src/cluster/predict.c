/* Clusters of new samples. A sample whose code is a training sample's has that sample's label, bit for bit, however the
 * labels came about; any other goes by the rule of the method (cluster/keep_clusters.h). */
#include "cluster/keep_clusters.h"

#include "base/size.h"
#include "base/team.h"
#include "cluster/contribution.h"
#include "linalg/dense.h"
#include "linalg/kernels.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NEIGHBORS = 15 };
/* Samples between two questions whether the call is to end: each may be compared with all training samples. */
enum { CHECK_INTERVAL = 16 };

/* New samples among known ones. */
typedef struct predicting {
    armilla_context *context;
    const armilla_model *model;
    const char *codes; /* of the new samples */
    int64_t n, r;
    size_t bytes;   /* of a code */
    int64_t *slots; /* training samples by the hash of their code: place + 1, or 0 */
    uint64_t mask;
    double *lengths; /* r: of atoms */
    double *units;   /* r x n of the training codes at length 1; where neighbours count */
    double *scratch; /* for each thread: r, and k votes */
    int threads;
    int64_t *labels;
} predicting;

static const char *code_of(const predicting *p, const void *codes, int64_t j)
{
    return (const char *)codes + (size_t)j * p->bytes;
}

static uint64_t hash(const char *code, size_t bytes)
{
    uint64_t word = 14695981039346656037U; /* FNV-1a */
    for (size_t i = 0; i < bytes; i++) word = (word ^ (unsigned char)code[i]) * 1099511628211U;
    return word ^ word >> 29;
}

/* The place where a training sample with that code stands, or where one would. */
static uint64_t slot_of(const predicting *p, const char *code)
{
    uint64_t slot = hash(code, p->bytes) & p->mask;
    while (p->slots[slot] && memcmp(code_of(p, p->model->V, p->slots[slot] - 1), code, p->bytes) != 0)
        slot = (slot + 1) & p->mask;
    return slot;
}

static armilla_status index_codes(predicting *p)
{
    const int64_t n = p->model->summary.n;
    p->mask = 15;
    while ((int64_t)p->mask < 2 * n) p->mask = 2 * p->mask + 1;
    const armilla_status status = armilla_take(p->context, (int64_t)p->mask + 1, sizeof *p->slots, &p->slots);
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++) {
        const uint64_t slot = slot_of(p, code_of(p, p->model->V, j));
        if (!p->slots[slot]) p->slots[slot] = j + 1;
    }
    return status;
}

/* The training sample that sample j is, or -1: the one at its own place first, as equal codes may have other labels. */
static int64_t find_known(const predicting *p, int64_t j)
{
    const char *code = code_of(p, p->codes, j);
    if (p->n == p->model->summary.n && memcmp(code, code_of(p, p->model->V, j), p->bytes) == 0) return j;
    return p->slots[slot_of(p, code)] - 1;
}

static int64_t nearest_centre(const predicting *p, const double *v, bool by_angle)
{
    const armilla_kept_clusters *kept = &p->model->clusters;
    int64_t best = -1;
    double most = 0;
    for (int64_t c = 0; c < kept->k; c++) {
        const double *centre = kept->centres + c * p->r, square = armilla_dot_in_order(p->r, centre, centre);
        const double product = armilla_dot_in_order(p->r, centre, v);
        const double key = by_angle ? (square > 0 ? product / sqrt(square) : -INFINITY) : 2 * product - square;
        if (kept->sizes[c] > 0 && (best < 0 || key > most)) best = c, most = key;
    }
    return best < 0 ? 0 : best;
}

/* The nearest training samples by angle, each with a vote of one over the squared angle. */
static int64_t vote(const predicting *p, const double *v, double length, double *votes)
{
    const armilla_kept_clusters *kept = &p->model->clusters;
    double cosines[NEIGHBORS];
    int64_t places[NEIGHBORS], count = 0, best = 0;
    for (int64_t j = 0; j < p->model->summary.n; j++) {
        const double cosine = length > 0 ? armilla_dot_in_order(p->r, p->units + j * p->r, v) / length : 0;
        if (count == NEIGHBORS && cosine <= cosines[count - 1]) continue;
        int64_t at = count < NEIGHBORS ? count++ : count - 1;
        for (; at > 0 && cosine > cosines[at - 1]; at--) cosines[at] = cosines[at - 1], places[at] = places[at - 1];
        cosines[at] = cosine;
        places[at] = j;
    }
    memset(votes, 0, (size_t)kept->k * sizeof *votes);
    for (int64_t i = 0; i < count;
         i++) /* 2 - 2cos is the squared chord, which is the squared angle where that matters */
        votes[kept->labels[places[i]]] += 1 / (fmax(2 - 2 * cosines[i], 0) + 1e-12);
    for (int64_t c = 1; c < kept->k; c++)
        if (votes[c] > votes[best]) best = c;
    return best;
}

static int64_t decide(const predicting *p, int64_t j, double *v, double *votes)
{
    const armilla_rule rule = armilla_cluster_rule_of(p->model->clusters.method);
    const int64_t known = rule == ARMILLA_RULE_ATOMS ? -1 : find_known(p, j);
    if (known >= 0) return p->model->clusters.labels[known];
    const double length = armilla_code_fetch(p->model, p->codes, j, v);
    if (rule == ARMILLA_RULE_ATOMS) return armilla_largest_contribution(p->r, v, p->lengths);
    if (rule == ARMILLA_RULE_NEIGHBORS) return vote(p, v, length, votes);
    return nearest_centre(p, v, rule == ARMILLA_RULE_ANGLES);
}

/* A contiguous part of the samples, unless the call is to end; each label is a function of its sample alone. */
static void predict_part(void *self, int thread)
{
    const predicting *p = self;
    double *v = p->scratch + thread * (p->r + p->model->clusters.k);
    const int64_t first = p->n * thread / p->threads, last = p->n * (thread + 1) / p->threads;
    for (int64_t j = first; j < last; j++) {
        if ((j - first) % CHECK_INTERVAL == 0 &&
            armilla_call_pass(p->context, thread, j - first, last - first) != ARMILLA_OK)
            return;
        p->labels[j] = decide(p, j, v, v + p->r);
    }
}

static armilla_status prepare(predicting *p)
{
    const armilla_rule rule = armilla_cluster_rule_of(p->model->clusters.method);
    const int64_t n = p->model->summary.n, width = p->r + p->model->clusters.k;
    armilla_status status = armilla_take(p->context, p->threads, (size_t)width * sizeof *p->scratch, &p->scratch);
    if (status == ARMILLA_OK) status = armilla_take(p->context, p->r, sizeof *p->lengths, &p->lengths);
    if (status == ARMILLA_OK) armilla_atom_lengths(p->model, p->lengths);
    if (status == ARMILLA_OK && rule != ARMILLA_RULE_ATOMS) status = index_codes(p);
    if (status == ARMILLA_OK && rule == ARMILLA_RULE_NEIGHBORS)
        status = armilla_take(p->context, n, (size_t)p->r * sizeof *p->units, &p->units);
    for (int64_t j = 0; j < n && status == ARMILLA_OK && p->units; j++)
        armilla_code_fetch_unit(p->model, p->model->V, j, p->units + j * p->r);
    return status;
}

static armilla_status predict(predicting *p)
{
    armilla_status status = armilla_call_enter(p->context, p->threads);
    if (status != ARMILLA_OK) return status;
    const armilla_team team = armilla_team_of(p->context, p->n);
    p->threads = team.threads;
    status = prepare(p);
    armilla_call_stage(p->context, ARMILLA_STAGE_CLUSTERS);
    if (status == ARMILLA_OK) armilla_team_run(&team, predict_part, p);
    if (status == ARMILLA_OK && armilla_call_stopped(p->context, NULL)) status = armilla_call_explain(p->context);
    armilla_release(p->context, p->units);
    armilla_release(p->context, p->slots);
    armilla_release(p->context, p->lengths);
    armilla_release(p->context, p->scratch);
    armilla_call_leave(p->context);
    return status;
}

armilla_status armilla_model_predict(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                     int threads, int64_t *labels)
{
    char *codes = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, model, X, labels);
    if (status == ARMILLA_OK) status = armilla_model_is_whole(context, model);
    if (status == ARMILLA_OK && !model->clusters.labels)
        status = armilla_fail(context, ARMILLA_BAD_DATA,
                              "the model keeps no clusters; cluster it first, and keep them in it (" ARMILLA_FIELD(
                                  "model_out MODEL.npz") ")");
    if (status == ARMILLA_OK) status = armilla_cluster_rule_check(context, model, &model->clusters);
    if (status != ARMILLA_OK) return status;
    const size_t bytes = (size_t)model->summary.rank * armilla_type_size(model->summary.precision);
    predicting p = {.context = context,
                    .model = model,
                    .n = X->n,
                    .r = model->summary.rank,
                    .bytes = bytes,
                    .threads = threads,
                    .labels = labels};
    status = armilla_take(context, X->n, bytes, &codes);
    p.codes = codes;
    if (status == ARMILLA_OK) status = armilla_model_transform(context, model, X, threads, codes);
    if (status == ARMILLA_OK) status = predict(&p);
    armilla_release(context, codes);
    return status;
}
