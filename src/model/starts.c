/* The starts of a fit: given, by a row of the table, or a candidate that was fitted to a sketch. */
#include "model/fit.h"

#include <string.h>

static armilla_status from_model(armilla_fit_state *f)
{
    const armilla_model *start = f->options->start_model;
    const armilla_type type = start->summary.precision, work = f->resolved.type;
    const int64_t r = f->options->rank, basis = f->X->m * r;
    const armilla_samples *share = &f->problem->share;
    const int64_t codes = r * (share->last - share->first);
    const char *from = (const char *)start->V + (size_t)(share->first * r) * armilla_type_size(type);
    double *U = NULL, *doubles = NULL;
    void *V = NULL;
    armilla_status status = armilla_take(f->context, basis, sizeof(double), &U);
    if (status == ARMILLA_OK) status = armilla_take(f->context, codes, sizeof(double), &doubles);
    if (status == ARMILLA_OK) status = armilla_take(f->context, codes, armilla_type_size(work), &V);
    if (status == ARMILLA_OK) {
        armilla_fetch(type, basis, start->U, U);
        armilla_fetch(type, codes, from, doubles);
        armilla_store(work, codes, doubles, V);
        /* Its radius goes with its sets: where these are others, U and V are changed, and so is the radius. */
        const bool same = start->basis == f->resolved.basis && start->codes == f->resolved.codes &&
                          start->summary.sparsity <= f->options->sparsity;
        status = armilla_start_from_codes(f->problem, U, V, same ? start->summary.radius : 0);
    }
    armilla_release(f->context, V);
    armilla_release(f->context, doubles);
    armilla_release(f->context, U);
    return status;
}

/* A default start may hardly depend on the seed: where none was asked for, the further ones are random samples. */
static const armilla_start *row_of(const armilla_fit_state *f, int64_t i)
{
    return i == 0 || f->options->start ? f->start : &armilla_start_kmeans;
}

armilla_status armilla_fit_start_row(armilla_fit_state *f, armilla_problem *problem, int64_t i)
{
    return armilla_start_from_row(problem, row_of(f, i), armilla_start_seed((uint64_t)f->options->seed, i));
}

/* Its place in the table. */
static int32_t index_of(const armilla_start *start)
{
    size_t index = 0;
    while (armilla_starts_row(index) != start) index++;
    return (int32_t)index;
}

/* What a round begins from where starts were screened, else NULL. */
static const armilla_candidate *candidate_of(const armilla_fit_state *f, int64_t round)
{
    return f->restarts.screened ? &f->restarts.screening.candidates[round] : NULL;
}

armilla_status armilla_fit_start(armilla_fit_state *f, int64_t round, int32_t *used)
{
    const armilla_candidate *candidate = candidate_of(f, round);
    *used = f->start ? index_of(row_of(f, candidate ? candidate->number : round)) : -1;
    if (f->continued) return armilla_fit_start_continued(f);
    if (f->options->start_model) return from_model(f);
    if (f->options->start_basis) return armilla_start_from_basis(f->problem, f->options->start_basis);
    if (candidate) return armilla_start_from_sketch(f->problem, candidate->U, candidate->radius);
    return armilla_fit_start_row(f, f->problem, round);
}

/* The best candidate that there is, by one pass for its codes. */
static armilla_status from_candidate(armilla_fit_state *f, int32_t *used)
{
    const armilla_candidate *candidate = candidate_of(f, f->restarts.round);
    if (!candidate || !candidate->kept) return ARMILLA_BAD_DATA;
    *used = index_of(row_of(f, candidate->number));
    armilla_call_uninterrupted_enter(f->context);
    const armilla_status status = armilla_start_from_sketch(f->problem, candidate->U, candidate->radius);
    armilla_call_uninterrupted_leave(f->context);
    return status;
}

armilla_status armilla_fit_start_at_once(armilla_fit_state *f, int32_t *used)
{
    const armilla_start *start = f->solver->positive ? &armilla_start_random : &armilla_start_samples;
    armilla_stop reason = ARMILLA_STOP_INTERRUPTED;
    armilla_status status = from_candidate(f, used);
    if (status != ARMILLA_BAD_DATA) return status;
    *used = index_of(start);
    status = armilla_start_at_once(f->problem, start, (uint64_t)f->options->seed);
    (void)armilla_call_stopped(f->context, &reason);
    if (status != ARMILLA_BAD_DATA) return status;
    if (reason == ARMILLA_STOP_INTERRUPTED) return armilla_call_explain(f->context);
    return armilla_fail(f->context, ARMILLA_BAD_DATA,
                        "the time limit came before there was a start, and random samples have no positive radius; "
                        "give it more time");
}
