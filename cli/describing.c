/* Which atoms and clusters there are, what they are called, and which of them are shown. */
#include "describing.h"

#include "labelling.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool describing_is_missing(const describing *d, top_kind kind, int64_t k)
{
    return kind == TOP_CLUSTERS && d->labels.missing > 0 && k == d->labels.classes - 1;
}

const char *describing_name(const describing *d, top_kind kind, int64_t k, char buffer[TOP_NAME])
{
    if (describing_is_missing(d, kind, k)) return LABEL_MISSING;
    if (kind == TOP_CLUSTERS) return armilla_data_name(d->carrier, ARMILLA_SAMPLE_LABELS, d->first[k]);
    snprintf(buffer, TOP_NAME, "%" PRId64, k);
    return buffer;
}

bool describing_shows(const describing *d, top_kind kind, int64_t k)
{
    char buffer[TOP_NAME];
    if (!d->listed[kind]) return true;
    const char *word = describing_name(d, kind, k, buffer);
    const size_t length = strlen(word);
    for (const char *at = d->listed[kind]; *at; at += *at == ',') {
        const size_t part = strcspn(at, ",");
        if (part == length && strncmp(at, word, length) == 0) return true;
        at += part;
    }
    return false;
}

armilla_status describing_check(const describing *d, top_kind kind, int64_t count)
{
    static const struct {
        const char *option, *advice;
    } rows[TOP_KINDS] = {
        [TOP_ATOMS] = {"--atoms", "atoms are numbered from 0 to one less than the model's rank, or say none"},
        [TOP_CLUSTERS] = {"--only-clusters", "clusters are called as in the file of --clusters"},
    };
    const char *list = d->listed[kind];
    int64_t words = 1, shown = 0;
    if (!list) return ARMILLA_OK;
    for (const char *c = list; *c; c++) words += *c == ',';
    for (int64_t k = 0; k < count; k++) shown += describing_shows(d, kind, k);
    if (shown == words || (kind == TOP_ATOMS && strcmp(list, "none") == 0)) return ARMILLA_OK;
    return fail(d->session, ARMILLA_BAD_DATA, "%s %s: not all of these are there, or one is there twice; %s",
                rows[kind].option, list, rows[kind].advice);
}

int64_t describing_zeros(const describing *d)
{
    armilla_top_group first;
    (void)armilla_top_group_get(d->top[TOP_ATOMS], 0, &first);
    return first.zeros;
}

/* The clusters that the model keeps, of its own samples or predicted of the data's, become the carrier's labels. */
static armilla_status take_kept(describing *d, int64_t n)
{
    armilla_context *context = d->session->context;
    const char **texts = NULL;
    char *text = NULL;
    int64_t *labels = NULL;
    armilla_status status = armilla_take(context, n, TOP_NAME, &text);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *texts, &texts);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *labels, &labels);
    if (status == ARMILLA_OK && d->X) status = armilla_model_predict(context, d->model, d->X, 0, labels);
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++) {
        texts[j] = text + j * TOP_NAME;
        snprintf(text + j * TOP_NAME, TOP_NAME, "%" PRId64,
                 (d->X ? labels : armilla_model_clusters(d->model, NULL))[j]);
    }
    if (status == ARMILLA_OK) status = armilla_data_wrap_dense(context, ARMILLA_U8, text, 1, n, 1, &d->carrier);
    if (status == ARMILLA_OK) status = armilla_data_set_names(d->carrier, ARMILLA_SAMPLE_LABELS, texts, n);
    armilla_release(context, labels);
    armilla_release(context, texts);
    armilla_release(context, text);
    return status;
}

armilla_status describing_open_clusters(describing *d, const char *path)
{
    cli_session *session = d->session;
    armilla_context *context = session->context;
    armilla_model_summary summary;
    armilla_model_summarize(d->model, &summary);
    const int64_t n = d->X ? armilla_data_samples(d->X) : summary.n;
    armilla_status status = path ? labelling_open(session, path, d->model, d->X, &d->carrier) : take_kept(d, n);
    if (status == ARMILLA_OK) status = armilla_labels_of_data(context, d->carrier, &d->labels);
    if (status == ARMILLA_OK) status = armilla_take(context, d->labels.classes, sizeof *d->first, &d->first);
    if (status != ARMILLA_OK) return status;
    for (int64_t j = n - 1; j >= 0; j--) d->first[d->labels.values[j]] = j;
    labelling_say_missing(session, d->labels.missing, d->labels.count);
    return ARMILLA_OK;
}

void describing_free(describing *d)
{
    for (top_kind kind = TOP_ATOMS; kind < TOP_KINDS; kind++) armilla_top_free(d->top[kind]);
    armilla_release(d->session->context, d->first);
    armilla_labels_free(d->session->context, &d->labels);
    armilla_data_free(d->carrier);
    armilla_data_free(d->X);
    armilla_model_free(d->model);
}
