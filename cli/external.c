/* Running armilla-convert. What it writes goes into a temporary file without a name, so that nothing is left behind
 * however this process or the other one ends; what it says on standard error becomes our message, and its exit status
 * our status. */
#include "external.h"

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "armilla-convert"

static armilla_status not_built(cli_session *session, const char *path)
{
    return fail(session, ARMILLA_NOT_BUILT,
                "%s: HDF5 and MATLAB files are read by " PROGRAM
                ", which is not here; install libhdf5-dev and build again (make)",
                path);
}

/* Beside this program, in libexec beside its directory, or by the search path: then only the name. */
static void find_program(char program[PATH_MAX])
{
    static const char *const places[] = {"", "../libexec/armilla/"};
    char own[PATH_MAX / 2] = "";
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    char *slash = length > 0 ? strrchr(own, '/') : NULL;
    if (slash) slash[1] = '\0';
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        snprintf(program, PATH_MAX, "%s%s" PROGRAM, own, places[i]);
        if (access(program, X_OK) == 0) return;
    }
    snprintf(program, PATH_MAX, PROGRAM);
}

int external_nameless(void)
{
    const char *folder = getenv("TMPDIR");
    char name[PATH_MAX];
    if (!folder || !*folder) folder = "/tmp";
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return file;
    /* A file system that knows none: whoever is killed between these two calls leaves an empty file. */
    snprintf(name, sizeof name, "%s/armilla-XXXXXX", folder);
    file = mkostemp(name, O_CLOEXEC);
    if (file >= 0) (void)unlink(name);
    return file;
}

/* Everything that comes through the pipe, of which the beginning is kept. */
static void listen(int pipe, char *text, size_t size)
{
    char part[512];
    size_t used = 0;
    for (ssize_t got = 1; got != 0;) {
        got = read(pipe, part, sizeof part);
        if (got < 0 && errno != EINTR) break;
        for (ssize_t i = 0; i < got; i++)
            if (used + 1 < size) text[used++] = part[i];
    }
    text[used] = '\0';
}

/* The status whose exit status that is. */
static armilla_status status_of(int code)
{
    for (int i = 0; i < ARMILLA_STATUS_COUNT; i++)
        if (armilla_status_exit((armilla_status)i) == code) return (armilla_status)i;
    return ARMILLA_BAD_DATA;
}

/* What it warns of, a line each, is said as our own warnings are. */
static void pass_on(cli_session *session, char *printed)
{
    static const char prefix[] = PROGRAM ": warning: ";
    for (char *line = printed; (line = strstr(line, prefix));) {
        line += strlen(prefix);
        const size_t length = strcspn(line, "\n");
        if (line[length] != '\n') return; /* cut */
        line[length] = '\0';
        message_log(&session->messages, ARMILLA_LOG_WARNING, line);
        line += length + 1;
    }
}

/* The program's own message, whatever a library has printed before it. */
static const char *find_message(char *printed)
{
    static const char prefix[] = PROGRAM ": ";
    char *found = strstr(printed, prefix);
    char *message = found ? found + strlen(prefix) : printed;
    message[strcspn(message, "\n")] = '\0';
    return message;
}

static armilla_status judge(cli_session *session, const char *path, int ended, char *printed)
{
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) {
        pass_on(session, printed);
        return ARMILLA_OK;
    }
    const char *message = find_message(printed);
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == CHILD_MISSING) return not_built(session, path);
    if (WIFEXITED(ended) && *message) return fail(session, status_of(WEXITSTATUS(ended)), "%s", message);
    return fail(session, ARMILLA_BAD_DATA,
                "%s: cannot be read: " PROGRAM " ended by signal %d; the file is damaged, or larger than its limits",
                path, WIFSIGNALED(ended) ? WTERMSIG(ended) : 0);
}

/* The program with its output and its errors going there. */
static pid_t start(const cli_session *session, const char *path, const armilla_read_options *options, int output,
                   int errors)
{
    char program[PATH_MAX], memory[32] = ""; /* no limit */
    const char *array = options->array ? options->array : "", *samples = options->sample_columns ? "columns" : "rows";
    const char *labels = options->label_column ? options->label_column : options->label_array;
    const char *const arguments[] = {program, path, array, samples, memory, labels ? labels : "", NULL};
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), streams[] = {nothing, output, errors};
    find_program(program);
    const int64_t limit = armilla_context_memory_limit(session->context);
    if (limit < INT64_MAX) snprintf(memory, sizeof memory, "%lld", (long long)limit);
    const pid_t child = nothing < 0 ? -1 : child_start(program, arguments, streams, 3);
    if (nothing >= 0) close(nothing);
    return child;
}

static armilla_status run_program(cli_session *session, const char *path, const armilla_read_options *options,
                                  int output)
{
    char printed[4096] = "";
    int pipes[2], ended = 0;
    if (pipe2(pipes, O_CLOEXEC) != 0) return fail(session, ARMILLA_IO_ERROR, "%s: no pipe: %s", path, strerror(errno));
    const pid_t child = start(session, path, options, output, pipes[1]);
    const int failure = errno;
    close(pipes[1]);
    if (child >= 0) listen(pipes[0], printed, sizeof printed);
    close(pipes[0]);
    if (child < 0) return fail(session, ARMILLA_INTERNAL, "%s: " PROGRAM " cannot be run: %s", path, strerror(failure));
    while (waitpid(child, &ended, 0) < 0)
        if (errno != EINTR) return fail(session, ARMILLA_INTERNAL, "%s: " PROGRAM " is lost", path);
    return judge(session, path, ended, printed);
}

/* The message about what was read at that place names the file that it was made from. */
static armilla_status name_file(cli_session *session, armilla_status status, const char *place, const char *path)
{
    char message[2048];
    snprintf(message, sizeof message, "%s", armilla_context_error(session->context));
    if (strncmp(message, place, strlen(place)) != 0) return status;
    return fail(session, status, "%s%s", path, message + strlen(place));
}

armilla_status external_open(cli_session *session, const char *path, const armilla_read_options *options,
                             armilla_data **data)
{
    armilla_read_options inner = *options;
    char place[64];
    const int file = external_nameless();
    if (file < 0)
        return fail(session, ARMILLA_CANNOT_CREATE, "%s: no temporary file can be made: %s; set TMPDIR", path,
                    strerror(errno));
    snprintf(place, sizeof place, "/proc/self/fd/%d", file);
    inner.format = "npz";
    inner.array = inner.label_column = inner.label_array = NULL;
    inner.sample_columns = false;
    armilla_status status = run_program(session, path, options, file);
    session->messages.converted = place;
    session->messages.converted_from = path;
    if (status == ARMILLA_OK && (status = armilla_data_open(session->context, place, &inner, data)) != ARMILLA_OK)
        status = name_file(session, status, place, path);
    session->messages.converted = NULL;
    close(file);
    return status;
}
