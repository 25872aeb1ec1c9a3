/* The options of reading: their table, and what is done with it. */
#include "reading.h"

#include "json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

OPTION_WORDS(static, header_choice, "yes", "no")
OPTION_WORDS(static, decimal_choice, "point", "comma")
OPTION_WORDS(extern, samples_choice, "rows", "columns")
OPTION_WORDS(extern, missing_choice, "error", "zero")

static const char *format_choice(size_t index);

/* Rows of the table are longer than those of others: what else they have is READ_... */
typedef struct reading_row {
    armilla_option option;
    unsigned role;
} reading_row;

enum {
    READ_MACHINE = 1,  /* says nothing about the file */
    READ_RECALLED = 2, /* holds for other files that a model is applied to */
    READ_OF_TABLE = 4, /* where they are text tables: matrices in other formats lie in either orientation */
    READ_SAMPLES = 8   /* chooses samples, or names them */
};

#define READING(word, what, member)                                                                                    \
    .size = sizeof(reading_row), .name = (word), .kind = ARMILLA_OPTION_##what,                                        \
    .offset = offsetof(reading_settings, member)
#define READING_TEXT(word, member, called, text, which)                                                                \
    {                                                                                                                  \
        {READING(word, TEXT, member), .value = (called), .help = (text)}, which                                        \
    }
#define READING_WORD(word, member, choices, called, text, which)                                                       \
    {                                                                                                                  \
        {READING(word, WORD, member), .choice = (choices), .value = (called), .help = (text)}, which                   \
    }

/* Everything that can be said about a data file. Parsing, --help, the commands that info prints, what is refused
 * beside a model, and what a model remembers go by these rows. */
static const reading_row rows[] = {
    READING_WORD("format", file.format, format_choice, "NAME",
                 "format of the data file; otherwise from its content and name", 0),
    {{READING("samples", WORD, samples), .preset = "rows", .choice = samples_choice, .value = "WHERE",
      .help = "what a sample is in the data file"},
     READ_RECALLED | READ_OF_TABLE},
    READING_TEXT("label-column", file.label_column, "COLUMN",
                 "column of a text table, or of the obs of an .h5ad, with the labels: name, or number from 1",
                 READ_RECALLED),
    READING_TEXT("name-column", file.name_column, "COLUMN",
                 "column of a text table with the names of its rows, or none; otherwise as it looks", READ_RECALLED),
    READING_TEXT("separator", file.separator, "WHAT",
                 "what separates the fields of a text table: comma, semicolon, tab, blank, or one character; otherwise "
                 "as it looks",
                 READ_RECALLED),
    READING_WORD("header", file.header, header_choice, "WHICH",
                 "whether the first line of a text table holds names; otherwise as it looks", READ_RECALLED),
    READING_WORD("decimal", file.decimal, decimal_choice, "MARK",
                 "what stands before decimals in a text table; otherwise as it looks where semicolons separate, else a "
                 "point",
                 READ_RECALLED),
    READING_TEXT(
        "ignore-columns", file.ignore_columns, "LIST|text",
        "columns of a text table to leave out: names or numbers from 1, separated by commas; or text: all that "
        "are not numbers",
        READ_RECALLED),
    READING_TEXT("array", file.array, "NAME", "which array, of a file that holds several", READ_RECALLED),
    READING_TEXT("labels", file.labels, "FILE", "the samples' labels: a text file with one per line, or IDX",
                 READ_SAMPLES),
    READING_TEXT("label-array", file.label_array, "NAME", "the samples' labels: which vector of a .npz or .mat file",
                 READ_SAMPLES),
    READING_TEXT("feature-names", file.feature_names, "FILE",
                 "names of the features, one per line; of lines with tabs the second field, as in 10x's features.tsv",
                 0),
    READING_TEXT("sample-names", file.sample_names, "FILE", "names of the samples, one per line", READ_SAMPLES),
    READING_TEXT("keep-label", keep.labels, "LIST", "only samples with these labels, separated by commas",
                 READ_SAMPLES),
    READING_TEXT(
        "keep-samples", keep.samples, "LIST|FILE",
        "only these samples: names, numbers from 1 or ranges such as 1-100, separated by commas, or a file with one "
        "per line",
        READ_SAMPLES),
    READING_TEXT("keep-features", keep.features, "LIST|FILE",
                 "only these features, given alike; a model remembers them and picks them out of other data", 0),
    {{READING("memory", SIZE, memory), .value = "LIMIT", .help = MEMORY_HELP}, READ_MACHINE},
    {{.name = NULL}, 0},
};

static const armilla_option *table(void)
{
    return &rows[0].option;
}

static void set_defaults(void *options)
{
    reading_settings *reading = options;
    armilla_selection_default(&reading->keep);
    armilla_option_presets(table(), reading);
}

static void share(const void *options, cli_settings *settings)
{
    const reading_settings *reading = options;
    settings->memory = reading->memory;
}

const cli_group group_reading = {.title = "reading ", .table = table, .defaults = set_defaults, .share = share};

reading_settings *reading_of(const cli_session *session)
{
    return settings_of_group(session, &group_reading);
}

/* Whether the command line has the row of that index. */
static bool is_given(const cli_session *session, size_t index)
{
    const uint64_t *given = settings_given(session, &group_reading);
    return given && *given >> index & 1;
}

static const char **text_at(reading_settings *reading, const armilla_option *row)
{
    return (const char **)(void *)((char *)reading + row->offset);
}

/* The row of that index takes the text, which is borrowed, as if it had been given. */
static void give(const cli_session *session, size_t index, const char *text)
{
    *text_at(reading_of(session), &rows[index].option) = text;
    *settings_given(session, &group_reading) |= (uint64_t)1 << index;
}

/* The next row from *at on that the command line has, and that is about the file; NULL behind the last. */
static const armilla_option *next_given(const cli_session *session, size_t *at)
{
    while (rows[*at].option.name) {
        const size_t i = (*at)++;
        if (is_given(session, i) && !(rows[i].role & READ_MACHINE)) return &rows[i].option;
    }
    return NULL;
}

bool reading_is_given(const cli_session *session, const char *name)
{
    size_t at = 0;
    for (const armilla_option *row = next_given(session, &at); row; row = next_given(session, &at))
        if (strcmp(row->name, name) == 0) return true;
    return false;
}

void reading_drop_samples(reading_settings *reading)
{
    for (const reading_row *row = rows; row->option.name; row++)
        if (row->role & READ_SAMPLES) *text_at(reading, &row->option) = NULL;
}

void reading_print(const cli_session *session, FILE *stream)
{
    size_t at = 0;
    for (const armilla_option *row = next_given(session, &at); row; row = next_given(session, &at)) {
        const char *value = *text_at(reading_of(session), row);
        fprintf(stream, " --%s%c", row->name, strncmp(value, "--", 2) == 0 ? '=' : ' ');
        message_put_word(stream, value);
    }
}

armilla_status reading_refuse(cli_session *session, const char *model, const char *const *but, const char *advice)
{
    size_t at = 0;
    for (const armilla_option *row = next_given(session, &at); row; row = next_given(session, &at)) {
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

bool samples_are_columns(const char *word)
{
    return word && strcmp(word, "columns") == 0;
}

bool samples_in_columns(const cli_session *session)
{
    return samples_are_columns(reading_of(session)->samples);
}

/* What a model's file says beside the rows of the table. */
static const char format_key[] = "format", columns_key[] = "columns";

armilla_status reading_recall(cli_session *session, const armilla_model *model)
{
    const char *text = armilla_model_reading(model);
    if (!text || session->recalled) return ARMILLA_OK;
    cli_recalled *recalled = calloc(1, sizeof *recalled);
    json_t *object = recalled ? json_loads(text, 0, NULL) : NULL;
    if (!object) {
        free(recalled);
        return fail(session, ARMILLA_NO_MEMORY, "out of memory for the model's options of reading");
    }
    session->recalled = recalled;
    recalled->object = object;
    recalled->reading.file.format = json_string_value(json_object_get(object, format_key));
    const char *columns = json_string_value(json_object_get(object, columns_key));
    recalled->columns = columns ? strtoll(columns, NULL, 10) : 0;
    for (size_t i = 0; rows[i].option.name; i++) {
        const char *value = json_string_value(json_object_get(object, rows[i].option.name));
        if (!(rows[i].role & READ_RECALLED) || !value || is_given(session, i)) continue;
        const armilla_status status = armilla_option_set(session->context, &rows[i].option, &recalled->reading, value);
        if (status != ARMILLA_OK) return status;
    }
    return ARMILLA_OK;
}

void reading_give(cli_session *session, const char *name, const char *value)
{
    for (size_t i = 0; rows[i].option.name; i++)
        if (strcmp(rows[i].option.name, name) == 0) give(session, i, value);
}

/* Whether the file that was looked at is of the format that the model's data had. */
static bool is_recalled(const cli_session *session)
{
    const char *format = session->recalled ? session->recalled->reading.file.format : NULL;
    return format && session->format && strcmp(format, session->format) == 0;
}

/* " --separator '|' --array X", to be freed; NULL where nothing is recalled. */
static char *show_recalled(cli_session *session)
{
    char *line = NULL;
    size_t size = 0;
    FILE *stream = is_recalled(session) ? open_memstream(&line, &size) : NULL;
    for (size_t i = 0; stream && rows[i].option.name; i++) {
        const char *value =
            rows[i].role & READ_RECALLED ? *text_at(&session->recalled->reading, &rows[i].option) : NULL;
        if (!value) continue;
        fprintf(stream, " --%s ", rows[i].option.name);
        message_put_word(stream, value);
    }
    if (stream && fclose(stream) == 0 && *line) return line;
    free(line);
    return NULL;
}

void reading_adopt(cli_session *session)
{
    char *line = show_recalled(session);
    for (size_t i = 0; is_recalled(session) && rows[i].option.name; i++) {
        const char **value =
            rows[i].role & READ_RECALLED ? text_at(&session->recalled->reading, &rows[i].option) : NULL;
        if (!value || !*value) continue;
        give(session, i, *value);
        *value = NULL;
    }
    if (line) message_line(&session->messages, "reading   as the model's data:%s", line);
    free(line);
}

armilla_status reading_blame(cli_session *session, armilla_status status)
{
    char *line = status == ARMILLA_BAD_DATA || status == ARMILLA_BAD_ARGUMENT ? show_recalled(session) : NULL;
    if (line)
        (void)fail(session, status, "%s (it is read as the model's data, by%s; give other options where it differs)",
                   armilla_context_error(session->context), line);
    free(line);
    return status;
}

armilla_status reading_remember(cli_session *session, armilla_model *model)
{
    json_t *object = json_object();
    char columns[32];
    snprintf(columns, sizeof columns, "%" PRId64, session->columns);
    json_put_text(object, format_key, session->format);
    if (session->columns > 0) json_put_text(object, columns_key, columns);
    for (size_t i = 0; rows[i].option.name; i++)
        if (rows[i].role & READ_RECALLED && is_given(session, i) &&
            (session->columns > 0 || !(rows[i].role & READ_OF_TABLE)))
            json_put_text(object, rows[i].option.name, *text_at(reading_of(session), &rows[i].option));
    char *text = json_dumps(object, JSON_COMPACT);
    const armilla_status status =
        text ? armilla_model_set_reading(session->context, model, text)
             : fail(session, ARMILLA_NO_MEMORY, "out of memory for the model's options of reading");
    free(text);
    json_decref(object);
    return status;
}

void reading_forget(cli_session *session)
{
    if (session->recalled) json_decref(session->recalled->object);
    free(session->recalled);
    session->recalled = NULL;
}
