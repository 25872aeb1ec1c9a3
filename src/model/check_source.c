/* Samples as they are stored, for the check: loaded as every pass loads them, and picked by loops of its own. */
#include "model/check.h"

#include "data/sparse.h"

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

/* The blocks of samples: the slots of the data, so that ranks look at the samples that they have, or where the model keeps
 * some of these equal ones. */
static void divide(armilla_source *source, const armilla_data *X)
{
    enum { BLOCKS = 256 };
    armilla_slots *blocks = &source->blocks;
    armilla_slots_find(X, blocks);
    if (source->n != X->n) {
        blocks->count = source->n < BLOCKS ? source->n : BLOCKS;
        for (int64_t i = 0; i <= blocks->count; i++) blocks->first_of[i] = source->n * i / blocks->count;
    }
    armilla_slots_own(source->context, blocks, &source->first_block, &source->last_block);
    source->first = blocks->first_of[source->first_block];
    source->last = blocks->first_of[source->last_block];
}

armilla_status armilla_source_open(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                   armilla_source *source)
{
    armilla_source made = {.context = context, .X = X, .type = X->type, .sparse = armilla_sparse_of(X) != NULL};
    made.features = kept_of(&model->kept[ARMILLA_KEPT_FEATURES], &X->kept[ARMILLA_KEPT_FEATURES], X->m);
    made.samples = kept_of(&model->kept[ARMILLA_KEPT_SAMPLES], &X->kept[ARMILLA_KEPT_SAMPLES], X->n);
    made.m = made.features ? model->summary.m : X->m;
    made.n = made.samples ? model->summary.n : X->n;
    armilla_status status = armilla_model_fits(context, model, made.m, made.n);
    if (status == ARMILLA_OK && made.n != model->summary.n)
        status = armilla_fail(context, ARMILLA_BAD_DATA,
                              "the data have %" PRId64 " samples, the model was fitted to %" PRId64, made.n,
                              model->summary.n);
    if (status == ARMILLA_OK) status = number_features(&made, X->m);
    if (status != ARMILLA_OK) return status;
    divide(&made, X);
    *source = made;
    return ARMILLA_OK;
}

void armilla_source_close(armilla_source *source)
{
    armilla_release(source->context, source->numbers);
    *source = (armilla_source){.context = source->context};
}

armilla_status armilla_source_reader_open(const armilla_source *source, armilla_source_reader *reader)
{
    const armilla_data *X = source->X;
    const armilla_type work = armilla_type_precision(X->type);
    *reader = (armilla_source_reader){.source = source, .end = source->n};
    reader->panel =
        (armilla_panel){.context = source->context, .data = X, .kernels = armilla_kernels_for(source->context, work)};
    reader->span = armilla_panel_width(X, work) < X->n ? armilla_panel_width(X, work) : X->n;
    return armilla_take(source->context, (int64_t)X->ops->workspace(X, work, reader->span), 1, &reader->workspace);
}

void armilla_source_reader_close(armilla_source_reader *reader)
{
    if (reader->source) armilla_release(reader->source->context, reader->workspace);
    *reader = (armilla_source_reader){.source = NULL};
}

static int64_t column_of(const armilla_source *source, int64_t j)
{
    return source->samples ? source->samples[j] : j;
}

/* Sample j and those that follow it in the data. */
static armilla_status fetch(armilla_source_reader *reader, int64_t j)
{
    const armilla_source *source = reader->source;
    const int64_t most = reader->end > j && reader->end - j < reader->span ? reader->end - j : reader->span;
    const int64_t column = column_of(source, j);
    int64_t count = 1;
    while (count < most && j + count < source->n && column_of(source, j + count) == column + count) count++;
    const int64_t more = j + count < reader->end ? reader->end - j - count : 0;
    armilla_panel *panel = &reader->panel;
    panel->first = column;
    panel->count = count;
    panel->next = more ? column_of(source, j + count) : column;
    panel->next_count = source->samples && more ? 1 : more < reader->span ? more : reader->span;
    reader->first = reader->last = j;
    const armilla_status status = source->X->ops->load(panel, reader->workspace);
    if (status == ARMILLA_OK) reader->last = j + count;
    return status;
}

static double number_at(armilla_type type, const void *values, int64_t i)
{
    return type == ARMILLA_F64 ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

static int64_t index_at(bool index64, const void *indices, int64_t i)
{
    return index64 ? ((const int64_t *)indices)[i] : ((const int32_t *)indices)[i];
}

/* The entries of column `at` of the panel; starts count from that of the first. */
static int64_t pick_entries(const armilla_source_reader *reader, int64_t at, int64_t *rows, double *values)
{
    const armilla_sparse_panel *S = &reader->panel.sparse;
    const armilla_type type = reader->panel.kernels->type;
    const int64_t *numbers = reader->source->numbers, origin = index_at(S->index64, S->columns.starts, 0);
    const int64_t last = index_at(S->index64, S->columns.starts, at + 1) - origin;
    int64_t count = 0;
    for (int64_t i = index_at(S->index64, S->columns.starts, at) - origin; i < last; i++) {
        const int64_t feature = index_at(S->index64, S->columns.rows, i);
        const int64_t row = numbers ? numbers[feature] : feature;
        if (row < 0) continue;
        rows[count] = row;
        values[count++] = number_at(type, S->columns.values, i);
    }
    return count;
}

armilla_status armilla_source_read(armilla_source_reader *reader, int64_t j, int64_t *rows, double *values,
                                   int64_t *count)
{
    const armilla_source *source = reader->source;
    const armilla_panel *panel = &reader->panel;
    if (j < reader->first || j >= reader->last) {
        const armilla_status status = fetch(reader, j);
        if (status != ARMILLA_OK) return status;
    }
    const int64_t at = j - reader->first, start = at * panel->stride;
    if (source->sparse) {
        *count = pick_entries(reader, at, rows, values);
        return ARMILLA_OK;
    }
    for (int64_t i = 0; i < source->m; i++)
        values[i] =
            number_at(panel->kernels->type, panel->columns, start + (source->features ? source->features[i] : i));
    *count = source->m;
    return ARMILLA_OK;
}
