/* The command line that goes on where this one was interrupted. */
#include "resuming.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

armilla_status resuming_check(cli_session *session, const armilla_checkpoint *checkpoint)
{
    const char *path = checkpoint->resume, *kept = checkpoint->path;
    armilla_checkpoint usual;
    armilla_checkpoint_default(&usual);
    if (checkpoint->every != usual.every && !kept)
        return fail(session, ARMILLA_BAD_ARGUMENT,
                    "--checkpoint-every has no effect without --checkpoint FILE, which says where the state goes");
    if ((path && strcmp(path, "-") == 0) || (kept && strcmp(kept, "-") == 0))
        return fail(
            session, ARMILLA_BAD_ARGUMENT,
            "--checkpoint, --resume: - is a stream, and a checkpoint is a file that is replaced; give its name");
    if (!path || access(path, R_OK) == 0) return ARMILLA_OK;
    return fail(session, ARMILLA_CANNOT_OPEN,
                "%s: cannot be opened: %s; without --resume the fit begins at its beginning", path, strerror(errno));
}

armilla_status resuming_about(cli_session *session, const armilla_checkpoint *checkpoint, armilla_status status)
{
    const char *resume = checkpoint->resume, *message = armilla_context_error(session->context);
    if (resume && strncmp(message, resume, strlen(resume)) == 0) return status;
    return about(session, session->settings->operands[0], status);
}

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

static bool exists(const char *path)
{
    return path && access(path, F_OK) == 0;
}

/* The command again, from the checkpoint if there is one; what it has written would be in the way. */
static void report_command(cli_session *session, const cli_left *left, const char *checkpoint)
{
    const cli_settings *settings = session->settings;
    char line[7000] = "";
    repeat(session, line, sizeof line);
    if (checkpoint) {
        append_plain(line, sizeof line, "--resume");
        append(line, sizeof line, checkpoint);
    }
    if (exists(settings->out) || exists(left->model) || exists(left->other) || settings->force)
        append_plain(line, sizeof line, "--force");
    message_line(&session->messages, "resume    %s%s",
                 checkpoint ? "" : "nothing to go on from; again from the beginning: ", line);
}

/* The file to go on from; NULL: there is none. */
static const char *find_checkpoint(const armilla_checkpoint *checkpoint)
{
    const char *const files[] = {checkpoint->path, checkpoint->resume};
    for (int i = 0; i < 2; i++)
        if (files[i] && access(files[i], R_OK) == 0) return files[i];
    return NULL;
}

void resuming_report(cli_session *session, const cli_left *left)
{
    const char *checkpoint = left->checkpoint ? find_checkpoint(left->checkpoint) : NULL;
    char quoted[4096];
    if (!session->arguments) return; /* within another command */
    if (checkpoint || !left->checkpoint)
        report_command(session, left, checkpoint);
    else if (left->model && access(left->model, R_OK) == 0)
        message_line(&session->messages,
                     "resume    --start %s begins with this model; with --checkpoint FILE the fit itself can go on",
                     message_quote(left->model, quoted, sizeof quoted));
    else
        message_line(&session->messages,
                     "resume    nothing is kept; with --checkpoint FILE an interrupted fit can go on");
}

armilla_status resuming_finish(cli_session *session, const armilla_checkpoint *checkpoint)
{
    if (session->exit != 0 || checkpoint->failed == ARMILLA_OK) return ARMILLA_OK;
    return fail(session, checkpoint->failed, "%s: the last checkpoint could not be written; the fit itself is complete",
                checkpoint->path);
}
