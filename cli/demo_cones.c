/* armilla demo cones, the paper's first experiment: direction tells two groups apart, distance does not. Radii span a
 * factor of ten while the groups' mean directions are some 35 degrees apart, so that Euclidean clusters are near
 * against far. */
#include "demo.h"
#include "fitting.h"
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { POINTS = 200 };

static const double degree = 3.14159265358979323846 / 180;

/* A number in [low, high) that depends on seed and index alone: splitmix64 of both. */
static double uniform(uint64_t seed, uint64_t index, double low, double high)
{
    const uint64_t bits = plot_shuffle(plot_shuffle(seed) + index * 0x9e3779b97f4a7c15u);
    return low + (high - low) * ((double)(bits >> 11) * 0x1p-53);
}

/* The first half lies between the plane X = Z and the Z axis, the second between Y = Z and the Z axis. */
static int64_t group(size_t i)
{
    return i < POINTS / 2 ? 0 : 1;
}

/* Point i with the digits that its file has, so that the file and the memory are the same numbers. */
static void make_point(uint64_t seed, size_t i, double point[3])
{
    const double tilt = degree * uniform(seed, 3 * i, 5, 45);     /* from the Z axis towards X or Y */
    const double turn = degree * uniform(seed, 3 * i + 1, -5, 5); /* out of that plane */
    const double radius = uniform(seed, 3 * i + 2, 1, 10);
    const int64_t along = group(i);
    point[along] = radius * sin(tilt) * cos(turn);
    point[1 - along] = radius * sin(tilt) * sin(turn);
    point[2] = radius * cos(tilt);
    for (int k = 0; k < 3; k++) point[k] = round(1e6 * point[k]) / 1e6;
}

static armilla_status write_labels(const demo_job *job)
{
    armilla_output *output = NULL;
    armilla_status status = demo_output(job, "labels.txt", &output);
    for (size_t i = 0; i < POINTS && status == ARMILLA_OK; i++)
        status = armilla_output_print(output, "%" PRId64 "\n", group(i));
    return demo_finish(job, output, status);
}

static armilla_status write_points(const demo_job *job, uint64_t seed)
{
    armilla_output *output = NULL;
    armilla_status status = demo_output(job, "data.csv", &output);
    if (status == ARMILLA_OK) status = armilla_output_print(output, "x,y,z\n");
    for (size_t i = 0; i < POINTS && status == ARMILLA_OK; i++) {
        double point[3];
        make_point(seed, i, point);
        status = armilla_output_print(output, "%.6f,%.6f,%.6f\n", point[0], point[1], point[2]);
    }
    status = demo_finish(job, output, status);
    return status == ARMILLA_OK ? write_labels(job) : status;
}

/* One draw of the points: its model, and 2-means on the points and on the codes. */
typedef struct cones_draw {
    double points[POINTS][3];
    armilla_options fit;
    armilla_data *X;
    armilla_model *model;
    armilla_clustering *clusterings[2]; /* of the points, of the codes */
    double right[2];                    /* share of points in the right cluster */
} cones_draw;

static void free_draw(cones_draw *draw)
{
    armilla_clustering_free(draw->clusterings[0]);
    armilla_clustering_free(draw->clusterings[1]);
    armilla_model_free(draw->model);
    armilla_data_free(draw->X);
}

/* The same 2-means on both. The codes' larger entry would not do: the points fill only 60 degrees of the quadrant that
 * nonnegative codes span, so U may turn in its plane at no cost and the diagonal is not where the groups meet; angles
 * between codes do not change with such a turn. */
static armilla_status compare(cli_session *session, cones_draw *draw)
{
    int64_t groups[POINTS];
    armilla_cluster_options options;
    armilla_cluster_options_default(&options);
    options.k = 2;
    options.method = "euclidean";
    options.seed = draw->fit.seed;
    for (size_t i = 0; i < POINTS; i++) groups[i] = group(i);
    armilla_status status = armilla_cluster_data(session->context, draw->X, NULL, &options, &draw->clusterings[0]);
    if (status == ARMILLA_OK)
        status = armilla_cluster_model(session->context, draw->model, &options, &draw->clusterings[1]);
    for (int i = 0; i < 2 && status == ARMILLA_OK; i++) {
        armilla_scores scores;
        status =
            armilla_score(session->context, POINTS, armilla_clustering_labels(draw->clusterings[i]), groups, &scores);
        if (status == ARMILLA_OK) draw->right[i] = scores.accuracy;
    }
    return status;
}

static armilla_status make_draw(cli_session *session, int64_t seed, cones_draw *draw)
{
    armilla_options *fit = &draw->fit;
    *draw = (cones_draw){.X = NULL};
    for (size_t i = 0; i < POINTS; i++) make_point((uint64_t)seed, i, draw->points[i]);
    armilla_options_default(fit);
    fit->seed = seed;
    fit->rank = 2;
    fit->basis = "orthonormal";
    fit->codes = "nonneg-sphere";
    fit->precision = "f64";
    armilla_status status =
        armilla_data_wrap_dense(session->context, ARMILLA_F64, draw->points, 3, POINTS, 3, &draw->X);
    if (status == ARMILLA_OK) status = fitting_run(session, draw->X, fit, NULL, &draw->model);
    if (status == ARMILLA_OK) status = compare(session, draw);
    return status;
}

static armilla_status write_clusters(const demo_job *job, const cones_draw *draw)
{
    armilla_output *output = NULL;
    armilla_status status = demo_output(job, "clusters.csv", &output);
    if (status == ARMILLA_OK) status = armilla_output_print(output, "group,points,codes\n");
    for (size_t i = 0; i < POINTS && status == ARMILLA_OK; i++)
        status = armilla_output_print(output, "%" PRId64 ",%" PRId64 ",%" PRId64 "\n", group(i),
                                      armilla_clustering_labels(draw->clusterings[0])[i],
                                      armilla_clustering_labels(draw->clusterings[1])[i]);
    return demo_finish(job, output, status);
}

/* The first draw leaves its files. */
static armilla_status keep_draw(const demo_job *job, const cones_draw *draw)
{
    cli_messages *messages = &job->session->messages;
    char model[PATH_MAX], trace[PATH_MAX];
    armilla_status status = write_points(job, (uint64_t)draw->fit.seed);
    if (status == ARMILLA_OK)
        status = fitting_save(job->session, draw->model, demo_path(job, "model.npz", model),
                              demo_path(job, "trace.csv", trace));
    if (status == ARMILLA_OK) status = write_clusters(job, draw);
    if (status != ARMILLA_OK) return status;
    message_line(messages, "cones     200 points near the Z axis, 100 leaning to X and 100 to Y, at any distance");
    message_summary(messages, draw->model, &draw->fit);
    message_line(messages, "clusters  2-means on the points finds %5.1f %% of the groups", 100 * draw->right[0]);
    message_line(messages, "          2-means on the codes  finds %5.1f %%", 100 * draw->right[1]);
    return ARMILLA_OK;
}

/* Mean and standard deviation of what --seeds draws found, in percent. */
static void report_draws(cli_messages *messages, int64_t count, const double sums[2], const double squares[2])
{
    double mean[2], deviation[2];
    for (int i = 0; i < 2 && count > 1; i++) {
        mean[i] = sums[i] / (double)count;
        deviation[i] = sqrt(fmax(0, squares[i] - sums[i] * mean[i]) / (double)(count - 1));
    }
    if (count > 1)
        message_line(messages, "draws     of %" PRId64 ": the points %.1f ± %.1f %%, the codes %.1f ± %.1f %%", count,
                     mean[0], deviation[0], mean[1], deviation[1]);
}

static armilla_status repeat(const demo_job *job, armilla_output *output)
{
    cli_session *session = job->session;
    const int64_t first = job->settings->seed, count = job->settings->seeds;
    double sums[2] = {0, 0}, squares[2] = {0, 0};
    int64_t done = 0;
    armilla_status status = armilla_output_print(output, "seed,points,codes\n");
    for (; done < count && status == ARMILLA_OK && !session->exit; done++) {
        cones_draw draw;
        status = make_draw(session, first + done, &draw);
        if (status == ARMILLA_OK && done == 0) status = keep_draw(job, &draw);
        if (status == ARMILLA_OK)
            status = armilla_output_print(output, "%" PRId64 ",%.6g,%.6g\n", first + done, 100 * draw.right[0],
                                          100 * draw.right[1]);
        for (int i = 0; i < 2; i++) {
            sums[i] += 100 * draw.right[i];
            squares[i] += 1e4 * draw.right[i] * draw.right[i];
        }
        free_draw(&draw);
    }
    if (status == ARMILLA_OK) report_draws(&session->messages, done, sums, squares);
    return status;
}

armilla_status demo_cones(const demo_job *job)
{
    armilla_output *output = NULL;
    /* The library would warn that lengths differ: here they are meant to. */
    armilla_context_set_log(job->session->context, NULL, NULL);
    armilla_status status = demo_output(job, "draws.csv", &output);
    if (status == ARMILLA_OK) status = repeat(job, output);
    return demo_finish(job, output, status);
}
