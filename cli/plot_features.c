/* The features of each atom that weigh most, as bars: one panel per atom, its largest entries by absolute value. */
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 10, MOST_ATOMS = 48, SHOWN = 28 }; /* SHOWN: characters of a feature's name */
enum { BAR = 13, BARS = 110, VALUE = 24, NUMBER = 20, GAP = 14, ABOVE = 36, BELOW = 28, FONT = 10 };

typedef struct feature_weight {
    int64_t feature;
    double weight;
} feature_weight;

static int compare_weights(const void *first, const void *second)
{
    const feature_weight *a = first, *b = second;
    if (fabs(a->weight) != fabs(b->weight)) return fabs(a->weight) > fabs(b->weight) ? -1 : 1;
    return a->feature < b->feature ? -1 : a->feature > b->feature;
}

/* top = the atom's `count` largest entries by absolute value, largest first. */
static void find_top(const double *atom, int64_t m, feature_weight *top, int count)
{
    int found = 0;
    for (int64_t i = 0; i < m; i++) {
        const feature_weight next = {i, atom[i]};
        if (found == count && compare_weights(&next, &top[found - 1]) > 0) continue;
        int at = found < count ? found++ : found - 1;
        for (; at > 0 && compare_weights(&next, &top[at - 1]) < 0; at--) top[at] = top[at - 1];
        top[at] = next;
    }
}

/* The name that the data had, or the number of the feature in them, from 1. */
static const char *feature_text(const plot_job *job, int64_t feature, char buffer[32])
{
    int64_t of = 0;
    const int64_t *kept = armilla_model_kept_features(job->model, &of);
    const char *name = armilla_model_name(job->model, ARMILLA_FEATURE_NAMES, feature);
    if (name && *name) return name;
    snprintf(buffer, 32, "feature %" PRId64, (kept ? kept[feature] : feature) + 1);
    return buffer;
}

/* What all panels share. */
typedef struct feature_sheet {
    int count;     /* bars of a panel */
    int64_t atoms; /* that are drawn */
    int64_t across, down;
    double names, panel; /* points: the longest name, and a panel with it */
    feature_weight *top; /* atoms x count */
} feature_sheet;

static armilla_status measure(plot_job *job, feature_sheet *sheet)
{
    const int64_t r = job->summary.rank, m = job->summary.m;
    char number[32];
    sheet->count = m < TOP ? (int)m : TOP;
    sheet->atoms = r < MOST_ATOMS ? r : MOST_ATOMS;
    const armilla_status status =
        armilla_take(job->session->context, sheet->atoms, (size_t)sheet->count * sizeof *sheet->top, &sheet->top);
    for (int64_t a = 0; a < sheet->atoms && status == ARMILLA_OK; a++) {
        feature_weight *top = sheet->top + a * sheet->count;
        find_top(job->U + a * m, m, top, sheet->count);
        for (int i = 0; i < sheet->count; i++)
            sheet->names = fmax(sheet->names, plot_text_width(feature_text(job, top[i].feature, number), SHOWN, FONT));
    }
    sheet->panel = sheet->names + 8 + BARS + VALUE + GAP;
    const double fit = floor(900 / sheet->panel);
    sheet->across = fit < 1 ? 1 : (int64_t)fit;
    if (sheet->across > 6) sheet->across = 6;
    if (sheet->across > sheet->atoms) sheet->across = sheet->atoms;
    sheet->down = (sheet->atoms + sheet->across - 1) / sheet->across;
    return status;
}

/* Block a: place, weight, colour. */
static void put_atom(plot_job *job, const feature_sheet *sheet, int64_t a)
{
    const feature_weight *top = sheet->top + a * sheet->count;
    for (int i = 0; i < sheet->count; i++)
        fprintf(job->data, "%d %.6g %u\n", i + 1, top[i].weight, top[i].weight < 0 ? 0xD55E00u : 0x0072B2u);
    fprintf(job->data, "\n\n");
}

static void put_panel(plot_job *job, const feature_sheet *sheet, int64_t a)
{
    const feature_weight *top = sheet->top + a * sheet->count;
    const double bars = BAR * sheet->count, high = bars + NUMBER + GAP;
    const double left = GAP + sheet->panel * (double)(a % sheet->across) + sheet->names + 8;
    const int64_t row = a / sheet->across;
    const double upper = job->height - ABOVE - NUMBER - high * (double)row;
    double low = 0, most = 0;
    char number[32];
    for (int i = 0; i < sheet->count; i++) {
        low = fmin(low, top[i].weight);
        most = fmax(most, top[i].weight);
    }
    if (!(most > low)) most = 1;
    plot_box(job, left, left + BARS, upper - bars, upper);
    fprintf(job->script,
            "set xrange [%.6g:%.6g]\nset yrange [%g:0.5]\nset label 1 'atom %" PRId64
            "' at screen %.5g,%.5g left font ',11'\nset ytics (",
            low, most, sheet->count + 0.5, a, left / job->width, (upper + 8) / job->height);
    for (int i = 0; i < sheet->count; i++) {
        fprintf(job->script, "%s", i ? ", " : "");
        plot_tic_text(job->script, feature_text(job, top[i].feature, number), SHOWN);
        fprintf(job->script, " %d", i + 1);
    }
    fprintf(job->script, ") noenhanced font ',%d' scale 0\n", FONT);
    fprintf(job->script,
            "plot data index %" PRId64 " using (0):1:(0):2:($1-0.38):($1+0.38):3 with boxxyerror lc rgb variable, \\\n"
            "     data index %" PRId64
            " using ($2 > 0 ? $2 : 0):1:(sprintf('%%.2g',$2)) with labels left offset 0.3,0 font "
            "',8' tc rgb '#606060'\n"
            "unset label 1001\nunset label 1002\n",
            a, a);
}

static void draw(plot_job *job, const feature_sheet *sheet)
{
    const int64_t r = job->summary.rank;
    char some[64] = "";
    if (sheet->atoms < r) snprintf(some, sizeof some, "%" PRId64 " of ", sheet->atoms);
    plot_title(job, "Largest entries of %s%" PRId64 " atom%s, %s basis", some, r, r == 1 ? "" : "s",
               job->summary.basis);
    plot_page(job, GAP + sheet->panel * (double)sheet->across + GAP,
              ABOVE + BELOW + (BAR * sheet->count + NUMBER + GAP) * (double)sheet->down);
    plot_note(job, "Each atom has its own scale; entries below zero are orange.");
    fprintf(job->script, "unset key\nset border 0\nset tics nomirror\nunset xtics\nset style fill solid 1 noborder\n"
                         "set multiplot\n");
    for (int64_t a = 0; a < sheet->atoms; a++) {
        put_atom(job, sheet, a);
        put_panel(job, sheet, a);
    }
    fprintf(job->script, "unset multiplot\n");
}

armilla_status plot_features(plot_job *job)
{
    feature_sheet sheet = {.count = 0};
    const armilla_status status = measure(job, &sheet);
    if (status == ARMILLA_OK) draw(job, &sheet);
    armilla_release(job->session->context, sheet.top);
    return status;
}
