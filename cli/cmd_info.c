/* armilla info: what a model or a data file is, and what could be done with it. */
#include "advice.h"
#include "json.h"
#include "preparing.h"
#include "reading.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const armilla_option options[] = {
    OPTION_THREADS,
    OPTION_JSON,
    OPTION_END,
};

static void put_fingerprint(json_t *object, uint64_t fingerprint)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, fingerprint);
    json_put_text(object, "fingerprint", text);
}

/* Names of the data or of the model that info looks at. */
typedef struct cli_naming {
    const armilla_data *data; /* or else */
    const armilla_model *model;
    int64_t counts[ARMILLA_NAMING_COUNT];
} cli_naming;

static const char *name_at(const cli_naming *names, armilla_naming kind, int64_t i)
{
    return names->data ? armilla_data_name(names->data, kind, i) : armilla_model_name(names->model, kind, i);
}

/* The first few that differ; null where there are none. */
static void put_names(json_t *object, const char *member, const cli_naming *names, armilla_naming kind)
{
    enum { SHOWN = 6, LOOKED_AT = 100000 };
    const char *shown[SHOWN + 1];
    size_t count = 0;
    const bool labels = kind == ARMILLA_SAMPLE_LABELS;
    const int64_t most = names->counts[kind] < LOOKED_AT ? names->counts[kind] : LOOKED_AT;
    if (!name_at(names, kind, 0)) {
        json_put_text(object, member, NULL);
        return;
    }
    for (int64_t i = 0; i < most && count <= SHOWN; i++) {
        const char *name = name_at(names, kind, i);
        bool new = true;
        for (size_t k = 0; k < count && labels; k++) new = new &&strcmp(shown[k], name) != 0;
        if (new) shown[count++] = name;
    }
    if (count > SHOWN) shown[SHOWN] = "...";
    json_put_list(object, member, shown, count);
}

static void put_all_names(json_t *object, const cli_naming *names)
{
    static const char *const members[ARMILLA_NAMING_COUNT] = {"feature_names", "sample_names", "labels"};
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT; kind++)
        put_names(object, members[kind], names, (armilla_naming)kind);
}

static void put_model_names(json_t *object, const armilla_model *model, const armilla_model_summary *summary)
{
    const cli_naming names = {.model = model, .counts = {summary->m, summary->n, summary->n}};
    int64_t features = -1, samples = -1;
    (void)armilla_model_kept_features(model, &features);
    (void)armilla_model_kept_samples(model, &samples);
    put_all_names(object, &names);
    json_put_count(object, "chosen_from_features", features);
    json_put_count(object, "chosen_from_samples", samples);
}

static armilla_status model_info(cli_session *session, const char *path)
{
    armilla_model *model = NULL;
    armilla_model_summary summary;
    armilla_status status = reading_refuse(session, path, NULL, "");
    if (status == ARMILLA_OK) status = open_model(session, path, &model);
    if (status != ARMILLA_OK) return status;
    json_t *object = json_object();
    const armilla_options prepared = preparing_of_model(model);
    armilla_model_summarize(model, &summary);
    json_put_text(object, "kind", "model");
    json_put_file(object, "file", session, path);
    json_put_summary(object, &summary);
    preparing_put(object, &prepared);
    json_put_flag(object, "sealed", summary.sealed);
    json_put_number(object, "squared_norm", summary.squared_norm);
    json_put_count(object, "trace_entries", armilla_model_trace_count(model));
    put_fingerprint(object, summary.fingerprint);
    put_model_names(object, model, &summary);
    (void)json_object_set_new(object, "options", json_loads(armilla_model_options(model), 0, NULL));
    armilla_model_free(model);
    return json_print(session, object);
}

static void put_facts(json_t *object, const armilla_data *X, const armilla_data_facts *facts)
{
    const double entries = (double)armilla_data_features(X) * (double)armilla_data_samples(X);
    json_put_text(object, "storage", armilla_data_storage(X));
    json_put_count(object, "m", armilla_data_features(X));
    json_put_count(object, "n", armilla_data_samples(X));
    json_put_count(object, "stored", armilla_data_stored(X));
    json_put_number(object, "smallest", facts->smallest);
    json_put_number(object, "largest", facts->largest);
    json_put_number(object, "squared_norm", facts->squared_norm);
    json_put_number(object, "norm_low", facts->norm_low);
    json_put_number(object, "norm_high", facts->norm_high);
    json_put_count(object, "nnz", armilla_data_features(X) * armilla_data_samples(X) - facts->zeros);
    json_put_count(object, "zeros", facts->zeros);
    json_put_number(object, "density", 1 - (double)facts->zeros / entries);
    json_put_count(object, "negatives", facts->negatives);
    json_put_count(object, "zero_samples", facts->zero_samples);
    json_put_count(object, "zero_features", facts->zero_features);
    json_put_count(object, "missing", facts->bad_entries);
    /* Counted from 1, as messages and people do. */
    json_put_count(object, "bad_sample", facts->bad_sample < 0 ? -1 : facts->bad_sample + 1);
    json_put_count(object, "bad_feature", facts->bad_feature < 0 ? -1 : facts->bad_feature + 1);
    put_fingerprint(object, facts->fingerprint);
}

static armilla_status make_hints(cli_session *session, const armilla_data *X, const armilla_data_facts *facts,
                                 json_t *hints)
{
    char line[1024];
    const bool mixed = facts->negatives > 0;
    if (facts->bad_sample >= 0) {
        advice_hint(hints,
                    "note: %" PRId64 " %s NaN or infinite, the first in sample %" PRId64 ", feature %" PRId64
                    " (counted from 1); no fit takes such data",
                    facts->bad_entries, facts->bad_entries == 1 ? "entry is" : "entries are", facts->bad_sample + 1,
                    facts->bad_feature + 1);
        return ARMILLA_OK;
    }
    if (facts->norm_high == 0) {
        advice_hint(hints, "note: every entry is 0; there is nothing to fit");
        return ARMILLA_OK;
    }
    advice_hint(hints, "%s",
                mixed ? "note: there are negative entries, so a nonnegative basis with nonnegative codes does not fit"
                      : "note: no entry is negative, so nonnegative atoms and codes can be read as parts and shares");
    if (facts->norm_high > 2 * facts->norm_low)
        advice_hint(hints,
                    "note: the longest sample is %.3g times the shortest, but codes have one length: "
                    "--normalize l2 compares directions",
                    facts->norm_high / facts->norm_low);
    const armilla_status status = advice_orientation(session, X, line, sizeof line);
    if (status != ARMILLA_OK) return status;
    if (*line) advice_hint(hints, "note: %s", line);
    return advice_put(session, X, mixed, hints);
}

/* What info has of a data file. */
typedef struct cli_inspected {
    armilla_data *X;            /* NULL: a table without a column of numbers */
    armilla_table_facts *table; /* NULL: it is none */
    cli_texts texts;
    json_t *hints;
} cli_inspected;

/* Opens the data, and a CSV file as a table too. A file that cannot be read because of its texts is read by the options
 * that advice_texts chooses, which leave them out; X stays NULL where no column of numbers is left. */
static armilla_status open_inspected(cli_session *session, const char *path, cli_inspected *file)
{
    const armilla_status first = open_data(session, path, &file->X, NULL);
    const bool table = session->format && strcmp(session->format, "csv") == 0;
    if (!table || (first != ARMILLA_OK && first != ARMILLA_BAD_DATA)) return first;
    armilla_status status = open_table(session, path, &file->table);
    if (status != ARMILLA_OK || first == ARMILLA_OK) return status;
    status = advice_texts(session, file->table, file->hints, &file->texts);
    if (status != ARMILLA_OK || file->texts.numbers == 0) return status;
    return open_data(session, path, &file->X, NULL);
}

static armilla_status put_data(cli_session *session, const char *path, cli_inspected *file, json_t *object)
{
    armilla_data_facts facts;
    const armilla_data *X = file->X;
    armilla_status status =
        about(session, path, armilla_data_survey(session->context, X, (int)session->settings->threads, &facts));
    if (status != ARMILLA_OK) return status;
    put_facts(object, X, &facts);
    put_all_names(
        object, &(cli_naming){.data = X,
                              .counts = {armilla_data_features(X), armilla_data_samples(X), armilla_data_samples(X)}});
    return about(session, path, make_hints(session, X, &facts, file->hints));
}

static void put_table(const cli_session *session, const cli_inspected *file, json_t *object)
{
    const int64_t rows = armilla_table_facts_rows(file->table);
    const bool turned = samples_in_columns(session);
    json_put_count(object, "m", turned ? rows : 0);
    json_put_count(object, "n", turned ? 0 : rows);
    advice_hint(file->hints, "note: no column holds numbers alone; there is nothing to fit");
}

static armilla_status data_info(cli_session *session, const char *path)
{
    cli_inspected file = {.hints = json_array()};
    json_t *object = NULL;
    reading_of(session)->file.keep_missing = true;
    armilla_status status = open_inspected(session, path, &file);
    if (status != ARMILLA_OK) goto done;
    object = json_object();
    json_put_text(object, "kind", "data");
    json_put_file(object, "file", session, path);
    if (file.X)
        status = put_data(session, path, &file, object);
    else
        put_table(session, &file, object);
    if (status != ARMILLA_OK) goto done;
    if (file.table) (void)json_object_set_new(object, "columns", advice_columns(session, file.table));
    (void)json_object_set(object, "hints", file.hints);
    status = json_print(session, object);
    object = NULL;
done:
    json_decref(object);
    json_decref(file.hints);
    advice_texts_free(&file.texts);
    armilla_table_facts_free(file.table);
    armilla_data_free(file.X);
    return status;
}

static armilla_status run(cli_session *session)
{
    const char *path = session->settings->operands[0];
    bool model = false;
    const armilla_status status = armilla_model_recognize(session->context, path, &model);
    if (status != ARMILLA_OK) return status;
    return model ? model_info(session, path) : data_info(session, path);
}

const cli_command command_info = {
    .name = "info",
    .synopsis = "MODEL|DATA [options]",
    .meaning = "what a model or a data file holds, and which model suits the data",
    .operands = {"MODEL|DATA"},
    .required = 1,
    .settings_size = sizeof(reader_settings),
    .options = options,
    .groups = {{&group_reading, offsetof(reader_settings, reading)}},
    .notes =
        "In --json m is the number of features, n of samples; missing counts entries that are NaN or infinite, and\n"
        "bad_sample and bad_feature are the first of them, counted from 1. Of names and labels the first are shown.\n"
        "Of a text table all columns are listed: what they are used for, their type, missing and distinct values. Where\n"
        "some are text, notes say what they could be, and the commands have the options that read the rest.\n"
        "The last two hints are complete commands, with the options of reading that were given: for clusters, whose\n"
        "number is found, and for atoms that can be read (topics of texts, programs of cells, parts of other data),\n"
        "prepared as a look at the data says; --rank is a number to begin with.\n\n"
        "example:\n"
        "  armilla info data.csv\n",
    .run = run,
};
