/* Codes on their sphere: a circle for two components, a globe seen from afar for three, with what lies behind drawn
 * fainter and first. Of longer codes the chosen or the principal components are drawn: points inside the ball. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 4000, PRINCIPAL_STEPS = 300 };

/* What is drawn: `count` directions of r numbers each, and the axes' names. */
typedef struct sphere_axes {
    int count;
    double *directions; /* 3 x r, one after the other */
    bool principal;
    int64_t chosen[3];
    bool positive; /* no coordinate is negative */
} sphere_axes;

static armilla_status parse_components(plot_job *job, sphere_axes *axes)
{
    const char *text = job->session->settings.components;
    long long chosen[3] = {1, 2, 3};
    char behind = 0;
    const int found = sscanf(text, "%9lld,%9lld,%9lld%c", &chosen[0], &chosen[1], &chosen[2], &behind);
    bool fine = found == 2 || found == 3;
    if (fine && found == 2) fine = strspn(text, "0123456789,") == strlen(text) && text[strlen(text) - 1] != ',';
    for (int i = 0; i < found && fine; i++) {
        fine = chosen[i] >= 1 && chosen[i] <= job->summary.rank;
        for (int k = 0; k < i; k++) fine = fine && chosen[k] != chosen[i];
        axes->chosen[i] = chosen[i] - 1;
    }
    axes->count = found;
    if (fine) return ARMILLA_OK;
    return fail(job->session, ARMILLA_BAD_ARGUMENT,
                "--components '%s': give two or three different numbers from 1 to %lld, such as 1,2,3", text,
                (long long)job->summary.rank);
}

/* y = VV'x, without the directions that were found before. */
static void apply_gram(const plot_job *job, const double *x, double *y)
{
    const int64_t r = job->summary.rank;
    memset(y, 0, (size_t)r * sizeof *y);
    for (int64_t j = 0; j < job->summary.n; j++) {
        double product = 0;
        for (int64_t k = 0; k < r; k++) product += job->V[j * r + k] * x[k];
        for (int64_t k = 0; k < r; k++) y[k] += product * job->V[j * r + k];
    }
}

static void remove_found(double *y, const double *directions, int found, int64_t r)
{
    for (int i = 0; i < found; i++) {
        double product = 0;
        for (int64_t k = 0; k < r; k++) product += directions[i * r + k] * y[k];
        for (int64_t k = 0; k < r; k++) y[k] -= product * directions[i * r + k];
    }
}

static void normalise(double *y, int64_t r)
{
    double sum = 0;
    for (int64_t k = 0; k < r; k++) sum += y[k] * y[k];
    for (int64_t k = 0; k < r && sum > 0; k++) y[k] /= sqrt(sum);
}

/* The leading eigenvectors of VV' by the power method: a picture needs no more. */
static armilla_status find_principal(const plot_job *job, sphere_axes *axes)
{
    const int64_t r = job->summary.rank;
    double *next = NULL;
    const armilla_status status = armilla_take(job->session->context, r, sizeof *next, &next);
    if (status != ARMILLA_OK) return status;
    for (int i = 0; i < axes->count; i++) {
        double *x = axes->directions + i * r, total = 0;
        for (int64_t k = 0; k < r; k++) x[k] = 1 + sin(1.7 * (double)(k + 1) * (i + 1));
        for (int step = 0; step < PRINCIPAL_STEPS; step++) {
            remove_found(x, axes->directions, i, r);
            normalise(x, r);
            apply_gram(job, x, next);
            memcpy(x, next, (size_t)r * sizeof *x);
        }
        remove_found(x, axes->directions, i, r);
        normalise(x, r);
        /* The sign is free: most of the codes shall lie on the positive side. */
        for (int64_t j = 0; j < job->summary.n; j++)
            for (int64_t k = 0; k < r; k++) total += x[k] * job->V[j * r + k];
        for (int64_t k = 0; k < r && total < 0; k++) x[k] = -x[k];
    }
    armilla_release(job->session->context, next);
    return ARMILLA_OK;
}

static armilla_status choose_axes(plot_job *job, sphere_axes *axes)
{
    const int64_t r = job->summary.rank;
    armilla_status status = ARMILLA_OK;
    *axes = (sphere_axes){.count = r == 2 ? 2 : 3, .chosen = {0, 1, 2}};
    if (r < 2)
        return fail(job->session, ARMILLA_BAD_DATA,
                    "%s: codes of one number lie on no circle; fit with --rank 2 or more",
                    job->session->settings.operands[0]);
    if (job->session->settings.components) status = parse_components(job, axes);
    if (status != ARMILLA_OK) return status;
    status = armilla_take(job->session->context, r, 3 * sizeof *axes->directions, &axes->directions);
    if (status != ARMILLA_OK) return status;
    axes->principal = r > 3 && !job->session->settings.components;
    if (axes->principal) return find_principal(job, axes);
    for (int i = 0; i < axes->count; i++) axes->directions[i * r + axes->chosen[i]] = 1;
    return ARMILLA_OK;
}

static void project(const plot_job *job, const sphere_axes *axes, int64_t j, double point[3])
{
    const int64_t r = job->summary.rank;
    for (int i = 0; i < 3; i++) {
        point[i] = 0;
        for (int64_t k = 0; k < r && i < axes->count; k++) point[i] += axes->directions[i * r + k] * job->V[j * r + k];
    }
}

/* The screen's axes: right, up and towards the reader. */
static const double view[3][3] = {
    {-0.64278761, 0.76604444, 0}, {-0.32374439, -0.27165379, 0.90630779}, {0.69427220, 0.58256355, 0.42261826}};

static void look(const double point[3], double seen[3])
{
    for (int i = 0; i < 3; i++) seen[i] = view[i][0] * point[0] + view[i][1] * point[1] + view[i][2] * point[2];
}

/* One ring of the wire globe as two blocks of data: what is before and what is behind. */
static void put_ring(plot_job *job, const double centre[3], const double a[3], const double b[3], double radius)
{
    enum { STEPS = 120 };
    for (int behind = 1; behind >= 0; behind--) {
        for (int step = 0; step <= STEPS; step++) {
            const double angle = 2 * M_PI * step / STEPS;
            double point[3], seen[3];
            for (int i = 0; i < 3; i++) point[i] = radius * (centre[i] + a[i] * cos(angle) + b[i] * sin(angle));
            look(point, seen);
            if ((seen[2] < -1e-9 * radius) == behind)
                fprintf(job->data, "%.5g %.5g %d\n", seen[0], seen[1], behind);
            else
                fprintf(job->data, "NaN NaN %d\n", behind);
        }
        fprintf(job->data, "\n");
    }
}

/* Block 0: meridians and parallels every 30 degrees. */
static void put_globe(plot_job *job, double radius)
{
    const double up[3] = {0, 0, 1}, x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, origin[3] = {0, 0, 0};
    for (int i = 0; i < 6; i++) {
        const double angle = i * M_PI / 6, along[3] = {cos(angle), sin(angle), 0};
        put_ring(job, origin, along, up, radius);
    }
    for (int i = -2; i <= 2; i++) {
        const double height = sin(i * M_PI / 6), width = cos(i * M_PI / 6);
        const double centre[3] = {0, 0, height}, a[3] = {width * x[0], 0, 0}, b[3] = {0, width * y[1], 0};
        put_ring(job, centre, a, b, radius);
    }
    fprintf(job->data, "\n\n");
}

typedef struct sphere_point {
    double seen[3];
    int64_t sample;
} sphere_point;

static int compare_depth(const void *first, const void *second)
{
    const sphere_point *a = first, *b = second;
    if (a->seen[2] != b->seen[2]) return a->seen[2] < b->seen[2] ? -1 : 1;
    return a->sample < b->sample ? -1 : a->sample > b->sample;
}

/* Farther points are paler. */
static unsigned shade(unsigned colour, double depth)
{
    const double pale = 0.72 * (1 - depth) / 2;
    unsigned shaded = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        const double part = (colour >> shift) & 255;
        shaded |= (unsigned)lround(part + (255 - part) * pale) << shift;
    }
    return shaded;
}

/* Block 1: x y colour size, from back to front. */
static armilla_status put_points(plot_job *job, sphere_axes *axes, double radius)
{
    const int64_t n = job->summary.n, count = n < MOST_POINTS ? n : MOST_POINTS;
    sphere_point *points = NULL;
    const armilla_status status = armilla_take(job->session->context, count, sizeof *points, &points);
    if (status != ARMILLA_OK) return status;
    axes->positive = true;
    for (int64_t i = 0; i < count; i++) {
        double point[3];
        const int64_t j = (int64_t)((double)i * (double)n / (double)count);
        project(job, axes, j, point);
        for (int k = 0; k < 3; k++) axes->positive = axes->positive && point[k] >= -1e-9 * radius;
        if (axes->count == 3)
            look(point, points[i].seen);
        else
            memcpy(points[i].seen, point, sizeof point);
        points[i].sample = j;
    }
    if (axes->count == 3) qsort(points, (size_t)count, sizeof *points, compare_depth);
    for (int64_t i = 0; i < count; i++) {
        const double *seen = points[i].seen, depth = axes->count == 3 ? fmax(-1, fmin(1, seen[2] / radius)) : 1;
        fprintf(job->data, "%.6g %.6g %u %.3g\n", seen[0], seen[1],
                shade(plot_colour(job->classes[points[i].sample]), depth), 0.55 + 0.2 * depth);
    }
    armilla_release(job->session->context, points);
    return ARMILLA_OK;
}

static void axis_name(const sphere_axes *axes, int i, char *text, size_t size)
{
    if (axes->principal)
        snprintf(text, size, "PC%d", i + 1);
    else
        snprintf(text, size, "{/:Italic v}_{%lld}", (long long)axes->chosen[i] + 1);
}

/* Labelled classes, as long as a reader can tell them apart. */
static void put_key(plot_job *job)
{
    if (!job->labelled || job->class_count > 12) {
        fprintf(job->script, "unset key\n");
        return;
    }
    fprintf(job->script, "set key outside right top vertical noenhanced samplen 0.5 spacing 1.2\n");
    job->width += 90;
}

static void put_plot(plot_job *job, const char *points)
{
    fprintf(job->script, "plot %s", points);
    for (int64_t c = 0; job->labelled && c < job->class_count && job->class_count <= 12; c++) {
        fprintf(job->script, ", \\\n     NaN with points pt 7 ps 0.9 lc rgb 0x%06x title ", plot_colour(c));
        plot_class_text(job, c, false);
        fprintf(job->script, " noenhanced");
    }
    fprintf(job->script, "\n");
}

static void draw_circle(plot_job *job, const sphere_axes *axes, double radius)
{
    const double low = axes->positive ? -0.06 * radius : -1.2 * radius, high = 1.2 * radius;
    char names[2][48];
    for (int i = 0; i < 2; i++) axis_name(axes, i, names[i], sizeof names[i]);
    fprintf(job->script,
            "set xrange [%g:%g]\nset yrange [%g:%g]\n"
            "set object 1 circle at 0,0 size %g %s fs empty border lc rgb '#b0b0b0' lw 1\n",
            low, high, low, high, radius, axes->positive ? "arc [0:90] nowedge" : "arc [0:360]");
    fprintf(job->script,
            "set arrow 1 from %g,0 to %g,0 head filled size screen 0.012,20 lc rgb '#606060' lw 0.8 back\n"
            "set arrow 2 from 0,%g to 0,%g head filled size screen 0.012,20 lc rgb '#606060' lw 0.8 back\n",
            axes->positive ? 0 : low, high * 0.97, axes->positive ? 0 : low, high * 0.97);
    fprintf(job->script, "set label 1 '%s' at %g,%g center\nset label 2 '%s' at %g,%g center\n", names[0], high * 0.97,
            low > -0.1 * radius ? -0.05 * radius : -0.07 * radius, names[1], -0.05 * radius, high * 0.97);
    put_plot(job, "data index 0 using 1:2:4:3 with points pt 7 ps variable lc rgb variable notitle");
}

static void draw_globe(plot_job *job, const sphere_axes *axes, double radius)
{
    fprintf(job->script, "set xrange [%g:%g]\nset yrange [%g:%g]\n", -1.25 * radius, 1.25 * radius, -1.25 * radius,
            1.25 * radius);
    fprintf(job->script, "set object 1 circle at 0,0 size %g fs empty border lc rgb '#909090' lw 1.2\n", radius);
    /* The first axis comes towards the reader, and its name stands among the points. */
    fprintf(job->script, "set style textbox opaque noborder fillcolor rgb 'white' margins 0.6,0.6\n");
    for (int i = 0; i < 3; i++) {
        double from[3] = {0, 0, 0}, to[3] = {0, 0, 0}, a[3], b[3];
        char name[48];
        from[i] = radius;
        to[i] = 1.22 * radius;
        look(from, a);
        look(to, b);
        axis_name(axes, i, name, sizeof name);
        fprintf(job->script,
                "set arrow %d from %g,%g to %g,%g head filled size screen 0.012,20 lc rgb '#404040' lw 1 front\n",
                i + 1, a[0], a[1], b[0], b[1]);
        fprintf(job->script, "set label %d '%s' at %g,%g center front boxed\n", i + 1, name, 1.09 * b[0], 1.09 * b[1]);
    }
    put_plot(job, "data index 0 using 1:($3==1?$2:NaN) with lines lc rgb '#ececec' lw 0.7 notitle, \\\n"
                  "     data index 0 using 1:($3==0?$2:NaN) with lines lc rgb '#cfcfcf' lw 0.7 notitle, \\\n"
                  "     data index 1 using 1:2:4:3 with points pt 7 ps variable lc rgb variable notitle");
}

/* The longest of the codes as drawn, where the model has no radius. */
static double find_radius(const plot_job *job)
{
    double longest = 0;
    if (job->summary.radius > 0) return job->summary.radius;
    for (int64_t j = 0; j < job->summary.n; j++) {
        double sum = 0;
        for (int64_t k = 0; k < job->summary.rank; k++)
            sum += job->V[j * job->summary.rank + k] * job->V[j * job->summary.rank + k];
        longest = fmax(longest, sqrt(sum));
    }
    return longest > 0 ? longest : 1;
}

armilla_status plot_sphere(plot_job *job)
{
    const double radius = find_radius(job);
    sphere_axes axes;
    armilla_status status = choose_axes(job, &axes);
    if (status != ARMILLA_OK) {
        armilla_release(job->session->context, axes.directions);
        return status;
    }
    fprintf(job->script, "unset border\nunset tics\nset size ratio -1\nset margins 1,1,1,2.5\n");
    put_key(job);
    plot_title(job, "%lld codes on the sphere of radius %.4g%s", (long long)job->summary.n, radius,
               axes.principal ? ", principal components" : "");
    if (axes.count == 3) put_globe(job, radius);
    status = put_points(job, &axes, radius);
    if (status == ARMILLA_OK && axes.count == 3) draw_globe(job, &axes, radius);
    if (status == ARMILLA_OK && axes.count == 2) draw_circle(job, &axes, radius);
    armilla_release(job->session->context, axes.directions);
    return status;
}
