/* The columns of U as images in a grid, each scaled by its largest entry: gray where none is negative, blue by white
 * to red where signs matter. Where the fit chose features, the others stay empty. */
#include "plot.h"

#include <math.h>

/* The place in the image of each feature: itself, or where it was chosen from. */
static int64_t place_of(const plot_job *job, int64_t feature)
{
    int64_t of = 0;
    const int64_t *kept = armilla_model_kept_features(job->model, &of);
    return kept ? kept[feature] : feature;
}

static armilla_status check_images(plot_job *job)
{
    int64_t of = job->summary.m;
    if (!armilla_model_kept_features(job->model, &of)) of = job->summary.m;
    const int64_t side = (int64_t)lround(sqrt((double)of)), pixels = job->rows * job->columns;
    if (job->rows > 0 && pixels == of) return ARMILLA_OK;
    if (job->rows > 0)
        return fail(job->session, ARMILLA_BAD_DATA,
                    "--images %s: these are %lld pixels, but the data have %lld features",
                    job->session->settings.images, (long long)pixels, (long long)of);
    if (side * side == of)
        return fail(job->session, ARMILLA_BAD_ARGUMENT,
                    "atoms: say the size of the images with --images HxW, perhaps %lldx%lld", (long long)side,
                    (long long)side);
    return fail(job->session, ARMILLA_BAD_ARGUMENT,
                "atoms: say the size of the images with --images HxW; H times W is %lld", (long long)of);
}

/* Block a: "x y colour" of each pixel, y downwards. */
static void put_atom(plot_job *job, const double *atom, bool is_signed)
{
    double largest = 0;
    for (int64_t i = 0; i < job->summary.m; i++) largest = fmax(largest, fabs(atom[i]));
    int64_t next = 0;
    for (int64_t pixel = 0; pixel < job->rows * job->columns; pixel++) {
        const bool there = next < job->summary.m && place_of(job, next) == pixel;
        const double value = there && largest > 0 ? atom[next] / largest : 0;
        next += there;
        const unsigned colour = is_signed ? plot_diverging(value) : plot_gray(value);
        fprintf(job->data, "%lld %lld %u %u %u\n", (long long)(pixel % job->columns), (long long)(pixel / job->columns),
                colour >> 16, (colour >> 8) & 255, colour & 255);
    }
    fprintf(job->data, "\n\n");
}

armilla_status plot_atoms(plot_job *job)
{
    const int64_t r = job->summary.rank, m = job->summary.m;
    const armilla_status status = check_images(job);
    bool is_signed = false;
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < m * r; i++) is_signed = is_signed || job->U[i] < 0;
    const double shape = (double)job->rows / (double)job->columns;
    int64_t across = (int64_t)ceil(sqrt((double)r * shape));
    if (r <= 10 && r % 5 == 0) across = 5;
    if (across > r) across = r;
    const int64_t down = (r + across - 1) / across;
    const double tile_w = 1.14 * (double)job->columns, tile_h = 1.14 * (double)job->rows + 0.2 * (double)job->rows;
    const double total_w = tile_w * (double)across, total_h = tile_h * (double)down;
    /* The picture has the shape of the grid, and space for the title. */
    job->height = 30 + (job->width - 20) * total_h / total_w;
    if (job->height > 1200) job->height = 1200;
    plot_title(job, "%lld atoms, %s basis", (long long)r, job->summary.basis);
    fprintf(job->script,
            "unset border\nunset tics\nunset key\nset size ratio -1\nset margins 1,1,0.5,2\n"
            "set xrange [%g:%g]\nset yrange [%g:%g]\n",
            -0.5, total_w - 0.14 * (double)job->columns, total_h - 0.14 * (double)job->rows,
            -0.5 - 0.28 * (double)job->rows);
    for (int64_t a = 0; a < r; a++) {
        const int64_t row = a / across, column = a % across;
        const double x = tile_w * (double)column, y = tile_h * (double)row;
        put_atom(job, job->U + a * m, is_signed);
        fprintf(job->script, "set label %lld '%lld' at %g,%g center font ',9' tc rgb '#404040'\n", (long long)a + 1,
                (long long)a + 1, x + 0.5 * (double)job->columns - 0.5, y - 0.5 - 0.12 * (double)job->rows);
        fprintf(job->script,
                "set object %lld rectangle from %g,%g to %g,%g front fs empty border lc rgb '#b0b0b0' lw 0.6\n",
                (long long)a + 1, x - 0.5, y - 0.5, x + (double)job->columns - 0.5, y + (double)job->rows - 0.5);
    }
    for (int64_t a = 0; a < r; a++) {
        const int64_t row = a / across, column = a % across;
        fprintf(job->script, "%sdata index %lld using ($1+%g):($2+%g):3:4:5 with rgbimage%s%s", a ? "     " : "plot ",
                (long long)a, tile_w * (double)column, tile_h * (double)row,
                plot_pixels(job, r * job->rows * job->columns), a + 1 < r ? ", \\\n" : "\n");
    }
    return ARMILLA_OK;
}
