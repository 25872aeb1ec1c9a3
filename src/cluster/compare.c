/* Two models side by side: atoms, spaces, errors and clusters. */
#include "cluster/compare.h"

#include "base/size.h"
#include "base/sized.h"
#include "cluster/contribution.h"
#include "linalg/subspace.h"

#include <math.h>
#include <string.h>

/* What is compared, while it is. */
typedef struct pair {
    armilla_context *context;
    const armilla_model *const *models;
    const armilla_data *X; /* NULL: none */
    armilla_compared_atoms atoms;
    int64_t *labels[2]; /* NULL: clusters are not compared */
} pair;

/* Whether negating an atom and its codes gives the same model. */
static bool signs_are_free(const armilla_model *model)
{
    return model->basis->is_signed && !model->codes->nonnegative;
}

static armilla_status compare_spaces(pair *p, armilla_comparison *made)
{
    armilla_comparison_summary *s = &made->summary;
    armilla_tall tall[2];
    armilla_subspace_angles found = {{0, 0}, 0, NULL};
    const armilla_status status = armilla_take(p->context, s->matched, sizeof *made->principal, &made->principal);
    if (status != ARMILLA_OK) return status;
    found.angles = made->principal;
    for (int i = 0; i < 2; i++)
        tall[i] = (armilla_tall){s->m, s->ranks[i], armilla_epsilon(p->models[i]->summary.precision), p->atoms.unit[i]};
    const armilla_status compared = armilla_subspace_compare(p->context, tall, &found);
    for (int i = 0; i < 2; i++) s->dimensions[i] = found.dimensions[i];
    s->principal = found.count;
    return compared;
}

/* --- clusters --- */

static armilla_status label(pair *p, int side, int64_t n, const void *codes)
{
    const armilla_samples all = armilla_samples_whole(n);
    const armilla_status status = armilla_take(p->context, n, sizeof **p->labels, &p->labels[side]);
    if (status != ARMILLA_OK) return status;
    return armilla_largest_contributions(p->context, p->models[side], codes, &all, p->labels[side]);
}

static bool prepare_alike(const armilla_model *const models[2])
{
    return armilla_preparation_alike(&models[0]->preparation, &models[1]->preparation);
}

static bool same_names(const armilla_names *a, const armilla_names *b)
{
    for (int64_t i = 0; i < a->count; i++)
        if (strcmp(armilla_names_at(a, i), armilla_names_at(b, i)) != 0) return false;
    return true;
}

/* Whether the codes of both are of the same samples as far as anybody knows: names tell, else the fingerprint where it is
 * of the same numbers. */
static bool have_same_samples(const armilla_model *const models[2])
{
    const armilla_model_summary *a = &models[0]->summary, *b = &models[1]->summary;
    const armilla_names *names[2] = {&models[0]->names[ARMILLA_SAMPLE_NAMES], &models[1]->names[ARMILLA_SAMPLE_NAMES]};
    if (a->n != b->n || a->n == 0) return false;
    if (names[0]->count > 0 && names[1]->count > 0) return same_names(names[0], names[1]);
    return a->precision != b->precision || !prepare_alike(models) || a->fingerprint == b->fingerprint;
}

static armilla_status score(pair *p, armilla_comparison *made)
{
    if (!p->labels[0] || !p->labels[1]) return ARMILLA_OK;
    return armilla_score(p->context, made->summary.clustered, p->labels[1], p->labels[0], &made->scores);
}

/* Clusters that the models keep. */
static armilla_status score_kept(pair *p, armilla_comparison *made)
{
    const int64_t *labels[2] = {p->models[0]->clusters.labels, p->models[1]->clusters.labels};
    if (!labels[0] || !labels[1] || !have_same_samples(p->models)) return ARMILLA_OK;
    made->summary.kept = p->models[0]->summary.n;
    return armilla_score(p->context, made->summary.kept, labels[1], labels[0], &made->kept);
}

/* --- errors of data --- */

/* ||X - UV|| / ||X|| of the data as the model's fit would see them, with codes that are solved for them. */
static armilla_status fit_data(pair *p, int side, double *error)
{
    const armilla_model *model = p->models[side];
    const armilla_model_summary *s = &model->summary;
    armilla_view view = {0};
    armilla_data_facts facts;
    double squared = 0;
    void *codes = NULL;
    armilla_kernels_pin(p->context, armilla_options_kernel(model->options_text));
    armilla_status status = armilla_model_view(p->context, model, p->X, false, &view);
    if (status == ARMILLA_OK) status = armilla_survey(p->context, view.data, s->precision, &facts, NULL);
    if (status == ARMILLA_OK)
        status = armilla_preparation_finite(p->context, &model->preparation, view.raw, &facts, s->precision);
    if (status == ARMILLA_OK)
        status = armilla_take(p->context, p->X->n, (size_t)s->rank * armilla_type_size(s->precision), &codes);
    if (status == ARMILLA_OK) status = armilla_solve_codes(p->context, model, view.data, codes);
    if (status == ARMILLA_OK)
        status = armilla_residual(p->context, view.data,
                                  &(armilla_factorization){s->precision, s->rank, model->U, codes}, &squared);
    if (status == ARMILLA_OK) status = label(p, side, p->X->n, codes);
    if (status == ARMILLA_OK) *error = facts.squared_norm > 0 ? sqrt(squared / facts.squared_norm) : NAN;
    armilla_release(p->context, codes);
    armilla_view_free(&view);
    return status;
}

static armilla_status compare_samples(pair *p, armilla_comparison *made)
{
    armilla_comparison_summary *s = &made->summary;
    armilla_status status = ARMILLA_OK;
    if (p->X) {
        s->samples = s->clustered = p->X->n;
        for (int i = 0; i < 2 && status == ARMILLA_OK; i++) status = fit_data(p, i, &s->data_errors[i]);
    } else if (have_same_samples(p->models)) {
        s->clustered = p->models[0]->summary.n;
        for (int i = 0; i < 2 && status == ARMILLA_OK; i++) status = label(p, i, s->clustered, p->models[i]->V);
    }
    if (status == ARMILLA_OK) status = score(p, made);
    return status == ARMILLA_OK ? score_kept(p, made) : status;
}

static armilla_status compare(pair *p, armilla_comparison *made)
{
    armilla_comparison_summary *s = &made->summary;
    *s = (armilla_comparison_summary){
        .size = sizeof *s, .samples = -1, .clustered = -1, .kept = -1, .data_errors = {NAN, NAN}};
    s->m = p->models[0]->summary.m;
    s->lines = signs_are_free(p->models[0]) || signs_are_free(p->models[1]);
    s->same_preparation = prepare_alike(p->models);
    for (int i = 0; i < 2; i++) {
        s->ranks[i] = p->models[i]->summary.rank;
        s->relative_errors[i] = p->models[i]->summary.relative_error;
    }
    armilla_status status = armilla_compared_take(p->context, p->models, &p->atoms, &s->reordered);
    if (status == ARMILLA_OK) status = armilla_compared_match(p->context, &p->atoms, made);
    if (status == ARMILLA_OK) status = compare_spaces(p, made);
    return status == ARMILLA_OK ? compare_samples(p, made) : status;
}

armilla_status armilla_model_compare(armilla_context *context, const armilla_model *first, const armilla_model *second,
                                     const armilla_data *X, int threads, armilla_comparison **comparison)
{
    const armilla_model *const models[2] = {first, second};
    pair p = {.context = context, .models = models, .X = X};
    armilla_comparison *made = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, first, second, comparison);
    for (int i = 0; i < 2 && status == ARMILLA_OK; i++) status = armilla_model_is_whole(context, models[i]);
    if (status == ARMILLA_OK) status = armilla_call_enter(context, threads);
    if (status != ARMILLA_OK) return status;
    armilla_call_stage(context, ARMILLA_STAGE_CODES);
    status = armilla_take(context, 1, sizeof *made, &made);
    if (status == ARMILLA_OK) {
        made->context = context;
        status = armilla_blas_enter(context, armilla_call_threads(context));
    }
    if (status != ARMILLA_OK) goto done;
    status = compare(&p, made);
    armilla_blas_leave();
done:
    for (int i = 0; i < 2; i++) armilla_release(context, p.labels[i]);
    armilla_compared_free(context, &p.atoms);
    armilla_call_leave(context);
    if (status == ARMILLA_OK)
        *comparison = made;
    else
        armilla_comparison_free(made);
    return status;
}

/* --- what was found --- */

void armilla_comparison_free(armilla_comparison *comparison)
{
    if (!comparison) return;
    armilla_context *context = comparison->context;
    armilla_release(context, comparison->principal);
    armilla_release(context, comparison->matches);
    armilla_release(context, comparison->angles);
    armilla_release(context, comparison);
}

void armilla_comparison_summarize_sized(const armilla_comparison *comparison, armilla_comparison_summary *summary,
                                        size_t size)
{
    const armilla_comparison_summary none = {.size = 0};
    armilla_sized_write(comparison ? &comparison->summary : &none, sizeof none, summary, size);
}

bool armilla_comparison_match_sized(const armilla_comparison *comparison, int64_t index, armilla_atom_match *match,
                                    size_t size)
{
    const armilla_atom_match none = {.size = 0};
    const bool there = comparison && index >= 0 && index < comparison->summary.matched;
    armilla_sized_write(there ? &comparison->matches[index] : &none, sizeof none, match, size);
    return there;
}

const double *armilla_comparison_angles(const armilla_comparison *comparison)
{
    return comparison ? comparison->angles : NULL;
}

const double *armilla_comparison_principal(const armilla_comparison *comparison)
{
    return comparison ? comparison->principal : NULL;
}

bool armilla_comparison_scores_sized(const armilla_comparison *comparison, armilla_scores *scores, size_t size)
{
    const armilla_scores none = {.size = 0};
    const bool there = comparison && comparison->summary.clustered >= 0;
    armilla_sized_write(there ? &comparison->scores : &none, sizeof none, scores, size);
    return there;
}

bool armilla_comparison_kept_scores_sized(const armilla_comparison *comparison, armilla_scores *scores, size_t size)
{
    const armilla_scores none = {.size = 0};
    const bool there = comparison && comparison->summary.kept >= 0;
    armilla_sized_write(there ? &comparison->kept : &none, sizeof none, scores, size);
    return there;
}
