/* Standard input and output as files. */
#include "streams.h"

#include "external.h"
#include "settings.h"
#include "signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART = 1 << 13 };

bool streams_is(const char *path)
{
    static const char *const places[] = {"/dev/stdout", "/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strncmp(path, places[i], strlen(places[i])) == 0) return true;
    return false;
}

bool streams_standard(const char *path)
{
    static const char *const names[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0) return true;
    return false;
}

const char *streams_given(const cli_session *session, const char *path)
{
    const char *input = session->messages.input;
    return *input && strcmp(path, input) == 0 ? "-" : path;
}

static bool write_all(int file, const char *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        const ssize_t part = write(file, bytes + done, count - done);
        if (part < 0 && errno != EINTR) return false;
        if (part > 0) done += (size_t)part;
    }
    return true;
}

static armilla_status copy_input(cli_session *session, int file)
{
    char part[PART];
    for (ssize_t got = 1; got != 0;) {
        got = read(STDIN_FILENO, part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(session, ARMILLA_IO_ERROR, "standard input: cannot be read: %s", strerror(errno));
        if (!write_all(file, part, (size_t)got))
            return fail(session, ARMILLA_IO_ERROR,
                        "standard input: cannot be kept in a temporary file: %s; set TMPDIR to a disk with space",
                        strerror(errno));
    }
    return ARMILLA_OK;
}

/* A file that is read from its beginning is used as it is. */
static bool is_whole_file(void)
{
    struct stat facts;
    return fstat(STDIN_FILENO, &facts) == 0 && S_ISREG(facts.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
}

/* armilla-convert opens the path too, so that it names this process; messages call it standard input. */
static armilla_status open_input(cli_session *session)
{
    cli_messages *messages = &session->messages;
    int file = STDIN_FILENO;
    if (!is_whole_file()) {
        file = external_nameless();
        if (file < 0)
            return fail(session, ARMILLA_CANNOT_CREATE, "standard input: no temporary file can be made: %s; set TMPDIR",
                        strerror(errno));
        signals_reading("standard input");
        const armilla_status status = copy_input(session, file);
        if (status != ARMILLA_OK) return status;
    }
    snprintf(messages->input, sizeof messages->input, "/proc/%ld/fd/%d", (long)getpid(), file);
    return ARMILLA_OK;
}

static bool is_dash(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

armilla_status streams_open(cli_session *session)
{
    const cli_command *command = session->command;
    cli_settings *settings = session->settings;
    const char *none = NULL, **second = &settings->operands[1];
    const char **const inputs[] = {&settings->operands[0], command->writes ? &none : second,
                                   command->input ? settings_at(settings, command->input) : &none};
    const char **const outputs[] = {&settings->out, command->output ? settings_at(settings, command->output) : &none,
                                    command->writes ? second : &none};
    armilla_status status = ARMILLA_OK;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        if (is_dash(*outputs[i])) *outputs[i] = "/dev/stdout";
        if (settings->json && *outputs[i] && streams_standard(*outputs[i]))
            return fail(session, ARMILLA_BAD_ARGUMENT,
                        "--json and an output that is - would both go to standard output; give one of them a file");
    }
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs && status == ARMILLA_OK; i++) {
        if (!is_dash(*inputs[i])) continue;
        if (session->messages.input[0])
            return fail(session, ARMILLA_BAD_ARGUMENT, "- is given twice, and standard input can be read once");
        if (session->ranks)
            return fail(session, ARMILLA_BAD_ARGUMENT, "-: several ranks cannot read standard input; give a file");
        status = open_input(session);
        *inputs[i] = session->messages.input;
    }
    return status;
}
