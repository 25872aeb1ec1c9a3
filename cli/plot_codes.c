/* All codes as a heat map: components down, samples across, ordered by the component that contributes most to them and
 * then by how much, so that clusters are blocks. A contribution is v_k times the length of atom k: entries themselves
 * cannot be compared where atoms have different lengths. */
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_COLUMNS = 480 }; /* hardly more are distinguished at the width of the picture */
enum { WIDTH = 420, LEFT = 60, RIGHT = 84, ABOVE = 34, BELOW = 58, ROW = 13, NUMBERED = 60, LEAST = 230 };

typedef struct code_place {
    int64_t sample, largest;
    double size;
} code_place;

static int compare_places(const void *first, const void *second)
{
    const code_place *a = first, *b = second;
    if (a->largest != b->largest) return a->largest < b->largest ? -1 : 1;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    return a->sample < b->sample ? -1 : a->sample > b->sample;
}

static double contribution(const plot_job *job, int64_t j, int64_t k)
{
    return job->V[j * job->summary.rank + k] * job->lengths[k];
}

static armilla_status order(const plot_job *job, code_place *places)
{
    armilla_clustering *atoms = NULL;
    const armilla_status status = plot_assign_atoms(job, &atoms);
    if (status != ARMILLA_OK) return status;
    const int64_t *largest = armilla_clustering_labels(atoms);
    for (int64_t j = 0; j < job->summary.n; j++)
        places[j] = (code_place){j, largest[j], contribution(job, j, largest[j])};
    qsort(places, (size_t)job->summary.n, sizeof *places, compare_places);
    armilla_clustering_free(atoms);
    return ARMILLA_OK;
}

/* A matrix: one line per component. */
static void put_data(plot_job *job, const code_place *places, int64_t columns)
{
    const int64_t n = job->summary.n;
    for (int64_t k = 0; k < job->summary.rank; k++) {
        for (int64_t i = 0; i < columns; i++) {
            const int64_t at = (int64_t)((double)i * (double)n / (double)columns);
            fprintf(job->data, "%.5g ", contribution(job, places[at].sample, k));
        }
        fprintf(job->data, "\n");
    }
}

static void put_palette(plot_job *job)
{
    bool is_signed = false;
    double most = 0;
    for (int64_t j = 0; j < job->summary.n; j++)
        for (int64_t k = 0; k < job->summary.rank; k++) {
            const double value = contribution(job, j, k);
            is_signed = is_signed || value < 0;
            most = fmax(most, fabs(value));
        }
    if (!(most > 0)) most = 1;
    fprintf(job->script, "set cbrange [%g:%g]\n%s", is_signed ? -most : 0, most,
            is_signed ? plot_palette_diverging : plot_palette_blue);
}

static void put_rows(plot_job *job, double height)
{
    plot_list components = {.count = job->summary.rank};
    plot_list_beside(&components, height / (double)components.count);
    fprintf(job->script, "set yrange [%g:-0.5]\nset ylabel 'component' offset 0.5,0\n", (double)components.count - 0.5);
    plot_list_tics(job, "y", &components, PLOT_NAME);
}

static bool has_lengths(const plot_job *job)
{
    for (int64_t k = 0; k < job->summary.rank; k++)
        if (fabs(job->lengths[k] - 1) > 1e-3) return true;
    return false;
}

static void put_axes(plot_job *job, int64_t columns)
{
    const int64_t n = job->summary.n;
    char drawn[64] = "";
    if (columns < n) snprintf(drawn, sizeof drawn, " (%" PRId64 " of %" PRId64 " are drawn)", columns, n);
    fprintf(job->script,
            "unset key\nset border lw 0.8\nset tics nomirror out scale 0.6\nset cbtics scale 0.4 font ',10'\n"
            "set xlabel 'sample, ordered by its %s%s'\nset xrange [0:%" PRId64 "]\nset xtics %.0f\n"
            "set cblabel '%s' offset 0.5,0\n"
            "set colorbox user origin screen %.5g,graph 0 size screen %.5g,graph 1\n",
            job->summary.rank > 1 ? "largest component" : "entry", drawn, n, fmax(1, plot_step((double)n, 6)),
            has_lengths(job) ? "entry × length of its atom" : "entry", (LEFT + WIDTH + 10) / job->width,
            11 / job->width);
}

static void put_cells(plot_job *job, int64_t columns)
{
    const int64_t r = job->summary.rank;
    const double width = (double)job->summary.n / (double)columns;
    char across[64];
    snprintf(across, sizeof across, "($1+0.5)*%.9g", width);
    fprintf(job->script, "plot ");
    plot_cells_put(job, &(plot_cells){"data matrix", across, "$2", "3", false, width, 1, r, columns, r * columns});
    fprintf(job->script, "\n");
}

armilla_status plot_codes(plot_job *job)
{
    const int64_t n = job->summary.n, r = job->summary.rank, columns = n < MOST_COLUMNS ? n : MOST_COLUMNS;
    const double height = fmax(LEAST, ROW * (double)(r <= NUMBERED ? r : NUMBERED / 2));
    code_place *places = NULL;
    armilla_status status = armilla_take(job->session->context, n, sizeof *places, &places);
    if (status == ARMILLA_OK) status = order(job, places);
    if (status != ARMILLA_OK) goto done;
    put_data(job, places, columns);
    plot_title(job, "Codes of %" PRId64 " sample%s, %s", n, n == 1 ? "" : "s", job->summary.codes);
    plot_page(job, LEFT + WIDTH + RIGHT, BELOW + height + ABOVE);
    plot_box(job, LEFT, LEFT + WIDTH, BELOW, BELOW + height);
    put_palette(job);
    put_rows(job, height);
    put_axes(job, columns);
    for (int64_t j = 1; j < n && r <= 50; j++)
        if (places[j].largest != places[j - 1].largest)
            fprintf(job->script,
                    "set arrow from %" PRId64 ",graph 0 to %" PRId64 ",graph 1 nohead lc rgb '#808080' lw 0.5 front\n",
                    j, j);
    put_cells(job, columns);
done:
    armilla_release(job->session->context, places);
    return status;
}
