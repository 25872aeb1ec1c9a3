/* armilla demo clustering: how well clusters agree with known classes, for k-means and its relatives and for the models
 * of the paper, over several seeds. Each figure is that of an `armilla cluster` command, whose options the table of
 * results has; the sets are those of cli/sets and of --data. */
#include "demo.h"
#include "embedded.h"
#include "preparing.h"
#include "settings.h"
#include "signals.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is done to the data first: nothing; what `armilla cluster` chooses; the same without centring, for parts that
 * add up; or nothing is said, as a newcomer would. */
typedef enum preparation { RAW, CHOSEN, UNCENTRED, UNSAID } preparation;

typedef struct method {
    const char *name;
    preparation prepared;
    const char *model, *on, *by; /* NULL: as the command chooses */
    int64_t sparsity;            /* 0: none */
    bool fits;                   /* wants a rank: the number of classes, or of features where these are fewer */
} method;

static const method methods[] = {
    {"k-means on raw data", RAW, .on = "data", .by = "euclidean"},
    {"k-means", CHOSEN, .on = "data", .by = "euclidean"},
    {"spherical k-means", CHOSEN, .on = "data"},
    {"PCA + k-means", CHOSEN, .model = "pca", .by = "euclidean", .fits = true},
    {"NMF, largest entry", UNCENTRED, .model = "nmf", .by = "argmax"},
    {"NMF + spherical k-means", UNCENTRED, .model = "nmf", .fits = true},
    {"spherical PCA", CHOSEN, .model = "spherical-pca", .fits = true},
    {"spherical NMF", UNCENTRED, .model = "spherical-nmf", .fits = true},
    {"sparse spherical PCA", CHOSEN, .model = "sparse-spherical-pca", .sparsity = 2, .fits = true},
    {"sparse spherical NMF", UNCENTRED, .model = "sparse-spherical-nmf", .sparsity = 2, .fits = true},
    {"armilla cluster", UNSAID, .model = NULL},
};

/* How labelled sets lie in a folder: NAME and an ending, and the classes in a file beside it or in a column. */
static const struct {
    const char *data, *labels;
    bool columns; /* one sample per column */
} forms[] = {
    {".mtx.gz", ".labels", true},
    {".mtx", ".labels", true},
    {".npy", ".labels", false},
    {".npz", ".labels", false},
    {"-images-idx3-ubyte", "-labels-idx1-ubyte", false},
    {"-images-idx3-ubyte.gz", "-labels-idx1-ubyte.gz", false},
    {".csv", NULL, false},
    {".csv.gz", NULL, false},
};

typedef struct labelled_set {
    char name[NAME_MAX + 1];
    const char *samples, *labels, *label_column; /* how the job's input is read */
    int64_t n, m, classes;
    armilla_options chosen; /* the preparation that fits it */
} labelled_set;

/* The two tables that are written. */
typedef struct tables {
    armilla_output *scores, *means;
} tables;

/* Opens the set, counts its classes and asks for the preparation that fits it. */
static armilla_status look(demo_job *job, labelled_set *set)
{
    cli_session *session = job->session;
    armilla_data *X = NULL;
    armilla_labels truth = {.count = 0};
    armilla_cluster_options clusters;
    armilla_options_default(&set->chosen);
    armilla_cluster_options_default(&clusters);
    const armilla_read_options options = {.size = sizeof options,
                                          .sample_columns = samples_are_columns(set->samples),
                                          .labels = set->labels,
                                          .label_column = set->label_column};
    signals_reading(job->inputs[0]);
    armilla_status status = armilla_data_open(session->context, job->inputs[0], &options, &X);
    if (status == ARMILLA_OK) status = armilla_labels_of_data(session->context, X, &truth);
    clusters.k = truth.classes;
    if (status == ARMILLA_OK) status = armilla_cluster_recipe(session->context, X, &set->chosen, &clusters);
    if (status == ARMILLA_OK) {
        set->n = armilla_data_samples(X);
        set->m = armilla_data_features(X);
        set->classes = truth.classes;
    }
    armilla_labels_free(session->context, &truth);
    armilla_data_free(X);
    return status;
}

typedef struct moments {
    double sum, square;
} moments;

static void add(moments *m, double value)
{
    m->sum += value;
    m->square += value * value;
}

static double mean(const moments *m, int64_t count)
{
    return m->sum / (double)count;
}

static double deviation(const moments *m, int64_t count)
{
    return count > 1 ? sqrt(fmax(0, m->square - m->sum * mean(m, count)) / (double)(count - 1)) : 0;
}

static armilla_status put_means(demo_job *job, const labelled_set *set, const method *by, const char *options,
                                const moments found[4], const tables *to)
{
    const int64_t seeds = job->settings->seeds;
    char taken[32];
    message_duration(mean(&found[3], seeds), taken, sizeof taken);
    message_line(&job->session->messages,
                 "          %-23s accuracy %.3f ± %.3f   nmi %.3f ± %.3f   ari %.3f ± %.3f   %s", by->name,
                 mean(&found[0], seeds), deviation(&found[0], seeds), mean(&found[1], seeds),
                 deviation(&found[1], seeds), mean(&found[2], seeds), deviation(&found[2], seeds), taken);
    return armilla_output_print(to->means,
                                "\"%s\",%" PRId64 ",%" PRId64 ",%" PRId64 ",\"%s\",%" PRId64
                                ",%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.3f,%s\n",
                                set->name, set->n, set->m, set->classes, by->name, seeds, mean(&found[0], seeds),
                                deviation(&found[0], seeds), mean(&found[1], seeds), deviation(&found[1], seeds),
                                mean(&found[2], seeds), deviation(&found[2], seeds), mean(&found[3], seeds), options);
}

static void show_progress(demo_job *job, const labelled_set *set, const method *by, int64_t seed)
{
    cli_session *session = job->session;
    char text[512];
    if (!session->messages.terminal || session->messages.quiet) return;
    snprintf(text, sizeof text, "%s: %s, seed %" PRId64 " of %" PRId64, set->name, by->name, seed,
             job->settings->seeds);
    message_progress(&session->messages, text);
}

/* Makes the clustering of the set ready that a newcomer would ask for. The labels go to a file because they would go to
 * standard output else. */
static cluster_settings *begin(demo_job *job, const labelled_set *set, int64_t seed)
{
    cluster_settings *settings = cluster_settings_of(demo_begin(job, &command_cluster));
    settings->common.operands[0] = job->inputs[0];
    settings->reading.samples = set->samples;
    settings->reading.labels = set->labels;
    settings->reading.label_column = set->label_column;
    settings->common.out = demo_name(job, "labels.txt");
    settings->fit.seed = seed;
    return settings;
}

static void prepare(const labelled_set *set, preparation prepared, cluster_settings *settings)
{
    if (prepared == UNSAID) return;
    settings->prepare = "none";
    if (prepared == RAW) return;
    preparing_take(&settings->fit, &set->chosen);
    settings->fit.center &= prepared == CHOSEN;
}

static void choose(const labelled_set *set, const method *by, cluster_settings *settings)
{
    settings->cluster.k = set->classes;
    settings->cluster.method = by->by;
    settings->fit.model = by->model;
    settings->fit.sparsity = by->sparsity;
    if (by->on) settings->on = by->on;
    if (by->fits) settings->fit.rank = set->classes < set->m ? set->classes : set->m;
    prepare(set, by->prepared, settings);
}

/* What is in the second settings and not in the first, as a user would type it. */
static void put_options(cluster_settings *plain, cluster_settings *given, char *text, size_t size)
{
    option_table by[OPTION_TABLES];
    const size_t count = settings_tables(&command_cluster, by);
    size_t used = 0;
    text[0] = '\0';
    for (size_t t = 0; t < count; t++)
        for (const armilla_option *row = by[t].rows; row->name; row = armilla_option_next(row)) {
            char usual[64], value[64];
            (void)armilla_option_show(row, settings_at(&plain->common, by[t].offset), usual, sizeof usual);
            (void)armilla_option_show(row, settings_at(&given->common, by[t].offset), value, sizeof value);
            if (strcmp(usual, value) == 0 || used >= size) continue;
            const bool flag = row->kind == ARMILLA_OPTION_FLAG;
            used += (size_t)snprintf(text + used, size - used, "%s--%s%s%s", used ? " " : "", row->name,
                                     flag ? "" : " ", flag ? "" : value);
        }
}

/* One method on one set, with each seed. */
static armilla_status measure(demo_job *job, const labelled_set *set, const method *by, const tables *to)
{
    cli_session *session = job->session;
    const int64_t first = job->settings->seed, seeds = job->settings->seeds;
    moments found[4] = {{0, 0}};
    char options[256] = "";
    armilla_status status = ARMILLA_OK;
    for (int64_t s = 0; s < seeds && status == ARMILLA_OK && !session->exit; s++) {
        const double begun = now();
        cluster_settings *settings = begin(job, set, first + s), plain = *settings;
        show_progress(job, set, by, s + 1);
        choose(set, by, settings);
        put_options(&plain, settings, options, sizeof options);
        status = demo_run(job);
        const double seconds = now() - begun;
        const armilla_scores *scores = &session->scores;
        if (status == ARMILLA_OK && !session->exit)
            status = armilla_output_print(to->scores, "\"%s\",\"%s\",%" PRId64 ",%.9f,%.9f,%.9f,%.3f\n", set->name,
                                          by->name, first + s, scores->accuracy, scores->nmi, scores->ari, seconds);
        add(&found[0], scores->accuracy);
        add(&found[1], scores->nmi);
        add(&found[2], scores->ari);
        add(&found[3], seconds);
    }
    if (status != ARMILLA_OK || session->exit) return status;
    return put_means(job, set, by, options, found, to);
}

/* What one set or method cannot do shall not end the others: reported, where tables are written, and left out. */
static armilla_status leave_out(demo_job *job, const char *what, bool reported, armilla_status status)
{
    cli_session *session = job->session;
    if (status != ARMILLA_BAD_DATA && status != ARMILLA_BAD_ARGUMENT) return status;
    if (reported)
        message_line(&session->messages, "%s left out: %s", what,
                     *session->error ? session->error : armilla_context_error(session->context));
    *session->error = 0;
    return ARMILLA_OK;
}

static armilla_status measure_set(demo_job *job, labelled_set *set, const tables *to)
{
    armilla_status status = look(job, set);
    if (status != ARMILLA_OK) return leave_out(job, set->name, to != NULL, status);
    if (!to) return ARMILLA_OK;
    message_line(&job->session->messages, "%-9s %" PRId64 " samples of %" PRId64 " features, %" PRId64 " classes%s",
                 set->name, set->n, set->m, set->classes, set->classes < 2 ? ": left out" : "");
    for (size_t i = 0; i < sizeof methods / sizeof *methods && set->classes > 1; i++) {
        status = leave_out(job, methods[i].name, true, measure(job, set, &methods[i], to));
        if (status != ARMILLA_OK || job->session->exit) break;
    }
    return status;
}

/* Whether name ends so, and something stands before. */
static bool ends(const char *name, const char *ending)
{
    const size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

/* The set that the file of the folder is, if it is one. */
static armilla_status take_file(demo_job *job, const char *folder, const char *file, const tables *to)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        labelled_set set = {.n = 0};
        if (!ends(file, forms[i].data)) continue;
        const int stem = (int)(strlen(file) - strlen(forms[i].data));
        snprintf(set.name, sizeof set.name, "%.*s", stem, file);
        for (char *c = set.name; *c; c++) *c = *c == '"' ? '_' : *c; /* it stands between quotes */
        snprintf(job->inputs[0], PATH_MAX, "%s/%s", folder, file);
        set.samples = forms[i].columns ? "columns" : "rows";
        set.label_column = forms[i].labels ? NULL : "class";
        if (forms[i].labels) {
            snprintf(job->inputs[1], PATH_MAX, "%s/%.*s%s", folder, stem, file, forms[i].labels);
            set.labels = job->inputs[1];
        }
        if (!forms[i].labels || access(job->inputs[1], R_OK) == 0) return measure_set(job, &set, to);
        if (to) message_line(&job->session->messages, "%-9s left out: there is no %s", set.name, job->inputs[1]);
        return ARMILLA_OK;
    }
    return ARMILLA_OK;
}

static armilla_status take_embedded(demo_job *job, const tables *to)
{
    armilla_status status = ARMILLA_OK;
    for (const embedded_file *file = embedded_files; file->name && status == ARMILLA_OK; file++) {
        armilla_output *output = NULL;
        status = demo_output(job, file->name, &output);
        if (status == ARMILLA_OK) status = armilla_output_write(output, file->bytes, file->size);
        status = demo_finish(job, output, status);
        if (status == ARMILLA_OK && !job->session->exit) status = take_file(job, job->folder, file->name, to);
    }
    return status;
}

/* All sets of --data, by name; without tables they are only looked at. */
static armilla_status take_folder(demo_job *job, const tables *to)
{
    const char *folder = job->settings->folder;
    struct dirent **found = NULL;
    armilla_status status = ARMILLA_OK;
    if (!*folder || job->session->exit) return ARMILLA_OK;
    const int count = scandir(folder, &found, NULL, alphasort);
    if (count < 0) return fail(job->session, ARMILLA_CANNOT_OPEN, "%s: cannot be opened: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (status == ARMILLA_OK && !job->session->exit) status = take_file(job, folder, found[i]->d_name, to);
        free(found[i]);
    }
    free(found);
    return status;
}

/* Every set is opened once before the work begins: what cannot be opened shall not end it. */
static armilla_status find(demo_job *job)
{
    return take_folder(job, NULL);
}

static armilla_status write_tables(demo_job *job, tables *to)
{
    armilla_status status = demo_output(job, "scores.csv", &to->scores);
    if (status == ARMILLA_OK) status = demo_output(job, "table.csv", &to->means);
    if (status == ARMILLA_OK) status = armilla_output_print(to->scores, "set,method,seed,accuracy,nmi,ari,seconds\n");
    if (status == ARMILLA_OK)
        status = armilla_output_print(to->means, "set,samples,features,classes,method,seeds,accuracy,accuracy_sd,nmi,"
                                                 "nmi_sd,ari,ari_sd,seconds,options\n");
    if (status == ARMILLA_OK) status = take_embedded(job, to);
    if (status == ARMILLA_OK) status = take_folder(job, to);
    return status;
}

/* The model whose codes are drawn. */
static armilla_status fit_digits(demo_job *job)
{
    fit_settings *settings = fit_settings_of(demo_begin(job, &command_fit));
    settings->common.operands[0] = demo_name(job, "digits.csv.gz");
    settings->reading.label_column = "class";
    settings->fit.rank = 10;
    settings->fit.model = "spherical-pca";
    settings->fit.normalize = "l2";
    settings->common.out = demo_name(job, "model.npz");
    settings->trace = demo_name(job, "trace.csv");
    return demo_run(job);
}

static armilla_status run(demo_job *job)
{
    tables to = {NULL, NULL};
    char labels[PATH_MAX];
    armilla_status status = write_tables(job, &to);
    status = demo_finish(job, to.scores, status);
    status = demo_finish(job, to.means, status);
    (void)unlink(demo_path(job, "labels.txt", labels));
    return status == ARMILLA_OK && !job->session->exit ? fit_digits(job) : status;
}

static const char *const files[] = {"digits.csv.gz", "iris.csv",  "wine.csv",  "labels.txt", "scores.csv",
                                    "table.csv",     "model.npz", "trace.csv", NULL};

static const demo_picture pictures[] = {
    {.kind = "clusters", .model = "model.npz"},
    {.kind = "sphere", .model = "model.npz"},
    {.kind = NULL},
};

const demo demo_clustering = {
    .name = "clustering", .files = files, .pictures = pictures, .data = "", .seeds = 10, .find = find, .run = run};
