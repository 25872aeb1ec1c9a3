/* The features of data against those of a model, and of queries against those of samples, by name. */
#include "model/model.h"

#include <inttypes.h>
#include <string.h>

/* The positions of the model's features in the data. */
typedef struct positions {
    int64_t *at;            /* m, -1 where it is not there */
    int64_t missing, extra; /* features of the model that the data do not have, and the other way round */
    int64_t first_missing;  /* of the model, or -1 */
    int64_t first_extra;    /* of the data, or -1 */
    bool in_order;          /* the data are as the model */
} positions;

/* next[i] = the next position of the name at position i, 0 past the last. So equal names are matched in their order: the
 * cursor of a name is kept at its first position. */
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

/* Fills in found but first_extra; `cursor` is used up. */
static void match_in_order(const armilla_names *ours, const armilla_names_index *theirs, const int64_t *next,
                           int64_t *cursor, positions *found)
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
static int64_t find_extra(const positions *found, int64_t ours, int64_t theirs, int64_t *taken)
{
    memset(taken, 0, (size_t)theirs * sizeof *taken);
    for (int64_t i = 0; i < ours; i++)
        if (found->at[i] >= 0) taken[found->at[i]] = 1;
    for (int64_t j = 0; j < theirs; j++)
        if (!taken[j]) return j;
    return -1;
}

/* The positions of our names among theirs; equal names are matched in their order. found->at is allocated. */
static armilla_status find_positions(armilla_context *context, const armilla_names *ours, const armilla_names *theirs,
                                     positions *found)
{
    armilla_names_index index = {.names = NULL};
    int64_t *next = NULL, *cursor = NULL;
    armilla_status status = armilla_names_index_new(context, theirs, &index);
    if (status == ARMILLA_OK) status = chain_equals(context, theirs, &index, &next);
    if (status == ARMILLA_OK) status = armilla_take(context, theirs->count, sizeof *cursor, &cursor);
    if (status == ARMILLA_OK) status = armilla_take(context, ours->count, sizeof *found->at, &found->at);
    for (int64_t i = 0; i < theirs->count && status == ARMILLA_OK; i++) cursor[i] = i;
    if (status == ARMILLA_OK) {
        match_in_order(ours, &index, next, cursor, found);
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

/* Whose features are wanted, and of whom, as messages say it. */
typedef struct parties {
    const char *whose, *who_has, *others, *others_own;
    const char *filling; /* what can be done about missing ones, or NULL */
} parties;

static const parties model_and_data = {"the model's", "the model has", "the data", "the data's",
                                       ", or fill what is missing (" ARMILLA_FIELD("missing_features zero") ")"};
static const parties samples_and_queries = {"the samples'", "the samples have", "the queries", "the queries'", NULL};

/* Two sides, what to call them, and what is to be done. */
typedef struct matching {
    const armilla_names *ours, *theirs; /* theirs NULL: no names */
    const parties *words;
    bool chosen; /* to leave features out was asked for */
    armilla_matching how;
} matching;

/* What cannot be put right. */
static armilla_status refuse(armilla_context *context, const matching *m, const positions *found)
{
    const parties *words = m->words;
    if (found->missing == m->ours->count)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s have none of %s %" PRId64 " features: they have '%s' where %s "
                            "'%s'; give data with the same features, with " ARMILLA_FIELD(
                                "sample_columns rows or columns") " as they lie",
                            words->others, words->whose, m->ours->count, armilla_names_at(m->theirs, 0), words->who_has,
                            armilla_names_at(m->ours, 0));
    if (found->missing == 0 || m->how.fill) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s do not have %s feature '%s'%s; give data with all %" PRId64 " features%s", words->others,
                        words->whose, armilla_names_at(m->ours, found->first_missing),
                        found->missing > 1 ? ", and others" : "", m->ours->count, words->filling ? words->filling : "");
}

static void tell(armilla_context *context, const matching *m, const positions *found)
{
    const parties *words = m->words;
    const bool one = found->extra == 1;
    if (m->how.silent) return;
    if (found->missing > 0)
        armilla_log(context, ARMILLA_LOG_WARNING,
                    "%" PRId64 " of %s %" PRId64 " features %s not in %s and count%s as 0", found->missing,
                    words->whose, m->ours->count, found->missing == 1 ? "is" : "are", words->others,
                    found->missing == 1 ? "s" : "");
    if (found->extra > 0 && !m->chosen)
        armilla_log(context, ARMILLA_LOG_WARNING, "%" PRId64 " feature%s of %s %s left out: %s not have '%s'%s",
                    found->extra, one ? "" : "s", words->others, one ? "is" : "are",
                    words == &model_and_data ? "the model does" : "the samples do",
                    armilla_names_at(m->theirs, found->first_extra), one ? "" : ", and others");
}

static armilla_status match(armilla_context *context, const matching *m, const armilla_data *X, armilla_data **matched)
{
    positions found = {.at = NULL};
    armilla_data *made = NULL;
    if (m->ours->count > 0 && !m->theirs && !m->how.silent)
        armilla_log(context, ARMILLA_LOG_WARNING,
                    "%s features have names, %s do not: they are taken in the order in which they are; "
                    "give names by " ARMILLA_FIELD("feature_names"),
                    m->words->whose, m->words->others_own);
    if (m->ours->count == 0 || !m->theirs || same_names(m->ours, m->theirs)) return ARMILLA_OK;
    armilla_status status = find_positions(context, m->ours, m->theirs, &found);
    if (status == ARMILLA_OK) status = refuse(context, m, &found);
    if (status == ARMILLA_OK) status = armilla_data_pick(context, X, found.at, m->ours->count, &made);
    if (status == ARMILLA_OK) status = armilla_names_copy(context, m->ours, &made->names[ARMILLA_FEATURE_NAMES]);
    if (status == ARMILLA_OK) tell(context, m, &found);
    armilla_release(context, found.at);
    if (status == ARMILLA_OK)
        *matched = made;
    else
        armilla_data_free(made);
    return status;
}

armilla_status armilla_features_match(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                      armilla_matching how, armilla_data **matched)
{
    const matching m = {.ours = &model->names[ARMILLA_FEATURE_NAMES],
                        .theirs = armilla_data_names(X, ARMILLA_FEATURE_NAMES),
                        .words = &model_and_data,
                        .chosen = model->kept[ARMILLA_KEPT_FEATURES].at != NULL,
                        .how = how};
    return match(context, &m, X, matched);
}

armilla_status armilla_queries_match(armilla_context *context, const armilla_data *X, const armilla_data *queries,
                                     armilla_data **matched)
{
    const matching m = {.ours = armilla_data_names(X, ARMILLA_FEATURE_NAMES),
                        .theirs = armilla_data_names(queries, ARMILLA_FEATURE_NAMES),
                        .words = &samples_and_queries};
    return m.ours ? match(context, &m, queries, matched) : ARMILLA_OK;
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
