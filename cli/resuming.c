/* The command line that goes on where this one was interrupted. */
#include "resuming.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Whether the word is the option, alone or with its value: "--resume", "--resume=FILE". */
static bool is_option(const char *word, const char *option)
{
    const size_t length = strlen(option);
    return strncmp(word, option, length) == 0 && (word[length] == '\0' || word[length] == '=');
}

static void append(char *line, size_t size, const char *word)
{
    char quoted[4096];
    const size_t used = strlen(line);
    snprintf(line + used, size - used, "%s%s", used > 0 ? " " : "", message_quote(word, quoted, sizeof quoted));
}

/* A word of the shell as it is. */
static void append_plain(char *line, size_t size, const char *word)
{
    const size_t used = strlen(line);
    snprintf(line + used, size - used, "%s%s", used > 0 ? " " : "", word);
}

/* The words of this command without --resume and --force, which follow. Options and `-` are as they were given: quoting
 * would make files of them. */
static void repeat(const cli_session *session, char *line, size_t size)
{
    for (char *const *word = session->arguments; *word; word++) {
        const size_t equals = strcspn(*word, "=");
        if (is_option(*word, "--resume")) {
            if ((*word)[equals] == '\0' && word[1]) word++;
        } else if (!is_option(*word, "--force")) {
            if (strncmp(*word, "--", 2) == 0 && (*word)[equals] == '=') {
                char option[64], value[4096];
                snprintf(option, sizeof option, "%.*s=", (int)equals, *word);
                append_plain(line, size, option);
                const size_t used = strlen(line);
                snprintf(line + used, size - used, "%s", message_quote(*word + equals + 1, value, sizeof value));
            } else if ((*word)[0] == '-') {
                append_plain(line, size, *word);
            } else {
                append(line, size, *word);
            }
        }
    }
}

/* What was written would be in the way. */
static bool leaves_outputs(const fit_settings *settings)
{
    return (settings->common.out && access(settings->common.out, F_OK) == 0) ||
           (settings->trace && access(settings->trace, F_OK) == 0);
}

static void report_command(cli_session *session, const fit_settings *settings, const char *checkpoint)
{
    char line[7000] = "";
    repeat(session, line, sizeof line);
    append_plain(line, sizeof line, "--resume");
    append(line, sizeof line, checkpoint);
    if (leaves_outputs(settings) || settings->common.force) append_plain(line, sizeof line, "--force");
    message_line(&session->messages, "resume    %s", line);
}

void resuming_report(cli_session *session, const fit_settings *settings)
{
    const char *out = settings->common.out;
    if (!session->arguments) return; /* within another command */
    const char *const files[] = {settings->checkpoint.path, settings->checkpoint.resume};
    const char *checkpoint = NULL;
    for (int i = 0; i < 2 && !checkpoint; i++)
        if (files[i] && access(files[i], R_OK) == 0) checkpoint = files[i];
    if (checkpoint)
        report_command(session, settings, checkpoint);
    else if (out && access(out, R_OK) == 0)
        message_line(&session->messages,
                     "resume    --start %s begins with this model; with --checkpoint FILE the fit itself can go on",
                     out);
    else
        message_line(&session->messages,
                     "resume    nothing is kept; with --checkpoint FILE an interrupted fit can go on");
}
