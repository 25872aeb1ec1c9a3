/* Text writers: CSV/TSV, Matrix Market and svmlight. Numbers have as few digits as give them back bit for bit in the
 * type that they are held in; the C locale is in force meanwhile (armilla_data_write). */
#include "files/decimal.h"
#include "files/fields.h"
#include "files/files.h"
#include "files/write.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the three share: lines into an output. */
typedef struct text_file {
    const armilla_writing *w;
    armilla_lines lines;
    armilla_output *output;
} text_file;

static armilla_status text_open(const armilla_writing *w, bool by_feature, text_file *file)
{
    *file = (text_file){.w = w};
    armilla_status status = armilla_lines_open(w->context, w->data, by_feature, &file->lines);
    if (status == ARMILLA_OK) status = armilla_output_new(w->context, w->path, w->options->overwrite, &file->output);
    return status;
}

static armilla_status text_close(text_file *file, armilla_status status)
{
    if (status == ARMILLA_OK) status = armilla_output_commit(file->output);
    armilla_output_free(file->output);
    armilla_lines_close(&file->lines);
    return status;
}

static armilla_status put(text_file *file, const char *text)
{
    return armilla_output_write(file->output, text, strlen(text));
}

static armilla_status put_number(text_file *file, double number)
{
    char text[ARMILLA_NUMBER_TEXT];
    const size_t length = armilla_shortest(file->w->data->type, number, text);
    return armilla_output_write(file->output, text, length);
}

static armilla_status put_count(text_file *file, int64_t count, const char *behind)
{
    char text[48];
    const int length = snprintf(text, sizeof text, "%" PRId64 "%s", count, behind);
    return armilla_output_write(file->output, text, (size_t)length);
}

/* A table: which names stand in the header and before each line, and the labels behind it. */
typedef struct table {
    text_file file;
    char separator[2];
    const armilla_names *across, *down, *labels;
    char label[32]; /* what the column of labels is called */
} table;

static armilla_status put_separator(table *t)
{
    return armilla_output_write(t->file.output, t->separator, 1);
}

static bool is_called(const table *t, const char *name)
{
    for (int64_t k = 0; t->across && k < t->across->count; k++)
        if (strcmp(armilla_names_at(t->across, k), name) == 0) return true;
    return false;
}

/* As no feature is: label, or label2, label3, ... */
static void name_labels(table *t)
{
    snprintf(t->label, sizeof t->label, "label");
    for (int64_t i = 2; is_called(t, t->label); i++) snprintf(t->label, sizeof t->label, "label%" PRId64, i);
    if (strcmp(t->label, "label") == 0) return;
    const armilla_writing *w = t->file.w;
    armilla_log(w->context, ARMILLA_LOG_WARNING, "%s: a feature is called label, so the column of labels is %s",
                w->path, t->label);
}

/* What stands over the first column says what that holds: nothing over names of rows. */
static armilla_status check_first(const table *t)
{
    const armilla_writing *w = t->file.w;
    if (t->down || !t->across || *armilla_names_at(t->across, 0)) return ARMILLA_OK;
    return armilla_fail(w->context, ARMILLA_BAD_DATA,
                        "%s: the first %s has an empty name, which in a table says that its column holds names; give "
                        "it a name, or write .npz",
                        w->path, w->options->sample_columns ? "sample" : "feature");
}

/* A header is written where anything has a name, so that readers need not guess: it is empty over a first column of
 * names, and columns without names are called x1, x2, ... */
static armilla_status put_header(table *t)
{
    const armilla_field_place place =
        t->file.lines.width > 1 || t->down || t->labels ? ARMILLA_FIELD_OF_HEADER : ARMILLA_FIELD_ALONE;
    armilla_status status = ARMILLA_OK;
    if (!t->across && !t->down && !t->labels) return ARMILLA_OK;
    for (int64_t k = 0; k < t->file.lines.width && status == ARMILLA_OK; k++) {
        if (k > 0 || t->down) status = put_separator(t);
        if (status == ARMILLA_OK && t->across)
            status = armilla_fields_put(t->file.output, armilla_names_at(t->across, k), place);
        if (status == ARMILLA_OK && !t->across) status = put(&t->file, "x");
        if (status == ARMILLA_OK && !t->across) status = put_count(&t->file, k + 1, "");
    }
    if (status == ARMILLA_OK && t->labels) status = put_separator(t);
    if (status == ARMILLA_OK && t->labels) status = put(&t->file, t->label);
    return status == ARMILLA_OK ? put(&t->file, "\n") : status;
}

static armilla_status put_name(text_file *file, const armilla_names *names, int64_t i)
{
    return armilla_fields_put(file->output, armilla_names_at(names, i), ARMILLA_FIELD_OF_ROW);
}

static armilla_status put_row(table *t, int64_t i)
{
    text_file *file = &t->file;
    armilla_column line;
    armilla_status status = armilla_lines_read(&file->lines, i, true, &line);
    if (status == ARMILLA_OK && t->down) status = put_name(file, t->down, i);
    for (int64_t k = 0; k < file->lines.width && status == ARMILLA_OK; k++) {
        if (k > 0 || t->down) status = put_separator(t);
        if (status == ARMILLA_OK) status = put_number(file, line.values[k]);
    }
    if (status == ARMILLA_OK && t->labels) status = put_separator(t);
    if (status == ARMILLA_OK && t->labels) status = put_name(file, t->labels, i);
    return status == ARMILLA_OK ? put(file, "\n") : status;
}

static armilla_status write_csv(const armilla_writing *w)
{
    const bool columns = w->options->sample_columns;
    const armilla_names *features = armilla_data_names(w->data, ARMILLA_FEATURE_NAMES);
    const armilla_names *samples = armilla_data_names(w->data, ARMILLA_SAMPLE_NAMES);
    table t = {.separator = ",", .across = columns ? samples : features, .down = columns ? features : samples};
    if (armilla_has_ending(".tsv", w->path, strlen(w->path))) t.separator[0] = '\t';
    t.labels = armilla_data_names(w->data, ARMILLA_SAMPLE_LABELS);
    if (columns && t.labels)
        armilla_log(w->context, ARMILLA_LOG_WARNING,
                    "%s: labels are not kept where samples are columns; .npz keeps them", w->path);
    if (columns) t.labels = NULL;
    armilla_status status = text_open(w, columns, &t.file);
    if (status == ARMILLA_OK) status = check_first(&t);
    if (status == ARMILLA_OK && t.labels) name_labels(&t);
    if (status == ARMILLA_OK) status = put_header(&t);
    for (int64_t i = 0; status == ARMILLA_OK && i < t.file.lines.count; i++) {
        status = armilla_writing_go_on(w, i, t.file.lines.count);
        if (status == ARMILLA_OK) status = put_row(&t, i);
    }
    return text_close(&t.file, status);
}

/* Entries by sample. Places count from 1. */
static armilla_status put_entries(text_file *file, int64_t line)
{
    const bool columns = file->w->options->sample_columns;
    armilla_column entries = {.count = 0};
    armilla_status status = armilla_writing_go_on(file->w, line, file->lines.count);
    if (status == ARMILLA_OK) status = armilla_lines_read(&file->lines, line, false, &entries);
    for (int64_t i = 0; i < entries.count && status == ARMILLA_OK; i++) {
        const int64_t place = entries.rows[i];
        status = put_count(file, (columns ? place : line) + 1, " ");
        if (status == ARMILLA_OK) status = put_count(file, (columns ? line : place) + 1, " ");
        if (status == ARMILLA_OK) status = put_number(file, entries.values[i]);
        if (status == ARMILLA_OK) status = put(file, "\n");
    }
    return status;
}

/* A column of the array, a number per line. */
static armilla_status put_column(text_file *file, int64_t line)
{
    armilla_column column = {.count = 0};
    armilla_status status = armilla_writing_go_on(file->w, line, file->lines.count);
    if (status == ARMILLA_OK) status = armilla_lines_read(&file->lines, line, true, &column);
    for (int64_t k = 0; k < column.count && status == ARMILLA_OK; k++) {
        status = put_number(file, column.values[k]);
        if (status == ARMILLA_OK) status = put(file, "\n");
    }
    return status;
}

/* Arrays go column by column, which are the features where samples are rows. */
static armilla_status write_mtx(const armilla_writing *w)
{
    const bool columns = w->options->sample_columns, sparse = armilla_sparse_of(w->data) != NULL;
    const bool whole = w->data->type == ARMILLA_U8 || w->data->type == ARMILLA_I8;
    text_file file;
    armilla_status status = text_open(w, !sparse && !columns, &file);
    if (status == ARMILLA_OK)
        status = armilla_output_print(file.output, "%%%%MatrixMarket matrix %s %s general\n%" PRId64 " %" PRId64,
                                      sparse ? "coordinate" : "array", whole ? "integer" : "real",
                                      columns ? w->data->m : w->data->n, columns ? w->data->n : w->data->m);
    if (status == ARMILLA_OK && sparse)
        status = armilla_output_print(file.output, " %" PRId64, armilla_data_stored(w->data));
    if (status == ARMILLA_OK) status = put(&file, "\n");
    for (int64_t i = 0; status == ARMILLA_OK && i < file.lines.count; i++)
        status = sparse ? put_entries(&file, i) : put_column(&file, i);
    return text_close(&file, status);
}

/* The sample's label, which has to be what the reader takes for one; 0 where there is none. */
static armilla_status put_label(text_file *file, int64_t sample)
{
    const char *label = armilla_data_name(file->w->data, ARMILLA_SAMPLE_LABELS, sample);
    const unsigned char *start = (const unsigned char *)label;
    char shown[ARMILLA_SHOWN];
    if (!label) return put(file, "0");
    if (!armilla_decimal_list(start, start + strlen(label), file->w->plain))
        return armilla_fail(file->w->context, ARMILLA_BAD_DATA,
                            "%s: svmlight has numbers for labels, and that of sample %" PRId64
                            " is '%s'; write .npz or .csv, or give numbers (" ARMILLA_FIELD("labels") ")",
                            file->w->path, sample + 1,
                            armilla_text_show((armilla_span){start, start + strlen(label)}, shown));
    return put(file, label);
}

static armilla_status put_pair(text_file *file, int64_t place, double value)
{
    armilla_status status = put(file, " ");
    if (status == ARMILLA_OK) status = put_count(file, place + 1, ":");
    return status == ARMILLA_OK ? put_number(file, value) : status;
}

/* The entries of a sample; *most becomes the last feature of those so far that has one. */
static armilla_status put_pairs(text_file *file, const armilla_column *x, int64_t *most)
{
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; i < x->count && status == ARMILLA_OK; i++) { /* an entry is written also where it is 0 */
        const int64_t feature = armilla_column_feature(x, i);
        if (!x->rows && x->values[i] == 0) continue;
        status = put_pair(file, feature, x->values[i]);
        if (feature > *most) *most = feature;
    }
    return status;
}

/* The indices say how many features there are, and the first line that the file is svmlight: where they would not, a 0
 * is written for the last feature. */
static armilla_status put_sample(text_file *file, int64_t sample, int64_t *most)
{
    const int64_t last = file->w->data->m - 1;
    armilla_column x = {.count = 0};
    armilla_status status = put_label(file, sample);
    if (status == ARMILLA_OK) status = armilla_lines_read(&file->lines, sample, false, &x);
    if (status == ARMILLA_OK) status = put_pairs(file, &x, most);
    if (status == ARMILLA_OK && *most < (sample + 1 < file->lines.count ? 0 : last)) {
        status = put_pair(file, last, 0);
        *most = last;
    }
    return status == ARMILLA_OK ? put(file, "\n") : status;
}

static armilla_status write_svmlight(const armilla_writing *w)
{
    text_file file;
    if (w->options->sample_columns)
        return armilla_fail(
            w->context, ARMILLA_BAD_ARGUMENT,
            "%s: svmlight has one sample per line; leave out " ARMILLA_FIELD("write.sample_columns columns"), w->path);
    int64_t most = -1;
    armilla_status status = text_open(w, false, &file);
    for (int64_t i = 0; status == ARMILLA_OK && i < file.lines.count; i++) {
        status = armilla_writing_go_on(w, i, file.lines.count);
        if (status == ARMILLA_OK) status = put_sample(&file, i, &most);
    }
    return text_close(&file, status);
}

const armilla_writer armilla_writer_csv = {
    "csv", ".csv .tsv .txt", "a table with names as header and first column, and labels as the last",
    1u << ARMILLA_FEATURE_NAMES | 1u << ARMILLA_SAMPLE_NAMES | 1u << ARMILLA_SAMPLE_LABELS, write_csv};
const armilla_writer armilla_writer_mtx = {"mtx", ".mtx", "Matrix Market: coordinates where sparse, else an array", 0,
                                           write_mtx};
const armilla_writer armilla_writer_svmlight = {"svmlight", ".svm .svmlight .libsvm",
                                                "a sample per line: its label and what is not 0",
                                                1u << ARMILLA_SAMPLE_LABELS, write_svmlight};
