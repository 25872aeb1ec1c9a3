/* The columns of a table, as they were read. */
#include "advice.h"
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 1 << 22 }; /* that are looked at */

static int compare_numbers(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add(json_t *columns, const char *name, const char *use, const char *type, const int64_t counts[2])
{
    json_t *row = json_object();
    json_put_text(row, "column", name);
    json_put_text(row, "use", use);
    json_put_text(row, "type", type);
    json_put_count(row, "missing", counts ? counts[0] : -1);
    json_put_count(row, "distinct", counts ? counts[1] : -1);
    (void)json_array_append_new(columns, row);
}

/* A feature's values, which are sorted. */
static void add_feature(json_t *columns, const armilla_data *X, int64_t feature, double *values, int64_t count)
{
    const char *name = armilla_data_name(X, ARMILLA_FEATURE_NAMES, feature);
    char number[32];
    int64_t used = 0, distinct = 0;
    bool whole = true;
    for (int64_t j = 0; j < count; j++)
        if (isfinite(values[j])) values[used++] = values[j];
    qsort(values, (size_t)used, sizeof *values, compare_numbers);
    for (int64_t j = 0; j < used; j++) {
        distinct += j == 0 || values[j] != values[j - 1];
        whole = whole && values[j] == floor(values[j]);
    }
    snprintf(number, sizeof number, "%lld", (long long)feature + 1);
    add(columns, name ? name : number, "feature",
        used == 0 ? "empty"
        : whole   ? "integer"
                  : "number",
        (const int64_t[2]){count - used, distinct});
}

/* Names or labels. */
static armilla_status add_texts(const cli_session *session, const armilla_data *X, armilla_naming kind, int64_t count,
                                json_t *columns)
{
    const bool names = kind == ARMILLA_SAMPLE_NAMES;
    const char **texts = NULL, *column = names ? session->settings.name_column : session->settings.label_column;
    int64_t missing = 0, distinct = 0;
    if (!armilla_data_name(X, kind, 0)) return ARMILLA_OK;
    const armilla_status status = armilla_take(session->context, count, sizeof *texts, &texts);
    if (status != ARMILLA_OK) return status;
    for (int64_t j = 0; j < count; j++) texts[j] = armilla_data_name(X, kind, j);
    qsort(texts, (size_t)count, sizeof *texts, compare_texts);
    for (int64_t j = 0; j < count; j++) {
        missing += !*texts[j];
        distinct += *texts[j] && (j == 0 || strcmp(texts[j], texts[j - 1]) != 0);
    }
    add(columns,
        column  ? column
        : names ? "1"
                : NULL,
        names ? "names" : "labels", "text", (const int64_t[2]){missing, distinct});
    armilla_release(session->context, texts);
    return ARMILLA_OK;
}

static void add_ignored(const char *list, json_t *columns)
{
    for (const char *at = list; at && *at && strcmp(list, "text") != 0; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        char *word = strndup(at, length);
        if (word) add(columns, word, "ignored", NULL, NULL);
        free(word);
        at += length;
    }
}

armilla_status advice_columns(const cli_session *session, const armilla_data *X, json_t **columns)
{
    const int64_t m = armilla_data_features(X), n = armilla_data_samples(X);
    const int64_t most = MOST_NUMBERS / m > 0 ? MOST_NUMBERS / m : 1, count = n < most ? n : most;
    double *values = NULL, *sample = NULL;
    if (session->columns == 0 || samples_in_columns(session)) return ARMILLA_OK;
    json_t *made = json_array();
    armilla_status status = add_texts(session, X, ARMILLA_SAMPLE_NAMES, count, made);
    if (status == ARMILLA_OK) status = armilla_take(session->context, m, (size_t)count * sizeof *values, &values);
    if (status == ARMILLA_OK) status = armilla_take(session->context, m, sizeof *sample, &sample);
    for (int64_t j = 0; j < count && status == ARMILLA_OK; j++) {
        status = armilla_data_sample(session->context, X, j, sample);
        for (int64_t i = 0; i < m; i++) values[i * count + j] = sample[i];
    }
    for (int64_t i = 0; i < m && status == ARMILLA_OK; i++) add_feature(made, X, i, values + i * count, count);
    if (status == ARMILLA_OK) status = add_texts(session, X, ARMILLA_SAMPLE_LABELS, count, made);
    add_ignored(session->settings.ignore_columns, made);
    armilla_release(session->context, sample);
    armilla_release(session->context, values);
    if (status == ARMILLA_OK)
        *columns = made;
    else
        json_decref(made);
    return status;
}
