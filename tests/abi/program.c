/* Compiled against the headers of a release (tests/abi/armilla-*), run with a library whose structs have grown since:
 * every function that takes or fills a struct works, and nothing behind a struct is written. */
#include <armilla/armilla.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 6, N = 24, R = 2, BEHIND = 512 };

static armilla_context *context;

static void fail(const char *what, int line)
{
    fprintf(stderr, "program.c:%d: %s\n%s\n", line, what, context ? armilla_context_error(context) : "");
    exit(1);
}

#define HOLDS(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))
#define OK(call) HOLDS((call) == ARMILLA_OK)

/* A struct and bytes behind it that nobody may touch. */
#define GUARDED(type, name)                                                                                            \
    struct {                                                                                                           \
        type value;                                                                                                    \
        unsigned char behind[BEHIND];                                                                                  \
    } name;                                                                                                            \
    memset(&(name), 0xa5, sizeof(name))
#define UNTOUCHED(name) untouched((name).behind, __LINE__)

static void untouched(const unsigned char *behind, int line)
{
    for (int i = 0; i < BEHIND; i++)
        if (behind[i] != 0xa5) fail("something was written behind a struct", line);
}

static int watched, iterations;

static int watch(void *user, const armilla_progress *progress)
{
    (void)user;
    HOLDS(progress->size >= sizeof *progress && progress->fraction >= 0 && progress->fraction <= 1);
    watched++;
    return 0;
}

static int count_iterations(void *user, const armilla_trace_entry *entry)
{
    (void)user;
    HOLDS(entry->size >= sizeof *entry && entry->iteration == iterations);
    iterations++;
    return 0;
}

static void *resize(void *user, void *block, size_t bytes)
{
    (void)user;
    if (bytes > 0) return realloc(block, bytes);
    free(block);
    return NULL;
}

static armilla_data *make_data(double *values)
{
    armilla_data *X = NULL;
    for (int i = 0; i < M * N; i++) values[i] = 1 + (double)(i * i % 17) + (i / M % 2 ? 8.0 * (i % M < 3) : 0);
    OK(armilla_data_wrap_dense(context, ARMILLA_F64, values, M, N, M, &X));
    return X;
}

/* Options: set by hand and by the rows of the running library's table, of which some may be newer than this program. */
static armilla_model *fit(const armilla_data *X)
{
    GUARDED(armilla_options, options);
    armilla_model *model = NULL;
    int rows = 0;
    armilla_options_default(&options.value);
    UNTOUCHED(options);
    HOLDS(options.value.size == sizeof options.value && options.value.max_iter == 500);
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row)) {
        char shown[64];
        HOLDS(row->size >= sizeof *row && row->help);
        (void)armilla_option_show(row, &options.value, shown, sizeof shown);
        rows++;
    }
    HOLDS(rows >= 20);
    OK(armilla_option_set(context, armilla_option_find(armilla_option_table(), "rank"), &options.value, "2"));
    HOLDS(options.value.rank == R);
    options.value.model = "spherical-nmf";
    options.value.max_iter = 5;
    options.value.tol = 0;
    options.value.threads = 1;
    options.value.callback = count_iterations;
    OK(armilla_options_check(context, &options.value));
    OK(armilla_fit_check(context, X, &options.value));
    OK(armilla_fit(context, X, &options.value, &model));
    UNTOUCHED(options);
    HOLDS(iterations == 6);
    return model;
}

static void look_at_model(const armilla_model *model, const armilla_data *X)
{
    GUARDED(armilla_model_summary, summary);
    GUARDED(armilla_trace_entry, entry);
    GUARDED(armilla_check, check);
    armilla_model_summarize(model, &summary.value);
    UNTOUCHED(summary);
    HOLDS(summary.value.size == sizeof summary.value && summary.value.m == M && summary.value.n == N);
    HOLDS(strcmp(summary.value.basis, "nonnegative") == 0 && summary.value.radius > 0);
    HOLDS(armilla_model_trace_count(model) == 6);
    for (int64_t k = 0; k < 6; k++) {
        HOLDS(armilla_model_trace_entry(model, k, &entry.value));
        HOLDS(entry.value.iteration == k && entry.value.objective >= 0 && entry.value.size == sizeof entry.value);
    }
    HOLDS(!armilla_model_trace_entry(model, 6, &entry.value));
    UNTOUCHED(entry);
    OK(armilla_model_check(context, model, X, &check.value));
    UNTOUCHED(check);
    HOLDS(check.value.passed && check.value.fingerprint_matches && check.value.finding[0] == '\0');
}

/* Arrays out of the model, a model out of the arrays, and both through memory. */
static void rebuild(const armilla_model *model, const armilla_data *X)
{
    GUARDED(armilla_model_arrays, arrays);
    GUARDED(armilla_options, options);
    armilla_model_summary summary;
    armilla_model *made = NULL, *opened = NULL;
    double codes[R * N], back[M * N];
    void *bytes = NULL;
    size_t count = 0;
    armilla_model_summarize(model, &summary);
    armilla_options_default(&options.value);
    options.value.rank = R;
    options.value.model = "spherical-nmf";
    armilla_model_arrays_default(&arrays.value);
    HOLDS(arrays.value.size == sizeof arrays.value);
    arrays.value.precision = summary.precision;
    arrays.value.m = M;
    arrays.value.n = N;
    arrays.value.basis = armilla_model_basis(model);
    arrays.value.codes = armilla_model_codes(model);
    arrays.value.radius = summary.radius;
    OK(armilla_model_from_arrays(context, &options.value, &arrays.value, &made));
    UNTOUCHED(arrays);
    UNTOUCHED(options);
    OK(armilla_model_save_memory(context, made, &bytes, &count));
    OK(armilla_model_open_memory(context, bytes, count, &opened));
    armilla_release(context, bytes);
    HOLDS(memcmp(armilla_model_basis(opened), armilla_model_basis(model), M * R * sizeof(double)) == 0);
    OK(armilla_model_transform(context, opened, X, 1, codes));
    HOLDS(memcmp(codes, armilla_model_codes(model), sizeof codes) == 0);
    OK(armilla_model_reconstruct_codes(context, opened, codes, N, back));
    armilla_model_free(opened);
    armilla_model_free(made);
}

static void look_at_data(const armilla_data *X, const char *path)
{
    GUARDED(armilla_data_facts, facts);
    GUARDED(armilla_write_options, written);
    GUARDED(armilla_read_options, read);
    GUARDED(armilla_selection, selection);
    armilla_data *opened = NULL, *kept = NULL;
    OK(armilla_data_survey(context, X, 1, &facts.value));
    UNTOUCHED(facts);
    HOLDS(facts.value.squared_norm > 0 && facts.value.bad_sample == -1);
    armilla_write_options_default(&written.value);
    written.value.overwrite = true;
    written.value.format = "npy";
    OK(armilla_data_write_check(context, path, &written.value));
    OK(armilla_data_write(context, X, path, &written.value));
    UNTOUCHED(written);
    armilla_read_options_default(&read.value);
    read.value.format = "npy";
    OK(armilla_data_open(context, path, &read.value, &opened));
    UNTOUCHED(read);
    HOLDS(armilla_data_features(opened) == M && armilla_data_samples(opened) == N);
    armilla_selection_default(&selection.value);
    selection.value.samples = "1-5";
    OK(armilla_data_select(context, opened, &selection.value, &kept));
    UNTOUCHED(selection);
    HOLDS(armilla_data_samples(kept) == 5);
    armilla_data_free(kept);
    armilla_data_free(opened);
    HOLDS(remove(path) == 0);
}

static void cluster(const armilla_model *model, armilla_data *X)
{
    GUARDED(armilla_cluster_options, options);
    GUARDED(armilla_options, preparation);
    GUARDED(armilla_cluster_summary, summary);
    GUARDED(armilla_scores, scores);
    GUARDED(armilla_labels, labels);
    const char *texts[N];
    armilla_clustering *clusters = NULL;
    armilla_cluster_options_default(&options.value);
    armilla_options_default(&preparation.value);
    options.value.k = 2;
    OK(armilla_cluster_recipe(context, X, &preparation.value, &options.value));
    UNTOUCHED(options);
    UNTOUCHED(preparation);
    HOLDS(options.value.method && preparation.value.rank > 0 && options.value.size == sizeof options.value);
    OK(armilla_cluster_model(context, model, &options.value, &clusters));
    armilla_clustering_free(clusters);
    OK(armilla_cluster_data(context, X, &preparation.value, &options.value, &clusters));
    UNTOUCHED(options);
    armilla_clustering_summarize(clusters, &summary.value);
    UNTOUCHED(summary);
    HOLDS(summary.value.k == 2 && summary.value.n == N);
    for (int j = 0; j < N; j++) texts[j] = j % 2 ? "odd" : "even";
    OK(armilla_data_set_names(X, ARMILLA_SAMPLE_LABELS, texts, N));
    OK(armilla_labels_of_data(context, X, &labels.value));
    UNTOUCHED(labels);
    HOLDS(labels.value.count == N && labels.value.classes == 2);
    OK(armilla_score(context, N, armilla_clustering_labels(clusters), labels.value.values, &scores.value));
    UNTOUCHED(scores);
    HOLDS(scores.value.accuracy > 0 && scores.value.accuracy <= 1);
    armilla_labels_free(context, &labels.value);
    UNTOUCHED(labels);
    armilla_clustering_free(clusters);
}

static void look_at_tables(void)
{
    GUARDED(armilla_table_row, row);
    for (int table = 0; table < ARMILLA_TABLE_COUNT; table++) {
        size_t rows = 0;
        while (armilla_table_get((armilla_table)table, rows, &row.value)) {
            HOLDS(row.value.name && row.value.meaning && row.value.size == sizeof row.value);
            rows++;
        }
        HOLDS(rows > 0);
    }
    UNTOUCHED(row);
}

static armilla_status fill(void *self, int64_t first, int64_t count, void *buffer, int64_t stride, char *message)
{
    const double *values = self;
    (void)message;
    for (int64_t j = 0; j < count; j++)
        memcpy((double *)buffer + j * stride, values + (first + j) * M, M * sizeof *values);
    return ARMILLA_OK;
}

static int exchange_nothing(void *self, int with, void *bytes, size_t count)
{
    (void)self;
    (void)bytes;
    return with != 0 || count != 0;
}

static int send_nothing(void *self, int to, const void *bytes, size_t count)
{
    (void)bytes;
    return exchange_nothing(self, to, NULL, count);
}

/* The same numbers from a function, and looked at by the only one of the ranks. */
static void look_at_source(const armilla_data *X, double *values)
{
    GUARDED(armilla_data_source, source);
    GUARDED(armilla_ranks, ranks);
    armilla_data_facts facts, same;
    armilla_data *data = NULL;
    armilla_data_source_default(&source.value);
    armilla_ranks_default(&ranks.value);
    source.value.m = M;
    source.value.n = N;
    source.value.fill = fill;
    source.value.self = values;
    ranks.value.send = send_nothing;
    ranks.value.receive = exchange_nothing;
    OK(armilla_data_from_source(context, &source.value, &data));
    OK(armilla_context_set_ranks(context, &ranks.value));
    OK(armilla_data_survey(context, X, 1, &facts));
    OK(armilla_data_survey(context, data, 1, &same));
    OK(armilla_context_set_ranks(context, NULL));
    HOLDS(facts.fingerprint == same.fingerprint && facts.squared_norm == same.squared_norm);
    UNTOUCHED(source);
    UNTOUCHED(ranks);
    armilla_data_free(data);
}

/* A struct that was never given a size is refused, not read. */
static void refuse_no_size(const armilla_data *X)
{
    armilla_options options;
    armilla_model *model = NULL;
    armilla_options_default(&options);
    options.size = 0;
    HOLDS(armilla_fit(context, X, &options, &model) == ARMILLA_BAD_ARGUMENT && !model);
    HOLDS(strstr(armilla_context_error(context), "armilla_options_default"));
}

int main(int count, char **arguments)
{
    GUARDED(armilla_allocator, allocator);
    double values[M * N];
    memset(&allocator.value, 0, sizeof allocator.value);
    allocator.value.size = sizeof allocator.value;
    allocator.value.resize = resize;
    HOLDS(count == 2);
    OK(armilla_context_new(&allocator.value, &context));
    armilla_context_set_watch(context, watch, NULL);
    armilla_data *X = make_data(values);
    armilla_model *model = fit(X);
    look_at_model(model, X);
    rebuild(model, X);
    look_at_data(X, arguments[1]);
    look_at_source(X, values);
    cluster(model, X);
    look_at_tables();
    refuse_no_size(X);
    HOLDS(watched > 0);
    UNTOUCHED(allocator);
    armilla_model_free(model);
    armilla_data_free(X);
    armilla_context_free(context);
    return 0;
}
