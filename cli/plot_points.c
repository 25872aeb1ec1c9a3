/* Samples as points: of many, some that are spread over all; smaller and fainter the more there are; in a random order,
 * so that no class covers another because it comes later in the file. */
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_POINTS = 4000, FEW_POINTS = 300, MOST_KEYS = 24, KEY_FONT = 11 };

uint64_t plot_shuffle(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int compare_shuffled(const void *first, const void *second)
{
    const uint64_t a = plot_shuffle((uint64_t) * (const int64_t *)first),
                   b = plot_shuffle((uint64_t) * (const int64_t *)second);
    return a < b ? -1 : a > b;
}

/* One of each stretch of neighbours, at random: every k-th would always meet the same class where classes alternate. */
armilla_status plot_points_choose(plot_job *job, plot_points *points)
{
    const int64_t n = job->summary.n;
    points->count = n < MOST_POINTS ? n : MOST_POINTS;
    const armilla_status status =
        armilla_take(job->session->context, points->count, sizeof *points->samples, &points->samples);
    if (status != ARMILLA_OK) return status;
    const double stretch = (double)n / (double)points->count;
    for (int64_t i = 0; i < points->count; i++) {
        const double inside = n > points->count ? (double)(plot_shuffle((uint64_t)i) >> 11) * 0x1p-53 : 0;
        const int64_t j = (int64_t)(((double)i + inside) * stretch);
        points->samples[i] = j < n ? j : n - 1;
    }
    qsort(points->samples, (size_t)points->count, sizeof *points->samples, compare_shuffled);
    return ARMILLA_OK;
}

const char *plot_points_text(const plot_job *job, const plot_points *points, char buffer[64])
{
    if (points->count < job->summary.n)
        snprintf(buffer, 64, "%" PRId64 " of %" PRId64, points->count, job->summary.n);
    else
        snprintf(buffer, 64, "%" PRId64, job->summary.n);
    return buffer;
}

void plot_points_put(plot_job *job, const plot_points *points, int64_t sample, const double at[2], double paler)
{
    const int64_t c = job->labels.classes[sample];
    const double crowd = fmax(1, (double)points->count / FEW_POINTS);
    const double size = 0.7 * pow(crowd, -0.25);
    const double through = fmin(0.8, 1 - (1 - 0.7 * paler) * pow(crowd, -0.25));
    const unsigned alpha = (unsigned)lround(255 * through);
    fprintf(job->data, "%.6g %.6g %.3g %d %u\n", at[0], at[1], size, plot_mark(c), alpha << 24 | plot_colour(c));
}

static bool has_key(const plot_job *job)
{
    return job->labels.count > 1 && job->labels.count <= MOST_KEYS;
}

double plot_key_width(const plot_job *job)
{
    const plot_list list = {.names = job->labels.names, .count = job->labels.count};
    double widest = plot_text_width(job->by->word, PLOT_NAME, KEY_FONT);
    char number[32];
    if (!has_key(job)) return 0;
    for (int64_t c = 0; c < job->labels.count; c++)
        widest = fmax(widest, 14 + plot_text_width(plot_list_text(&list, c, number), PLOT_NAME, KEY_FONT));
    return widest + 24;
}

void plot_key(plot_job *job, double left, double top)
{
    if (job->labels.count > MOST_KEYS)
        plot_note(job, "Colours and shapes: %" PRId64 " %ss, too many for a legend.", job->labels.count, job->by->word);
    if (!has_key(job)) {
        fprintf(job->script, "unset key\n");
        return;
    }
    fprintf(job->script,
            "set key at screen %.5g,%.5g left top Left reverse vertical noenhanced samplen 0.5 spacing 1.05 width 0 "
            "font ',%d'\n"
            "set label 1003 '%s' at screen %.5g,%.5g left font ',%d' tc rgb '#404040'\n",
            left / job->width, (top - 14) / job->height, KEY_FONT, job->by->word, (left + 8) / job->width,
            (top - 4) / job->height, KEY_FONT);
}

void plot_points_draw(plot_job *job, const char *before, int block)
{
    const plot_list list = {.names = job->labels.names, .count = job->labels.count};
    char number[32];
    fprintf(job->script,
            "plot %sdata index %d using 1:2:3:4:5 with points ps variable pt variable lc rgb variable notitle", before,
            block);
    for (int64_t c = 0; has_key(job) && c < job->labels.count; c++) {
        fprintf(job->script, ", \\\n     NaN with points pt %d ps 0.8 lc rgb 0x%06x title ", plot_mark(c),
                plot_colour(c));
        plot_text(job->script, plot_list_text(&list, c, number), PLOT_NAME);
    }
    fprintf(job->script, "\n");
}
