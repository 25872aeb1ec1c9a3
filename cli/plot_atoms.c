/* The columns of U as images in a grid, each scaled by its largest entry: gray where none is negative, blue by white to
 * red where signs matter. Features that the fit did not choose stay empty. */
#include "plot.h"

#include <math.h>

enum { WIDTH = 480, MARGIN = 12, ABOVE = 34, BELOW = 52, NUMBER = 15, GAP = 8, MOST_HEIGHT = 1200 };

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
                    "--images %s: these are %lld pixels, but the data have %lld features", job->settings->images,
                    (long long)pixels, (long long)of);
    if (side * side == of)
        return fail(job->session, ARMILLA_BAD_ARGUMENT,
                    "atoms: say the size of the images with --images HxW, perhaps %lldx%lld", (long long)side,
                    (long long)side);
    return fail(job->session, ARMILLA_BAD_ARGUMENT,
                "atoms: say the size of the images with --images HxW; H times W is %lld", (long long)of);
}

/* How the atoms lie: the pixel is `pixel` points wide and high. */
typedef struct atom_grid {
    int64_t across, down;
    double pixel, tile_width, tile_height; /* points */
} atom_grid;

static atom_grid lay_out(const plot_job *job)
{
    const int64_t r = job->summary.rank;
    const double shape = (double)job->rows / (double)job->columns;
    atom_grid grid = {.across = (int64_t)ceil(sqrt((double)r * shape))};
    if (r <= 10 && r % 5 == 0) grid.across = 5;
    if (grid.across > r) grid.across = r;
    grid.down = (r + grid.across - 1) / grid.across;
    const double wide = (WIDTH - 2 * MARGIN - GAP * (double)(grid.across - 1)) / (double)grid.across;
    const double high = (MOST_HEIGHT - ABOVE - BELOW) / (double)grid.down - NUMBER - GAP;
    grid.pixel = fmin(wide / (double)job->columns, fmin(high, 200) / (double)job->rows);
    if (!(grid.pixel > 0.02)) grid.pixel = 0.02;
    grid.tile_width = grid.pixel * (double)job->columns + GAP;
    grid.tile_height = grid.pixel * (double)job->rows + GAP + NUMBER;
    return grid;
}

/* Block a: "x y red green blue" of each pixel, y downwards. */
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
        const int64_t x = job->column_major ? pixel / job->rows : pixel % job->columns;
        const int64_t y = job->column_major ? pixel % job->rows : pixel / job->columns;
        fprintf(job->data, "%lld %lld %u %u %u\n", (long long)x, (long long)y, colour >> 16, (colour >> 8) & 255,
                colour & 255);
    }
    fprintf(job->data, "\n\n");
}

/* Number and frame, in points from the upper left corner of the first. */
static void put_frame(plot_job *job, const atom_grid *grid, int64_t a)
{
    const int64_t row = a / grid->across;
    const double x = grid->tile_width * (double)(a % grid->across), y = grid->tile_height * (double)row;
    const double wide = grid->pixel * (double)job->columns, high = grid->pixel * (double)job->rows;
    fprintf(job->script,
            "set label %lld '%lld' at %g,%g center font ',10' tc rgb '#404040'\n"
            "set object %lld rectangle from %g,%g to %g,%g front fs empty border lc rgb '#b0b0b0' lw 0.6\n",
            (long long)a + 1, (long long)a, x + wide / 2, y - NUMBER / 2.0, (long long)a + 1, x, y, x + wide, y + high);
}

/* What the colours mean, below the atoms. */
static void put_scale(plot_job *job, bool is_signed)
{
    const double width = 150, left = (job->width - width) / 2;
    fprintf(job->script,
            "set cbrange [%d:1]\n%sset cbtics scale 0.3 font ',10' (%s) offset 0,0.4\n"
            "set colorbox horizontal user origin screen %.5g,screen %.5g size screen %.5g,screen %.5g\n",
            is_signed ? -1 : 0, is_signed ? plot_palette_diverging : plot_palette_gray,
            is_signed ? "'−largest' -1, '0' 0, 'largest' 1" : "'0' 0, 'largest' 1", left / job->width, 34 / job->height,
            width / job->width, 9 / job->height);
    plot_note(job, "Each atom has its own scale: its entries are divided by the largest of them.");
}

static void put_plot(plot_job *job, const atom_grid *grid)
{
    const int64_t r = job->summary.rank;
    char from[64], across[96], down[96];
    const plot_cells cells = {.from = from,
                              .x = across,
                              .y = down,
                              .rgb = true,
                              .width = grid->pixel,
                              .height = grid->pixel,
                              .rows = job->rows,
                              .columns = job->columns,
                              .drawn = r * job->rows * job->columns};
    fprintf(job->script, "plot ");
    for (int64_t a = 0; a < r; a++) {
        const int64_t row = a / grid->across;
        const double x = grid->tile_width * (double)(a % grid->across), y = grid->tile_height * (double)row;
        snprintf(from, sizeof from, "data index %lld", (long long)a);
        snprintf(across, sizeof across, "$1*%.9g+%.9g", grid->pixel, x + grid->pixel / 2);
        snprintf(down, sizeof down, "$2*%.9g+%.9g", grid->pixel, y + grid->pixel / 2);
        plot_cells_put(job, &cells);
        fprintf(job->script, ", \\\n     ");
    }
    fprintf(job->script, "NaN with points palette notitle\n"); /* which shows the colour box */
}

armilla_status plot_atoms(plot_job *job)
{
    const int64_t r = job->summary.rank, m = job->summary.m;
    const armilla_status status = check_images(job);
    bool is_signed = false;
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < m * r; i++) is_signed = is_signed || job->U[i] < 0;
    const atom_grid grid = lay_out(job);
    const double wide = grid.tile_width * (double)grid.across - GAP, high = grid.tile_height * (double)grid.down - GAP;
    plot_title(job, "%lld atom%s, %s basis", (long long)r, r == 1 ? "" : "s", job->summary.basis);
    plot_page(job, fmax(WIDTH, wide + 2 * MARGIN), ABOVE + high + BELOW);
    const double left = (job->width - wide) / 2;
    plot_box(job, left, left + wide, BELOW, BELOW + high);
    fprintf(job->script, "unset border\nunset tics\nunset key\nset xrange [0:%g]\nset yrange [%g:%d]\n", wide,
            high - NUMBER, -NUMBER);
    put_scale(job, is_signed);
    for (int64_t a = 0; a < r; a++) {
        put_atom(job, job->U + a * m, is_signed);
        put_frame(job, &grid, a);
    }
    put_plot(job, &grid);
    return ARMILLA_OK;
}
