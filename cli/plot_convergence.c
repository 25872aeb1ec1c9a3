/* The course of the objective: the relative error above, and below on a logarithmic scale how much the basis moved and
 * how far the objective was from the least that was reached (the paper's third figure). */
#include "plot.h"

#include <math.h>

enum { WIDTH = 470, HEIGHT = 400, LEFT = 78, RIGHT = 18, ABOVE = 34, BELOW = 54, MIDDLE = 204, GAP = 20, NOTE = 16 };

/* What was seen of the columns. */
typedef struct extent {
    double last;                     /* iteration */
    double error_low, error_high;    /* of the relative error */
    double change_low, change_high;  /* of what the lower panel shows; high 0: nothing */
    double final_dU, final_progress; /* of the last iteration; progress: the relative fall of the error */
    int64_t shown;                   /* points of the lower panel */
} extent;

/* A number of a logarithmic axis, or gnuplot's word for none. */
static void put_positive(plot_job *job, extent *seen, double value)
{
    if (!(value > 0)) {
        fprintf(job->data, " NaN");
        return;
    }
    fprintf(job->data, " %.9g", value);
    seen->change_low = fmin(seen->change_low, value);
    seen->change_high = fmax(seen->change_high, value);
}

/* iteration, relative error, dU, gap. */
static extent put_data(plot_job *job)
{
    armilla_trace_entry entry;
    double least = INFINITY, before = INFINITY;
    extent seen = {.error_low = INFINITY, .change_low = INFINITY};
    for (int64_t k = 0; armilla_model_trace_entry(job->model, k, &entry); k++) least = fmin(least, entry.objective);
    fprintf(job->data, "# iteration relative_error dU (objective-least)/squared_norm\n");
    for (int64_t k = 0; armilla_model_trace_entry(job->model, k, &entry); k++) {
        /* What rounding leaves says nothing. */
        const double gap = (entry.objective - least) / job->summary.squared_norm, shown = gap > 1e-15 ? gap : 0;
        fprintf(job->data, "%lld %.9g", (long long)entry.iteration, entry.relative_error);
        put_positive(job, &seen, entry.dU);
        put_positive(job, &seen, shown);
        fprintf(job->data, "\n");
        seen.shown += entry.dU > 0 || shown > 0;
        seen.last = (double)entry.iteration;
        seen.error_low = fmin(seen.error_low, entry.relative_error);
        seen.error_high = fmax(seen.error_high, entry.relative_error);
        seen.final_dU = entry.dU;
        seen.final_progress = (before - entry.relative_error) / entry.relative_error;
        before = entry.relative_error;
    }
    return seen;
}

/* Few iterations are marked one by one. (Marks of size 0 would be a transformation that some readers of SVG refuse.) */
static const char *style(int64_t count, bool squares)
{
    if (count > 60) return "lines";
    return squares ? "linespoints pt 5 ps 0.4" : "linespoints pt 7 ps 0.4";
}

/* The name of an axis, at the same distance from the border in both panels. */
static void put_name(plot_job *job, const char *name, double bottom, double top)
{
    fprintf(job->script, "set label 1 '%s' at screen %.5g,%.5g center rotate by 90\n", name, 16 / job->width,
            (bottom + top) / 2 / job->height);
}

static void put_upper(plot_job *job, const extent *seen, int64_t count, double bottom)
{
    const double top = job->height - ABOVE, range = fmax(seen->error_high - seen->error_low, 1e-5 * seen->error_high);
    const double step = plot_step(range, 4);
    plot_box(job, LEFT, job->width - RIGHT, bottom, top);
    put_name(job, "relative error", bottom, top);
    plot_tics(job, 'y', step);
    fprintf(job->script, "set yrange [%.9g:%.9g]\n", step * floor(seen->error_low / step + 1e-9),
            step * ceil(seen->error_high / step + (seen->error_high > seen->error_low ? -1e-9 : 0.5)));
    fprintf(job->script, "plot data using 1:2 with %s lw 2 lc rgb '#0072B2' notitle\n", style(count, false));
}

static void put_lower(plot_job *job, const extent *seen, int64_t count, double bottom)
{
    const double top = bottom - BELOW + MIDDLE - GAP / 2.0, low = log10(seen->change_low),
                 high = log10(seen->change_high);
    const double step = fmax(1, ceil((high - low) / 6)), first = step * floor(low / step);
    plot_box(job, LEFT, job->width - RIGHT, bottom, top);
    put_name(job, "change", bottom, top);
    fprintf(job->script,
            "unset label 1001\nset logscale y\nset yrange [1e%g:1e%g]\nset ytics 1e%g,1e%g\nset format y '10^{%%T}'\n",
            first, first + step * fmax(1, ceil((high - first) / step - 1e-9)), first, step);
    fprintf(job->script,
            "set format x '%%g'\nset xlabel 'iteration'\n"
            "set key bottom left Left reverse samplen 1.5 spacing 1.3 opaque\n"
            "plot data using 1:3 with %s lw 2 lc rgb '#D55E00' "
            "title '‖{/:Italic U}_{k} − {/:Italic U}_{k−1}‖_F', \\\n"
            "     data using 1:4 with %s lw 2 lc rgb '#009E73' "
            "title '({/:Italic h}_{k} − min {/:Italic h}) / ‖{/:Italic X}‖^2'\n",
            style(count, false), style(count, true));
}

/* A basis that goes on moving where the error stands still: some rotations of it cost nothing, which is no failure. */
static bool rotates_freely(const plot_job *job, const extent *seen)
{
    return job->summary.stop == ARMILLA_STOP_CONVERGED && seen->final_dU > 1e-3 * sqrt((double)job->summary.rank) &&
           seen->final_progress < 1e-5;
}

armilla_status plot_convergence(plot_job *job)
{
    const int64_t count = armilla_model_trace_count(job->model);
    if (count < 1)
        return fail(job->session, ARMILLA_BAD_DATA, "%s: the model has no trace to draw",
                    job->session->settings->operands[0]);
    const extent seen = put_data(job);
    const bool alone = seen.shown < 2;
    plot_title(job, "%s × %s, rank %lld, %s", job->summary.basis, job->summary.codes, (long long)job->summary.rank,
               job->summary.solver);
    const double foot = !alone && rotates_freely(job, &seen) ? NOTE : 0;
    plot_page(job, WIDTH, HEIGHT + foot);
    fprintf(job->script,
            "set border 3 lw 0.8\nset tics nomirror out scale 0.6\nset grid y lc rgb '#e6e6e6' lw 0.6 lt 1\n"
            "set xrange [0:%g]\nset xtics %g\n",
            fmax(1, seen.last), fmax(1, plot_step(seen.last, 8)));
    if (!alone) fprintf(job->script, "set multiplot\nset format x ''\n");
    if (alone) fprintf(job->script, "set xlabel 'iteration'\n");
    put_upper(job, &seen, count, alone ? BELOW : foot + MIDDLE + GAP / 2.0);
    if (alone) return ARMILLA_OK;
    if (foot > 0) plot_note(job, "The basis still turns where the error stands still: these turns cost nothing.");
    put_lower(job, &seen, count, foot + BELOW);
    fprintf(job->script, "unset multiplot\n");
    return ARMILLA_OK;
}
