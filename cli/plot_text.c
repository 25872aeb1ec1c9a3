/* Text, colours and classes for pictures. */
#include "plot.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* How many bytes the UTF-8 character at text has; 0 where it is none that XML may hold: bytes that are no UTF-8, halves of
 * surrogate pairs, U+FFFE and U+FFFF, and the control characters past ASCII. */
static int utf8_length(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        int length;
        unsigned least; /* a smaller number has a shorter form */
    } forms[] = {{0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0xa0}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if ((text[0] & forms[i].mask) != forms[i].lead) continue;
        unsigned character = text[0] & (unsigned char)~forms[i].mask;
        for (int k = 1; k < forms[i].length; k++) {
            if ((text[k] & 0xc0) != 0x80) return 0;
            character = character << 6 | (text[k] & 0x3f);
        }
        const bool allowed = character >= forms[i].least && character <= 0x10ffff && character >> 11 != 0xd800 >> 11 &&
                             character != 0xfffe && character != 0xffff;
        return allowed ? forms[i].length : 0;
    }
    return 0;
}

/* Characters that are shown of a text: a longer one would cover the picture. */
enum { MOST_TITLE = 160, MOST_NAME = 60 };

static bool is_plain(unsigned char character)
{
    return isalnum(character) || strchr(" .,:;/-+()=_", character);
}

/* Double quotes and octal escapes for whatever has a meaning to gnuplot: it substitutes backquotes in such strings
 * before it reads escapes, so that an escaped one is only a character. (In single quotes, which substitute nothing, a
 * doubled quote at the beginning of a string is misread.) Of more than `most` characters the last is an ellipsis. */
static void put_text(FILE *script, const char *text, int most, const char *percent)
{
    fputc('"', script);
    for (const unsigned char *start = (const unsigned char *)text, *at = start; *at; most--) {
        const int length = utf8_length(at);
        if (most == 1 && at[length ? length : 1]) {
            fputs("\342\200\246", script);
            break;
        }
        /* gnuplot escapes < and & in an SVG but not >, and XML has no ]]> in text: an invisible word joiner parts it. */
        if (*at == '>' && at - start >= 2 && at[-1] == ']' && at[-2] == ']') fputs("\342\201\240", script);
        if (length == 0 || *at == 0x7f)
            fputc('?', script);
        else if (*at < ' ')
            fputc(' ', script);
        else if (length > 1 || is_plain(*at))
            fwrite(at, 1, (size_t)length, script);
        else if (*at == '%')
            fputs(percent, script);
        else
            fprintf(script, "\\%03o", *at);
        at += length ? length : 1;
    }
    fputc('"', script);
}

void plot_text(FILE *script, const char *text)
{
    put_text(script, text, MOST_TITLE, "\\045");
}

void plot_path(FILE *script, const char *path)
{
    fputc('"', script);
    for (const unsigned char *at = (const unsigned char *)path; *at; at++)
        fprintf(script, is_plain(*at) ? "%c" : "\\%03o", *at);
    fputc('"', script);
}

void plot_title(plot_job *job, const char *format, ...)
{
    const char *given = job->session->settings.title;
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (given && !*given) return;
    fprintf(job->script, "set title ");
    plot_text(job->script, given ? given : text);
    fprintf(job->script, " noenhanced\n");
}

void plot_class_text(plot_job *job, int64_t c, bool tic)
{
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, c + 1);
    put_text(job->script, job->names ? job->names[c] : number, MOST_NAME, tic ? "\\045\\045" : "\\045");
}

/* Okabe and Ito's colours, darkest first; yellow, which white swallows, is left out. */
unsigned plot_colour(int64_t c)
{
    static const unsigned colours[] = {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0x56B4E9, 0xE69F00,
                                       0x333333, 0x8C6BB1, 0x44AA99, 0x882255, 0x999933, 0x332288};
    return colours[(uint64_t)c % (sizeof colours / sizeof *colours)];
}

static unsigned blend(unsigned a, unsigned b, double t)
{
    unsigned colour = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        const double from = (a >> shift) & 255, to = (b >> shift) & 255;
        colour |= (unsigned)lround(from + (to - from) * t) << shift;
    }
    return colour;
}

unsigned plot_diverging(double t)
{
    static const unsigned stops[] = {0x053061, 0x4393C3, 0xF7F7F7, 0xD6604D, 0x67001F};
    const double place = fmin(fmax(2 * (t + 1), 0), 4);
    const int first = place >= 4 ? 3 : (int)place;
    return blend(stops[first], stops[first + 1], place - first);
}

unsigned plot_gray(double t)
{
    return blend(0xFFFFFF, 0x000000, fmin(fmax(t, 0), 1));
}

const char *plot_pixels(const plot_job *job, int64_t cells)
{
    enum { MOST_CELLS = 20000 };
    const char *dot = strrchr(job->session->settings.out, '.');
    return cells <= MOST_CELLS && dot && strcmp(dot, ".svg") == 0 ? " pixels" : "";
}

int64_t plot_largest(const plot_job *job, int64_t j)
{
    const int64_t r = job->summary.rank;
    int64_t best = 0;
    for (int64_t k = 1; k < r; k++)
        if (fabs(job->V[j * r + k]) > fabs(job->V[j * r + best])) best = k;
    return best;
}

/* The labels of the file of --labels, which belong to the job's data. */
static armilla_status read_labels(plot_job *job, const char **labels)
{
    armilla_context *context = job->session->context;
    const armilla_model_summary *of = &job->summary;
    armilla_status status =
        armilla_data_wrap_dense(context, ARMILLA_F64, job->V, of->rank, of->n, of->rank, &job->samples);
    if (status == ARMILLA_OK) status = armilla_data_read_labels(context, job->samples, job->session->settings.labels);
    for (int64_t j = 0; j < of->n && status == ARMILLA_OK; j++)
        labels[j] = armilla_data_name(job->samples, ARMILLA_SAMPLE_LABELS, j);
    return status;
}

/* The order of classes: numbers by value, then texts. */
static int compare_labels(const void *first, const void *second)
{
    const char *a = *(const char *const *)first, *b = *(const char *const *)second;
    char *a_end, *b_end;
    const double x = strtod(a, &a_end), y = strtod(b, &b_end);
    if (*a && *b && !*a_end && !*b_end && x != y) return x < y ? -1 : 1;
    return strcmp(a, b);
}

/* Numbers the labels that differ. */
static armilla_status number_labels(plot_job *job, const char **labels)
{
    const int64_t n = job->summary.n;
    const armilla_status status = armilla_take(job->session->context, n, sizeof *job->names, &job->names);
    if (status != ARMILLA_OK) return status;
    memcpy(job->names, labels, (size_t)n * sizeof *labels);
    qsort(job->names, (size_t)n, sizeof *job->names, compare_labels);
    job->class_count = 0;
    for (int64_t j = 0; j < n; j++)
        if (j == 0 || compare_labels(&job->names[j], &job->names[job->class_count - 1]) != 0)
            job->names[job->class_count++] = job->names[j];
    for (int64_t j = 0; j < n; j++) {
        const char **found =
            bsearch(&labels[j], job->names, (size_t)job->class_count, sizeof *job->names, compare_labels);
        job->classes[j] = found ? found - job->names : 0;
    }
    job->labelled = true;
    return ARMILLA_OK;
}

armilla_status plot_classify(plot_job *job)
{
    const int64_t n = job->summary.n;
    const bool given = job->session->settings.labels != NULL;
    const char **labels = NULL;
    armilla_status status = armilla_take(job->session->context, n, sizeof *labels, &labels);
    if (status == ARMILLA_OK) status = armilla_take(job->session->context, n, sizeof *job->classes, &job->classes);
    if (status != ARMILLA_OK) {
        armilla_release(job->session->context, labels);
        return status;
    }
    if (given || armilla_model_name(job->model, ARMILLA_SAMPLE_LABELS, 0)) {
        if (given) status = read_labels(job, labels);
        for (int64_t j = 0; j < n && !given; j++) labels[j] = armilla_model_name(job->model, ARMILLA_SAMPLE_LABELS, j);
        if (status == ARMILLA_OK) status = number_labels(job, labels);
    } else {
        job->class_count = job->summary.rank;
        for (int64_t j = 0; j < n; j++) job->classes[j] = plot_largest(job, j);
    }
    armilla_release(job->session->context, labels);
    return status;
}
