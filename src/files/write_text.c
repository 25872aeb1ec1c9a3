/* Text writers: CSV/TSV, Matrix Market and svmlight. Numbers have as few digits as give them back bit for bit in the
 * type that they are held in. */
#include "files/decimal.h"
#include "files/fields.h"
#include "files/files.h"
#include "files/write.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static armilla_status put(armilla_line_file *file, const char *text)
{
    return armilla_output_write(file->output, text, strlen(text));
}

/* A number behind a mark, 0: none. */
static void put_number(armilla_line_file *file, char mark, double number)
{
    char text[1 + ARMILLA_NUMBER_TEXT] = {mark};
    const size_t start = mark != 0, length = armilla_shortest(file->w->data->type, number, text + start);
    (void)armilla_output_write(file->output, text, start + length);
}

/* A count from 1 and a mark behind it, at `at`; returns where it ends. */
static char *print_count(int64_t count, char mark, char *at)
{
    at += armilla_whole_text((uint64_t)count + 1, at);
    *at++ = mark;
    return at;
}

/* A table: which names stand in the header and before each line, and the labels behind it. */
typedef struct table {
    char separator[2];
    const armilla_names *across, *down, *labels;
    char label[32]; /* what the column of labels is called */
} table;

static bool is_called(const table *t, const char *name)
{
    for (int64_t k = 0; t->across && k < t->across->count; k++)
        if (strcmp(armilla_names_at(t->across, k), name) == 0) return true;
    return false;
}

/* As no feature is: label, or label2, label3, ... */
static void name_labels(const armilla_writing *w, table *t)
{
    snprintf(t->label, sizeof t->label, "label");
    for (int64_t i = 2; is_called(t, t->label); i++) snprintf(t->label, sizeof t->label, "label%" PRId64, i);
    if (strcmp(t->label, "label") == 0) return;
    armilla_log(w->context, ARMILLA_LOG_WARNING, "%s: a feature is called label, so the column of labels is %s",
                w->path, t->label);
}

/* What stands over the first column says what that holds: nothing over names of rows. */
static armilla_status check_first(const armilla_writing *w, const table *t)
{
    if (t->down || !t->across || *armilla_names_at(t->across, 0)) return ARMILLA_OK;
    return armilla_fail(w->context, ARMILLA_BAD_DATA,
                        "%s: the first %s has an empty name, which in a table says that its column holds names; give "
                        "it a name, or write .npz",
                        w->path, w->options->sample_columns ? "sample" : "feature");
}

/* A header is written where anything has a name, so that readers need not guess: it is empty over a first column of
 * names, and columns without names are called x1, x2, ... */
static armilla_status put_header(armilla_line_file *file, void *self)
{
    table *t = self;
    const armilla_field_place place =
        file->lines.width > 1 || t->down || t->labels ? ARMILLA_FIELD_OF_HEADER : ARMILLA_FIELD_ALONE;
    const armilla_status status = check_first(file->w, t);
    if (status != ARMILLA_OK || (!t->across && !t->down && !t->labels)) return status;
    if (t->labels) name_labels(file->w, t);
    for (int64_t k = 0; k < file->lines.width; k++) {
        if (k > 0 || t->down) (void)put(file, t->separator);
        if (t->across)
            (void)armilla_fields_put(file->output, armilla_names_at(t->across, k), place);
        else
            (void)armilla_output_print(file->output, "x%" PRId64, k + 1);
    }
    if (t->labels) (void)put(file, t->separator);
    if (t->labels) (void)put(file, t->label);
    return put(file, "\n");
}

static void put_name(armilla_line_file *file, const armilla_names *names, int64_t i)
{
    (void)armilla_fields_put(file->output, armilla_names_at(names, i), ARMILLA_FIELD_OF_ROW);
}

static armilla_status put_row(armilla_line_file *file, void *self, int64_t i)
{
    const table *t = self;
    armilla_column line;
    const armilla_status status = armilla_lines_read(&file->lines, i, true, &line);
    if (status != ARMILLA_OK) return status;
    if (t->down) put_name(file, t->down, i);
    for (int64_t k = 0; k < file->lines.width; k++)
        put_number(file, k > 0 || t->down ? t->separator[0] : 0, line.values[k]);
    if (t->labels) (void)put(file, t->separator);
    if (t->labels) put_name(file, t->labels, i);
    return put(file, "\n");
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
    return armilla_lines_write(
        w, &(armilla_line_format){.by_feature = columns, .begin = put_header, .put = put_row, .self = &t});
}

static armilla_status put_entry(armilla_line_file *file, int64_t row, int64_t column, double number)
{
    char text[3 * ARMILLA_NUMBER_TEXT];
    char *end = print_count(column, ' ', print_count(row, ' ', text));
    end += armilla_shortest(file->w->data->type, number, end);
    *end++ = '\n';
    return armilla_output_write(file->output, text, (size_t)(end - text));
}

/* Entries by sample. Places count from 1. */
static armilla_status put_entries(armilla_line_file *file, void *self, int64_t line)
{
    const bool columns = file->w->options->sample_columns;
    armilla_column entries = {.count = 0};
    armilla_status status = armilla_lines_read(&file->lines, line, false, &entries);
    for (int64_t i = 0; i < entries.count && status == ARMILLA_OK; i++) {
        const int64_t place = entries.rows[i];
        status = put_entry(file, columns ? place : line, columns ? line : place, entries.values[i]);
    }
    (void)self;
    return status;
}

/* A column of the array, a number per line. */
static armilla_status put_column(armilla_line_file *file, void *self, int64_t line)
{
    armilla_column column = {.count = 0};
    armilla_status status = armilla_lines_read(&file->lines, line, true, &column);
    for (int64_t k = 0; k < column.count && status == ARMILLA_OK; k++) {
        put_number(file, 0, column.values[k]);
        status = put(file, "\n");
    }
    (void)self;
    return status;
}

static armilla_status put_banner(armilla_line_file *file, void *self)
{
    const armilla_data *X = file->w->data;
    const bool columns = file->w->options->sample_columns, sparse = armilla_sparse_of(X) != NULL;
    const bool whole = X->type == ARMILLA_U8 || X->type == ARMILLA_I8;
    (void)self;
    (void)armilla_output_print(file->output, "%%%%MatrixMarket matrix %s %s general\n%" PRId64 " %" PRId64,
                               sparse ? "coordinate" : "array", whole ? "integer" : "real", columns ? X->m : X->n,
                               columns ? X->n : X->m);
    if (sparse) (void)armilla_output_print(file->output, " %" PRId64, armilla_data_stored(X));
    return put(file, "\n");
}

/* Arrays go column by column, which are the features where samples are rows. */
static armilla_status write_mtx(const armilla_writing *w)
{
    const bool sparse = armilla_sparse_of(w->data) != NULL;
    const armilla_line_format format = {.by_feature = !sparse && !w->options->sample_columns,
                                        .entries = true,
                                        .begin = put_banner,
                                        .put = sparse ? put_entries : put_column};
    return armilla_lines_write(w, &format);
}

/* The sample's label, which has to be what the reader takes for one; 0 where there is none. */
static armilla_status put_label(armilla_line_file *file, int64_t sample)
{
    const char *label = armilla_data_name(file->w->data, ARMILLA_SAMPLE_LABELS, sample);
    const unsigned char *start = (const unsigned char *)label;
    char shown[ARMILLA_SHOWN];
    if (!label) return put(file, "0");
    if (!armilla_decimal_list(start, start + strlen(label), file->w->plain))
        return armilla_fail(file->w->context, ARMILLA_BAD_DATA,
                            "%s: svmlight has numbers for labels, and that of sample %" PRId64
                            " is '%s'; write .npz or .csv, or give numbers (" ARMILLA_FIELD("labels") ")",
                            file->w->path, sample + 1, armilla_text_show_word(label, shown));
    return put(file, label);
}

static void put_pair(armilla_line_file *file, int64_t place, double value)
{
    char text[2 * ARMILLA_NUMBER_TEXT] = " ";
    char *end = print_count(place, ':', text + 1);
    end += armilla_shortest(file->w->data->type, value, end);
    (void)armilla_output_write(file->output, text, (size_t)(end - text));
}

/* The entries of a sample; returns the last feature that has one, or -1. */
static int64_t put_pairs(armilla_line_file *file, const armilla_column *x)
{
    int64_t last = -1;
    for (int64_t i = 0; i < x->count; i++) { /* an entry is written also where it is 0 */
        if (!x->rows && x->values[i] == 0) continue;
        last = armilla_column_feature(x, i);
        put_pair(file, last, x->values[i]);
    }
    return last;
}

/* The indices say how many features there are, and the first line that the file is svmlight: where they would not, a 0
 * is written for the last feature, at the end of the last line and of the first. */
static armilla_status put_sample(armilla_line_file *file, void *self, int64_t sample)
{
    const int64_t last = file->w->data->m - 1;
    const bool is_last = sample + 1 == file->lines.count;
    atomic_bool *reached = self; /* the last feature has been written */
    armilla_column x = {.count = 0};
    armilla_status status = put_label(file, sample);
    if (status == ARMILLA_OK) status = armilla_lines_read(&file->lines, sample, false, &x);
    if (status != ARMILLA_OK) return status;
    const int64_t most = put_pairs(file, &x);
    const bool is_empty = sample == 0 && most < 0 && !is_last;
    if (is_empty) put_pair(file, last, 0);
    if (is_empty || most == last) atomic_store(reached, true);
    return put(file, is_last ? "" : "\n");
}

static armilla_status end_samples(armilla_line_file *file, void *self)
{
    atomic_bool *reached = self;
    if (!atomic_load(reached)) put_pair(file, file->w->data->m - 1, 0);
    return put(file, "\n");
}

static armilla_status write_svmlight(const armilla_writing *w)
{
    atomic_bool reached = false;
    if (w->options->sample_columns)
        return armilla_fail(
            w->context, ARMILLA_BAD_ARGUMENT,
            "%s: svmlight has one sample per line; leave out " ARMILLA_FIELD("write.sample_columns columns"), w->path);
    return armilla_lines_write(
        w, &(armilla_line_format){.entries = true, .put = put_sample, .end = end_samples, .self = &reached});
}

const armilla_writer armilla_writer_csv = {
    "csv", ".csv .tsv .txt", "a table with names as header and first column, and labels as the last",
    1u << ARMILLA_FEATURE_NAMES | 1u << ARMILLA_SAMPLE_NAMES | 1u << ARMILLA_SAMPLE_LABELS, write_csv};
const armilla_writer armilla_writer_mtx = {"mtx", ".mtx", "Matrix Market: coordinates where sparse, else an array", 0,
                                           write_mtx};
const armilla_writer armilla_writer_svmlight = {"svmlight", ".svm .svmlight .libsvm",
                                                "a sample per line: its label and what is not 0",
                                                1u << ARMILLA_SAMPLE_LABELS, write_svmlight};
