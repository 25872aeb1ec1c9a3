/* The layout of a picture. gnuplot's own margins go by the width of a letter that it guesses, and so cut off long names
 * or differ from format to format: here every border is given. */
#include "plot.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum {
    TITLE_LABEL = 1001,
    NOTE_LABEL = 1002,
    TITLE_FONT = 13,
    LEAST_FONT = 9,
    NOTE_FONT = 9,
    MARGIN = 12,
    LEAST_WIDTH = 340 /* of notes */
};

void plot_title(plot_job *job, const char *format, ...)
{
    const char *given = job->settings->title;
    va_list arguments;
    va_start(arguments, format);
    if (given)
        snprintf(job->title, sizeof job->title, "%s", given);
    else
        vsnprintf(job->title, sizeof job->title, format, arguments);
    va_end(arguments);
}

void plot_page(plot_job *job, double width, double height)
{
    double font = TITLE_FONT;
    const double most = width - 2 * MARGIN, wanted = plot_text_width(job->title, PLOT_TITLE, font);
    if (wanted > most) font = fmax(LEAST_FONT, floor(font * most / wanted));
    job->width = fmax(fmax(width, LEAST_WIDTH), plot_text_width(job->title, PLOT_TITLE, font) + 2 * MARGIN);
    job->height = height;
    if (!*job->title) return;
    fprintf(job->script, "set label %d ", TITLE_LABEL);
    plot_text(job->script, job->title, PLOT_TITLE);
    fprintf(job->script, " at screen 0.5,%.5g center noenhanced font ',%g' front\n", 1 - 16 / height, font);
}

void plot_box(plot_job *job, double left, double right, double bottom, double top)
{
    fprintf(job->script,
            "set lmargin at screen %.6g; set rmargin at screen %.6g\n"
            "set bmargin at screen %.6g; set tmargin at screen %.6g\n",
            left / job->width, right / job->width, bottom / job->height, top / job->height);
}

void plot_note(plot_job *job, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(job->script, "set label %d ", NOTE_LABEL);
    plot_text(job->script, text, PLOT_TITLE);
    fprintf(job->script, " at screen 0.5,%.5g center noenhanced font ',%d' tc rgb '#606060'\n", 9 / job->height,
            NOTE_FONT);
}

double plot_step(double range, int most)
{
    static const double leads[] = {1, 2, 5, 10};
    if (!(range > 0) || !isfinite(range)) return 1;
    const double rough = range / most, power = pow(10, floor(log10(rough)));
    size_t i = 0;
    while (i < 3 && leads[i] * power < rough * (1 - 1e-9)) i++;
    return leads[i] * power;
}

/* Numbers that are far from 1 have no decimals that fit. */
void plot_tics(plot_job *job, char axis, double step)
{
    const double places = ceil(-log10(step) - 1e-9);
    if (step >= 1e5 || step < 1e-6)
        fprintf(job->script, "set format %c '%%.3g'\n", axis);
    else
        fprintf(job->script, "set format %c '%%.%df'\n", axis, places > 0 ? (int)places : 0);
    fprintf(job->script, "set %ctics %g\n", axis, step);
}
