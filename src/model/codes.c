/* Codes of samples for a fixed basis and radius. */
#include "model/model.h"

#include "data/slots.h"
#include "sets/column.h"
#include "solve/problem.h"

typedef struct code_solve {
    armilla_column_problem *columns;
    double l;
} code_solve;

static void solve_panel(void *self, const armilla_code_panel *panel)
{
    const code_solve *solve = self;
    const double unit = armilla_column_unit(solve->columns, solve->l);
    const armilla_column_batch batch = {panel->count, panel->C, unit, panel->W};
    armilla_columns_solve(solve->columns, &batch, panel->scratch);
}

/* H = U'U of the model's basis, and the column problem with it. */
static armilla_status set_columns(armilla_context *context, const armilla_model *model, armilla_column_problem *columns,
                                  double **gram)
{
    const int64_t m = model->summary.m, r = model->summary.rank;
    armilla_algebra *algebra = NULL;
    double *U = NULL;
    armilla_status status = armilla_take(context, m * r, sizeof(double), &U);
    if (status == ARMILLA_OK) status = armilla_take(context, r * r, sizeof(double), gram);
    if (status == ARMILLA_OK) status = armilla_algebra_new(context, m, r, &algebra);
    if (status == ARMILLA_OK) {
        armilla_fetch(model->summary.precision, m * r, model->U, U);
        armilla_gram_by_rows(algebra, U, *gram); /* the bits that the fit had */
        status = armilla_column_problem_set(columns, algebra, *gram, ARMILLA_SOLVE);
    }
    armilla_algebra_free(algebra);
    armilla_release(context, U);
    return status;
}

armilla_status armilla_codes_scale(armilla_context *context, armilla_type type, int64_t r, const armilla_samples *share,
                                   double l, void *codes)
{
    enum { TOGETHER = 1 << 12 }; /* columns after which those before may leave memory */
    double *v = NULL;
    const armilla_status status = armilla_take(context, r, sizeof *v, &v);
    for (int64_t j = share->first; j < share->last && status == ARMILLA_OK; j++) {
        char *place = (char *)codes + (size_t)(j * r) * armilla_type_size(type);
        armilla_fetch(type, r, place, v);
        for (int64_t k = 0; k < r; k++) v[k] *= l;
        armilla_store(type, r, v, place);
        if ((j + 1) % TOGETHER == 0) armilla_samples_passed(context, share->count, j + 1 - TOGETHER, j + 1);
    }
    armilla_release(context, v);
    return status;
}

double armilla_model_code_length(const armilla_model *model)
{
    return model->codes->spherical ? model->summary.radius : 1;
}

armilla_status armilla_solve_codes(armilla_context *context, const armilla_model *model, const armilla_data *view,
                                   void *codes)
{
    const armilla_model_summary *s = &model->summary;
    code_solve solve = {.l = armilla_model_code_length(model)};
    armilla_sweep_plan plan = {.U = model->U, .codes = codes, .step = solve_panel, .self = &solve};
    armilla_sweep *sweep = NULL;
    double *gram = NULL;
    armilla_status status = armilla_sweep_new(context, view, s->precision, s->rank, 0, &sweep);
    if (status == ARMILLA_OK)
        status = armilla_column_problem_new(context, armilla_codes_limited(model->codes, s->rank, s->sparsity), s->rank,
                                            s->sparsity, model->basis->gram_is_identity, &solve.columns);
    if (status == ARMILLA_OK) status = set_columns(context, model, solve.columns, &gram);
    if (status == ARMILLA_OK) {
        /* As sealed codes are made; those of `palm` are made by its step, in other last bits. */
        if (s->sealed) plan.scaled = armilla_column_scaling(solve.columns);
        status = armilla_sweep_run(sweep, &plan);
    }
    const armilla_samples share = armilla_data_share(context, view);
    if (status == ARMILLA_OK) status = armilla_codes_scale(context, s->precision, s->rank, &share, solve.l, codes);
    armilla_column_problem_free(solve.columns);
    armilla_sweep_free(sweep);
    armilla_release(context, gram);
    return status;
}
