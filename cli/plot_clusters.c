/* Clusters of the codes: how many samples each has, and angles in degrees. On the diagonal stands the mean angle of a
 * cluster's codes to its mean direction, elsewhere the angle between two mean directions. */
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_CLUSTERS = 40, MOST_NUMBERS = 14 };

typedef struct cluster_facts {
    int64_t count;
    int64_t *sizes;
    double *means;  /* k x r, unit directions */
    double *within; /* mean angle to the own direction, degrees */
} cluster_facts;

static double dot(const double *a, const double *b, int64_t r)
{
    double sum = 0;
    for (int64_t k = 0; k < r; k++) sum += a[k] * b[k];
    return sum;
}

/* Degrees between two vectors, NaN where one is zero. */
static double angle(const double *a, const double *b, int64_t r)
{
    const double lengths = sqrt(dot(a, a, r)) * sqrt(dot(b, b, r));
    return acos(fmax(-1, fmin(1, dot(a, b, r) / lengths))) * 180 / M_PI;
}

static void measure(const plot_job *job, cluster_facts *facts)
{
    const int64_t r = job->summary.rank;
    for (int64_t j = 0; j < job->summary.n; j++) {
        const int64_t c = job->classes[j];
        facts->sizes[c]++;
        for (int64_t k = 0; k < r; k++) facts->means[c * r + k] += job->V[j * r + k];
    }
    for (int64_t j = 0; j < job->summary.n; j++) {
        const int64_t c = job->classes[j];
        const double turned = angle(job->V + j * r, facts->means + c * r, r);
        if (turned == turned) facts->within[c] += turned / (double)facts->sizes[c];
    }
}

/* Block 0: place, size, colour; block 1: column, row, angle. */
static void put_data(plot_job *job, const cluster_facts *facts)
{
    const int64_t r = job->summary.rank;
    for (int64_t c = 0; c < facts->count; c++)
        fprintf(job->data, "%" PRId64 " %" PRId64 " %u\n", c + 1, facts->sizes[c], plot_colour(c));
    fprintf(job->data, "\n\n");
    for (int64_t a = 0; a < facts->count; a++)
        for (int64_t b = 0; b < facts->count; b++) {
            const double turned = a == b ? facts->within[a] : angle(facts->means + a * r, facts->means + b * r, r);
            fprintf(job->data, "%" PRId64 " %" PRId64 " ", b + 1, a + 1);
            if (turned == turned && facts->sizes[a] > 0)
                fprintf(job->data, "%.4g\n", turned);
            else
                fprintf(job->data, "NaN\n");
        }
}

static void put_names(plot_job *job, const char *axis)
{
    fprintf(job->script, "set %stics noenhanced (", axis);
    for (int64_t c = 0; c < job->class_count; c++) {
        if (c) fprintf(job->script, ", ");
        plot_class_text(job, c, true);
        fprintf(job->script, " %" PRId64, c + 1);
    }
    fprintf(job->script, ")\n");
}

static void put_sizes(plot_job *job)
{
    fprintf(job->script,
            "set multiplot\nset lmargin at screen 0.11; set rmargin at screen 0.43\n"
            "set tmargin at screen 0.88; set bmargin at screen 0.2\nset border 1 lw 0.8\nunset key\n"
            "set tics nomirror out scale 0.4\nset yrange [%g:0.5]\nset xrange [0:1.16*most]\nset xlabel 'samples'\n"
            "set ylabel '%s' offset 0.5,0\n",
            (double)job->class_count + 0.5, job->labelled ? "label" : "largest component");
    put_names(job, "y");
    fprintf(
        job->script,
        "set xtics 0,step\nset style fill solid 1 noborder\n"
        "plot data index 0 using (0):1:(0):2:($1-0.36):($1+0.36):3 with boxxyerror lc rgb variable%s\n",
        job->class_count <= 20
            ? ", \\\n     data index 0 using 2:1:(sprintf('%d',$2)) with labels left offset 0.5,0 font ',9' tc rgb '#404040'"
            : "");
}

static void put_angles(plot_job *job)
{
    const double k = (double)job->class_count;
    fprintf(job->script,
            "unset title\nunset ylabel\nunset xlabel\nset size ratio -1\nset border 0\n"
            "set title 'angle to own mean (diagonal) and between means, °' font ',10'\n"
            "set lmargin at screen 0.53; set rmargin at screen 0.90\n"
            "set xrange [0.5:%g]\nset yrange [%g:0.5]\nset cbrange [0:*]\n"
            "set palette defined (0 '#08306B', 1 '#2171B5', 2 '#6BAED6', 3 '#C6DBEF', 4 '#FFFFFF')\n"
            "set cbtics scale 0.4\n",
            k + 0.5, k + 0.5);
    put_names(job, "y");
    put_names(job, "x");
    fprintf(job->script, "plot data index 1 using 1:2:3 with image%s",
            plot_pixels(job, job->class_count * job->class_count));
    if (job->class_count <= MOST_NUMBERS)
        fprintf(job->script,
                ", \\\n     data index 1 using 1:2:(sprintf('%%.0f',$3)):($3 < limit ? 0xFFFFFF : 0x202020) "
                "with labels font ',9' tc rgb variable");
    fprintf(job->script, "\nunset multiplot\n");
}

/* The largest size, and a step of 1, 2 or 5 times a power of ten that gives the axis three to six numbers. */
static void put_scale(plot_job *job, const cluster_facts *facts)
{
    int64_t most = 1;
    for (int64_t c = 0; c < facts->count; c++) most = facts->sizes[c] > most ? facts->sizes[c] : most;
    const double rough = (double)most / 3.0, power = pow(10, floor(log10(rough))), lead = rough / power;
    fprintf(job->script, "most = %" PRId64 "\nstep = %g\n", most, fmax(1, power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1)));
}

static armilla_status draw(plot_job *job, cluster_facts *facts)
{
    double most = 0;
    measure(job, facts);
    put_data(job, facts);
    for (int64_t a = 0; a < facts->count; a++)
        for (int64_t b = 0; b < facts->count; b++) {
            const double turned =
                angle(facts->means + a * job->summary.rank, facts->means + b * job->summary.rank, job->summary.rank);
            if (turned == turned) most = fmax(most, turned);
        }
    fprintf(job->script, "limit = %g\n", 0.45 * most);
    put_scale(job, facts);
    plot_title(job, "%" PRId64 " samples in %" PRId64 " clusters", job->summary.n, facts->count);
    put_sizes(job);
    put_angles(job);
    return ARMILLA_OK;
}

armilla_status plot_clusters(plot_job *job)
{
    armilla_context *context = job->session->context;
    cluster_facts facts = {.count = job->class_count};
    if (job->class_count > MOST_CLUSTERS)
        return fail(job->session, ARMILLA_BAD_DATA,
                    "clusters: %" PRId64 " clusters are too many for one picture (at most %d)", job->class_count,
                    MOST_CLUSTERS);
    armilla_status status = armilla_take(context, facts.count, sizeof *facts.sizes, &facts.sizes);
    if (status == ARMILLA_OK)
        status = armilla_take(context, facts.count, (size_t)job->summary.rank * sizeof *facts.means, &facts.means);
    if (status == ARMILLA_OK) status = armilla_take(context, facts.count, sizeof *facts.within, &facts.within);
    if (status == ARMILLA_OK) status = draw(job, &facts);
    armilla_release(context, facts.sizes);
    armilla_release(context, facts.means);
    armilla_release(context, facts.within);
    return status;
}
