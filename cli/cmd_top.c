/* armilla top: what atoms and clusters are about. */
#include "json.h"
#include "labelling.h"
#include "outputs.h"
#include "reading.h"
#include "tops.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct top_settings {
    cli_settings common;
    reading_settings reading;
    const char *data, *clusters, *atoms, *only_clusters;
    int64_t count;
} top_settings;

static const armilla_option options[] = {
    OPTION_PATH("data", top_settings, data, "DATA",
                "samples to list, and to compare inside and outside of clusters; otherwise those "
                "of the fit as the model rebuilds them"),
    OPTION_PATH("clusters", top_settings, clusters, "LABELS",
                "labels of the samples, one per line or as armilla cluster writes them: "
                "the clusters that are described beside the atoms; otherwise those that the model keeps, if it does"),
    OPTION_PATH("atoms", top_settings, atoms, "LIST", "only these atoms: numbers from 0, separated by commas; or none"),
    OPTION_PATH("only-clusters", top_settings, only_clusters, "LIST",
                "only clusters with these labels, separated by commas; those without one are (missing)"),
    {OPTION("count", INTEGER, top_settings, count), .preset = "10", .low = 1, .high = 1e6, .value = "N",
     .help = "how many features and samples of each"},
    OPTION_OUT("FILE.csv", "write a table there, a line for each feature and sample"),
    OPTION_MISSING_FEATURES(top_settings),
    OPTION_THREADS,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_END,
};

/* What is at work in one run. */
typedef struct describing {
    cli_session *session;
    const top_settings *settings;
    armilla_model *model;
    armilla_data *X;       /* NULL: the samples are the fit's */
    armilla_data *carrier; /* has the labels' texts */
    armilla_labels labels;
    int64_t *first; /* of each cluster: a sample that is in it */
    armilla_top *atoms, *clusters;
} describing;

static const char *feature_name(const describing *d, int64_t index, char buffer[TOP_NAME])
{
    return top_name(d->model, d->X, ARMILLA_FEATURE_NAMES, index, buffer);
}

static const char *sample_name(const describing *d, int64_t index, char buffer[TOP_NAME])
{
    return top_name(d->model, d->X, ARMILLA_SAMPLE_NAMES, index, buffer);
}

/* Missing labels are the last cluster. */
static bool is_missing(const describing *d, int64_t cluster)
{
    return d->labels.missing > 0 && cluster == d->labels.classes - 1;
}

static const char *cluster_name(const describing *d, int64_t cluster)
{
    if (is_missing(d, cluster)) return LABEL_MISSING;
    return armilla_data_name(d->carrier, ARMILLA_SAMPLE_LABELS, d->first[cluster]);
}

/* Whether a list, which may be NULL for all, has the word; it counts what it finds. */
static bool is_listed(const char *list, const char *word, int64_t *found)
{
    const size_t length = strlen(word);
    if (!list) return true;
    for (const char *at = list; *at; at += *at == ',') {
        const size_t part = strcspn(at, ",");
        if (part == length && strncmp(at, word, length) == 0) return ++*found, true;
        at += part;
    }
    return false;
}

static bool shows_atom(const describing *d, int64_t k)
{
    char word[TOP_NAME];
    int64_t found = 0;
    snprintf(word, sizeof word, "%" PRId64, k);
    return is_listed(d->settings->atoms, word, &found);
}

static bool shows_cluster(const describing *d, int64_t k)
{
    int64_t found = 0;
    return is_listed(d->settings->only_clusters, cluster_name(d, k), &found);
}

/* Every word of a list has to be one of `count` things. */
static armilla_status check_list(const describing *d, const char *option, const char *list, int64_t count,
                                 bool (*shows)(const describing *d, int64_t k))
{
    int64_t words = 1, shown = 0;
    if (!list) return ARMILLA_OK;
    for (const char *c = list; *c; c++) words += *c == ',';
    for (int64_t k = 0; k < count; k++) shown += shows(d, k);
    if (shown == words || (shows == shows_atom && strcmp(list, "none") == 0)) return ARMILLA_OK;
    return fail(d->session, ARMILLA_BAD_DATA, "%s %s: not all of these are there, or one is there twice; %s", option,
                list,
                shows == shows_atom ? "atoms are numbered from 0 to one less than the model's rank, or say none"
                                    : "clusters are called as in the file of --clusters");
}

/* Whether there are clusters to describe: those of a file, or those that the model keeps. */
static bool has_clusters(const describing *d)
{
    return d->settings->clusters || armilla_model_clusters(d->model, NULL);
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
    if (status == ARMILLA_OK) status = armilla_data_set_names(d->carrier, ARMILLA_SAMPLE_LABELS, texts, n);
    armilla_release(context, labels);
    armilla_release(context, texts);
    armilla_release(context, text);
    return status;
}

/* The labels belong to the samples of the data, or of the fit. */
static armilla_status open_clusters(describing *d)
{
    cli_session *session = d->session;
    armilla_context *context = session->context;
    const char *path = d->settings->clusters;
    unsigned char *nothing = NULL;
    armilla_model_summary summary;
    armilla_model_summarize(d->model, &summary);
    const int64_t n = d->X ? armilla_data_samples(d->X) : summary.n;
    armilla_status status = armilla_take(context, n, 1, &nothing);
    if (status == ARMILLA_OK) status = armilla_data_wrap_dense(context, ARMILLA_U8, nothing, 1, n, 1, &d->carrier);
    if (status == ARMILLA_OK) status = path ? armilla_data_read_labels(context, d->carrier, path) : take_kept(d, n);
    if (status == ARMILLA_OK) status = armilla_labels_of_data(context, d->carrier, &d->labels);
    armilla_release(context, nothing); /* of the carrier only the labels are used */
    if (status == ARMILLA_OK) status = armilla_take(context, d->labels.classes, sizeof *d->first, &d->first);
    if (status != ARMILLA_OK) return status;
    for (int64_t j = n - 1; j >= 0; j--) d->first[d->labels.values[j]] = j;
    labelling_say_missing(session, d->labels.missing, d->labels.count);
    return ARMILLA_OK;
}

static json_t *feature_facts(const describing *d, const armilla_top_entry *entry, bool atom)
{
    char buffer[TOP_NAME];
    json_t *object = json_object();
    json_put_text(object, "name", feature_name(d, entry->index, buffer));
    if (atom) {
        json_put_number(object, "weight", entry->weight);
        json_put_number(object, "lift", entry->lift);
        return object;
    }
    json_put_number(object, "inside", entry->inside);
    json_put_number(object, "outside", entry->outside);
    json_put_number(object, "effect", entry->effect);
    json_put_number(object, "p", entry->p);
    return object;
}

static json_t *sample_facts(const describing *d, const armilla_top_entry *entry)
{
    char buffer[TOP_NAME];
    json_t *object = json_object();
    json_put_text(object, "name", sample_name(d, entry->index, buffer));
    json_put_number(object, "angle", entry->angle);
    return object;
}

static bool is_of_features(armilla_top_list list)
{
    return list == ARMILLA_TOP_FEATURES || list == ARMILLA_TOP_DISTINCTIVE;
}

static void put_list(const describing *d, const armilla_top *top, int64_t group, armilla_top_list list, json_t *object,
                     const char *name)
{
    json_t *entries = json_array();
    armilla_top_entry entry;
    for (int64_t i = 0; armilla_top_entry_get(top, group, list, i, &entry); i++)
        (void)json_array_append_new(entries, is_of_features(list) ? feature_facts(d, &entry, top == d->atoms)
                                                                  : sample_facts(d, &entry));
    (void)json_object_set_new(object, name, entries);
}

static json_t *atom_facts(const describing *d, int64_t k)
{
    json_t *object = json_object();
    armilla_top_group group;
    (void)armilla_top_group_get(d->atoms, k, &group);
    json_put_count(object, "atom", k);
    json_put_number(object, "share", group.share);
    json_put_count(object, "size", group.samples);
    put_list(d, d->atoms, k, ARMILLA_TOP_FEATURES, object, "features");
    put_list(d, d->atoms, k, ARMILLA_TOP_DISTINCTIVE, object, "distinctive");
    put_list(d, d->atoms, k, ARMILLA_TOP_TYPICAL, object, "samples");
    return object;
}

static json_t *cluster_facts(const describing *d, int64_t k)
{
    json_t *object = json_object();
    armilla_top_group group;
    const char *name = cluster_name(d, k);
    char again[TOP_NAME];
    const long long number = strtoll(name, NULL, 10);
    snprintf(again, sizeof again, "%lld", number);
    (void)armilla_top_group_get(d->clusters, k, &group);
    if (is_missing(d, k))
        json_put_text(object, "cluster", NULL);
    else if (strcmp(again, name) == 0) /* not 007, which is another label than 7 */
        (void)json_object_set_new(object, "cluster", json_integer(number));
    else
        json_put_text(object, "cluster", name);
    json_put_count(object, "size", group.samples);
    json_put_number(object, "share", group.share);
    json_put_count(object, "zero_samples", group.zeros);
    json_put_number(object, "coherence", group.coherence);
    put_list(d, d->clusters, k, ARMILLA_TOP_FEATURES, object, "features");
    put_list(d, d->clusters, k, ARMILLA_TOP_TYPICAL, object, "typical");
    put_list(d, d->clusters, k, ARMILLA_TOP_ODD, object, "odd");
    return object;
}

static int64_t zero_samples(const describing *d)
{
    armilla_top_group first;
    (void)armilla_top_group_get(d->atoms, 0, &first);
    return first.zeros;
}

static armilla_status print_json(const describing *d)
{
    json_t *object = json_object(), *atoms = json_array(), *clusters = json_array();
    for (int64_t k = 0; k < armilla_top_count(d->atoms); k++)
        if (shows_atom(d, k)) (void)json_array_append_new(atoms, atom_facts(d, k));
    for (int64_t k = 0; k < armilla_top_count(d->clusters); k++)
        if (shows_cluster(d, k)) (void)json_array_append_new(clusters, cluster_facts(d, k));
    json_put_count(object, "zero_samples", zero_samples(d));
    (void)json_object_set_new(object, "atoms", atoms);
    (void)json_object_set_new(object, "clusters", clusters);
    return json_print(d->session, object);
}

/* The lists of a group, by the names that lines for people and tables give them. */
typedef struct list_row {
    armilla_top_list list;
    const char *name;
} list_row;

static const list_row atom_lists[] = {
    {ARMILLA_TOP_FEATURES, "features"}, {ARMILLA_TOP_DISTINCTIVE, "distinctive"}, {ARMILLA_TOP_TYPICAL, "samples"}};
static const list_row cluster_lists[] = {
    {ARMILLA_TOP_FEATURES, "features"}, {ARMILLA_TOP_TYPICAL, "typical"}, {ARMILLA_TOP_ODD, "odd"}};

static void print_name(const char *name)
{
    char plain[256];
    snprintf(plain, sizeof plain, "%s", name);
    fputs(armilla_plain_text(plain), stdout);
}

static void print_entry(const describing *d, armilla_top_list list, const armilla_top_entry *entry)
{
    char buffer[TOP_NAME];
    const bool features = is_of_features(list);
    print_name(features ? feature_name(d, entry->index, buffer) : sample_name(d, entry->index, buffer));
    if (!features)
        printf(" %.1f°", entry->angle * 180 / acos(-1));
    else if (isfinite(entry->weight))
        printf(list == ARMILLA_TOP_DISTINCTIVE ? " %.2fx" : " %.3g",
               list == ARMILLA_TOP_DISTINCTIVE ? entry->lift : entry->weight);
    else if (isinf(entry->effect))
        printf(" (%.3g : %.3g, without spread)", entry->inside, entry->outside);
    else if (!isnan(entry->effect) && isfinite(entry->p))
        printf(" (%.3g : %.3g, d %.2f, p %.1e)", entry->inside, entry->outside, entry->effect, entry->p);
    else if (!isnan(entry->effect))
        printf(" (%.3g : %.3g, d %.2f)", entry->inside, entry->outside, entry->effect);
    else
        printf(" (%.3g : %.3g)", entry->inside, entry->outside);
}

static void print_lists(const describing *d, const armilla_top *top, int64_t group, const list_row *rows)
{
    armilla_top_entry entry;
    for (size_t i = 0; i < sizeof atom_lists / sizeof *atom_lists; i++) {
        for (int64_t e = 0; armilla_top_entry_get(top, group, rows[i].list, e, &entry); e++) {
            if (e == 0)
                printf("  %-12s", rows[i].name);
            else
                fputs(", ", stdout);
            print_entry(d, rows[i].list, &entry);
        }
        if (armilla_top_entry_get(top, group, rows[i].list, 0, &entry)) putchar('\n');
    }
}

static void print_text(const describing *d)
{
    armilla_top_group group;
    for (int64_t k = 0; k < armilla_top_count(d->atoms); k++) {
        if (!shows_atom(d, k) || !armilla_top_group_get(d->atoms, k, &group)) continue;
        printf("atom %" PRId64 ": share %.1f %%, largest in %" PRId64 " samples\n", k, 100 * group.share,
               group.samples);
        print_lists(d, d->atoms, k, atom_lists);
    }
    for (int64_t k = 0; k < armilla_top_count(d->clusters); k++) {
        if (!shows_cluster(d, k) || !armilla_top_group_get(d->clusters, k, &group)) continue;
        fputs("cluster ", stdout);
        print_name(cluster_name(d, k));
        printf(": %" PRId64 " samples", group.samples);
        if (group.zeros > 0) printf(", %" PRId64 " of them zero", group.zeros);
        if (isfinite(group.coherence)) printf(", coherence %.3f", group.coherence);
        putchar('\n');
        print_lists(d, d->clusters, k, cluster_lists);
    }
}

static armilla_status write_number(armilla_output *output, double number)
{
    return isfinite(number) ? armilla_output_print(output, ",%.9g", number) : armilla_output_print(output, ",");
}

static armilla_status write_entry(const describing *d, armilla_output *output, const list_row *row,
                                  const armilla_top_entry *entry)
{
    const double numbers[] = {entry->weight, entry->lift, entry->inside, entry->outside,
                              entry->effect, entry->p,    entry->angle};
    char buffer[TOP_NAME];
    armilla_status status =
        armilla_output_field(output, is_of_features(row->list) ? feature_name(d, entry->index, buffer)
                                                               : sample_name(d, entry->index, buffer));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == ARMILLA_OK; i++)
        status = write_number(output, numbers[i]);
    return status == ARMILLA_OK ? armilla_output_print(output, "\n") : status;
}

static armilla_status write_group(const describing *d, armilla_output *output, bool atom, int64_t k)
{
    const list_row *rows = atom ? atom_lists : cluster_lists;
    armilla_status status = ARMILLA_OK;
    armilla_top_entry entry;
    char number[TOP_NAME];
    snprintf(number, sizeof number, "%" PRId64, k);
    for (size_t i = 0; i < sizeof atom_lists / sizeof *atom_lists; i++)
        for (int64_t e = 0; status == ARMILLA_OK; e++) {
            if (!armilla_top_entry_get(atom ? d->atoms : d->clusters, k, rows[i].list, e, &entry)) break;
            status = armilla_output_print(output, atom ? "atom," : "cluster,");
            if (status == ARMILLA_OK)
                status = armilla_output_field(output, atom ? number : is_missing(d, k) ? "" : cluster_name(d, k));
            if (status == ARMILLA_OK) status = armilla_output_print(output, ",%s,%" PRId64 ",", rows[i].name, e + 1);
            if (status == ARMILLA_OK) status = write_entry(d, output, &rows[i], &entry);
        }
    return status;
}

static armilla_status write_table(const describing *d)
{
    const cli_settings *settings = d->session->settings;
    armilla_output *output = NULL;
    armilla_status status = armilla_output_new(d->session->context, settings->out, settings->force, &output);
    if (status == ARMILLA_OK)
        status =
            armilla_output_print(output, "kind,number,list,place,name,weight,lift,inside,outside,effect,p,angle\n");
    for (int64_t k = 0; k < armilla_top_count(d->atoms) && status == ARMILLA_OK; k++)
        if (shows_atom(d, k)) status = write_group(d, output, true, k);
    for (int64_t k = 0; k < armilla_top_count(d->clusters) && status == ARMILLA_OK; k++)
        if (shows_cluster(d, k)) status = write_group(d, output, false, k);
    if (status == ARMILLA_OK) status = armilla_output_commit(output);
    armilla_output_free(output);
    if (status == ARMILLA_OK) message_line(&d->session->messages, "written   %s", settings->out);
    return status;
}

/* Names from files of their own become the model's where there are no data to have them. */
static armilla_status open_inputs(describing *d)
{
    cli_session *session = d->session;
    const top_settings *settings = d->settings;
    const char *const names[] = {settings->reading.file.feature_names, settings->reading.file.sample_names};
    const char *path = settings->common.operands[0];
    static const char *const of_models[] = {"feature-names", "sample-names", NULL};
    armilla_status status = ARMILLA_OK;
    if (!settings->data) status = reading_refuse(session, path, of_models, ", or give --data DATA");
    if (status == ARMILLA_OK) status = open_model(session, path, &d->model);
    for (int kind = 0; kind <= ARMILLA_SAMPLE_NAMES && status == ARMILLA_OK && !settings->data; kind++)
        if (names[kind])
            status = armilla_model_read_names(session->context, d->model, (armilla_naming)kind, names[kind]);
    if (status == ARMILLA_OK && settings->data) status = open_for_model(session, d->model, settings->data, &d->X);
    if (status == ARMILLA_OK && has_clusters(d)) status = open_clusters(d);
    if (status == ARMILLA_OK && settings->only_clusters && !has_clusters(d))
        status = fail(session, ARMILLA_BAD_ARGUMENT, "--only-clusters has no effect without --clusters LABELS");
    return status;
}

static void hint(const describing *d)
{
    if (zero_samples(d) > 0)
        message_line(&d->session->messages,
                     "zeros     %" PRId64 " of the samples are 0 and have no angle: they are neither typical nor odd",
                     zero_samples(d));
    const bool named =
        armilla_model_name(d->model, ARMILLA_FEATURE_NAMES, 0) || armilla_data_name(d->X, ARMILLA_FEATURE_NAMES, 0);
    if (!named)
        message_line(&d->session->messages,
                     "names     the features have none and are numbered from 1; --feature-names FILE gives names");
}

static armilla_status describe(describing *d)
{
    cli_session *session = d->session;
    const top_settings *settings = d->settings;
    const char *path = settings->data ? settings->data : settings->common.operands[0];
    armilla_model_summary summary;
    armilla_model_summarize(d->model, &summary);
    armilla_status status = check_list(d, "--atoms", settings->atoms, summary.rank, shows_atom);
    if (status == ARMILLA_OK && has_clusters(d))
        status = check_list(d, "--only-clusters", settings->only_clusters, d->labels.classes, shows_cluster);
    if (status == ARMILLA_OK)
        status = about(session, path,
                       armilla_top_atoms(session->context, d->model, d->X, settings->count,
                                         (int)settings->common.threads, &d->atoms));
    if (status == ARMILLA_OK && has_clusters(d))
        status =
            about(session, path,
                  armilla_top_clusters(session->context, d->model, d->X, &d->labels, settings->count, &d->clusters));
    return status;
}

static armilla_status run(cli_session *session)
{
    const output_path output = {"--out", session->settings->out, ".csv", NULL};
    describing d = {.session = session, .settings = (const top_settings *)session->settings};
    armilla_status status = outputs_check(session, &output, 1);
    if (status == ARMILLA_OK) status = open_inputs(&d);
    if (status == ARMILLA_OK) status = describe(&d);
    if (status == ARMILLA_OK) hint(&d);
    if (status == ARMILLA_OK && session->settings->out) status = write_table(&d);
    if (status == ARMILLA_OK && session->settings->json) status = print_json(&d);
    if (status == ARMILLA_OK && !session->settings->json && !session->settings->out) print_text(&d);
    armilla_top_free(d.clusters);
    armilla_top_free(d.atoms);
    armilla_release(session->context, d.first);
    armilla_labels_free(session->context, &d.labels);
    armilla_data_free(d.carrier);
    armilla_data_free(d.X);
    armilla_model_free(d.model);
    return status;
}

const cli_command command_top = {
    .name = "top",
    .synopsis = "MODEL [--data DATA] [--clusters LABELS] [options]",
    .meaning = "what atoms and clusters are about: their features and samples",
    .operands = {"MODEL"},
    .required = 1,
    .settings_size = sizeof(top_settings),
    .options = options,
    .groups = {{&group_reading, offsetof(top_settings, reading)}},
    .input = offsetof(top_settings, data),
    .notes =
        "Of each atom: its features by weight, those that it has more of than other atoms do (by weight times lift,\n"
        "which is the feature's part of the atom over the mean of its parts of all atoms), and the samples at the\n"
        "smallest angles. Of each cluster: size, coherence (the mean cosine of its samples with their mean direction),\n"
        "the features that set it apart, its typical and its odd samples. With --data features are compared as the\n"
        "model prepares them: means inside and outside, the difference in standard deviations (d), and for counts the\n"
        "p of a rank test, corrected for all features. Angles are in radians in JSON and tables.\n\n"
        "examples:\n"
        "  armilla top model.npz --count 5\n"
        "  armilla top model.npz --data counts.mtx --clusters clusters.txt --json\n"
        "  armilla top model.npz --data cells.h5ad --atoms none    # the clusters that the model keeps, alone\n",
    .run = run,
};
