/* The atoms of two models, with the same features in the same places. */
#include "cluster/compare.h"

#include "base/size.h"

#include <inttypes.h>
#include <string.h>

/* places[i] = the place in the second model of the first one's feature i. Equal names are matched in their order:
 * `next`, at the place of a name's first occurrence, is where the search for the next one begins. */
static armilla_status match_names(armilla_context *context, const armilla_names *first, const armilla_names *second,
                                  int64_t *places)
{
    armilla_names_index index = {.names = NULL};
    int64_t *next = NULL;
    armilla_status status = armilla_take(context, second->count, sizeof *next, &next);
    if (status == ARMILLA_OK) status = armilla_names_index_new(context, second, &index);
    for (int64_t i = 0; i < first->count && status == ARMILLA_OK; i++) {
        const char *name = armilla_names_at(first, i);
        const int64_t found = armilla_names_find(&index, name);
        int64_t at = found < 0 ? second->count : armilla_max64(found, next[found]);
        while (at < second->count && strcmp(armilla_names_at(second, at), name) != 0) at++;
        if (at == second->count)
            status = armilla_fail(context, ARMILLA_BAD_DATA,
                                  "the models have different features: '%s', feature %" PRId64
                                  " of the first, is not one of the second; compare models of the same features",
                                  name, i + 1);
        if (status != ARMILLA_OK) break;
        places[i] = at;
        next[found] = at + 1;
    }
    armilla_names_index_free(context, &index);
    armilla_release(context, next);
    return status;
}

/* Without names, features that were chosen from others are known by their places there. */
static armilla_status compare_kept(armilla_context *context, const armilla_model *const models[2])
{
    const armilla_kept *a = &models[0]->kept[ARMILLA_KEPT_FEATURES], *b = &models[1]->kept[ARMILLA_KEPT_FEATURES];
    for (int64_t i = 0; a->at && b->at && i < models[0]->summary.m; i++)
        if (a->at[i] != b->at[i])
            return armilla_fail(context, ARMILLA_BAD_DATA,
                                "the models have different features: feature %" PRId64 " is number %" PRId64
                                " of the data in the first and number %" PRId64
                                " in the second; compare models of the same features",
                                i + 1, a->at[i] + 1, b->at[i] + 1);
    return ARMILLA_OK;
}

/* places[i] = the feature of the second model that is feature i of the first: by name, or the same number. */
static armilla_status match_features(armilla_context *context, const armilla_model *const models[2], int64_t *places)
{
    const armilla_names *a = &models[0]->names[ARMILLA_FEATURE_NAMES], *b = &models[1]->names[ARMILLA_FEATURE_NAMES];
    if (a->count > 0 && b->count > 0) return match_names(context, a, b, places);
    for (int64_t i = 0; i < models[0]->summary.m; i++) places[i] = i;
    return compare_kept(context, models);
}

static armilla_status take_atoms(armilla_context *context, const armilla_model *model, const int64_t *places,
                                 double **unit, double **lengths)
{
    const int64_t m = model->summary.m, r = model->summary.rank;
    double *column = NULL;
    armilla_status status = armilla_take(context, r, (size_t)m * sizeof **unit, unit);
    if (status == ARMILLA_OK) status = armilla_take(context, r, sizeof **lengths, lengths);
    if (status == ARMILLA_OK) status = armilla_take(context, m, sizeof *column, &column);
    for (int64_t k = 0; k < r && status == ARMILLA_OK; k++) {
        const size_t bytes = (size_t)(k * m) * armilla_type_size(model->summary.precision);
        armilla_fetch(model->summary.precision, m, (const char *)model->U + bytes, column);
        for (int64_t i = 0; i < m; i++) (*unit)[k * m + i] = column[places[i]];
        (*lengths)[k] = armilla_make_unit(m, *unit + k * m);
    }
    armilla_release(context, column);
    return status;
}

armilla_status armilla_compared_take(armilla_context *context, const armilla_model *const models[2],
                                     armilla_compared_atoms *atoms, bool *reordered)
{
    const int64_t m = models[0]->summary.m;
    int64_t *places = NULL;
    if (m != models[1]->summary.m)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "the first model has %" PRId64 " features, the second %" PRId64
                            "; compare models of the same features",
                            m, models[1]->summary.m);
    armilla_status status = armilla_take(context, m, sizeof *places, &places);
    for (int64_t i = 0; i < m && status == ARMILLA_OK; i++) places[i] = i;
    *atoms = (armilla_compared_atoms){.m = m, .ranks = {models[0]->summary.rank, models[1]->summary.rank}};
    *reordered = false;
    if (status == ARMILLA_OK) status = take_atoms(context, models[0], places, &atoms->unit[0], &atoms->lengths[0]);
    if (status == ARMILLA_OK) status = match_features(context, models, places);
    for (int64_t i = 0; i < m && status == ARMILLA_OK; i++) *reordered |= places[i] != i;
    if (status == ARMILLA_OK) status = take_atoms(context, models[1], places, &atoms->unit[1], &atoms->lengths[1]);
    armilla_release(context, places);
    return status;
}

void armilla_compared_free(armilla_context *context, armilla_compared_atoms *atoms)
{
    for (int i = 0; i < 2; i++) {
        armilla_release(context, atoms->unit[i]);
        armilla_release(context, atoms->lengths[i]);
    }
}
