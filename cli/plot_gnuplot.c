/* Running gnuplot on a script and its data. Both are given, and the picture and gnuplot's complaints are taken, by
 * files without a name: nothing is left behind however either process ends, and the outputs appear whole. */
#include "plot.h"
#include "child.h"
#include "outputs.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOCAL_NAME = NAME_MAX + 8 };

/* Endings and what draws them: the format takes width and height in points. */
static const struct {
    const char *ending, *terminal;
    double scale; /* of the two numbers */
} terminals[] = {
    {".svg", "svg size %.0f,%.0f font 'sans-serif,12' background 'white' linewidth 1 dashlength 0.7", 1.0},
    {".png", "pngcairo size %.0f,%.0f font 'sans-serif,12' background 'white' fontscale 2.25 linewidth 3 pointscale 3",
     3.0},
    {".pdf", "pdfcairo size %.3fin,%.3fin font 'sans-serif,12' background 'white' fontscale 0.75 linewidth 1 rounded",
     1 / 72.0},
};

static size_t find_terminal(const char *path)
{
    const char *dot = strrchr(path, '.');
    size_t i = 0;
    while (i < sizeof terminals / sizeof *terminals && (!dot || strcmp(dot, terminals[i].ending) != 0)) i++;
    return i;
}

/* path with another ending. */
static void beside(const char *path, const char *ending, char buffer[PATH_MAX])
{
    snprintf(buffer, PATH_MAX, "%.*s%s", (int)(strrchr(path, '.') - path), path, ending);
}

armilla_status plot_check_outputs(cli_session *session, const char *option)
{
    const char *out = session->settings->out;
    char script[PATH_MAX], data[PATH_MAX];
    if (!out) return fail(session, ARMILLA_BAD_ARGUMENT, "plot: say where to write with %s FILE.svg", option);
    if (find_terminal(out) == sizeof terminals / sizeof *terminals)
        return fail(session, ARMILLA_BAD_ARGUMENT, "%s: %s does not end in .svg, .png or .pdf; give it one of these",
                    option, out);
    if (strlen(out) >= PATH_MAX) return fail(session, ARMILLA_BAD_ARGUMENT, "%s: the name is too long", option);
    beside(out, ".gp", script);
    beside(out, ".dat", data);
    const output_path outputs[] = {{option, out, NULL, NULL}, {option, script, NULL, NULL}, {option, data, NULL, NULL}};
    return outputs_check(session, outputs, sizeof outputs / sizeof *outputs);
}

static armilla_status cannot_draw(cli_session *session, armilla_status status, const char *what, int error)
{
    return fail(session, status, "%s: cannot be drawn: %s: %s; try again, or free some memory", session->settings->out,
                what, strerror(error));
}

/* *file = a file without a name that holds the bytes, at its beginning. */
static armilla_status nameless(cli_session *session, const char *bytes, size_t count, int *file)
{
    int failed = 0;
    *file = memfd_create("armilla-plot", MFD_CLOEXEC);
    if (*file < 0) failed = errno;
    while (!failed && count > 0) {
        const ssize_t done = write(*file, bytes, count);
        if (done < 0 && errno != EINTR) failed = errno;
        if (done > 0) bytes += done, count -= (size_t)done;
    }
    if (failed) return cannot_draw(session, ARMILLA_IO_ERROR, "no file in memory can be made", failed);
    (void)lseek(*file, 0, SEEK_SET);
    return ARMILLA_OK;
}

/* The first lines of the script, which differ between the run here and the file that is left. */
static armilla_status put_head(const plot_job *job, FILE *file, const char *data, const char *picture)
{
    const size_t i = find_terminal(job->session->settings->out);
    const double scale = terminals[i].scale;
    fprintf(file, "set encoding utf8\nset terminal ");
    fprintf(file, terminals[i].terminal, scale * job->width, scale * job->height);
    if (picture) {
        fprintf(file, "\nset output ");
        plot_path(file, picture);
    }
    fprintf(file, "\ndata = ");
    plot_path(file, data);
    fprintf(file, "\n");
    return ferror(file) ? ARMILLA_NO_MEMORY : ARMILLA_OK;
}

/* Head and script in memory. Names without a folder get one: a name that begins with < would be a command. */
static char *assemble(const plot_job *job, const char *data, const char *picture, const char *script)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) return NULL;
    const armilla_status status = put_head(job, file, data, picture);
    fputs(script, file);
    if (fclose(file) == 0 && status == ARMILLA_OK) return text;
    free(text);
    return NULL;
}

static armilla_status missing(cli_session *session)
{
    return fail(session, ARMILLA_NOT_BUILT,
                "plot: gnuplot, which draws the pictures, was not found; install it (Debian and Ubuntu: "
                "apt-get install gnuplot-nox)");
}

/* gnuplot's own words: the line of its complaint that is not a picture of where it stands. */
static armilla_status complain(cli_session *session, int complaints)
{
    char output[2048] = "";
    const ssize_t got = pread(complaints, output, sizeof output - 1, 0);
    char *end = output + (got > 0 ? got : 0);
    while (end > output && (end[-1] == '\n' || end[-1] == ' ')) *--end = '\0';
    const char *line = strrchr(output, '\n');
    return fail(session, ARMILLA_INTERNAL, "plot: gnuplot could not draw this: %s", line ? line + 1 : output);
}

/* Runs gnuplot; streams: script, picture, complaints, data, which it knows as /dev/fd/3. */
static armilla_status draw(cli_session *session, int streams[4])
{
    static const char *const arguments[] = {"gnuplot", "-d", NULL};
    int ended = 0;
    const pid_t child = child_start("gnuplot", arguments, streams, 4);
    if (child < 0) return cannot_draw(session, ARMILLA_INTERNAL, "gnuplot cannot be run", errno);
    while (waitpid(child, &ended, 0) < 0)
        if (errno != EINTR) return cannot_draw(session, ARMILLA_INTERNAL, "gnuplot is lost", errno);
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == CHILD_MISSING) return missing(session);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0 || lseek(streams[1], 0, SEEK_END) == 0)
        return complain(session, streams[2]);
    return ARMILLA_OK;
}

/* The bytes of file, from its beginning. */
static armilla_status copy(cli_session *session, int file, armilla_output *output)
{
    char part[4096];
    armilla_status status = ARMILLA_OK;
    for (off_t at = 0; status == ARMILLA_OK;) {
        const ssize_t got = pread(file, part, sizeof part, at);
        if (got == 0) break;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_draw(session, ARMILLA_IO_ERROR, "the picture is lost", errno);
        status = armilla_output_write(output, part, (size_t)got);
        at += got;
    }
    return status;
}

/* The three files, written all before the first gets its name. */
static armilla_status keep(plot_job *job, const char *script, const char *data, size_t data_size, int picture)
{
    cli_session *session = job->session;
    const char *const out = session->settings->out;
    char paths[2][PATH_MAX];
    armilla_output *outputs[3] = {NULL, NULL, NULL};
    armilla_status status = ARMILLA_OK;
    beside(out, ".dat", paths[0]);
    beside(out, ".gp", paths[1]);
    const char *const names[3] = {paths[0], paths[1], out};
    signals_defer();
    for (int i = 0; i < 3 && status == ARMILLA_OK; i++)
        status = armilla_output_new(session->context, names[i], session->settings->force, &outputs[i]);
    if (status == ARMILLA_OK) status = armilla_output_write(outputs[0], data, data_size);
    if (status == ARMILLA_OK) status = armilla_output_write(outputs[1], script, strlen(script));
    if (status == ARMILLA_OK) status = copy(session, picture, outputs[2]);
    session->exit = signals_exit();
    for (int i = 0; i < 3 && status == ARMILLA_OK && !session->exit; i++) status = armilla_output_commit(outputs[i]);
    for (int i = 0; i < 3; i++) armilla_output_free(outputs[i]);
    if (status == ARMILLA_OK && !session->exit)
        message_line(&session->messages, "written   %s; %s and %s draw it again", out, paths[1], paths[0]);
    return status;
}

/* The name behind the last slash with that ending, in the present folder: the script is run where it lies. */
static void local(const char *path, const char *ending, char buffer[LOCAL_NAME])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    snprintf(buffer, LOCAL_NAME, "./%.*s%s", (int)(strrchr(name, '.') - name), name, ending);
}

armilla_status plot_render(plot_job *job, const char *script, const char *data, size_t data_size)
{
    const char *out = job->session->settings->out;
    char here[LOCAL_NAME], picture[LOCAL_NAME];
    local(out, ".dat", here);
    local(out, strrchr(out, '.'), picture);
    char *run = assemble(job, "/dev/fd/3", NULL, script), *left = assemble(job, here, picture, script);
    int streams[4] = {-1, -1, -1, -1};
    cli_session *session = job->session;
    armilla_status status = run && left ? ARMILLA_OK : fail(session, ARMILLA_NO_MEMORY, "plot: out of memory");
    if (status == ARMILLA_OK) status = nameless(session, run, strlen(run), &streams[0]);
    if (status == ARMILLA_OK) status = nameless(session, "", 0, &streams[1]);
    if (status == ARMILLA_OK) status = nameless(session, "", 0, &streams[2]);
    if (status == ARMILLA_OK) status = nameless(session, data, data_size, &streams[3]);
    if (status == ARMILLA_OK) status = draw(session, streams);
    if (status == ARMILLA_OK) status = keep(job, left, data, data_size, streams[1]);
    for (int i = 0; i < 4; i++)
        if (streams[i] >= 0) close(streams[i]);
    free(run);
    free(left);
    return status;
}
