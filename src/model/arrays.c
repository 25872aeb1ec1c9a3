/* A model made of a caller's arrays, as a fit would have left them: for programs that keep models in a form of their
 * own. */
#include "model/model.h"

#include "base/size.h"
#include "base/sized.h"
#include "solve/problem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void armilla_model_arrays_default_sized(armilla_model_arrays *arrays, size_t size)
{
    const armilla_model_arrays none = {.precision = ARMILLA_F64};
    armilla_sized_begin(&none, sizeof none, arrays, size);
}

static armilla_status refuse(armilla_context *context, const char *what)
{
    return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "model of arrays: %s", what);
}

/* What the step has learned, or NULL; a single number is itself the member. */
static const double *learned_of(const armilla_model_arrays *a, int step)
{
    const armilla_step_row *row = &armilla_steps[step];
    const void *member = (const char *)a + row->given;
    if (!row->given) return NULL;
    if (!row->single) return *(const double *const *)member;
    return *(const double *)member != 0 ? member : NULL;
}

static armilla_status check_arrays(armilla_context *context, const armilla_options *options,
                                   const armilla_resolved *resolved, const armilla_model_arrays *a)
{
    const armilla_preparation asked = armilla_preparation_asked(options);
    int64_t area = 0;
    if ((unsigned)a->precision >= ARMILLA_PRECISION_COUNT) return refuse(context, "precision is not f32 or f64");
    if (a->m < 1 || a->n < 0 || options->rank > ARMILLA_MOST_RANK || !armilla_size_area(a->m, options->rank, &area) ||
        !armilla_size_area(options->rank, a->n, &area))
        return refuse(context, "m, n or the rank is out of range");
    if (resolved->basis->gram_is_identity && options->rank > a->m)
        return refuse(context, "an orthonormal basis has at most as many atoms as features; give a smaller rank");
    if (!a->basis) return refuse(context, "basis is NULL; it is needed");
    if ((a->n > 0) != (a->codes != NULL)) return refuse(context, "codes are there exactly where n is above 0");
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++)
        if (armilla_steps[step].array && asked.taken[step] != (learned_of(a, step) != NULL))
            return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                                "model of arrays: %s is there exactly where the options say " ARMILLA_FIELD("%s"),
                                armilla_steps[step].array, armilla_steps[step].name);
    if (resolved->codes->spherical && !(a->radius > 0 && isfinite(a->radius)))
        return refuse(context, "the radius is not a positive number");
    if (!(a->objective >= 0 && isfinite(a->objective)) || !(a->squared_norm >= 0 && isfinite(a->squared_norm)))
        return refuse(context, "objective or squared_norm is negative or not finite");
    return ARMILLA_OK;
}

/* *copy = count numbers of the type; ARMILLA_BAD_ARGUMENT where they are not aligned to it, ARMILLA_BAD_DATA where one is
 * not finite. */
static armilla_status copy_numbers(armilla_context *context, const char *name, armilla_type type, int64_t count,
                                   const void *values, void *copy)
{
    const size_t size = armilla_type_size(type);
    void *made = NULL;
    if ((uintptr_t)values % size != 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "model of arrays: %s is not aligned to its type", name);
    const armilla_status status = armilla_take(context, count, size, &made);
    if (status != ARMILLA_OK) return status;
    *(void **)copy = made;
    for (int64_t i = 0; i < count; i++) {
        double value = 0;
        armilla_fetch(type, 1, (const char *)values + (size_t)i * size, &value);
        if (!isfinite(value))
            return armilla_fail(context, ARMILLA_BAD_DATA, "model of arrays: %s has a number that is not finite", name);
    }
    if (count > 0) memcpy(made, values, (size_t)count * size);
    return ARMILLA_OK;
}

static armilla_status copy_preparation(armilla_model *model, const armilla_options *options,
                                       const armilla_model_arrays *a)
{
    armilla_context *context = model->context;
    armilla_preparation *p = &model->preparation;
    armilla_status status = ARMILLA_OK;
    *p = armilla_preparation_asked(options);
    p->m = a->m;
    for (int step = 0; step < ARMILLA_STEP_COUNT && status == ARMILLA_OK; step++) {
        const armilla_step_row *row = &armilla_steps[step];
        const double *learned = learned_of(a, step);
        if (!learned) continue;
        const int64_t numbers = armilla_step_numbers((armilla_step)step, a->m);
        status = copy_numbers(context, row->array, ARMILLA_F64, numbers, learned, &p->learned[step]);
        for (int64_t i = 0; i < numbers && status == ARMILLA_OK; i++)
            if (!row->allows(learned[i]))
                status = armilla_fail(context, ARMILLA_BAD_DATA,
                                      "model of arrays: %s has %g for feature %" PRId64
                                      " (counted from 1), which no data give",
                                      row->array, learned[i], i + 1);
    }
    return status == ARMILLA_OK ? armilla_preparation_weigh(context, p) : status;
}

static void summarize(armilla_model *model, const armilla_options *options, const armilla_resolved *resolved,
                      const armilla_model_arrays *a)
{
    model->basis = resolved->basis;
    model->codes = resolved->codes;
    model->unsafe = armilla_weights_unsafe(options->lambda, options->mu);
    model->summary = (armilla_model_summary){
        .size = sizeof model->summary,
        .model = resolved->model,
        .basis = resolved->basis->name,
        .codes = resolved->codes->name,
        .solver = armilla_solvers_find(options->solver)->name,
        .start = model->start,
        .sparsity = options->sparsity,
        .rank = options->rank,
        .m = a->m,
        .n = a->n,
        .samples_seen = a->n,
        .seed = options->seed,
        .threads = 1,
        .ranks = 1,
        .precision = a->precision,
        .stop = ARMILLA_STOP_MAX_ITER,
        .objective = a->objective,
        .squared_norm = a->squared_norm > 0 ? a->squared_norm : 1,
        .radius = resolved->codes->spherical ? a->radius : NAN,
    };
    armilla_model_summary *s = &model->summary;
    armilla_model_describe_preparation(model);
    s->relative_error = sqrt(s->objective / s->squared_norm);
    model->trace[0] = (armilla_trace_entry){.size = sizeof model->trace[0],
                                            .objective = s->objective,
                                            .relative_error = s->relative_error,
                                            .radius = s->radius};
    model->trace_count = 1;
}

static armilla_status fill(armilla_model *model, const armilla_options *options, const armilla_resolved *resolved,
                           const armilla_model_arrays *a)
{
    armilla_context *context = model->context;
    const int64_t r = options->rank;
    armilla_status status = copy_numbers(context, "basis", a->precision, a->m * r, a->basis, &model->U);
    if (status == ARMILLA_OK) status = copy_numbers(context, "codes", a->precision, r * a->n, a->codes, &model->V);
    model->share = armilla_samples_whole(a->n);
    if (status == ARMILLA_OK) status = copy_preparation(model, options, a);
    if (status == ARMILLA_OK) status = armilla_take(context, 1, sizeof *model->trace, &model->trace);
    if (status == ARMILLA_OK) status = armilla_copy_text(context, "model", &model->start);
    if (status == ARMILLA_OK) status = armilla_options_describe(context, options, resolved, &model->options_text);
    if (status != ARMILLA_OK) return status;
    summarize(model, options, resolved, a);
    return ARMILLA_OK;
}

armilla_status armilla_model_from_arrays(armilla_context *context, const armilla_options *options,
                                         const armilla_model_arrays *arrays, armilla_model **model)
{
    armilla_options given;
    armilla_model_arrays whole;
    armilla_resolved resolved;
    armilla_model *made = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, options, arrays, model);
    if (status == ARMILLA_OK) status = armilla_options_read(context, options, &given);
    armilla_model_arrays_default(&whole);
    if (status == ARMILLA_OK)
        status = armilla_sized_read(context, "armilla_model_arrays", arrays, &whole, sizeof whole);
    if (status == ARMILLA_OK) status = armilla_options_resolve(context, &given, NULL, &resolved);
    if (status != ARMILLA_OK) return status;
    const armilla_options filled = armilla_options_fill(&given);
    resolved.type = whole.precision;
    status = check_arrays(context, &filled, &resolved, &whole);
    if (status == ARMILLA_OK) status = armilla_model_new(context, &made);
    if (status == ARMILLA_OK) status = fill(made, &filled, &resolved, &whole);
    if (status == ARMILLA_OK)
        *model = made;
    else
        armilla_model_free(made);
    return status;
}
