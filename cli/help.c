/* Help texts. Ranges, choices and defaults come from the tables, so that they cannot differ from what is checked. */
#include "help.h"

#include "settings.h"
#include "wording.h"

#include <string.h>

enum { INDENT = 26, WIDTH = 100 };

/* Prints text word by word, breaking lines at WIDTH; column is where the cursor stands. */
static void print_wrapped(FILE *stream, size_t column, const char *text)
{
    for (bool first = true; *text; first = false) {
        const size_t length = strcspn(text, " ");
        const bool fits = column + 1 + length <= WIDTH;
        if (!first) column = fits ? column + 1 : INDENT;
        if (!first && fits) fputc(' ', stream);
        if (!first && !fits) fprintf(stream, "\n%*s", INDENT, "");
        fprintf(stream, "%.*s", (int)length, text);
        column += length;
        text += length + strspn(text + length, " ");
    }
    fputc('\n', stream);
}

static void add(char *buffer, size_t size, const char *opening, const char *text)
{
    const size_t used = strlen(buffer);
    snprintf(buffer + used, size - used, "%s%s", opening, text);
}

static void add_range(char *buffer, size_t size, const armilla_option *row)
{
    char range[96] = "";
    const bool bounded = row->high < 1e9;
    if (bounded)
        snprintf(range, sizeof range, "%.15g to %.15g", row->low, row->high);
    else
        snprintf(range, sizeof range, "at least %.15g", row->low);
    add(buffer, size, "; ", range);
}

/* A row that takes more than its choices says by the last part of its value what: a FILE, or a number such as S. */
static void add_choices(char *buffer, size_t size, const armilla_option *row)
{
    for (size_t i = 0; row->choice(i); i++) add(buffer, size, i ? ", " : "; one of ", row->choice(i));
    const char *bar = row->open ? strrchr(row->value, '|') : NULL;
    if (bar) add(buffer, size, " or ", strcmp(bar, "|FILE") == 0 ? "a file" : "a number");
}

void help_describe(const armilla_option *row, char *buffer, size_t size)
{
    wording_apply(row->help, buffer, size);
    if (row->kind == ARMILLA_OPTION_INTEGER || row->kind == ARMILLA_OPTION_REAL) add_range(buffer, size, row);
    if (row->kind == ARMILLA_OPTION_POSITIVE) add(buffer, size, "; above 0, or ", row->automatic);
    if (row->kind == ARMILLA_OPTION_MULTIPLE) add(buffer, size, "; ", "above 0");
    if (row->kind == ARMILLA_OPTION_WORD) add_choices(buffer, size, row);
    if (row->kind == ARMILLA_OPTION_SIZE) add(buffer, size, "; ", "bytes, or with K, M, G or T");
    if (row->preset) add(buffer, size, "; default ", row->preset);
}

static void print_row(FILE *stream, const char *left, const char *right)
{
    int column = fprintf(stream, "  %s ", left);
    if (column < INDENT) column += fprintf(stream, "%*s", INDENT - column, "");
    print_wrapped(stream, column > 0 ? (size_t)column : 0, right);
}

static void print_option(FILE *stream, const armilla_option *row)
{
    char left[64], right[HELP_TEXT];
    snprintf(left, sizeof left, "--%s %s", row->name,
             row->kind == ARMILLA_OPTION_FLAG || !row->value ? "" : row->value);
    help_describe(row, right, sizeof right);
    print_row(stream, left, right);
}

static void print_choices(FILE *stream, const cli_command *command)
{
    char right[512] = "";
    if (!command->choice) return;
    for (size_t i = 0; command->choice(i); i++) add(right, sizeof right, i ? ", " : "one of ", command->choice(i));
    fputc('\n', stream);
    print_row(stream, command->operands[0], right);
}

void help_command(FILE *stream, const cli_command *command)
{
    option_table tables[OPTION_TABLES];
    const size_t count = settings_tables(command, tables);
    fprintf(stream, "armilla %s: %s\n\nusage: armilla %s %s\n", command->name, command->meaning, command->name,
            command->synopsis);
    print_choices(stream, command);
    for (size_t t = 0; t < count; t++) {
        fprintf(stream, "\n%soptions:\n", tables[t].title);
        for (const armilla_option *row = tables[t].rows; row->name; row = armilla_option_next(row))
            print_option(stream, row);
        if (t + 1 == count) print_row(stream, "--help, -h", "show this help");
    }
    if (command->notes) fprintf(stream, "\n%s", command->notes);
}

void help_usage(FILE *stream)
{
    fputs("usage: armilla COMMAND ...\n"
          "       armilla --help lists the commands; armilla demo shows one at work\n",
          stream);
}

void help_all(FILE *stream, const cli_command *const *commands)
{
    fprintf(stream,
            "armilla %s: matrix factorization on the sphere. Data X are approximated by UV, where the columns of U\n"
            "are atoms (orthonormal, nonnegative, ...) and the columns of V are codes, by default on a sphere of one\n"
            "learned radius.\n\n"
            "usage: armilla COMMAND ...\n\ncommands:\n",
            armilla_version());
    for (; *commands; commands++) print_row(stream, (*commands)->name, (*commands)->meaning);
    print_row(stream, "help COMMAND", "what a command does and takes; also armilla COMMAND --help");
    print_row(stream, "--version", "the version of the library");
    fputs("\nstart here: armilla demo, then armilla info FILE and armilla fit FILE --rank R --out MODEL.npz\n", stream);
}
