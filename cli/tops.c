/* The features of atoms and clusters as lines of a summary. */
#include "tops.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 5, MOST_LINES = 20 };

const char *top_name(const armilla_model *model, const armilla_data *X, armilla_naming kind, int64_t index,
                     char buffer[TOP_NAME])
{
    const bool sample = kind != ARMILLA_FEATURE_NAMES;
    const char *first = sample && X ? armilla_data_name(X, kind, index) : armilla_model_name(model, kind, index);
    const char *found = first || sample || !X ? first : armilla_data_name(X, kind, index);
    if (found) return found;
    snprintf(buffer, TOP_NAME, "%" PRId64, index + 1);
    return buffer;
}

/* Atoms or clusters that lines of a summary are about. */
typedef struct cli_groups {
    const char *what;
    int64_t count;
    const int64_t *sizes; /* NULL: samples belong to several */
} cli_groups;

/* "word, other, ..." */
static void join(const armilla_model *model, const armilla_top *top, int64_t group, char *text, size_t size)
{
    armilla_top_entry entry;
    char buffer[TOP_NAME];
    size_t used = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < SHOWN && used < size; i++) {
        if (!armilla_top_entry_get(top, group, ARMILLA_TOP_FEATURES, i, &entry)) break;
        const char *name = top_name(model, NULL, ARMILLA_FEATURE_NAMES, entry.index, buffer);
        used += (size_t)snprintf(text + used, size - used, "%s%.60s%s", i ? ", " : "", name,
                                 entry.weight < 0 ? " (-)" : "");
    }
    (void)armilla_plain_text(text);
}

/* A line for each group: what it is called, its number, how many samples it has where sizes is given, and its features
 * where top is. */
static void report(cli_session *session, const armilla_model *model, const armilla_top *top, const cli_groups *groups)
{
    const int margin = (int)(9 - strlen(groups->what) - 1);
    for (int64_t k = 0; k < groups->count && k < MOST_LINES; k++) {
        char line[512] = "", size[48] = "";
        if (top) join(model, top, k, line, sizeof line);
        if (groups->sizes)
            snprintf(size, sizeof size, "%7" PRId64 " sample%s", groups->sizes[k],
                     groups->sizes[k] == 1 ? (*line ? "   " : "") : (*line ? "s  " : "s"));
        message_line(&session->messages, "%s %-*" PRId64 " %s%s", groups->what, margin, k, size, line);
    }
    if (groups->count > MOST_LINES)
        message_line(&session->messages, "          and %" PRId64 " more; %s shows all", groups->count - MOST_LINES,
                     groups->sizes ? "armilla cluster --json" : "armilla top MODEL");
}

static bool is_read(const cli_session *session, const armilla_model *model)
{
    return !session->messages.quiet && !session->ranks && armilla_model_name(model, ARMILLA_FEATURE_NAMES, 0);
}

armilla_status tops_report_atoms(cli_session *session, const armilla_model *model)
{
    armilla_top *top = NULL;
    if (!is_read(session, model)) return ARMILLA_OK;
    const armilla_status status =
        armilla_top_atoms(session->context, model, NULL, SHOWN, (int)session->settings->threads, &top);
    if (status == ARMILLA_OK) report(session, model, top, &(cli_groups){"atom", armilla_top_count(top), NULL});
    armilla_top_free(top);
    return status;
}

armilla_status tops_report_clusters(cli_session *session, const armilla_model *model,
                                    const armilla_clustering *clustering)
{
    armilla_cluster_summary found;
    armilla_top *top = NULL;
    if (session->messages.quiet || session->silent) return ARMILLA_OK;
    armilla_clustering_summarize(clustering, &found);
    const armilla_labels labels = {.size = sizeof labels,
                                   .count = found.n,
                                   .classes = found.k,
                                   .values = (int64_t *)(uintptr_t)armilla_clustering_labels(clustering)};
    armilla_status status = ARMILLA_OK;
    if (model && is_read(session, model))
        status = armilla_top_clusters(session->context, model, NULL, &labels, SHOWN, &top);
    if (status == ARMILLA_OK)
        report(session, model, top, &(cli_groups){"cluster", found.k, armilla_clustering_sizes(clustering)});
    armilla_top_free(top);
    return status;
}
