/* Names along an axis. */
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { FONT = 10, GAP = 10 }; /* GAP: between an axis and its names, and at the picture's edge */

const char *plot_list_text(const plot_list *list, int64_t index, char buffer[32])
{
    if (list->names) return list->names[index];
    snprintf(buffer, 32, "%" PRId64, index + 1);
    return buffer;
}

double plot_list_width(const plot_list *list, int most)
{
    char number[32];
    double widest = 0;
    snprintf(number, sizeof number, "%" PRId64, list->count);
    const double digits = plot_text_width(number, most, FONT);
    if (list->count > PLOT_LISTED) return digits + GAP;
    for (int64_t i = 0; i < list->count; i++)
        widest = fmax(widest, plot_text_width(plot_list_text(list, i, number), most, FONT));
    return widest + GAP + (list->numbered ? digits + FONT : 0);
}

void plot_list_tics(plot_job *job, const char *axis, const plot_list *list, int most)
{
    FILE *script = job->script;
    char number[32];
    if (list->count > PLOT_LISTED) {
        const double step = plot_step((double)list->count, 10);
        fprintf(script, "set %stics (", axis);
        for (int64_t i = 1; (double)i * step <= (double)list->count; i++)
            fprintf(script, "%s'%.0f' %.0f", i > 1 ? ", " : "", (double)i * step, (double)i * step);
        fprintf(script, ") font ',%d'\n", FONT);
        return;
    }
    fprintf(script, "set %stics (", axis);
    for (int64_t i = 0; i < list->count; i++) {
        if (i) fprintf(script, ", ");
        /* gnuplot joins strings by a point: the number is no text of a user. */
        if (list->numbered && list->names) fprintf(script, "\"%" PRId64 "  \".", i + 1);
        plot_tic_text(script, plot_list_text(list, i, number), most);
        fprintf(script, " %" PRId64, i + 1);
    }
    fprintf(script, ") noenhanced font ',%d'\n", FONT);
}

double plot_list_below(const plot_list *list, double cell, int most, bool *turned)
{
    const double widest = plot_list_width(list, most);
    *turned = list->count <= PLOT_LISTED && widest - GAP + 4 > cell;
    return *turned ? widest + 4 : FONT + GAP;
}
