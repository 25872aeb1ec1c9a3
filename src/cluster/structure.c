/* The verdict on structure (docs/clustering.md): samples form groups where the best cut through the graph of their
 * neighbours is much better than in data of several kinds without groups, and their features depend on each other. */
#include "cluster/structure.h"

#include "base/call.h"
#include "base/ranks.h"
#include "base/size.h"
#include "base/sized.h"
#include "base/workload.h"
#include "graph/neighbors.h"
#include "linalg/dense.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

/* What is added to cuts before their logarithms are taken, and the least deviation of these: a few edges are chance. */
#define LEAST_CUT 0.02
#define LEAST_DEVIATION 0.05
/* Neighbours: how many are used, among how many samples at most where features are more than few, and the least squared
 * distance. */
enum { NEAREST = 5, MOST_COMPARED = 300, FEW_FEATURES = 128 };
#define LEAST_SQUARE 1e-12

/* Rounds of the verdict, for the progress: the samples and shuffled ones, the samples' own cut, then those of each kind of data
 * without groups. */
typedef struct rounds {
    armilla_context *context;
    int64_t done, all;
} rounds;

static rounds count_rounds(armilla_context *context, const armilla_structure_sample *sample)
{
    rounds r = {.context = context, .all = 2 + ARMILLA_STRUCTURE_RUNS};
    for (size_t i = 0; armilla_structure_null_name(i); i++)
        if (armilla_structure_null_suits(sample, i)) r.all += ARMILLA_STRUCTURE_RUNS;
    return r;
}

/* What follows, until armilla_call_nested_leave, is the next round: its searches and communities are not reported by
 * themselves. ARMILLA_STOPPED: the call is to end. */
static armilla_status begin_round(rounds *r)
{
    armilla_call_step(r->context, r->done++, r->all);
    if (armilla_call_reached(r->context, 0, 1)) return ARMILLA_STOPPED;
    armilla_call_nested_enter(r->context);
    return ARMILLA_OK;
}

static const char *const yes = "structure", *const no = "no structure", *const unknown = "not judged";

/* Mean and standard deviation of the numbers. */
static double spread_of(int count, const double *values, double *mean)
{
    double sum = 0, square = 0;
    for (int i = 0; i < count; i++) sum += values[i];
    *mean = sum / count;
    for (int i = 0; i < count; i++) square += (values[i] - *mean) * (values[i] - *mean);
    return sqrt(square / (count - 1));
}

/* Not from the angle, in which rounding would hide what is near beside groups that are far apart. */
static double square_between(int64_t m, const double *a, const double *b)
{
    const double distance = armilla_distance(m, a, b);
    return distance * distance;
}

/* *nearness = the mean logarithm of the squared distance to the nearest samples; Y (m x n) are their places. */
static armilla_status find_nearness(armilla_context *context, int64_t m, int64_t n, const double *Y, double *extent,
                                    double *nearness)
{
    const armilla_neighbors_plan plan = {.count = armilla_min64(NEAREST, n - 1), .precision = "f64"};
    armilla_graph near = {.rows = 0};
    armilla_data *data = NULL;
    double *lifted = NULL, sum = 0;
    armilla_status status = armilla_structure_lift(context, m, n, Y, extent, &lifted);
    if (status == ARMILLA_OK) status = armilla_data_borrow_dense(context, ARMILLA_F64, lifted, m + 1, n, &data);
    if (status == ARMILLA_OK) status = armilla_neighbors_find(context, NULL, data, &plan, &near, NULL);
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++) {
        double square = 0;
        for (int64_t e = near.starts[j]; e < near.starts[j + 1]; e++)
            square += square_between(m + 1, lifted + j * (m + 1), lifted + near.targets[e] * (m + 1));
        sum += log(fmax(square / (double)plan.count, LEAST_SQUARE)) / (double)n;
    }
    if (status == ARMILLA_OK) *nearness = sum;
    armilla_graph_release(context, &near);
    armilla_data_free(data);
    armilla_release(context, lifted);
    return status;
}

/* Samples whose features are compared with shuffled ones. */
typedef struct dependence {
    armilla_structure_sample part; /* borrows the offsets */
    armilla_structure_shuffling shuffling;
    double *Y; /* m x n */
} dependence;

static armilla_status take_dependence(armilla_context *context, const armilla_structure_sample *sample, dependence *s)
{
    const int64_t m = sample->m, n = armilla_min64(sample->n, m > FEW_FEATURES ? MOST_COMPARED : sample->n);
    s->part = (armilla_structure_sample){
        .m = m, .n = n, .unit = sample->unit, .sparse = sample->sparse, .offsets = sample->offsets};
    s->shuffling = (armilla_structure_shuffling){.m = m, .n = n, .sparse = sample->sparse};
    armilla_status status = armilla_take(context, m * n, sizeof *s->part.X, &s->part.X);
    if (status == ARMILLA_OK) status = armilla_take(context, m * n, sizeof *s->Y, &s->Y);
    if (status == ARMILLA_OK) status = armilla_take(context, m, sizeof *s->shuffling.weights, &s->shuffling.weights);
    if (status == ARMILLA_OK)
        status = armilla_take(context, m * n, sizeof *s->shuffling.entries, &s->shuffling.entries);
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++)
        memcpy(s->part.X + j * m, sample->X + j * sample->n / n * m, (size_t)m * sizeof *s->part.X);
    return status;
}

/* Run -1 has the samples as they are. */
static armilla_status compare_run(rounds *r, dependence *s, int run, double *extent, double *nearness)
{
    const int64_t m = s->part.m, n = s->part.n;
    memcpy(s->Y, s->part.X, (size_t)(m * n) * sizeof *s->Y);
    s->shuffling.first = (uint64_t)(run + 2) << 32;
    if (run >= 0) armilla_structure_shuffle(&s->shuffling, s->Y);
    for (int64_t j = 0; j < n; j++) (void)armilla_structure_place(&s->part, s->Y + j * m);
    armilla_status status = begin_round(r);
    if (status != ARMILLA_OK) return status;
    status = find_nearness(r->context, m, n, s->Y, extent, nearness);
    armilla_call_nested_leave(r->context);
    return status;
}

/* *score = how much nearer neighbours are than in shuffled data, in standard deviations; one feature has no order that
 * another could have. */
static armilla_status find_dependence(rounds *r, const armilla_structure_sample *sample, uint64_t seed, double *score)
{
    armilla_context *context = r->context;
    double own = 0, others[ARMILLA_STRUCTURE_RUNS], mean = 0, extent = 0;
    dependence s = {.Y = NULL};
    *score = INFINITY;
    if (sample->m < 2) return ARMILLA_OK;
    armilla_status status = take_dependence(context, sample, &s);
    s.shuffling.seed = seed;
    if (status == ARMILLA_OK) status = compare_run(r, &s, -1, &extent, &own);
    for (int run = 0; run < ARMILLA_STRUCTURE_RUNS && status == ARMILLA_OK; run++)
        status = compare_run(r, &s, run, &extent, &others[run]);
    if (status == ARMILLA_OK) {
        const double deviation = spread_of(ARMILLA_STRUCTURE_RUNS, others, &mean);
        *score = (mean - own) / fmax(deviation, 1e-6);
    }
    armilla_release(context, s.shuffling.entries);
    armilla_release(context, s.shuffling.weights);
    armilla_release(context, s.Y);
    armilla_release(context, s.part.X);
    return status;
}

/* Beside the index-th kind: the cut without groups, and how much better the samples' own is, kept where it is the worst. */
static armilla_status compare_kind(rounds *r, armilla_structure_nulls *nulls, size_t index,
                                   const armilla_structure_space *space, armilla_structure *found)
{
    armilla_context *context = r->context;
    const int64_t d = space->d, n = found->distinct;
    double logarithms[ARMILLA_STRUCTURE_RUNS], mean = 0, *codes = NULL;
    armilla_status status = armilla_take(context, d * n, sizeof *codes, &codes);
    for (int run = 0; run < ARMILLA_STRUCTURE_RUNS && status == ARMILLA_OK; run++) {
        double cut = 1;
        int64_t count = 0;
        status = begin_round(r);
        if (status != ARMILLA_OK) break;
        armilla_structure_null(nulls, index, run, codes);
        status = armilla_structure_cut(context, d, n, codes, &cut, &count);
        logarithms[run] = log(cut + LEAST_CUT);
        armilla_call_nested_leave(context);
    }
    armilla_release(context, codes);
    if (status != ARMILLA_OK) return status;
    const double deviation = fmax(spread_of(ARMILLA_STRUCTURE_RUNS, logarithms, &mean), LEAST_DEVIATION);
    const double better = mean - log(found->cut + LEAST_CUT), score = better / deviation, ratio = exp(-better);
    found->score = fmin(found->score, score);
    if (!(ratio > found->ratio)) return status;
    found->ratio = ratio;
    found->expected = fmax(exp(mean) - LEAST_CUT, 0);
    found->beside = armilla_structure_null_name(index);
    return status;
}

static bool is_dependent(const armilla_structure *found)
{
    return found->dependence >= ARMILLA_LEAST_DEPENDENCE;
}

static bool is_clear_cut(const armilla_structure *found)
{
    return found->ratio < ARMILLA_MOST_RATIO && found->score >= ARMILLA_LEAST_SCORE;
}

/* *apart: groups are that by their gap, which is looked at where cuts are too small to compare. */
static armilla_status compare_cuts(rounds *r, const armilla_structure_sample *sample, uint64_t seed,
                                   armilla_structure *found, bool *apart)
{
    armilla_context *context = r->context;
    armilla_structure_space space = {.d = 0};
    armilla_structure_nulls *nulls = NULL;
    armilla_status status = begin_round(r);
    if (status != ARMILLA_OK) return status;
    status = armilla_structure_space_find(context, sample, &space);
    if (status == ARMILLA_OK) status = armilla_structure_nulls_new(context, sample, &space, seed, &nulls);
    if (status == ARMILLA_OK)
        status = armilla_structure_cut(context, space.d, sample->n, space.codes, &found->cut, &found->communities);
    armilla_call_nested_leave(context);
    found->ratio = 0;
    found->score = INFINITY;
    for (size_t i = 0; armilla_structure_null_name(i) && status == ARMILLA_OK; i++)
        if (armilla_structure_null_suits(sample, i)) status = compare_kind(r, nulls, i, &space, found);
    armilla_structure_nulls_free(context, nulls);
    if (status == ARMILLA_OK && is_dependent(found) && !is_clear_cut(found) && found->cut < LEAST_CUT)
        status = armilla_structure_find_apart(context, sample, &space, seed, apart);
    armilla_structure_space_release(context, &space);
    return status;
}

static void decide(const char *verdict, const char *reason, armilla_structure *found)
{
    found->verdict = verdict;
    found->reason = reason;
    found->is_structure = verdict == yes;
}

/* In words, from the figures. */
static void weigh(bool apart, armilla_structure *found)
{
    if (!is_dependent(found))
        decide(no, "features are no more dependent on each other than in shuffled data", found);
    else if (is_clear_cut(found))
        decide(yes, "groups are clearer than in data without groups", found);
    else if (apart)
        decide(yes, "groups lie farther apart than any in data without groups", found);
    else
        decide(no, "groups are no clearer than in data without groups", found);
}

static armilla_status judge(armilla_context *context, const armilla_structure_source *source, armilla_structure *found)
{
    armilla_structure_sample sample = {.n = 0};
    bool apart = false;
    armilla_status status = armilla_structure_draw(context, source, &sample);
    rounds r = count_rounds(context, &sample);
    found->samples = sample.n;
    found->features = sample.m;
    if (status == ARMILLA_OK && sample.n >= ARMILLA_STRUCTURE_LEAST)
        status = find_dependence(&r, &sample, source->seed, &found->dependence);
    if (status == ARMILLA_OK) armilla_structure_distinct(&sample);
    found->distinct = sample.n;
    if (status == ARMILLA_OK && found->samples == 0)
        decide(unknown, "numbers are out of range, or memory is too little", found);
    else if (status == ARMILLA_OK && found->distinct < 2)
        decide(no, "all samples are alike as prepared", found);
    else if (status == ARMILLA_OK && found->distinct < ARMILLA_STRUCTURE_LEAST)
        decide(unknown, "fewer than 20 samples differ", found);
    else if (status == ARMILLA_OK && (status = compare_cuts(&r, &sample, source->seed, found, &apart)) == ARMILLA_OK)
        weigh(apart, found);
    armilla_structure_release(context, &sample);
    return status;
}

static armilla_structure not_judged(const char *reason)
{
    armilla_structure found = {.cut = NAN, .expected = NAN, .ratio = NAN, .score = NAN, .dependence = NAN};
    decide(unknown, reason, &found);
    return found;
}

/* Within a call: one that is to end has no verdict. */
static armilla_status run(armilla_context *context, const armilla_structure_source *source, armilla_structure *found)
{
    armilla_call_plan(
        context,
        &(armilla_workload){.work = ARMILLA_WORK_STRUCTURE, .samples = source->raw->n, .features = source->raw->m});
    armilla_call_phase(context, ARMILLA_PHASE_STRUCTURE);
    armilla_call_step(context, 0, 1 + ARMILLA_STRUCTURE_RUNS * ARMILLA_STRUCTURE_RUNS); /* drawing samples is short */
    const armilla_status status = judge(context, source, found);
    if (status != ARMILLA_STOPPED) return status;
    *found = not_judged("the call was stopped");
    return ARMILLA_OK;
}

/* Whether samples are compared by angle. */
static armilla_status is_by_angle(armilla_context *context, const armilla_cluster_options *options,
                                  armilla_cluster_options *whole, bool *by_angle)
{
    const armilla_status status = armilla_cluster_options_read(context, options, whole);
    *by_angle = status == ARMILLA_OK && !(whole->method && strcmp(whole->method, "euclidean") == 0);
    return status;
}

armilla_status armilla_structure_of_data_sized(armilla_context *context, const armilla_data *X,
                                               const armilla_options *preparation,
                                               const armilla_cluster_options *options, armilla_structure *structure,
                                               size_t size)
{
    armilla_options asked = {.size = sizeof asked};
    armilla_cluster_options whole;
    armilla_structure found = not_judged("samples are with several ranks");
    armilla_structure_source source = {.raw = X};
    armilla_status status = ARMILLA_NOT_NULL(context, X, options, structure);
    if (status == ARMILLA_OK) status = is_by_angle(context, options, &whole, &source.unit);
    if (status == ARMILLA_OK && preparation) status = armilla_options_read(context, preparation, &asked);
    if (status == ARMILLA_OK) status = armilla_options_check_words(context, &asked);
    if (status != ARMILLA_OK) return status;
    armilla_preparation steps = armilla_preparation_asked(&asked);
    source.preparation = &steps;
    source.unit |= steps.taken[ARMILLA_STEP_NORMALIZE];
    source.seed = (uint64_t)whole.seed;
    if (armilla_ranks_size(context) == 1) {
        if ((status = armilla_call_enter(context, whole.threads)) != ARMILLA_OK) return status;
        status = armilla_preparation_learn(context, &steps, X);
        if (status == ARMILLA_OK) status = run(context, &source, &found);
        armilla_preparation_release(context, &steps);
        armilla_call_leave(context);
    }
    if (status == ARMILLA_OK) armilla_sized_write(&found, sizeof found, structure, size);
    return status;
}

/* Codes of other sets are made of few atoms, or of none below 0: they form groups by themselves. */
static bool codes_are_free(const armilla_model *model)
{
    return !model->codes->nonnegative && !model->codes->sparse;
}

static armilla_status judge_codes(armilla_context *context, const armilla_model *model,
                                  armilla_structure_source *source, armilla_structure *found)
{
    static const armilla_preparation none = {.m = 0};
    const armilla_model_summary *s = &model->summary;
    armilla_data *codes = NULL;
    if (!codes_are_free(model)) {
        decide(unknown, "codes of this set form groups by themselves; give the data", found);
        return ARMILLA_OK;
    }
    armilla_status status = armilla_data_borrow_dense(context, s->precision, model->V, s->rank, s->n, &codes);
    source->raw = codes;
    source->preparation = &none;
    if (status == ARMILLA_OK) status = run(context, source, found);
    armilla_data_free(codes);
    return status;
}

static armilla_status judge_fitted(armilla_context *context, const armilla_data *X, const armilla_model *model,
                                   armilla_structure_source *source, armilla_structure *found)
{
    armilla_view view = {.matched = NULL};
    armilla_status status = armilla_model_view(context, model, X, true, &view);
    source->raw = view.raw;
    source->preparation = &model->preparation;
    source->unit |= model->preparation.taken[ARMILLA_STEP_NORMALIZE];
    if (status == ARMILLA_OK) status = run(context, source, found);
    armilla_view_free(&view);
    return status;
}

armilla_status armilla_structure_of_model_sized(armilla_context *context, const armilla_data *X,
                                                const armilla_model *model, const armilla_cluster_options *options,
                                                armilla_structure *structure, size_t size)
{
    armilla_cluster_options whole;
    armilla_structure found = not_judged("samples are with several ranks");
    armilla_structure_source source = {.raw = X};
    armilla_status status = ARMILLA_NOT_NULL(context, model, options, structure);
    if (status == ARMILLA_OK) status = armilla_model_within_reach(context, model);
    if (status == ARMILLA_OK) status = is_by_angle(context, options, &whole, &source.unit);
    if (status != ARMILLA_OK) return status;
    source.seed = (uint64_t)whole.seed;
    if (armilla_ranks_size(context) == 1) {
        if ((status = armilla_call_enter(context, whole.threads)) != ARMILLA_OK) return status;
        status = (X ? judge_fitted(context, X, model, &source, &found) : judge_codes(context, model, &source, &found));
        armilla_call_leave(context);
    }
    if (status == ARMILLA_OK) armilla_sized_write(&found, sizeof found, structure, size);
    return status;
}
