/* Codes on their sphere: a circle for two components, a globe seen from afar for three, with what lies behind drawn
 * fainter and first. The chosen or the principal components of longer codes are drawn: points inside the ball. Codes of
 * a model without a radius are drawn as directions, which is what angles are about. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 400, ABOVE = 34, MARGIN = 14 };

/* The screen's axes: right, up and towards the reader. */
typedef struct sphere_view {
    double axes[3][3];
} sphere_view;

static void look(const sphere_view *view, const double point[3], double seen[3])
{
    for (int i = 0; i < 3; i++)
        seen[i] = view->axes[i][0] * point[0] + view->axes[i][1] * point[1] + view->axes[i][2] * point[2];
}

/* How much of the points is in front, seen from that turn at the usual height. */
static double count_front(const double (*places)[3], int64_t count, double turn, double rise)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += fmax(0, cos(rise) * (cos(turn) * places[i][0] + sin(turn) * places[i][1]) + sin(rise) * places[i][2]);
    return sum;
}

/* From where most of the points are seen in front: their mean direction, a little from its right and from above it; and
 * where they have hardly any, the best of 24 places around. */
static sphere_view find_view(const double (*places)[3], int64_t count)
{
    double mean[3] = {0, 0, 0}, turn = 40 * M_PI / 180, rise = 25 * M_PI / 180;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) mean[k] += places[i][k] / (double)count;
    const double flat = hypot(mean[0], mean[1]), length = hypot(flat, mean[2]);
    if (length > 0.15) {
        if (flat > 0.1 * length) turn = atan2(mean[1], mean[0]) + 0.25;
        rise = fmin(0.9, fmax(-0.6, atan2(mean[2], flat) + 0.2));
    }
    for (int i = 0; i < 24 && length <= 0.15; i++) {
        const double other = i * M_PI / 12;
        if (count_front(places, count, other, rise) > 1.001 * count_front(places, count, turn, rise)) turn = other;
    }
    const double c = cos(turn), s = sin(turn), up = cos(rise), over = sin(rise);
    return (sphere_view){{{-s, c, 0}, {-over * c, -over * s, up}, {up * c, up * s, over}}};
}

/* One ring of the wire globe as two blocks of data: what is before and what is behind. */
static void put_ring(plot_job *job, const sphere_view *view, const double centre[3], const double a[3],
                     const double b[3])
{
    enum { STEPS = 120 };
    for (int behind = 1; behind >= 0; behind--) {
        for (int step = 0; step <= STEPS; step++) {
            const double angle = 2 * M_PI * step / STEPS;
            double point[3], seen[3];
            for (int i = 0; i < 3; i++) point[i] = centre[i] + a[i] * cos(angle) + b[i] * sin(angle);
            look(view, point, seen);
            if ((seen[2] < -1e-9) == behind)
                fprintf(job->data, "%.5g %.5g %d\n", seen[0], seen[1], behind);
            else
                fprintf(job->data, "NaN NaN %d\n", behind);
        }
        fprintf(job->data, "\n");
    }
}

/* Block 0: meridians and parallels every 30 degrees. */
static void put_globe(plot_job *job, const sphere_view *view)
{
    const double up[3] = {0, 0, 1}, origin[3] = {0, 0, 0};
    for (int i = 0; i < 6; i++) {
        const double angle = i * M_PI / 6, along[3] = {cos(angle), sin(angle), 0};
        put_ring(job, view, origin, along, up);
    }
    for (int i = -2; i <= 2; i++) {
        const double height = sin(i * M_PI / 6), width = cos(i * M_PI / 6);
        const double centre[3] = {0, 0, height}, a[3] = {width, 0, 0}, b[3] = {0, width, 0};
        put_ring(job, view, centre, a, b);
    }
    fprintf(job->data, "\n\n");
}

/* Block 1: what is behind comes first, the order of each half is that of the points. */
static void put_points(plot_job *job, const plot_points *points, const double (*places)[3], const sphere_view *view)
{
    for (int front = 0; front < 2; front++)
        for (int64_t i = 0; i < points->count; i++) {
            double seen[3];
            look(view, places[i], seen);
            if ((seen[2] >= 0) == front)
                plot_points_put(job, points, points->samples[i], seen, fmax(0, fmin(1, 0.3 - seen[2])));
        }
}

static void axis_name(const plot_axes *axes, int i, char *text, size_t size)
{
    if (axes->principal)
        snprintf(text, size, "PC%d", i + 1);
    else
        snprintf(text, size, "{/:Italic v}_{%lld}", (long long)axes->chosen[i]);
}

static void begin_page(plot_job *job)
{
    const double key = plot_key_width(job);
    plot_page(job, SIDE + 2 * MARGIN + key, SIDE + ABOVE + MARGIN);
    plot_box(job, MARGIN, MARGIN + SIDE, MARGIN, MARGIN + SIDE);
    fprintf(job->script, "unset border\nunset tics\n");
    plot_key(job, 2 * MARGIN + SIDE, MARGIN + SIDE);
}

/* Two components: the plane itself, a quarter of it where nothing is negative. */
static void draw_circle(plot_job *job, const plot_points *points, const double (*places)[3], const plot_axes *axes)
{
    bool positive = true;
    char names[2][48];
    for (int64_t i = 0; i < points->count; i++) {
        positive = positive && places[i][0] >= -1e-9 && places[i][1] >= -1e-9;
        plot_points_put(job, points, points->samples[i], places[i], 0);
    }
    const double low = positive ? -0.1 : -1.2, high = 1.2, from = positive ? 0 : low;
    for (int i = 0; i < 2; i++) axis_name(axes, i, names[i], sizeof names[i]);
    begin_page(job);
    fprintf(job->script,
            "set xrange [%g:%g]\nset yrange [%g:%g]\n"
            "set object 1 circle at 0,0 size 1 %s fs empty border lc rgb '#b0b0b0' lw 1\n",
            low, high, low, high, positive ? "arc [0:90] nowedge" : "arc [0:360]");
    fprintf(job->script,
            "set arrow 1 from %g,0 to 1.16,0 head filled size screen 0.012,20 lc rgb '#606060' lw 0.8 back\n"
            "set arrow 2 from 0,%g to 0,1.16 head filled size screen 0.012,20 lc rgb '#606060' lw 0.8 back\n"
            "set label 1 '%s' at 1.15,%g center\nset label 2 '%s' at %g,1.15 center\n",
            from, from, names[0], 0.6 * fmax(low, -0.1), names[1], 0.6 * fmax(low, -0.1));
    plot_points_draw(job, "", 0);
}

/* The directions of the three axes stand in the lower left corner: at the globe they would cover points. */
static void put_corner(plot_job *job, const plot_axes *axes, const sphere_view *view)
{
    for (int i = 0; i < 3; i++) {
        const double along[3] = {i == 0, i == 1, i == 2}, x = -0.92, y = -0.92, size = 0.17;
        double seen[3];
        char name[48];
        look(view, along, seen);
        axis_name(axes, i, name, sizeof name);
        const double flat = hypot(seen[0], seen[1]), beyond = 1 + 0.095 / size / fmax(flat, 0.35);
        fprintf(job->script,
                "set arrow %d from %g,%g to %g,%g head filled size screen 0.01,20 lc rgb '#404040' lw 1\n"
                "set label %d '%s' at %g,%g center font ',11'\n",
                i + 1, x, y, x + size * seen[0], y + size * seen[1], i + 1, name, x + size * beyond * seen[0],
                y + size * beyond * seen[1]);
    }
}

void plot_globe(plot_job *job, const plot_points *points, const double (*places)[3], const plot_axes *axes)
{
    const sphere_view view = find_view(places, points->count);
    put_globe(job, &view);
    put_points(job, points, places, &view);
    begin_page(job);
    fprintf(job->script, "set xrange [-1.15:1.15]\nset yrange [-1.15:1.15]\n"
                         "set object 1 circle at 0,0 size 1 fs empty border lc rgb '#909090' lw 1.2\n");
    if (axes) put_corner(job, axes, &view);
    plot_points_draw(job,
                     "data index 0 using 1:($3==1?$2:NaN) with lines lc rgb '#ececec' lw 0.7 notitle, \\\n"
                     "     data index 0 using 1:($3==0?$2:NaN) with lines lc rgb '#cfcfcf' lw 0.7 notitle, \\\n     ",
                     1);
}

/* *codes = the points' codes on the unit sphere: divided by the radius, or by their own lengths. */
static armilla_status scale_codes(plot_job *job, const plot_points *points, double **codes)
{
    const int64_t r = job->summary.rank;
    const armilla_status status = armilla_take(job->session->context, points->count, (size_t)r * sizeof **codes, codes);
    for (int64_t i = 0; i < points->count && status == ARMILLA_OK; i++) {
        double length = job->summary.radius, sum = 0;
        const double *code = job->V + points->samples[i] * r;
        for (int64_t k = 0; k < r; k++) sum += code[k] * code[k];
        if (!(length > 0)) length = sqrt(sum);
        for (int64_t k = 0; k < r; k++) (*codes)[i * r + k] = length > 0 ? code[k] / length : 0;
    }
    return status;
}

static armilla_status choose_axes(plot_job *job, const double *codes, int64_t count, plot_axes *axes)
{
    const int64_t r = job->summary.rank;
    const bool given = job->settings->components != NULL;
    armilla_status status = given ? plot_axes_parse(job, 3, axes) : ARMILLA_OK;
    if (status == ARMILLA_OK)
        status = armilla_take(job->session->context, r, 3 * sizeof *axes->directions, &axes->directions);
    if (status != ARMILLA_OK) return status;
    if (r > 3 && !given) return plot_axes_lead(job, codes, count, axes);
    for (int i = 0; i < axes->count; i++) axes->directions[i * r + axes->chosen[i]] = 1;
    return ARMILLA_OK;
}

static armilla_status draw(plot_job *job, const plot_points *points, const double *codes, const plot_axes *axes)
{
    const int64_t r = job->summary.rank;
    double(*places)[3] = NULL;
    char many[64];
    const armilla_status status = armilla_take(job->session->context, points->count, sizeof *places, &places);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < points->count; i++)
        for (int a = 0; a < axes->count; a++)
            for (int64_t k = 0; k < r; k++) places[i][a] += axes->directions[a * r + k] * codes[i * r + k];
    (void)plot_points_text(job, points, many);
    if (job->summary.radius > 0)
        plot_title(job, "%s codes on the %s of radius %.4g%s", many, r == 2 ? "circle" : "sphere", job->summary.radius,
                   axes->principal ? ", principal components" : "");
    else
        plot_title(job, "Directions of %s codes%s", many, axes->principal ? ", principal components" : "");
    if (axes->count == 3)
        plot_globe(job, points, (const double(*)[3])places, axes);
    else
        draw_circle(job, points, (const double(*)[3])places, axes);
    armilla_release(job->session->context, places);
    return ARMILLA_OK;
}

armilla_status plot_sphere(plot_job *job)
{
    armilla_context *context = job->session->context;
    plot_axes axes = {.count = job->summary.rank == 2 ? 2 : 3, .chosen = {0, 1, 2}};
    plot_points points = {.count = 0};
    double *codes = NULL;
    if (job->summary.rank < 2)
        return fail(job->session, ARMILLA_BAD_DATA,
                    "%s: codes of one number lie on no circle; fit with --rank 2 or more",
                    job->session->settings->operands[0]);
    armilla_status status = plot_points_choose(job, &points);
    if (status == ARMILLA_OK) status = scale_codes(job, &points, &codes);
    if (status == ARMILLA_OK) status = choose_axes(job, codes, points.count, &axes);
    if (status == ARMILLA_OK) status = draw(job, &points, codes, &axes);
    armilla_release(context, codes);
    armilla_release(context, axes.directions);
    armilla_release(context, points.samples);
    return status;
}
