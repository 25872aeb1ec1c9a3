/* Advice by kinds of data: one table, which README and the tutorials follow (tests/cli/info_check.py compares them). */
#include "advice.h"

#include "reading.h"
#include "streams.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Data, and the recipe of `armilla cluster` for them. */
typedef struct look {
    const cli_session *session;
    const armilla_data *X;
    const armilla_options *recipe;
    bool mixed; /* some entry is negative */
} look;

static bool has_format(const cli_session *session, const char *const *formats)
{
    for (; *formats && session->format; formats++)
        if (strcmp(*formats, session->format) == 0) return true;
    return false;
}

/* Ensembl's identifiers, or mitochondrial genes among the names. */
static bool has_genes(const armilla_data *X, armilla_naming kind, int64_t count)
{
    enum { LOOKED_AT = 50000, SOME = 3 };
    int64_t ids = 0, mitochondrial = 0, i = 0;
    for (; i < count && i < LOOKED_AT; i++) {
        const char *name = armilla_data_name(X, kind, i);
        if (!name) return false;
        const size_t letters = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        ids += strncmp(name, "ENS", 3) == 0 && name[letters - 1] == 'G' && strspn(name + letters, "0123456789") > 5;
        mitochondrial += strncmp(name, "MT-", 3) == 0 || strncmp(name, "mt-", 3) == 0;
    }
    return 2 * ids > i || mitochondrial >= SOME;
}

static bool is_counts(const look *at)
{
    return at->recipe->tfidf;
}

static bool is_cells(const look *at)
{
    static const char *const formats[] = {"10x", "hdf5", NULL};
    return is_counts(at) &&
           (has_format(at->session, formats) || has_genes(at->X, ARMILLA_FEATURE_NAMES, armilla_data_features(at->X)));
}

static bool is_images(const look *at)
{
    static const char *const formats[] = {"idx", "images", NULL};
    const bool dense = strncmp(armilla_data_storage(at->X), "sparse", 6) != 0;
    return dense && (has_format(at->session, formats) || armilla_data_type(at->X) == ARMILLA_U8);
}

static bool has_units(const look *at)
{
    return at->recipe->scale;
}

static bool is_mixed(const look *at)
{
    return at->mixed || at->recipe->center;
}

static bool is_any(const look *at)
{
    (void)at;
    return true;
}

/* The first that applies. */
static const struct advice {
    bool (*applies)(const look *at);
    const char *atoms; /* what they are called */
    int64_t rank;      /* to begin with */
    const char *model, *preparation;
    int64_t top; /* --top-features, of data that have more */
} kinds[] = {
    {is_cells, "programs:", 30, "nmf", "--total median --log1p --normalize l2", 2000},
    {is_counts, "topics:", 20, "nmf", "--log1p --tfidf --normalize l2", 0},
    {is_images, "parts:", 49, "spherical-nmf", "--normalize l2", 0},
    {has_units, "parts:", 5, "spherical-pca", "--scale --center --normalize l2", 0},
    {is_mixed, "parts:", 10, "spherical-pca", "--center --normalize l2", 0},
    {is_any, "parts:", 10, "nmf", "--normalize l2", 0},
};

/* Small beside both dimensions, and one that every basis admits. */
static int64_t choose_rank(const armilla_data *X, int64_t usual)
{
    const int64_t m = armilla_data_features(X), n = armilla_data_samples(X), most = ((m < n ? m : n) + 1) / 2;
    return most < usual ? most : usual;
}

void advice_hint(json_t *hints, const char *format, ...)
{
    char line[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    json_t *text = json_string(line);
    if (text) (void)json_array_append_new(hints, text);
}

/* "armilla COMMAND FILE", the options of reading, and others. */
static armilla_status add_command(cli_session *session, json_t *hints, const char *opening, const char *others)
{
    char *line = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&line, &size);
    if (stream) {
        fputs(opening, stream);
        message_put_path(stream, streams_given(session, session->settings->operands[0]));
        reading_print(session, stream);
        fputs(others, stream);
    }
    const bool whole = stream && fclose(stream) == 0;
    json_t *text = whole ? json_string(line) : NULL;
    if (text) (void)json_array_append_new(hints, text);
    free(line);
    return whole ? ARMILLA_OK : fail(session, ARMILLA_NO_MEMORY, "out of memory for the report");
}

enum { FEW = 30 }; /* samples, of which no number of clusters is found; nor of a single feature */

armilla_status advice_put(cli_session *session, const armilla_data *X, bool mixed, json_t *hints)
{
    armilla_options fit;
    armilla_cluster_options clusters;
    const struct advice *kind = kinds;
    char opening[64], others[256], number[32] = "", top[48] = "";
    armilla_options_default(&fit);
    fit.threads = session->settings->threads;
    armilla_cluster_options_default(&clusters);
    clusters.k = choose_rank(X, 10);
    armilla_status status = armilla_cluster_recipe(session->context, X, &fit, &clusters);
    if (status != ARMILLA_OK) return status;
    while (!kind->applies(&(look){session, X, &fit, mixed})) kind++;
    const bool given = armilla_data_samples(X) < FEW || armilla_data_features(X) < 2;
    if (given) snprintf(number, sizeof number, " --k %d", armilla_data_samples(X) < 2 ? 1 : 2);
    snprintf(others, sizeof others, "%s --out clusters.txt", number);
    status = add_command(session, hints, "clusters:  armilla cluster ", others);
    if (status != ARMILLA_OK) return status;
    if (kind->top && armilla_data_features(X) > kind->top)
        snprintf(top, sizeof top, " --top-features %" PRId64, kind->top);
    snprintf(opening, sizeof opening, "%-9s  armilla fit ", kind->atoms);
    snprintf(others, sizeof others, " --rank %" PRId64 " --model %s %s%s --out model.npz", choose_rank(X, kind->rank),
             kind->model, kind->preparation, top);
    return add_command(session, hints, opening, others);
}

/* --- orientation --- */

/* Standard deviation of the logarithms of those that are above 0. */
static double log_spread(const double *sums, int64_t count)
{
    double sum = 0, squares = 0;
    int64_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!(sums[i] > 0)) continue;
        sum += log(sums[i]);
        squares += log(sums[i]) * log(sums[i]);
        used++;
    }
    return used > 1 ? sqrt(fmax(0, squares / (double)used - sum / (double)used * (sum / (double)used))) : 0;
}

/* Sums of features over some samples, and of these samples; *plain = false where an entry is negative or no number, or hardly
 * one is 0: rows of a dense table, such as sizes of countries over the years, may differ as much. */
static armilla_status add_up(const cli_session *session, const armilla_data *X, int64_t looked_at, double *sums,
                             bool *plain)
{
    const int64_t m = armilla_data_features(X), n = armilla_data_samples(X);
    double *features = sums, *samples = sums + m, *sample = samples + looked_at, zeros = 0;
    for (int64_t j = 0; j < looked_at && *plain; j++) {
        const int64_t which = (int64_t)((double)j * (double)n / (double)looked_at);
        const armilla_status status = armilla_data_sample(session->context, X, which, sample);
        if (status != ARMILLA_OK) return status;
        for (int64_t i = 0; i < m; i++) {
            if (!(sample[i] >= 0)) *plain = false;
            features[i] += sample[i];
            samples[j] += sample[i];
            zeros += sample[i] == 0;
        }
    }
    if (10 * zeros < (double)m * (double)looked_at) *plain = false;
    return ARMILLA_OK;
}

/* Features differ in size far more than samples do, as words and genes do: where rows do, they are the features. */
static armilla_status looks_turned(const cli_session *session, const armilla_data *X, bool *turned)
{
    enum { LOOKED_AT = 4000, LEAST = 20 };
    const double spread = 0.8, ratio = 1.5;
    const int64_t m = armilla_data_features(X), n = armilla_data_samples(X), looked_at = n < LOOKED_AT ? n : LOOKED_AT;
    double *sums = NULL;
    bool plain = true;
    if (m < LEAST || n < LEAST || armilla_data_bytes_read(X) >= 0) return ARMILLA_OK;
    armilla_status status = armilla_take(session->context, 2 * m + looked_at, sizeof *sums, &sums);
    if (status == ARMILLA_OK) status = add_up(session, X, looked_at, sums, &plain);
    if (status == ARMILLA_OK && plain) {
        const double own = log_spread(sums + m, looked_at);
        *turned = own > spread && own > ratio * log_spread(sums, m);
    }
    armilla_release(session->context, sums);
    return status;
}

armilla_status advice_orientation(const cli_session *session, const armilla_data *X, char *text, size_t size)
{
    static const char *const either[] = {"mtx", "csv", "npy", "npz", "mat", NULL};
    const int64_t n = armilla_data_samples(X);
    bool turned = false;
    text[0] = '\0';
    if (reading_is_given(session, "samples") || !has_format(session, either)) return ARMILLA_OK;
    const bool genes = has_genes(X, ARMILLA_SAMPLE_NAMES, n);
    const armilla_status status = genes ? ARMILLA_OK : looks_turned(session, X, &turned);
    if (genes || turned)
        snprintf(text, size, "%s: samples are probably the columns of the file; say --samples columns, or rows",
                 genes ? "the rows are called as genes are" : "rows differ in size far more than columns do");
    return status;
}
