/* What points are drawn along: entries of the codes that were chosen, or leading directions. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 300 };

armilla_status plot_axes_parse(plot_job *job, int most, plot_axes *axes)
{
    const char *text = job->settings->components, *at = text;
    bool fine = true;
    axes->count = 0;
    while (fine) {
        char *end = NULL;
        const long long number = strtoll(at, &end, 10);
        fine = *at >= '0' && *at <= '9' && axes->count < most && number >= 0 && number < job->summary.rank;
        for (int i = 0; i < axes->count; i++) fine = fine && axes->chosen[i] != number;
        if (fine) axes->chosen[axes->count++] = number;
        if (!fine || *end != ',') {
            fine = fine && !*end;
            break;
        }
        at = end + 1;
    }
    if (fine && axes->count >= 2) return ARMILLA_OK;
    return fail(job->session, ARMILLA_BAD_ARGUMENT,
                "--components '%s': give two%s different numbers from 0 to %lld, such as 0,1", text,
                most > 2 ? " or three" : "", (long long)job->summary.rank - 1);
}

double plot_dot(const double *a, const double *b, int64_t r)
{
    double sum = 0;
    for (int64_t k = 0; k < r; k++) sum += a[k] * b[k];
    return sum;
}

/* y = PP'x, P the points as columns. */
static void apply_gram(const double *points, int64_t count, int64_t r, const double *x, double *y)
{
    memset(y, 0, (size_t)r * sizeof *y);
    for (int64_t j = 0; j < count; j++) {
        const double product = plot_dot(points + j * r, x, r);
        for (int64_t k = 0; k < r; k++) y[k] += product * points[j * r + k];
    }
}

/* y without the directions that were found before, of length 1 or, where nothing is left of it, 0. */
static void settle(double *y, const double *directions, int found, int64_t r)
{
    const double before = sqrt(plot_dot(y, y, r));
    for (int i = 0; i < found; i++) {
        const double product = plot_dot(directions + i * r, y, r);
        for (int64_t k = 0; k < r; k++) y[k] -= product * directions[i * r + k];
    }
    const double length = sqrt(plot_dot(y, y, r));
    for (int64_t k = 0; k < r; k++) y[k] = length > 1e-12 * before ? y[k] / length : 0;
}

/* The sign is free: most of the points shall lie on the positive side. */
static void point_forward(const double *points, int64_t count, int64_t r, double *x)
{
    double total = 0;
    for (int64_t j = 0; j < count; j++) total += plot_dot(points + j * r, x, r);
    for (int64_t k = 0; k < r && total < 0; k++) x[k] = -x[k];
}

/* The leading eigenvectors of PP' by the power method: a picture needs no more. */
armilla_status plot_axes_lead(plot_job *job, const double *points, int64_t count, plot_axes *axes)
{
    const int64_t r = job->summary.rank;
    double *next = NULL;
    const armilla_status status = armilla_take(job->session->context, r, sizeof *next, &next);
    if (status != ARMILLA_OK) return status;
    const double all = plot_dot(points, points, count * r);
    for (int i = 0; i < axes->count; i++) {
        double *x = axes->directions + i * r;
        for (int64_t k = 0; k < r; k++) x[k] = 1 + sin(1.7 * (double)(k + 1) * (i + 1));
        settle(x, axes->directions, i, r);
        for (int step = 0; step < STEPS; step++) {
            apply_gram(points, count, r, x, next);
            settle(next, axes->directions, i, r);
            memcpy(x, next, (size_t)r * sizeof *x);
        }
        apply_gram(points, count, r, x, next);
        axes->share[i] = all > 0 ? plot_dot(x, next, r) / all : 0;
        point_forward(points, count, r, x);
    }
    axes->principal = true;
    armilla_release(job->session->context, next);
    return ARMILLA_OK;
}
