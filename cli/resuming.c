/* The command line that goes on where this one was interrupted. */
#include "resuming.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The words of this command without --resume and --force, which follow. Options and `-` are as they were given: quoting
 * would make files of them. */
static void repeat(const cli_session *session, FILE *line)
{
    for (char *const *word = session->arguments; *word; word++) {
        const size_t equals = strcspn(*word, "=");
        const bool valued = strncmp(*word, "--", 2) == 0 && (*word)[equals] == '=';
        if (is_option(*word, "--force")) continue;
        if (is_option(*word, "--resume")) {
            if (!valued && word[1]) word++;
            continue;
        }
        fputc(' ', line);
        if (valued) fprintf(line, "%.*s=", (int)equals, *word);
        if (!valued && (*word)[0] == '-')
            fputs(*word, line);
        else
            message_put_path(line, valued ? *word + equals + 1 : *word);
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
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);
    if (!line) return;
    repeat(session, line);
    if (checkpoint) {
        fputs(" --resume ", line);
        message_put_path(line, checkpoint);
    }
    if (exists(settings->out) || exists(left->model) || exists(left->other) || settings->force) fputs(" --force", line);
    if (fclose(line) == 0)
        message_line(&session->messages, "resume   %s%s",
                     checkpoint ? "" : " nothing to go on from; again from the beginning:", text);
    free(text);
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
