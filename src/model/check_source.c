/* Samples as they are stored, for the check: from the arrays themselves, without panels and kernels. */
#include "model/check.h"

#include <inttypes.h>
#include <math.h>

enum { RUN = 512, LANES = 8 };

double armilla_check_dot(int64_t count, const double *a, const double *b)
{
    armilla_sum sum = {0, 0};
    for (int64_t first = 0; first < count; first += RUN) {
        const int64_t last = first + RUN < count ? first + RUN : count;
        double lanes[LANES] = {0};
        int64_t i = first;
        for (; i + LANES <= last; i += LANES)
            for (int k = 0; k < LANES; k++) lanes[k] += a[i + k] * b[i + k];
        for (int k = 0; i < last; i++, k++) lanes[k] += a[i] * b[i];
        for (int k = 0; k < LANES; k++) armilla_sum_add(&sum, lanes[k]);
    }
    return armilla_sum_value(sum);
}

int armilla_check_exponent(int64_t count, const double *x)
{
    double most = 0;
    int exponent = 0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    if (most > 0 && isfinite(most)) (void)frexp(most, &exponent);
    return exponent;
}

/* Which of X's features or samples the model keeps; NULL where that is all of them, or X has been chosen already. */
static const int64_t *kept_of(const armilla_kept *own, const armilla_kept *chosen, int64_t size)
{
    return own->at && !chosen->at && own->of == size ? own->at : NULL;
}

static armilla_status number_features(armilla_source *source, int64_t all)
{
    if (!source->features || !source->sparse) return ARMILLA_OK;
    const armilla_status status = armilla_take(source->context, all, sizeof *source->numbers, &source->numbers);
    for (int64_t i = 0; i < all && status == ARMILLA_OK; i++) source->numbers[i] = -1;
    for (int64_t i = 0; i < source->m && status == ARMILLA_OK; i++) source->numbers[source->features[i]] = i;
    return status;
}

armilla_status armilla_source_open(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                   armilla_source *source)
{
    armilla_source made = {.context = context, .type = X->type};
    made.features = kept_of(&model->kept[ARMILLA_KEPT_FEATURES], &X->kept[ARMILLA_KEPT_FEATURES], X->m);
    made.samples = kept_of(&model->kept[ARMILLA_KEPT_SAMPLES], &X->kept[ARMILLA_KEPT_SAMPLES], X->n);
    made.m = made.features ? model->summary.m : X->m;
    made.n = made.samples ? model->summary.n : X->n;
    armilla_status status = armilla_model_fits(context, model, made.m, made.n);
    if (status == ARMILLA_OK && made.n != model->summary.n)
        status = armilla_fail(context, ARMILLA_BAD_DATA,
                              "the data have %" PRId64 " samples, the model was fitted to %" PRId64, made.n,
                              model->summary.n);
    if (status == ARMILLA_OK) status = armilla_data_flatten(context, X, &made.copy);
    if (status != ARMILLA_OK) return status;
    const armilla_data *plain = made.copy ? made.copy : X;
    made.dense = armilla_data_dense(plain, &made.stride);
    made.sparse = armilla_data_sparse(plain);
    if ((status = number_features(&made, X->m)) != ARMILLA_OK) {
        armilla_source_close(&made);
        return status;
    }
    *source = made;
    return ARMILLA_OK;
}

void armilla_source_close(armilla_source *source)
{
    armilla_release(source->context, source->numbers);
    armilla_data_free(source->copy);
    *source = (armilla_source){.context = source->context};
}

static double number_at(armilla_type type, const void *values, int64_t i)
{
    if (type == ARMILLA_F64) return ((const double *)values)[i];
    return type == ARMILLA_F32 ? (double)((const float *)values)[i] : ((const uint8_t *)values)[i];
}

static int64_t index_at(bool index64, const void *indices, int64_t i)
{
    return index64 ? ((const int64_t *)indices)[i] : ((const int32_t *)indices)[i];
}

int64_t armilla_source_read(const armilla_source *source, int64_t j, int64_t *rows, double *values)
{
    const int64_t column = source->samples ? source->samples[j] : j;
    const armilla_sparse_matrix *S = source->sparse;
    int64_t count = 0;
    if (!S) {
        const int64_t start = column * source->stride;
        for (int64_t i = 0; i < source->m; i++)
            values[i] = number_at(source->type, source->dense, start + (source->features ? source->features[i] : i));
        return source->m;
    }
    for (int64_t i = index_at(S->index64, S->starts, column); i < index_at(S->index64, S->starts, column + 1); i++) {
        const int64_t feature = index_at(S->index64, S->rows, i);
        const int64_t row = source->numbers ? source->numbers[feature] : feature;
        if (row < 0) continue;
        rows[count] = row;
        values[count++] = number_at(source->type, S->values, i);
    }
    return count;
}
