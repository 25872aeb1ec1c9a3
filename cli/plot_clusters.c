/* Clusters of the codes: how many samples each has, and angles in degrees. On the diagonal stands the mean angle of a
 * cluster's codes to its mean direction, elsewhere the angle between two mean directions. The rows of both are the same,
 * so that one list of names serves them. */
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_CLUSTERS = 500, MOST_COLOURS = 7 };
enum { BARS = 150, COUNTS = 44, GAP = 26, SCALE = 60, ABOVE = 56, AXIS = 46, MARGIN = 12, ROWS = 340, TALL = 720 };

typedef struct cluster_facts {
    int64_t count;
    int64_t *sizes, *directed; /* samples, and those of them that have a direction */
    double *means;             /* k x r, sums of the codes */
    double *within;            /* mean angle to the own direction, degrees; NaN where no code has one */
    double most;               /* largest angle */
} cluster_facts;

/* Degrees between two vectors, NaN where one is zero. */
static double angle(const double *a, const double *b, int64_t r)
{
    const double lengths = sqrt(plot_dot(a, a, r)) * sqrt(plot_dot(b, b, r));
    return lengths > 0 ? acos(fmax(-1, fmin(1, plot_dot(a, b, r) / lengths))) * 180 / M_PI : NAN;
}

/* Samples that are 0 have no direction, on a sphere too: their codes become 0. */
static void forget_zeros(plot_job *job)
{
    int64_t count = 0;
    const int64_t *zeros = armilla_model_zero_samples(job->model, &count);
    for (int64_t i = 0; i < count; i++)
        memset(job->V + zeros[i] * job->summary.rank, 0, (size_t)job->summary.rank * sizeof *job->V);
}

static void measure(plot_job *job, cluster_facts *facts)
{
    const int64_t r = job->summary.rank;
    forget_zeros(job);
    for (int64_t j = 0; j < job->summary.n; j++) {
        const int64_t c = job->labels.classes[j];
        facts->sizes[c]++;
        for (int64_t k = 0; k < r; k++) facts->means[c * r + k] += job->V[j * r + k];
    }
    for (int64_t j = 0; j < job->summary.n; j++) {
        const int64_t c = job->labels.classes[j];
        const double turned = angle(job->V + j * r, facts->means + c * r, r);
        if (isnan(turned)) continue;
        facts->within[c] += turned;
        facts->directed[c]++;
    }
    for (int64_t c = 0; c < facts->count; c++) facts->within[c] /= (double)facts->directed[c];
}

/* Block 0: place, size, colour; block 1: column, row, angle. */
static void put_data(plot_job *job, cluster_facts *facts)
{
    const int64_t r = job->summary.rank;
    for (int64_t c = 0; c < facts->count; c++)
        fprintf(job->data, "%" PRId64 " %" PRId64 " %u\n", c, facts->sizes[c],
                facts->count <= MOST_COLOURS ? plot_colour(c) : plot_colour(0));
    fprintf(job->data, "\n\n");
    for (int64_t a = 0; a < facts->count; a++)
        for (int64_t b = 0; b < facts->count; b++) {
            const double turned = a == b ? facts->within[a] : angle(facts->means + a * r, facts->means + b * r, r);
            const bool known = turned == turned && facts->sizes[a] > 0;
            if (known) facts->most = fmax(facts->most, turned);
            fprintf(job->data, "%" PRId64 " %" PRId64 " ", b, a);
            if (known)
                fprintf(job->data, "%.4g\n", turned);
            else
                fprintf(job->data, "NaN\n");
        }
}

/* The layout of the picture, in points. */
typedef struct cluster_layout {
    plot_list rows, columns;
    double cell, names, below;
    bool turned; /* the names below the angles */
    double bars, angles, bottom, side;
} cluster_layout;

static cluster_layout lay_out(const plot_job *job, int64_t count)
{
    const plot_list names = {.names = job->labels.names, .count = count};
    cluster_layout l = {.rows = names, .columns = names};
    l.cell = count > PLOT_LISTED ? (double)TALL / (double)count : fmin(56, fmax(13, (double)ROWS / (double)count));
    plot_list_beside(&l.rows, l.cell);
    l.below = plot_list_below(&l.columns, l.cell, PLOT_NAME, &l.turned);
    /* Names that would take more space than the angles are numbers there, and numbered at the left. */
    if (l.turned && l.below > 110) {
        l.rows.numbered = true;
        l.columns.names = NULL;
        l.below = plot_list_below(&l.columns, l.cell, PLOT_NAME, &l.turned);
    }
    l.names = plot_list_width(&l.rows, PLOT_NAME);
    l.side = fmax(l.cell * (double)count, 120);
    l.cell = l.side / (double)count;
    l.bars = MARGIN + 18 + l.names;
    l.angles = l.bars + BARS + COUNTS + GAP;
    l.bottom = fmax(AXIS, l.below + MARGIN);
    return l;
}

static void put_heading(plot_job *job, int label, const char *text, double x, double top)
{
    fprintf(job->script, "set label %d '%s' at screen %.5g,%.5g left font ',10' tc rgb '#404040'\n", label, text,
            x / job->width, (top + 11) / job->height);
}

static void put_sizes(plot_job *job, const cluster_facts *facts, const cluster_layout *l)
{
    int64_t most = 1;
    char title[96];
    for (int64_t c = 0; c < facts->count; c++) most = facts->sizes[c] > most ? facts->sizes[c] : most;
    plot_box(job, l->bars, l->bars + BARS, l->bottom, l->bottom + l->side);
    put_heading(job, 1, "samples", l->bars, l->bottom + l->side);
    fprintf(job->script,
            "set label 2 '%s' at screen %.5g,%.5g center rotate by 90 font ',11'\n"
            "set multiplot\nset border 1 lw 0.8\nunset key\nset tics nomirror out scale 0.4\n"
            "set yrange [%g:-0.5]\nset xrange [0:%" PRId64 "]\nset xtics %.0f font ',10'\n",
            plot_list_title(&l->rows, job->by->word, title), MARGIN / job->width,
            (l->bottom + l->side / 2) / job->height, (double)facts->count - 0.5, most,
            fmax(1, plot_step((double)most, 3)));
    plot_list_tics(job, "y", &l->rows, PLOT_NAME);
    fprintf(job->script, "set style fill solid 1 noborder\n"
                         "plot data index 0 using (0):1:(0):2:($1-0.38):($1+0.38):3 with boxxyerror lc rgb variable");
    if (facts->count <= PLOT_LISTED)
        fprintf(job->script, ", \\\n     data index 0 using 2:1:(sprintf('%%d',$2)) with labels left offset 0.6,0 "
                             "font ',9' tc rgb '#404040'");
    fprintf(job->script, "\nunset label 1001\nunset label 2\n");
}

static void put_angles(plot_job *job, const cluster_facts *facts, const cluster_layout *l)
{
    const double k = (double)facts->count, top = l->bottom + l->side;
    plot_box(job, l->angles, l->angles + l->side, l->bottom, top);
    put_heading(job, 1, "angle, °; to the own mean on the diagonal", l->angles, top);
    fprintf(job->script,
            "set border 0\nset tics scale 0\nset xrange [-0.5:%g]\nset cbrange [0:%g]\n%s"
            "set cbtics %g scale 0.4 font ',10'\nunset ytics\n"
            "set colorbox user origin screen %.5g,graph 0 size screen %.5g,graph 1\n",
            k - 0.5, facts->most > 0 ? facts->most : 1, plot_palette_blue_down, plot_step(facts->most, 6),
            (l->angles + l->side + 10) / job->width, 10 / job->width);
    plot_list_tics(job, "x", &l->columns, PLOT_NAME);
    if (l->turned) fprintf(job->script, "set xtics rotate by 90 right\n");
    fprintf(job->script, "plot ");
    plot_cells_put(job, &(plot_cells){"data index 1", "$1", "$2", "3", false, 1, 1, facts->count, facts->count,
                                      facts->count * facts->count});
    if (l->cell >= 20)
        fprintf(
            job->script,
            ", \\\n     data index 1 using 1:2:(strcol(3) eq 'NaN' ? '–' : sprintf('%%.0f',$3)):($3 < %g ? 0xFFFFFF : 0x202020) "
            "with labels font ',9' tc rgb variable",
            0.45 * (facts->most > 0 ? facts->most : 1));
    fprintf(job->script, "\nunset multiplot\n");
}

static void draw(plot_job *job, cluster_facts *facts)
{
    const cluster_layout l = lay_out(job, facts->count);
    measure(job, facts);
    put_data(job, facts);
    plot_classes_title(job);
    plot_page(job, l.angles + fmax(l.side + SCALE, 230), l.bottom + l.side + ABOVE);
    put_sizes(job, facts, &l);
    put_angles(job, facts, &l);
}

/* Clusters are those of --labels, or that the model keeps; labels of the model are classes, and come after these. */
static armilla_status choose_clusters(plot_job *job)
{
    const bool kept = !job->settings->labels && armilla_model_clusters(job->model, NULL);
    const armilla_status status = kept ? plot_classify_found(job) : ARMILLA_OK;
    return status == ARMILLA_OK ? plot_classes_check(job, MOST_CLUSTERS) : status;
}

armilla_status plot_clusters(plot_job *job)
{
    armilla_context *context = job->session->context;
    armilla_status status = choose_clusters(job);
    cluster_facts facts = {.count = job->labels.count};
    if (status == ARMILLA_OK) status = armilla_take(context, facts.count, sizeof *facts.sizes, &facts.sizes);
    if (status == ARMILLA_OK)
        status = armilla_take(context, facts.count, (size_t)job->summary.rank * sizeof *facts.means, &facts.means);
    if (status == ARMILLA_OK) status = armilla_take(context, facts.count, sizeof *facts.directed, &facts.directed);
    if (status == ARMILLA_OK) status = armilla_take(context, facts.count, sizeof *facts.within, &facts.within);
    if (status == ARMILLA_OK) draw(job, &facts);
    armilla_release(context, facts.sizes);
    armilla_release(context, facts.directed);
    armilla_release(context, facts.means);
    armilla_release(context, facts.within);
    return status;
}
