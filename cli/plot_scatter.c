/* Codes as points of a plane: two of their entries, or the two directions along which they vary most. What an entry
 * contributes is drawn, v_k times the length of atom k, so that distances are those that the data have (where atoms are
 * at right angles). */
#include "plot.h"

#include <math.h>

enum { SIDE = 400, LEFT = 76, BELOW = 62, ABOVE = 36, RIGHT = 16 };

/* *rows = the points' contributions less their mean, count x r. */
static armilla_status centre(plot_job *job, const plot_points *points, double **rows)
{
    const int64_t r = job->summary.rank;
    const armilla_status status = armilla_take(job->session->context, points->count, (size_t)r * sizeof **rows, rows);
    for (int64_t k = 0; k < r && status == ARMILLA_OK; k++) {
        double mean = 0;
        for (int64_t i = 0; i < points->count; i++) {
            (*rows)[i * r + k] = job->V[points->samples[i] * r + k] * job->lengths[k];
            mean += (*rows)[i * r + k] / (double)points->count;
        }
        for (int64_t i = 0; i < points->count; i++) (*rows)[i * r + k] -= mean;
    }
    return status;
}

typedef struct scatter_range {
    double low, high;
} scatter_range;

/* Block 0. */
static void put_points(plot_job *job, const plot_points *points, const plot_axes *axes, const double *rows,
                       scatter_range range[2])
{
    const int64_t r = job->summary.rank;
    for (int64_t i = 0; i < points->count; i++) {
        const int64_t j = points->samples[i];
        double at[2] = {0, 0};
        for (int a = 0; a < 2; a++) {
            const int64_t k = axes->chosen[a];
            for (int64_t l = 0; l < r && rows; l++) at[a] += axes->directions[a * r + l] * rows[i * r + l];
            if (!rows) at[a] = job->V[j * r + k] * job->lengths[k];
            range[a].low = i ? fmin(range[a].low, at[a]) : at[a];
            range[a].high = i ? fmax(range[a].high, at[a]) : at[a];
        }
        plot_points_put(job, points, j, at, 0);
    }
}

static void put_axis(plot_job *job, const plot_axes *axes, int a, const scatter_range *range)
{
    static const char *const words[] = {"first", "second"};
    const char axis = a == 0 ? 'x' : 'y';
    const double spread = range->high > range->low ? range->high - range->low
                          : fabs(range->high) > 0  ? fabs(range->high)
                                                   : 1;
    fprintf(job->script, "set %crange [%.9g:%.9g]\n", axis, range->low - 0.04 * spread, range->high + 0.04 * spread);
    plot_tics(job, axis, plot_step(spread, 6));
    if (axes->principal)
        fprintf(job->script, "set %clabel '%s direction (%.3g %% of the variance)'\n", axis, words[a],
                100 * axes->share[a]);
    else
        fprintf(job->script, "set %clabel 'component %lld'\n", axis, (long long)axes->chosen[a]);
}

static armilla_status draw(plot_job *job, const plot_points *points, const plot_axes *axes, const double *rows)
{
    const double key = plot_key_width(job);
    char many[64];
    scatter_range range[2] = {{0, 0}, {0, 0}};
    put_points(job, points, axes, rows, range);
    plot_title(job, "%s samples, %s", plot_points_text(job, points, many),
               axes->principal ? "the two leading directions of their codes" : "two entries of their codes");
    plot_page(job, LEFT + SIDE + RIGHT + key, BELOW + SIDE + ABOVE);
    plot_box(job, LEFT, LEFT + SIDE, BELOW, BELOW + SIDE);
    fprintf(job->script, "set border 3 lw 0.8\nset tics nomirror out scale 0.6\n"
                         "set zeroaxis lt 1 lw 0.6 lc rgb '#d8d8d8'\n");
    put_axis(job, axes, 0, &range[0]);
    put_axis(job, axes, 1, &range[1]);
    plot_key(job, LEFT + SIDE + RIGHT, BELOW + SIDE);
    plot_points_draw(job, "", 0);
    return ARMILLA_OK;
}

armilla_status plot_scatter(plot_job *job)
{
    armilla_context *context = job->session->context;
    const bool given = job->settings->components != NULL;
    plot_axes axes = {.count = 2};
    plot_points points = {.count = 0};
    double *rows = NULL;
    armilla_status status = ARMILLA_OK;
    if (job->summary.rank < 2)
        return fail(job->session, ARMILLA_BAD_DATA, "%s: codes of one number fill no plane; fit with --rank 2 or more",
                    job->session->settings->operands[0]);
    if (given) status = plot_axes_parse(job, 2, &axes);
    if (status == ARMILLA_OK) status = plot_points_choose(job, &points);
    if (status == ARMILLA_OK && !given)
        status = armilla_take(context, job->summary.rank, 2 * sizeof *axes.directions, &axes.directions);
    if (status == ARMILLA_OK && !given) status = centre(job, &points, &rows);
    if (status == ARMILLA_OK && !given) status = plot_axes_lead(job, rows, points.count, &axes);
    if (status == ARMILLA_OK) status = draw(job, &points, &axes, rows);
    armilla_release(context, rows);
    armilla_release(context, axes.directions);
    armilla_release(context, points.samples);
    return status;
}
