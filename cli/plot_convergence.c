/* The way of the objective: the relative error above, and below on a logarithmic scale how much the basis moved and
 * how far the objective was from the least that was reached (the paper's third figure). */
#include "plot.h"

#include <math.h>

/* A number of a logarithmic axis, or gnuplot's word for none. */
static void put_positive(FILE *data, double value)
{
    if (value > 0)
        fprintf(data, " %.9g", value);
    else
        fprintf(data, " NaN");
}

/* iteration, relative error, dU, gap; returns how many points of the lower panel there are. */
static int64_t put_data(plot_job *job)
{
    armilla_trace_entry entry;
    double least = INFINITY;
    int64_t shown = 0;
    for (int64_t k = 0; armilla_model_trace_entry(job->model, k, &entry); k++) least = fmin(least, entry.objective);
    fprintf(job->data, "# iteration relative_error dU (objective-least)/squared_norm\n");
    for (int64_t k = 0; armilla_model_trace_entry(job->model, k, &entry); k++) {
        const double gap = (entry.objective - least) / job->summary.squared_norm;
        fprintf(job->data, "%lld %.9g", (long long)entry.iteration, entry.relative_error);
        put_positive(job->data, entry.dU);
        /* What rounding leaves says nothing. */
        put_positive(job->data, gap > 1e-15 ? gap : 0);
        fprintf(job->data, "\n");
        shown += entry.dU > 0 || gap > 1e-15;
    }
    return shown;
}

/* Few iterations are marked one by one. (Marks of size 0 would be a transformation that some readers of SVG refuse.) */
static const char *style(int64_t count, bool squares)
{
    if (count > 60) return "lines";
    return squares ? "linespoints pt 5 ps 0.4" : "linespoints pt 7 ps 0.4";
}

static void put_upper(plot_job *job, int64_t count, bool alone)
{
    FILE *script = job->script;
    fprintf(script, "set ylabel 'relative error'\nset format y '%%g'\nset ytics nomirror\n");
    if (alone)
        fprintf(script, "set xlabel 'iteration'\n");
    else
        fprintf(script, "set tmargin at screen 0.91; set bmargin at screen 0.585\nset format x ''\n");
    fprintf(script, "plot data using 1:2 with %s lw 2 lc rgb '#0072B2' notitle\n", style(count, false));
}

static void put_lower(plot_job *job, int64_t count)
{
    fprintf(job->script,
            "unset title\nset tmargin at screen 0.54; set bmargin at screen 0.165\nset format x '%%g'\n"
            "set logscale y\nset format y '10^{%%T}'\nset ylabel 'change'\nset xlabel 'iteration'\n"
            "set key bottom left Left reverse samplen 1.5 spacing 1.3 opaque\n"
            "plot data using 1:3 with %s lw 2 lc rgb '#D55E00' "
            "title '‖{/:Italic U}_{k} − {/:Italic U}_{k−1}‖_F', \\\n"
            "     data using 1:4 with %s lw 2 lc rgb '#009E73' "
            "title '({/:Italic h}_{k} − min {/:Italic h}) / ‖{/:Italic X}‖^2'\n",
            style(count, false), style(count, true));
}

armilla_status plot_convergence(plot_job *job)
{
    const int64_t count = armilla_model_trace_count(job->model);
    armilla_trace_entry end;
    if (!armilla_model_trace_entry(job->model, count - 1, &end))
        return fail(job->session, ARMILLA_BAD_DATA, "%s: the model has no trace to draw",
                    job->session->settings.operands[0]);
    const bool alone = put_data(job) < 2;
    const double last = (double)end.iteration;
    fprintf(job->script,
            "set border 3 lw 0.8\nset tics nomirror out scale 0.6\nset grid y lc rgb '#e6e6e6' lw 0.6 lt 1\n"
            "set lmargin at screen 0.17; set rmargin at screen 0.96\n");
    fprintf(job->script, "set xrange [0:%g]\n", last > 0 ? last : 1);
    plot_title(job, "%s × %s, rank %lld, %s", job->summary.basis, job->summary.codes, (long long)job->summary.rank,
               job->summary.solver);
    if (!alone) fprintf(job->script, "set multiplot\n");
    put_upper(job, count, alone);
    if (alone) return ARMILLA_OK;
    put_lower(job, count);
    fprintf(job->script, "unset multiplot\n");
    return ARMILLA_OK;
}
