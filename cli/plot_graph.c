/* A map of the samples by the graph of their nearest neighbours: in the plane with its edges where they are few, or on a
 * globe. Its axes mean nothing, so it has none. */
#include "plot.h"

#include <string.h>

enum { SIDE = 460, ABOVE = 36, MARGIN = 16 };
/* Neighbours of each sample, and beyond how many samples nearly all of them do. */
enum { NEIGHBORS = 15, EXACT = 20000 };
#define RECALL 0.98
/* Edges are drawn to so many of a sample's nearest, of at most so many samples. */
enum { EDGES = 4, MOST_WITH_EDGES = 2000 };

/* Whether the row has that sample among its first. */
static bool has_edge(const armilla_neighbors *neighbors, int64_t row, int64_t sample, int64_t count)
{
    const int64_t *targets = armilla_neighbors_targets(neighbors) + armilla_neighbors_starts(neighbors)[row];
    for (int64_t e = 0; e < count; e++)
        if (targets[e] == sample) return true;
    return false;
}

/* Block 0: each edge once, as a place and the way from there. */
static void put_edges(plot_job *job, const armilla_neighbors *neighbors, const double (*places)[3])
{
    armilla_neighbors_summary summary;
    armilla_neighbors_summarize(neighbors, &summary);
    const int64_t count = summary.count < EDGES ? summary.count : EDGES;
    for (int64_t i = 0; i < summary.rows; i++)
        for (int64_t e = 0; e < count; e++) {
            const int64_t j = armilla_neighbors_targets(neighbors)[armilla_neighbors_starts(neighbors)[i] + e];
            if (j < i && has_edge(neighbors, j, i, count)) continue;
            fprintf(job->data, "%.6g %.6g %.6g %.6g\n", places[i][0], places[i][1], places[j][0] - places[i][0],
                    places[j][1] - places[i][1]);
        }
    fprintf(job->data, "\n\n");
}

static void draw_plane(plot_job *job, const plot_points *points, const armilla_neighbors *neighbors,
                       const double (*places)[3])
{
    const double key = plot_key_width(job);
    const bool edges = neighbors && job->summary.n <= MOST_WITH_EDGES;
    if (edges) put_edges(job, neighbors, places);
    for (int64_t i = 0; i < points->count; i++)
        plot_points_put(job, points, points->samples[i], places[points->samples[i]], 0);
    plot_page(job, SIDE + 2 * MARGIN + key, SIDE + ABOVE + MARGIN);
    plot_box(job, MARGIN, MARGIN + SIDE, MARGIN, MARGIN + SIDE);
    fprintf(job->script, "unset border\nunset tics\nset xrange [-1.04:1.04]\nset yrange [-1.04:1.04]\n");
    plot_key(job, 2 * MARGIN + SIDE, MARGIN + SIDE);
    plot_points_draw(
        job, edges ? "data index 0 using 1:2:3:4 with vectors nohead lc rgb '#d4d4d4' lw 0.4 notitle, \\\n     " : "",
        edges);
}

/* The places of the points alone, as the globe has them. */
static armilla_status draw_globe(plot_job *job, const plot_points *points, const double (*places)[3])
{
    double(*shown)[3] = NULL;
    const armilla_status status = armilla_take(job->session->context, points->count, sizeof *shown, &shown);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < points->count; i++) memcpy(shown[i], places[points->samples[i]], sizeof *shown);
    plot_globe(job, points, (const double(*)[3])shown, NULL);
    armilla_release(job->session->context, shown);
    return ARMILLA_OK;
}

/* places = the layout of the graph; *neighbors stays NULL where a sample has none. */
static armilla_status compute_layout(plot_job *job, armilla_neighbors **neighbors, double (*places)[3])
{
    armilla_context *context = job->session->context;
    const bool globe = job->settings->globe;
    const int64_t n = job->summary.n;
    armilla_neighbors_options options;
    armilla_neighbors_options_default(&options);
    options.count = n - 1 < NEIGHBORS ? n - 1 : NEIGHBORS;
    options.recall = n > EXACT ? RECALL : 1;
    if (n < 2) {
        places[0][2] = globe;
        return ARMILLA_OK;
    }
    const armilla_status status = armilla_neighbors_of_model(context, job->model, NULL, &options, neighbors);
    if (status != ARMILLA_OK) return status;
    return armilla_neighbors_layout(context, *neighbors, globe, 0, 0, places[0]);
}

armilla_status plot_graph(plot_job *job)
{
    armilla_context *context = job->session->context;
    const bool globe = job->settings->globe;
    armilla_neighbors *neighbors = NULL;
    plot_points points = {.count = 0};
    double(*places)[3] = NULL;
    char many[64];
    armilla_status status = plot_points_choose(job, &points);
    if (status == ARMILLA_OK) status = armilla_take(context, job->summary.n, sizeof *places, &places);
    if (status == ARMILLA_OK) status = compute_layout(job, &neighbors, places);
    if (status == ARMILLA_OK) {
        plot_title(job, "%s samples, a map by the nearest of their codes", plot_points_text(job, &points, many));
        if (globe)
            status = draw_globe(job, &points, (const double(*)[3])places);
        else
            draw_plane(job, &points, neighbors, (const double(*)[3])places);
    }
    armilla_neighbors_free(neighbors);
    armilla_release(context, places);
    armilla_release(context, points.samples);
    return status;
}
