/* Lines for people. A terminal gets colour and a progress line; a file or a pipe gets neither. */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void report_begin(cli_report *report)
{
    const char *kind = getenv("TERM"), *plain = getenv("NO_COLOR");
    report->terminal = isatty(STDERR_FILENO) == 1 && kind && strcmp(kind, "dumb") != 0;
    report->colour = report->terminal && !(plain && *plain);
}

void report_erase(cli_report *report)
{
    if (report->progress_shown) fputs("\r\033[K", stderr);
    report->progress_shown = false;
}

void report_progress(cli_report *report, const char *text)
{
    struct winsize window = {0};
    if (report->silent) return;
    const int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 ? window.ws_col - 1 : 79;
    fprintf(stderr, "\r\033[K%.*s", width, text);
    fflush(stderr);
    report->progress_shown = true;
}

void report_seconds(double seconds, char *buffer, size_t size)
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

void report_duration(double seconds, char *buffer, size_t size)
{
    int decimals = 3;
    for (double unit = 0.1; decimals > 0 && seconds >= 9.995 * unit; unit *= 10) decimals--;
    if (seconds >= 99.5 || seconds < 0)
        report_seconds(seconds, buffer, size);
    else
        snprintf(buffer, size, "%.*f s", seconds < 0.0995 ? 4 : decimals, seconds);
}

/* Paths of standard input and output, and of what a file was converted to, are nothing that people have typed: their names
 * are put in the place of these. */
static void name_streams(const cli_report *report, const char *message, char *line, size_t size)
{
    const struct {
        const char *path, *name;
    } streams[] = {{report->converted ? report->converted : "", report->converted_from},
                   {report->input, "standard input"},
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
static void print_message(const cli_report *report, const char *colour, const char *opening, const char *message)
{
    char line[2048];
    if (report->silent) return;
    name_streams(report, message, line, sizeof line);
    fprintf(stderr, "%s%s%s %s\n", report->colour ? colour : "", opening, report->colour ? "\033[0m" : "",
            armilla_plain_text(line));
}

void report_error(cli_report *report, const char *format, ...)
{
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    report_erase(report);
    print_message(report, "\033[1;31m", "armilla:", message);
}

void report_log(void *user, armilla_log_level level, const char *message)
{
    cli_report *report = user;
    if (level != ARMILLA_LOG_WARNING || report->quiet) return;
    report_erase(report);
    print_message(report, "\033[1;33m", "armilla: warning:", message);
}

void report_figure(double value, int digits, char text[REPORT_FIGURE])
{
    if (isfinite(value))
        snprintf(text, REPORT_FIGURE, "%.*f", digits, value);
    else
        snprintf(text, REPORT_FIGURE, "undefined");
}

void report_line(cli_report *report, const char *format, ...)
{
    char line[8000], named[8000]; /* a path or two, and what is said of them */
    va_list arguments;
    if (report->quiet || report->silent) return;
    report_erase(report);
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    name_streams(report, line, named, sizeof named);
    fprintf(stderr, "%s\n", armilla_plain_text(named));
}

void report_put_word(FILE *stream, const char *text)
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

void report_put_path(FILE *stream, const char *path)
{
    if (*path == '-' && path[1]) fputs("./", stream);
    report_put_word(stream, path);
}

const char *report_quote(const char *path, char *buffer, size_t size)
{
    FILE *stream = fmemopen(buffer, size, "w");
    buffer[0] = '\0';
    if (!stream) return buffer;
    report_put_path(stream, path);
    (void)fclose(stream);
    buffer[size - 1] = '\0';
    return buffer;
}

static const char *stop_sentences[ARMILLA_STOP_COUNT] = {
    [ARMILLA_STOP_CONVERGED] = "converged",
    [ARMILLA_STOP_MAX_ITER] = "ended by --max-iter",
    [ARMILLA_STOP_TIME_LIMIT] = "ended by --time-limit",
    [ARMILLA_STOP_INTERRUPTED] = "interrupted",
};

static void model_line(cli_report *report, const armilla_model_summary *found)
{
    char name[128] = "", sparsity[64] = "";
    if (found->model) snprintf(name, sizeof name, "%s: ", found->model);
    if (found->sparsity > 0) snprintf(sparsity, sizeof sparsity, ", at most %" PRId64 " nonzeros", found->sparsity);
    report_line(report, "model     %s%s x %s, rank %" PRId64 "%s", name, found->basis, found->codes, found->rank,
                sparsity);
}

static void data_line(cli_report *report, const armilla_model_summary *found)
{
    char zeros[64] = "", total[64] = "", top[64] = "";
    if (found->total > 0) snprintf(total, sizeof total, ", total %.6g", found->total);
    if (found->top_features > 0) snprintf(top, sizeof top, ", %" PRId64 " most variable features", found->top_features);
    if (found->zero_samples > 0) snprintf(zeros, sizeof zeros, ", %" PRId64 " of them zero", found->zero_samples);
    report_line(report, "data      %" PRId64 " features x %" PRId64 " samples%s%s%s%s%s%s%s%s", found->m, found->n,
                zeros, total, found->log1p ? ", log1p" : "", top, found->tfidf ? ", tf-idf" : "",
                found->scale ? ", scaled" : "", found->center ? ", centred" : "",
                found->normalize && strcmp(found->normalize, "none") != 0 ? ", unit length" : "");
}

void report_summary(cli_report *report, const armilla_model *model, const armilla_options *options)
{
    armilla_model_summary found;
    char restarts[64] = "", taken[32];
    armilla_model_summarize(model, &found);
    report_duration(found.seconds, taken, sizeof taken);
    if (options->restarts > 1 && !options->start_model && !options->start_basis)
        snprintf(restarts, sizeof restarts, ", best of %" PRId64, options->restarts);
    model_line(report, &found);
    data_line(report, &found);
    report_line(report, "solver    %s from %s, seed %" PRId64 "%s; %s, %" PRId64 " thread%s", found.solver, found.start,
                found.seed, restarts, armilla_type_word(found.precision), found.threads, found.threads == 1 ? "" : "s");
    report_line(report, "stopped   %s after %" PRId64 " iteration%s, %s", stop_sentences[found.stop], found.iterations,
                found.iterations == 1 ? "" : "s", taken);
    const bool ended = found.stop == ARMILLA_STOP_TIME_LIMIT || found.stop == ARMILLA_STOP_INTERRUPTED;
    if (ended && !found.sealed && strcmp(found.solver, "fast") == 0)
        report_line(report, "codes     not sealed, as that would have taken longer: transform may give others");
    report_line(report, "error     %.6g relative (objective %.10g)", found.relative_error, found.objective);
    if (isfinite(found.radius))
        report_line(report, "radius    %.6g%s", found.radius, options->radius > 0 ? " (given)" : "");
}
