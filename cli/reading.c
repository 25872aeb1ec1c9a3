/* Opening data files as the options say. */
#include "reading.h"

#include "external.h"
#include "signals.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PATIENCE 1.0 /* seconds before anything is shown */
#define PAUSE 0.2    /* between two lines */

static const char *header_choice(size_t index)
{
    static const char *const choices[] = {"yes", "no"};
    return index < sizeof choices / sizeof *choices ? choices[index] : NULL;
}

static const char *decimal_choice(size_t index)
{
    static const char *const choices[] = {"point", "comma"};
    return index < sizeof choices / sizeof *choices ? choices[index] : NULL;
}

static const char *format_choice(size_t index);

/* Rows of the table are longer than those of others: what else they have is READ_... */
typedef struct reading_row {
    armilla_option option;
    unsigned role;
} reading_row;

enum { READ_MACHINE = 1 /* says nothing about the file */ };

#define READING(word, what, member)                                                                                    \
    .size = sizeof(reading_row), .name = (word), .kind = ARMILLA_OPTION_##what, .offset = offsetof(cli_settings, member)
#define READING_TEXT(word, member, called, text, which)                                                                \
    {                                                                                                                  \
        {READING(word, TEXT, member), .value = (called), .help = (text)}, which                                        \
    }
#define READING_WORD(word, member, choices, called, text, which)                                                       \
    {                                                                                                                  \
        {READING(word, WORD, member), .choice = (choices), .value = (called), .help = (text)}, which                   \
    }

/* Everything that can be said about a data file. Parsing, --help, the commands that info prints and what is refused
 * beside a model go by these rows. */
static const reading_row rows[] = {
    READING_WORD("format", format, format_choice, "NAME",
                 "format of the data file; otherwise from its content and name", 0),
    {{READING("samples", WORD, samples), .preset = "rows", .choice = samples_choice, .value = "WHERE",
      .help = "what a sample is in the data file"},
     0},
    READING_TEXT("label-column", label_column, "COLUMN",
                 "column of a text table, or of the obs of an .h5ad, with the labels: name, or number from 1", 0),
    READING_TEXT("name-column", name_column, "COLUMN",
                 "column of a text table with the names of its rows, or none; otherwise as it looks", 0),
    READING_TEXT("separator", separator, "WHAT",
                 "what separates the fields of a text table: comma, semicolon, tab, blank, or one character; otherwise "
                 "as it looks",
                 0),
    READING_WORD("header", header, header_choice, "WHICH",
                 "whether the first line of a text table holds names; otherwise as it looks", 0),
    READING_WORD("decimal", decimal, decimal_choice, "MARK",
                 "what stands before decimals in a text table; otherwise as it looks where semicolons separate, else a "
                 "point",
                 0),
    READING_TEXT(
        "ignore-columns", ignore_columns, "LIST|text",
        "columns of a text table to leave out: names or numbers from 1, separated by commas; or text: all that "
        "are not numbers",
        0),
    READING_TEXT("array", array, "NAME", "which array, of a file that holds several", 0),
    READING_TEXT("labels", labels, "FILE", "the samples' labels: a text file with one per line, or IDX", 0),
    READING_TEXT("label-array", label_array, "NAME", "the samples' labels: which vector of a .npz or .mat file", 0),
    READING_TEXT("feature-names", feature_names, "FILE",
                 "names of the features, one per line; of lines with tabs the second field, as in 10x's features.tsv",
                 0),
    READING_TEXT("sample-names", sample_names, "FILE", "names of the samples, one per line", 0),
    READING_TEXT("keep-label", keep.labels, "LIST", "only samples with these labels, separated by commas", 0),
    READING_TEXT(
        "keep-samples", keep.samples, "LIST|FILE",
        "only these samples: names, numbers from 1 or ranges such as 1-100, separated by commas, or a file with one "
        "per line",
        0),
    READING_TEXT("keep-features", keep.features, "LIST|FILE",
                 "only these features, given alike; a model remembers them and picks them out of other data", 0),
    {{READING("memory", SIZE, fit.memory), .value = "LIMIT", .help = MEMORY_HELP}, READ_MACHINE},
    {{.name = NULL}, 0},
};

const armilla_option *reading_table(void)
{
    return &rows[0].option;
}

/* The next row from *at on that the command line has, and that is about the file; NULL behind the last. */
static const armilla_option *next_given(const cli_settings *settings, size_t *at)
{
    while (rows[*at].option.name) {
        const size_t i = (*at)++;
        if (settings->reading_given >> i & 1 && !(rows[i].role & READ_MACHINE)) return &rows[i].option;
    }
    return NULL;
}

void reading_print(const cli_session *session, FILE *stream)
{
    const cli_settings *settings = &session->settings;
    size_t at = 0;
    for (const armilla_option *row = next_given(settings, &at); row; row = next_given(settings, &at)) {
        const char *value = *(const char *const *)(const void *)((const char *)settings + row->offset);
        fprintf(stream, " --%s%c", row->name, strncmp(value, "--", 2) == 0 ? '=' : ' ');
        report_put_word(stream, value);
    }
}

armilla_status reading_refuse(cli_session *session, const char *model, const char *const *but, const char *advice)
{
    size_t at = 0;
    for (const armilla_option *row = next_given(&session->settings, &at); row;
         row = next_given(&session->settings, &at)) {
        bool fine = false;
        for (const char *const *word = but; word && *word; word++) fine |= strcmp(*word, row->name) == 0;
        if (fine) continue;
        return fail(session, ARMILLA_BAD_ARGUMENT, "--%s: %s is a model, not data; leave the option out%s", row->name,
                    model, advice);
    }
    return ARMILLA_OK;
}

/* The index-th of the formats whose use has the word in it. */
static const char *table_choice(const char *use, size_t index)
{
    armilla_table_row row;
    for (size_t i = 0; armilla_table_get(ARMILLA_TABLE_FORMATS, i, &row); i++)
        if (strstr(row.use, use) && index-- == 0) return row.name;
    return NULL;
}

const char *written_choice(size_t index)
{
    return table_choice("written", index);
}

static const char *format_choice(size_t index)
{
    return table_choice("read", index);
}

const char *samples_choice(size_t index)
{
    static const char *const choices[] = {"rows", "columns"};
    return index < sizeof choices / sizeof *choices ? choices[index] : NULL;
}

bool samples_in_columns(const cli_session *session)
{
    return session->settings.samples && strcmp(session->settings.samples, "columns") == 0;
}

const char *missing_choice(size_t index)
{
    static const char *const choices[] = {"error", "zero"};
    return index < sizeof choices / sizeof *choices ? choices[index] : NULL;
}

armilla_status match_features(cli_session *session, const armilla_model *model, const char *path, armilla_data **data)
{
    const char *missing = session->settings.missing_features;
    const bool fill = missing && strcmp(missing, "zero") == 0;
    armilla_data *matched = NULL;
    const armilla_status status =
        about(session, path, armilla_model_match(session->context, model, *data, fill, &matched));
    if (!matched) return status;
    session->unmatched = *data;
    *data = matched;
    return status;
}

/* The session keeps what was opened, and *data become what is kept of it. */
static armilla_status choose(cli_session *session, const char *path, armilla_data **data)
{
    const armilla_selection *keep = &session->settings.keep;
    armilla_data *kept = NULL;
    if (!keep->labels && !keep->samples && !keep->features) return ARMILLA_OK;
    const armilla_status status = about(session, path, armilla_data_select(session->context, *data, keep, &kept));
    armilla_data_free(session->source);
    session->source = *data;
    *data = kept;
    return status;
}

/* The library knows the files that another program reads, and refuses them; a pipe is then used up. */
static armilla_status open_any(cli_session *session, const char *path, const armilla_read_options *options,
                               armilla_data **data)
{
    struct stat found;
    const armilla_status status = armilla_data_open(session->context, path, options, data);
    if (status != ARMILLA_NOT_BUILT || stat(path, &found) != 0 || !S_ISREG(found.st_mode)) return status;
    return external_open(session, path, options, data);
}

/* A file that is being read. */
struct cli_reading {
    cli_report *report;
    const char *path;
    double begun, shown; /* seconds */
    double stage, last;  /* when the stage in progress (unpacking, parsing) began, and its last call */
    int64_t done, total; /* of that stage */
};

void reading_show(cli_reading *reading, int64_t done, int64_t total)
{
    const double clock = now(), elapsed = clock - reading->begun;
    char left[32], line[512];
    if (total != reading->total || done < reading->done) reading->stage = reading->last;
    reading->last = clock;
    reading->total = total;
    reading->done = done;
    if (elapsed < PATIENCE || clock - reading->shown < PAUSE || done <= 0 || total <= 0) return;
    report_seconds((clock - reading->stage) * (double)(total - done) / (double)done, left, sizeof left);
    snprintf(line, sizeof line, "reading %s  %.0f %% of %.0f MB  < %s left", reading->path,
             100 * (double)done / (double)total, 1e-6 * (double)total, left);
    report_progress(reading->report, line);
    reading->shown = clock;
}

armilla_status open_data(cli_session *session, const char *path, armilla_data **data, double *seconds)
{
    const cli_settings *settings = &session->settings;
    const double begun = now();
    cli_reading reading = {.report = &session->report, .path = path, .begun = begun, .last = begun};
    const bool watched = session->report.terminal && !session->report.quiet;
    const armilla_read_options options = {
        .size = sizeof(armilla_read_options),
        .format = settings->format,
        .sample_columns = samples_in_columns(session),
        .array = settings->array,
        .label_column = settings->label_column,
        .name_column = settings->name_column,
        .separator = settings->separator,
        .header = settings->header,
        .decimal = settings->decimal,
        .keep_missing = settings->keep_missing,
        .labels = settings->labels,
        .threads = (int)settings->fit.threads,
        .spill = settings->spill,
        .feature_names = settings->feature_names,
        .sample_names = settings->sample_names,
        .label_array = settings->label_array,
        .ignore_columns = settings->ignore_columns,
    };
    signals_reading(path);
    session->report.reading = watched ? &reading : NULL;
    armilla_status status = open_any(session, path, &options, data);
    session->report.reading = NULL;
    report_erase(&session->report);
    if (status == ARMILLA_OK) status = choose(session, path, data);
    if (seconds) *seconds = now() - begun;
    return status;
}
