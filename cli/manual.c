/* Manual pages in the macros of man(7). What a line may not begin with and what means something else is escaped. */
#include "manual.h"

#include "help.h"
#include "settings.h"

#include <string.h>

/* Text as it is to be read; a dash is one that can be searched for and copied. */
static void put(FILE *stream, const char *text)
{
    bool begins = true;
    for (; *text; text++) {
        if (begins && (*text == '.' || *text == '\'')) fputs("\\&", stream);
        if (*text == '\\')
            fputs("\\e", stream);
        else if (*text == '-')
            fputs("\\-", stream);
        else
            fputc(*text, stream);
        begins = *text == '\n';
    }
}

static void put_heading(FILE *stream, const char *name)
{
    fputs(".TH \"ARMILLA", stream);
    if (name) fputs("\\-", stream);
    for (; name && *name; name++) fputc(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name, stream);
    fprintf(stream, "\" \"1\" \"\" \"armilla %s\" \"Armilla\"\n", armilla_version());
}

static void put_option(FILE *stream, const armilla_option *row)
{
    char text[HELP_TEXT];
    fputs(".TP\n\\fB\\-\\-", stream);
    put(stream, row->name);
    fputs("\\fR", stream);
    if (row->kind != ARMILLA_OPTION_FLAG && row->value) {
        fputs(" \\fI", stream);
        put(stream, row->value);
        fputs("\\fR", stream);
    }
    fputc('\n', stream);
    help_describe(row, text, sizeof text);
    put(stream, text);
    fputc('\n', stream);
}

static void put_options(FILE *stream, const cli_command *command)
{
    option_table tables[OPTION_TABLES];
    const size_t count = settings_tables(command, tables);
    fputs(".SH OPTIONS\n", stream);
    for (size_t t = 0; t < count; t++) {
        if (tables[t].title[0] && tables[t].rows->name) {
            fputs(".SS ", stream);
            put(stream, tables[t].title);
            fputs("options\n", stream);
        }
        for (const armilla_option *row = tables[t].rows; row->name; row = armilla_option_next(row))
            put_option(stream, row);
    }
    fputs(".TP\n\\fB\\-\\-help\\fR, \\fB\\-h\\fR\nshow a summary of this page\n", stream);
}

static void put_operands(FILE *stream, const cli_command *command)
{
    if (!command->choice) return;
    fputs(".PP\n", stream);
    put(stream, command->operands[0]);
    for (size_t i = 0; command->choice(i); i++) {
        fputs(i ? ", " : " is one of ", stream);
        put(stream, command->choice(i));
    }
    fputs(".\n", stream);
}

void manual_command(FILE *stream, const cli_command *command)
{
    put_heading(stream, command->name);
    fputs(".SH NAME\narmilla\\-", stream);
    put(stream, command->name);
    fputs(" \\- ", stream);
    put(stream, command->meaning);
    fputs("\n.SH SYNOPSIS\n\\fBarmilla ", stream);
    put(stream, command->name);
    fputs("\\fR ", stream);
    put(stream, command->synopsis);
    fputc('\n', stream);
    put_operands(stream, command);
    put_options(stream, command);
    if (command->notes) {
        fputs(".SH NOTES\n.nf\n", stream);
        put(stream, command->notes);
        fputs(".fi\n", stream);
    }
    fputs(".SH SEE ALSO\n\\fBarmilla\\fR(1)\n", stream);
}

static void put_statuses(FILE *stream)
{
    fputs(".SH EXIT STATUS\n", stream);
    for (int status = 0; status < ARMILLA_STATUS_COUNT; status++) {
        fprintf(stream, ".TP\n%d\n", armilla_status_exit((armilla_status)status));
        put(stream, armilla_status_text((armilla_status)status));
        fputc('\n', stream);
    }
    fputs(".TP\n1\n\\fBcheck\\fR found a difference\n"
          ".TP\n130, 143\ninterrupted by INT or TERM; what was reached is saved\n",
          stream);
}

void manual_all(FILE *stream, const cli_command *const *commands)
{
    put_heading(stream, NULL);
    fputs(".SH NAME\narmilla \\- matrix factorization on the sphere\n"
          ".SH SYNOPSIS\n\\fBarmilla\\fR \\fICOMMAND\\fR ...\n"
          ".SH DESCRIPTION\n"
          "Data X, with one sample per row of a file, are approximated by UV, where the columns of U are atoms,\n"
          "orthonormal, nonnegative and others, and the columns of V are codes, by default on a sphere of one learned\n"
          "radius.\n"
          ".SH COMMANDS\n",
          stream);
    for (const cli_command *const *row = commands; *row; row++) {
        fputs(".TP\n\\fBarmilla ", stream);
        put(stream, (*row)->name);
        fputs("\\fR ", stream);
        put(stream, (*row)->synopsis);
        fputc('\n', stream);
        put(stream, (*row)->meaning);
        fputc('\n', stream);
    }
    fputs(".TP\n\\fBarmilla help\\fR \\fICOMMAND\\fR\nwhat a command does and takes\n"
          ".TP\n\\fBarmilla \\-\\-version\\fR\nthe version of the library\n",
          stream);
    put_statuses(stream);
    fputs(".SH SEE ALSO\n", stream);
    for (const cli_command *const *row = commands; *row; row++) {
        fputs("\\fBarmilla\\-", stream);
        put(stream, (*row)->name);
        fputs(row[1] ? "\\fR(1),\n" : "\\fR(1)\n", stream);
    }
}
