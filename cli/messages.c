/* Lines for people. A terminal gets colour and a progress line; a file or a pipe gets neither. */
#include "messages.h"

#include "preparing.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void message_begin(cli_messages *messages)
{
    const char *kind = getenv("TERM"), *plain = getenv("NO_COLOR");
    messages->terminal = isatty(STDERR_FILENO) == 1 && kind && strcmp(kind, "dumb") != 0;
    messages->colour = messages->terminal && !(plain && *plain);
}

void message_erase(cli_messages *messages)
{
    if (messages->progress_shown) fputs("\r\033[K", stderr);
    messages->progress_shown = false;
}

void message_progress(cli_messages *messages, const char *text)
{
    struct winsize window = {0};
    if (messages->silent) return;
    const int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 ? window.ws_col - 1 : 79;
    fprintf(stderr, "\r\033[K%.*s", width, text);
    fflush(stderr);
    messages->progress_shown = true;
}

double message_degrees(double radians)
{
    return radians * 180 / acos(-1);
}

void message_seconds(double seconds, char *buffer, size_t size)
{
    const double minutes = seconds / 60;
    if (seconds < 0)
        snprintf(buffer, size, "?");
    else if (seconds < 99.5)
        snprintf(buffer, size, "%.0f s", seconds);
    else if (minutes < 59.5)
        snprintf(buffer, size, "%.0f min", minutes);
    else if (minutes < 48 * 60)
        snprintf(buffer, size, "%d h %02d min", (int)((minutes + 0.5) / 60), (int)(minutes + 0.5) % 60);
    else
        snprintf(buffer, size, "%.0f days", minutes / (24 * 60));
}

/* What has passed, with three digits below a minute: "0.0123 s", "4.56 s"; then as above. */
static void put_duration(double seconds, char *buffer, size_t size)
{
    int decimals = 3;
    for (double unit = 0.1; decimals > 0 && seconds >= 9.995 * unit; unit *= 10) decimals--;
    if (seconds >= 99.5 || seconds < 0)
        message_seconds(seconds, buffer, size);
    else
        snprintf(buffer, size, "%.*f s", seconds < 0.0995 ? 4 : decimals, seconds);
}

/* Paths of standard input and output, and of what a file was converted to, are nothing that people have typed: their names
 * are put in the place of these. */
static void name_streams(const cli_messages *messages, const char *message, char *line, size_t size)
{
    const struct {
        const char *path, *name;
    } streams[] = {{messages->converted ? messages->converted : "", messages->converted_from},
                   {messages->input, "standard input"},
                   {"/dev/stdout", "standard output"}};
    size_t used = 0;
    while (*message && used + 1 < size) {
        size_t taken = 0;
        for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
            const size_t length = strlen(streams[i].path);
            if (taken || length == 0 || strncmp(message, streams[i].path, length) != 0) continue;
            taken = length;
            used += (size_t)snprintf(line + used, size - used, "%s", streams[i].name);
        }
        if (!taken) line[used++] = *message;
        message += taken ? taken : 1;
    }
    line[used < size ? used : size - 1] = '\0';
}

/* File names may hold anything; a line break or an escape in one would break the promise of one line. */
static void print_message(const cli_messages *messages, const char *colour, const char *opening, const char *message)
{
    char line[2048];
    if (messages->silent) return;
    name_streams(messages, message, line, sizeof line);
    fprintf(stderr, "%s%s%s %s\n", messages->colour ? colour : "", opening, messages->colour ? "\033[0m" : "",
            armilla_plain_text(line));
}

void message_error(cli_messages *messages, const char *format, ...)
{
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    message_erase(messages);
    print_message(messages, "\033[1;31m", "armilla:", message);
}

void message_log(void *user, armilla_log_level level, const char *message)
{
    cli_messages *messages = user;
    if (level != ARMILLA_LOG_WARNING || messages->quiet) return;
    message_erase(messages);
    print_message(messages, "\033[1;33m", "armilla: warning:", message);
}

void message_figure(double value, int digits, char text[MESSAGE_FIGURE])
{
    if (isfinite(value))
        snprintf(text, MESSAGE_FIGURE, "%.*f", digits, value);
    else
        snprintf(text, MESSAGE_FIGURE, "undefined");
}

void message_line(cli_messages *messages, const char *format, ...)
{
    char line[8000], named[8000]; /* a path or two, and what is said of them */
    va_list arguments;
    if (messages->quiet || messages->silent) return;
    message_erase(messages);
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    name_streams(messages, line, named, sizeof named);
    fprintf(stderr, "%s\n", armilla_plain_text(named));
}

void message_put_word(FILE *stream, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    if (*text && text[strspn(text, plain)] == '\0') {
        fputs(text, stream);
        return;
    }
    fputc('\'', stream);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stream);
        else
            fputc(*text, stream);
    }
    fputc('\'', stream);
}

void message_put_path(FILE *stream, const char *path)
{
    if (*path == '-' && path[1]) fputs("./", stream);
    message_put_word(stream, path);
}

const char *message_quote(const char *path, char *buffer, size_t size)
{
    FILE *stream = fmemopen(buffer, size, "w");
    buffer[0] = '\0';
    if (!stream) return buffer;
    message_put_path(stream, path);
    (void)fclose(stream);
    buffer[size - 1] = '\0';
    return buffer;
}

/* What ends a fit where the last iterations have gained more. */
#define EXACT_TOL 1e-6

/* The part by which the last `iterations` have lowered the objective. */
static double fall_of(const armilla_model *model, int64_t iterations)
{
    const int64_t count = armilla_model_trace_count(model);
    armilla_trace_entry before, last;
    if (count <= iterations || !armilla_model_trace_entry(model, count - 1 - iterations, &before) ||
        !armilla_model_trace_entry(model, count - 1, &last) || !(before.objective > 0))
        return 0;
    return (before.objective - last.objective) / before.objective;
}

/* Why the default has ended before --tol 1e-6 would, and about what that would gain: as much as the last fifth did, by
 * traces of several models on other data (docs/algorithm.md#when-to-stop). */
static void ease_line(cli_messages *messages, const armilla_model *model, int64_t iterations)
{
    const int64_t fifth = iterations / 5;
    if (fifth < 1 || fall_of(model, 1) <= EXACT_TOL) return;
    message_line(messages,
                 "          the last %" PRId64
                 " lowered the error by %.2g %%; about as much is left: --tol 1e-6 goes on",
                 fifth, 100 * (1 - sqrt(1 - fall_of(model, fifth))));
}

static const char *stop_sentences[ARMILLA_STOP_COUNT] = {
    [ARMILLA_STOP_CONVERGED] = "converged",
    [ARMILLA_STOP_MAX_ITER] = "ended by --max-iter",
    [ARMILLA_STOP_TIME_LIMIT] = "ended by --time-limit",
    [ARMILLA_STOP_INTERRUPTED] = "interrupted",
};

static void model_line(cli_messages *messages, const armilla_model_summary *found)
{
    char name[128] = "", sparsity[64] = "";
    if (found->model) snprintf(name, sizeof name, "%s: ", found->model);
    if (found->sparsity > 0) snprintf(sparsity, sizeof sparsity, ", at most %" PRId64 " nonzeros", found->sparsity);
    message_line(messages, "model     %s%s x %s, rank %" PRId64 "%s", name, found->basis, found->codes, found->rank,
                 sparsity);
}

static void data_line(cli_messages *messages, const armilla_model *model, const armilla_model_summary *found)
{
    char zeros[64] = "", steps[512];
    const armilla_options prepared = preparing_of_model(model);
    armilla_preparation_show(&prepared, steps, sizeof steps);
    if (found->zero_samples > 0) snprintf(zeros, sizeof zeros, ", %" PRId64 " of them zero", found->zero_samples);
    message_line(messages, "data      %" PRId64 " features x %" PRId64 " samples%s%s%s", found->m, found->n, zeros,
                 *steps ? ", " : "", steps);
}

void message_summary(cli_messages *messages, const armilla_model *model, const armilla_options *options)
{
    armilla_model_summary found;
    char restarts[64] = "", taken[32];
    armilla_model_summarize(model, &found);
    put_duration(found.seconds, taken, sizeof taken);
    if (options->restarts > 1 && !options->start_model && !options->start_basis)
        snprintf(restarts, sizeof restarts, ", best of %" PRId64, options->restarts);
    model_line(messages, &found);
    data_line(messages, model, &found);
    message_line(messages, "solver    %s from %s, seed %" PRId64 "%s; %s, %" PRId64 " thread%s", found.solver,
                 found.start, found.seed, restarts, armilla_type_word(found.precision), found.threads,
                 found.threads == 1 ? "" : "s");
    message_line(messages, "stopped   %s after %" PRId64 " iteration%s, %s", stop_sentences[found.stop],
                 found.iterations, found.iterations == 1 ? "" : "s", taken);
    if (found.stop == ARMILLA_STOP_CONVERGED && options->tol < 0) ease_line(messages, model, found.iterations);
    const bool ended = found.stop == ARMILLA_STOP_TIME_LIMIT || found.stop == ARMILLA_STOP_INTERRUPTED;
    if (ended && !found.sealed && strcmp(found.solver, "fast") == 0)
        message_line(messages, "codes     not sealed, as that would have taken longer: transform may give others");
    message_line(messages, "error     %.6g relative (objective %.10g)", found.relative_error, found.objective);
    if (isfinite(found.radius))
        message_line(messages, "radius    %.6g%s", found.radius, options->radius > 0 ? " (given)" : "");
}
