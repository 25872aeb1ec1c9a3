/* What a model does with data: codes of new samples, and samples back from codes. */
#include "base/workload.h"
#include "data/sparse.h"
#include "model/model.h"

#include "data/slots.h"
#include "data/traverse.h"
#include "solve/policy.h"

#include <inttypes.h>

armilla_status armilla_model_transform(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                       int threads, void *codes)
{
    armilla_view view = {0};
    armilla_data_facts facts;
    armilla_status status = ARMILLA_NOT_NULL(context, model, X, codes);
    if (status == ARMILLA_OK) status = armilla_call_enter_together(context, threads);
    if (status != ARMILLA_OK) return status;
    armilla_call_plan(context, &(armilla_workload){.work = ARMILLA_WORK_TRANSFORM,
                                                   .samples = X->n,
                                                   .features = X->m,
                                                   .entries = armilla_sparse_of(X) ? armilla_data_stored(X) : 0,
                                                   .rank = model->summary.rank,
                                                   .code_seconds = armilla_codes_seconds(model->basis, model->codes,
                                                                                         model->summary.rank,
                                                                                         model->summary.sparsity)});
    if ((status = armilla_data_meet(context, X)) != ARMILLA_OK) goto done;
    if ((status = armilla_blas_enter_idle(context, armilla_call_threads(context))) != ARMILLA_OK) goto done;
    /* The fit's, so that codes have the same bits. */
    armilla_kernels_pin(context, armilla_options_kernel(model->options_text));
    status = armilla_model_view(context, model, X, false, &view);
    if (status == ARMILLA_OK) status = armilla_survey(context, view.data, model->summary.precision, &facts, NULL);
    if (status == ARMILLA_OK)
        status = armilla_preparation_finite(context, &model->preparation, view.raw, &facts, model->summary.precision);
    armilla_call_stage(context, ARMILLA_STAGE_CODES);
    if (status == ARMILLA_OK) status = armilla_solve_codes(context, model, view.data, codes);
    armilla_view_free(&view);
    armilla_blas_leave();
done:
    return armilla_call_leave_together(context, status);
}

/* x = Uv, then the preparation undone as far as the model knows it. */
static void rebuild(const armilla_model *model, const double *U, const double *v, double *x)
{
    const int64_t m = model->summary.m;
    for (int64_t i = 0; i < m; i++) x[i] = 0;
    for (int64_t k = 0; k < model->summary.rank; k++)
        for (int64_t i = 0; i < m && v[k] != 0; i++) x[i] += v[k] * U[k * m + i];
    armilla_preparation_undo(&model->preparation, 1, NULL, x);
}

static armilla_status check_count(armilla_context *context, const char *what, int64_t count)
{
    if (count >= 0) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "the number of %s is %" PRId64 "; give 0 or more", what, count);
}

armilla_status armilla_model_prepare_columns(armilla_context *context, const armilla_model *model, int64_t count,
                                             double *X, double *lengths)
{
    armilla_status status = ARMILLA_NOT_NULL(context, model, X);
    if (status == ARMILLA_OK) status = check_count(context, "columns", count);
    if (status == ARMILLA_OK) status = armilla_call_enter(context, 1);
    if (status != ARMILLA_OK) return status;
    status = armilla_preparation_apply(context, &model->preparation, count, X, lengths);
    armilla_call_leave(context);
    return status;
}

armilla_status armilla_model_undo_columns(armilla_context *context, const armilla_model *model, int64_t count,
                                          const double *lengths, double *X)
{
    armilla_status status = ARMILLA_NOT_NULL(context, model, X);
    if (status == ARMILLA_OK) status = check_count(context, "columns", count);
    if (status == ARMILLA_OK) armilla_preparation_undo(&model->preparation, count, lengths, X);
    return status;
}

armilla_status armilla_model_reconstruct_codes(armilla_context *context, const armilla_model *model, const void *codes,
                                               int64_t count, void *X)
{
    double *U = NULL, *column = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, model, codes, X);
    if (status == ARMILLA_OK) status = check_count(context, "codes", count);
    if (status == ARMILLA_OK) status = armilla_call_enter(context, 1);
    if (status != ARMILLA_OK) return status;
    const armilla_model_summary *s = &model->summary;
    const size_t size = armilla_type_size(s->precision);
    status = armilla_take(context, s->m * s->rank, sizeof *U, &U);
    if (status == ARMILLA_OK) status = armilla_take(context, s->m + s->rank, sizeof *column, &column);
    if (status == ARMILLA_OK) armilla_fetch(s->precision, s->m * s->rank, model->U, U);
    for (int64_t j = 0; j < count && status == ARMILLA_OK; j++) {
        double *v = column + s->m;
        if (armilla_call_reached(context, j, count)) status = armilla_call_explain(context);
        armilla_fetch(s->precision, s->rank, (const char *)codes + (size_t)(j * s->rank) * size, v);
        rebuild(model, U, v, column);
        armilla_store(s->precision, s->m, column, (char *)X + (size_t)(j * s->m) * size);
    }
    armilla_call_leave(context);
    armilla_release(context, column);
    armilla_release(context, U);
    return status;
}

armilla_status armilla_model_reconstruct(armilla_context *context, const armilla_model *model, int64_t first,
                                         int64_t count, void *X)
{
    const armilla_status status = ARMILLA_NOT_NULL(context, model, X);
    if (status != ARMILLA_OK) return status;
    const armilla_model_summary *s = &model->summary;
    if (first < 0 || count < 0 || first > s->n - count)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "%" PRId64 " columns from %" PRId64 " on do not exist: the model has %" PRId64, count,
                            first, s->n);
    if (count > 0 && (first < model->share.first || first + count > model->share.last)) {
        const armilla_status whole = armilla_model_is_whole(context, model);
        if (whole != ARMILLA_OK) return whole;
    }
    const size_t code_bytes = (size_t)s->rank * armilla_type_size(s->precision);
    return armilla_model_reconstruct_codes(context, model, (const char *)model->V + (size_t)first * code_bytes, count,
                                           X);
}
