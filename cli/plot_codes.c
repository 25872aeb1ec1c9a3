/* All codes as a heat map: components down, samples across, ordered by the component that is largest in them and then
 * by how large it is, so that clusters are blocks. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_COLUMNS = 480 }; /* hardly more are distinguished at the width of the picture */

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

static void order(const plot_job *job, code_place *places)
{
    const int64_t n = job->summary.n, r = job->summary.rank;
    for (int64_t j = 0; j < n; j++) {
        const int64_t k = plot_largest(job, j);
        places[j] = (code_place){j, k, fabs(job->V[j * r + k])};
    }
    qsort(places, (size_t)n, sizeof *places, compare_places);
}

/* A matrix: one line per component. */
static void put_data(plot_job *job, const code_place *places, int64_t columns)
{
    const int64_t n = job->summary.n, r = job->summary.rank;
    for (int64_t k = 0; k < r; k++) {
        for (int64_t i = 0; i < columns; i++) {
            const int64_t at = (int64_t)((double)i * (double)n / (double)columns);
            fprintf(job->data, "%.5g ", job->V[places[at].sample * r + k]);
        }
        fprintf(job->data, "\n");
    }
}

static void put_palette(plot_job *job, bool is_signed, double most)
{
    if (is_signed)
        fprintf(job->script,
                "set cbrange [%g:%g]\n"
                "set palette defined (0 '#053061', 1 '#4393C3', 2 '#F7F7F7', 3 '#D6604D', 4 '#67001F')\n",
                -most, most);
    else
        fprintf(job->script,
                "set cbrange [0:%g]\n"
                "set palette defined (0 '#FFFFFF', 1 '#C6DBEF', 2 '#6BAED6', 3 '#2171B5', 4 '#08306B')\n",
                most);
}

armilla_status plot_codes(plot_job *job)
{
    const int64_t n = job->summary.n, r = job->summary.rank, columns = n < MOST_COLUMNS ? n : MOST_COLUMNS;
    const double step = (double)n / (double)columns;
    code_place *places = NULL;
    bool is_signed = false;
    double most = 0;
    const armilla_status status = armilla_take(job->session->context, n, sizeof *places, &places);
    if (status != ARMILLA_OK) return status;
    order(job, places);
    for (int64_t i = 0; i < n * r; i++) {
        is_signed = is_signed || job->V[i] < 0;
        most = fmax(most, fabs(job->V[i]));
    }
    put_data(job, places, columns);
    put_palette(job, is_signed, most > 0 ? most : 1);
    plot_title(job, "Codes of %lld samples, %s", (long long)n, job->summary.codes);
    fprintf(job->script,
            "unset key\nset border lw 0.8\nset tics nomirror out scale 0.6\n"
            "set xlabel 'sample, ordered by its largest entry'\n"
            "set ylabel 'component'\nset xrange [0:%lld]\nset yrange [%g:0.5]\nset ytics %lld\nset cbtics scale 0.4\n"
            "set colorbox user origin screen 0.88,graph 0 size screen 0.022,graph 1\n"
            "set lmargin at screen 0.11; set rmargin at screen 0.86\n"
            "set bmargin at screen 0.21; set tmargin at screen 0.88\n",
            (long long)n, (double)r + 0.5, r <= 12 ? 1LL : (long long)ceil((double)r / 10));
    for (int64_t j = 1; j < n && r <= 50; j++)
        if (places[j].largest != places[j - 1].largest)
            fprintf(job->script, "set arrow from %lld,graph 0 to %lld,graph 1 nohead lc rgb '#808080' lw 0.5 front\n",
                    (long long)j, (long long)j);
    fprintf(job->script, "plot data matrix using (($1+0.5)*%.9g):($2+1):3 with image%s\n", step,
            plot_pixels(job, r * columns));
    armilla_release(job->session->context, places);
    return ARMILLA_OK;
}
