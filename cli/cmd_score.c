/* armilla score: how well clusters agree with known classes. */
#include "labelling.h"
#include "scoring.h"

#include <inttypes.h>

static const armilla_option options[] = {
    OPTION_MEMORY,
    OPTION_JSON,
    OPTION_END,
};

void scoring_put(json_t *object, const armilla_scores *scores)
{
    json_put_number(object, "accuracy", scores->accuracy);
    json_put_number(object, "nmi", scores->nmi);
    json_put_number(object, "ari", scores->ari);
    json_put_number(object, "ami", scores->ami);
    json_put_number(object, "purity", scores->purity);
}

static armilla_status print_scores(cli_session *session, const armilla_labels *labels, const armilla_labels *truth)
{
    const char *const *paths = session->settings->operands;
    armilla_scores scores;
    if (labels->count != truth->count)
        return fail(session, ARMILLA_BAD_DATA,
                    "%s: has %" PRId64 " labels, %s has %" PRId64 "; give one label for each sample in both", paths[0],
                    labels->count, paths[1], truth->count);
    const armilla_status status =
        armilla_score(session->context, labels->count, labels->values, truth->values, &scores);
    if (status != ARMILLA_OK) return status;
    labelling_say_missing(session, labels->missing, labels->count);
    labelling_say_missing(session, truth->missing, truth->count);
    json_t *object = json_object();
    scoring_put(object, &scores);
    json_put_count(object, "samples", labels->count);
    json_put_count(object, "clusters", labels->classes);
    json_put_count(object, "classes", truth->classes);
    return json_print(session, object);
}

static armilla_status run(cli_session *session)
{
    armilla_labels labels = {.count = 0}, truth = {.count = 0};
    const char *const *paths = session->settings->operands;
    armilla_status status = armilla_labels_open_pair(session->context, paths[0], paths[1], &labels, &truth);
    if (status == ARMILLA_OK) status = print_scores(session, &labels, &truth);
    armilla_labels_free(session->context, &truth);
    armilla_labels_free(session->context, &labels);
    return status;
}

const cli_command command_score = {
    .name = "score",
    .synopsis = "LABELS TRUTH [--json]",
    .meaning = "how well clusters agree with known classes",
    .operands = {"LABELS", "TRUTH"},
    .required = 2,
    .settings_size = sizeof(cli_settings),
    .options = options,
    .notes =
        "Both are text files with one label per line, numbers or words, or IDX or .npy vectors. Where both have\n"
        "the names of samples beside the labels (sample,cluster), these are matched by name. accuracy is that of\n"
        "the best one-to-one matching of clusters with classes, nmi and ami are normalized by the arithmetic mean,\n"
        "ari is the adjusted Rand index; all are 1 where the two agree.\n\n"
        "example:\n"
        "  armilla score clusters.txt classes.txt\n",
    .run = run,
};
