/* Names along an axis. Every second, fifth or tenth is shown where there are more than there is space for. */
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FONT = 10, GAP = 10, LINE = 11, SHORT = 30 }; /* GAP: between an axis and its names, and at the picture's edge */

const char *plot_list_text(const plot_list *list, int64_t index, char buffer[32])
{
    if (list->names) return list->names[index];
    snprintf(buffer, 32, "%" PRId64, index);
    return buffer;
}

/* A step of 1, 2 or 5 times a power of ten that is as many points wide. */
static int64_t step_of(double cell, double wanted)
{
    return cell >= wanted ? 1 : (int64_t)plot_step(wanted / cell, 1);
}

void plot_list_beside(plot_list *list, double cell)
{
    list->every = step_of(cell, LINE);
}

double plot_list_width(const plot_list *list, int most)
{
    char number[32];
    double widest = 0;
    snprintf(number, sizeof number, "%" PRId64, list->count - 1);
    const double digits = plot_text_width(number, most, FONT);
    for (int64_t i = 0; i < list->count; i += list->every)
        widest = fmax(widest, plot_text_width(plot_list_text(list, i, number), most, FONT));
    return widest + GAP + (list->numbered ? digits + FONT : 0);
}

void plot_list_tics(plot_job *job, const char *axis, const plot_list *list, int most)
{
    FILE *script = job->script;
    char number[32];
    fprintf(script, "set %stics (", axis);
    for (int64_t i = 0; i < list->count; i += list->every) {
        if (i) fprintf(script, ", ");
        /* gnuplot joins strings by a point: the number is no text of a user. */
        if (list->numbered && list->names) fprintf(script, "\"%" PRId64 "  \".", i);
        plot_tic_text(script, plot_list_text(list, i, number), most);
        fprintf(script, " %" PRId64, i);
    }
    fprintf(script, ") noenhanced font ',%d'\n", FONT);
}

double plot_list_below(plot_list *list, double cell, int most, bool *turned)
{
    plot_list_beside(list, cell);
    const double wide = plot_list_width(list, most) - GAP + 4;
    const bool few = list->every == 1;
    /* Short names of many stand upright, a few of them less. */
    if (!few && wide <= SHORT) list->every = step_of(cell, wide);
    *turned = wide > cell * (double)list->every;
    return *turned ? wide + GAP : FONT + GAP;
}

/* Numbers in their order, of which everybody knows those between two. */
static bool counts(const plot_list *list)
{
    char number[32];
    for (int64_t i = 0; i < list->count && list->names; i++) {
        snprintf(number, sizeof number, "%" PRId64, i);
        if (strcmp(list->names[i], number) != 0) return false;
    }
    return true;
}

const char *plot_list_title(const plot_list *list, const char *word, char buffer[96])
{
    snprintf(buffer, 96, "%s", word);
    if (list->every > 1 && !counts(list))
        snprintf(buffer, 96, "%s (every %" PRId64 "%s is named)", word, list->every, list->every == 2 ? "nd" : "th");
    return buffer;
}
