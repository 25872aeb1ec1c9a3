/* The features of data against those of a model, by name. */
#include "model/model.h"

#include "data/pick.h"

#include <inttypes.h>
#include <string.h>

/* Where the model's features stand in the data. */
typedef struct places {
    int64_t *at;            /* m, -1 where it is not there */
    int64_t missing, extra; /* features of the model that the data do not have, and the other way round */
    int64_t first_missing;  /* of the model, or -1 */
    int64_t first_extra;    /* of the data, or -1 */
    bool in_order;          /* the data are as the model */
} places;

/* next[i] = the next place of the name at place i, 0 past the last; which is the way to give equal names away in their
 * order: the cursor of a name is kept at its first place. */
static armilla_status chain_equals(armilla_context *context, const armilla_names *names,
                                   const armilla_names_index *index, int64_t **next)
{
    int64_t *last = NULL;
    armilla_status status = armilla_take(context, names->count, sizeof **next, next);
    if (status == ARMILLA_OK) status = armilla_take(context, names->count, sizeof *last, &last);
    for (int64_t i = 0; i < names->count && status == ARMILLA_OK; i++) {
        const int64_t first = armilla_names_find(index, armilla_names_at(names, i));
        if (i > first) (*next)[last[first]] = i;
        last[first] = i;
    }
    armilla_release(context, last);
    return status;
}

static void place(const armilla_names *ours, const armilla_names_index *theirs, const int64_t *next, int64_t *cursor,
                  places *found)
{
    const int64_t total = theirs->names->count;
    found->extra = total;
    found->first_missing = -1;
    found->in_order = ours->count == total;
    for (int64_t i = 0; i < ours->count; i++) {
        const int64_t first = armilla_names_find(theirs, armilla_names_at(ours, i));
        const int64_t at = first < 0 ? -1 : cursor[first]; /* -1 too where all of that name are given away */
        found->at[i] = at;
        found->in_order &= at == i;
        found->extra -= at >= 0;
        found->missing += at < 0;
        if (at < 0 && found->first_missing < 0) found->first_missing = i;
        if (at >= 0) cursor[first] = next[at] ? next[at] : -1;
    }
}

/* The first feature of the data that no feature of the model took; `taken` has a number for each of theirs. */
static int64_t find_extra(const places *found, int64_t ours, int64_t theirs, int64_t *taken)
{
    memset(taken, 0, (size_t)theirs * sizeof *taken);
    for (int64_t i = 0; i < ours; i++)
        if (found->at[i] >= 0) taken[found->at[i]] = 1;
    for (int64_t j = 0; j < theirs; j++)
        if (!taken[j]) return j;
    return -1;
}

static armilla_status find_places(armilla_context *context, const armilla_names *ours, const armilla_names *theirs,
                                  places *found)
{
    armilla_names_index index = {.names = NULL};
    int64_t *next = NULL, *cursor = NULL;
    armilla_status status = armilla_names_index_new(context, theirs, &index);
    if (status == ARMILLA_OK) status = chain_equals(context, theirs, &index, &next);
    if (status == ARMILLA_OK) status = armilla_take(context, theirs->count, sizeof *cursor, &cursor);
    if (status == ARMILLA_OK) status = armilla_take(context, ours->count, sizeof *found->at, &found->at);
    for (int64_t i = 0; i < theirs->count && status == ARMILLA_OK; i++) cursor[i] = i;
    if (status == ARMILLA_OK) {
        place(ours, &index, next, cursor, found);
        found->first_extra = find_extra(found, ours->count, theirs->count, cursor);
    }
    armilla_release(context, cursor);
    armilla_release(context, next);
    armilla_names_index_free(context, &index);
    return status;
}

static bool same_names(const armilla_names *a, const armilla_names *b)
{
    if (a->count != b->count) return false;
    for (int64_t i = 0; i < a->count; i++)
        if (strcmp(armilla_names_at(a, i), armilla_names_at(b, i)) != 0) return false;
    return true;
}

/* What cannot be put right. */
static armilla_status refuse(armilla_context *context, const armilla_names *ours, const armilla_names *theirs,
                             const places *found, armilla_matching how)
{
    if (found->missing == ours->count)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "the data have none of the model's %" PRId64
                            " features: they have '%s' where the model has "
                            "'%s'; give data with the same features, with " ARMILLA_FIELD(
                                "sample_columns rows or columns") " as they lie",
                            ours->count, armilla_names_at(theirs, 0), armilla_names_at(ours, 0));
    if (found->missing == 0 || how.fill) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "the data do not have the model's feature '%s'%s; give data with all %" PRId64
                        " features, or fill what is missing (" ARMILLA_FIELD("missing_features zero") ")",
                        armilla_names_at(ours, found->first_missing), found->missing > 1 ? ", and others" : "",
                        ours->count);
}

static void tell(armilla_context *context, const armilla_model *model, const armilla_names *theirs, const places *found,
                 armilla_matching how)
{
    const bool chosen = model->kept[ARMILLA_KEPT_FEATURES].at; /* to leave features out was asked for */
    if (how.silent) return;
    if (found->missing > 0)
        armilla_log(context, ARMILLA_LOG_WARNING,
                    "%" PRId64 " of the model's %" PRId64 " features %s not in the data and count%s as 0",
                    found->missing, model->summary.m, found->missing == 1 ? "is" : "are",
                    found->missing == 1 ? "s" : "");
    if (found->extra > 0 && !chosen)
        armilla_log(context, ARMILLA_LOG_WARNING,
                    "%" PRId64 " feature%s of the data %s left out: the model does not have '%s'%s", found->extra,
                    found->extra == 1 ? "" : "s", found->extra == 1 ? "is" : "are",
                    armilla_names_at(theirs, found->first_extra), found->extra == 1 ? "" : ", and others");
}

armilla_status armilla_features_match(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                      armilla_matching how, armilla_data **matched)
{
    const armilla_names *ours = &model->names[ARMILLA_FEATURE_NAMES];
    const armilla_names *theirs = armilla_data_names(X, ARMILLA_FEATURE_NAMES);
    places found = {NULL};
    armilla_data *made = NULL;
    if (ours->count > 0 && !theirs && !how.silent)
        armilla_log(
            context, ARMILLA_LOG_WARNING,
            "the model's features have names, the data's do not: they are taken in the order in which they are; "
            "give names by " ARMILLA_FIELD("feature_names"));
    if (ours->count == 0 || !theirs || same_names(ours, theirs)) return ARMILLA_OK;
    armilla_status status = find_places(context, ours, theirs, &found);
    if (status == ARMILLA_OK) status = refuse(context, ours, theirs, &found, how);
    if (status == ARMILLA_OK) status = armilla_data_pick(context, X, found.at, ours->count, &made);
    if (status == ARMILLA_OK) status = armilla_names_copy(context, ours, &made->names[ARMILLA_FEATURE_NAMES]);
    if (status == ARMILLA_OK) tell(context, model, theirs, &found, how);
    armilla_release(context, found.at);
    if (status == ARMILLA_OK)
        *matched = made;
    else
        armilla_data_free(made);
    return status;
}

armilla_status armilla_model_match(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                   bool fill_missing, armilla_data **matched)
{
    const armilla_matching how = {.fill = fill_missing};
    armilla_data *made = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, model, X, matched);
    if (status == ARMILLA_OK) status = armilla_features_match(context, model, X, how, &made);
    if (status == ARMILLA_OK) *matched = made;
    return status;
}
