/* What `armilla cluster DATA --json` has found out about the number of clusters, which was not given: stability, modularity
 * and their product, the score, over the numbers that were looked at. */
#include "plot.h"

#include "json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 430, HEIGHT = 300, LEFT = 58, KEY = 116, ABOVE = 36, BELOW = 54 };
/* Numbers are on a logarithmic axis where the largest is so many times the smallest. */
enum { MANY_TIMES = 12 };

typedef struct numbers {
    int64_t least, most, taken, count;
    double low; /* of all that is drawn; 0 or less */
} numbers;

static armilla_status refuse(const plot_job *job, const char *why)
{
    return fail(job->session, ARMILLA_BAD_DATA,
                "%s: %s; give what `armilla cluster DATA --json` prints where --k is left out",
                job->session->settings->operands[0], why);
}

/* A line of data; false where the row is no such thing. Rows rise by their numbers. */
static bool put_row(plot_job *job, const json_t *row, numbers *all)
{
    static const char *const names[] = {"stability", "modularity", "score"};
    const json_t *k = json_object_get(row, "k");
    const int64_t number = json_is_integer(k) ? json_integer_value(k) : 0;
    if (number < 1 || number > INT32_MAX || number <= all->most) return false;
    fprintf(job->data, "%lld", (long long)number);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *value = json_object_get(row, names[i]);
        const double shown = json_is_number(value) ? json_number_value(value) : NAN;
        if (!(fabs(shown) <= 1)) return false;
        fprintf(job->data, " %.9g", shown);
        all->low = fmin(all->low, shown);
    }
    fprintf(job->data, "\n");
    all->least = all->count++ == 0 ? number : all->least;
    all->most = number;
    return true;
}

static armilla_status put_rows(plot_job *job, const json_t *object, numbers *all)
{
    const json_t *rows = json_object_get(object, "numbers"), *taken = json_object_get(object, "k");
    if (!json_is_array(rows) || json_array_size(rows) == 0) return refuse(job, "has no numbers of clusters");
    fprintf(job->data, "# clusters stability modularity score\n");
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (!put_row(job, json_array_get(rows, i), all)) return refuse(job, "its numbers of clusters cannot be read");
    all->taken = json_is_integer(taken) ? json_integer_value(taken) : 0;
    return ARMILLA_OK;
}

static armilla_status read_numbers(plot_job *job, numbers *all)
{
    const char *path = job->session->settings->operands[0];
    FILE *file = fopen(path, "rb");
    json_error_t error;
    if (!file) return fail(job->session, ARMILLA_CANNOT_OPEN, "%s: cannot be opened: %s", path, strerror(errno));
    json_t *object = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    (void)fclose(file);
    const armilla_status status = object ? put_rows(job, object, all) : refuse(job, "is no JSON");
    json_decref(object);
    return status;
}

static void put_axes(plot_job *job, const numbers *all)
{
    const double apart = (double)(all->most - all->least), beside = all->count > 1 ? 0.04 * apart : 1;
    plot_box(job, LEFT, job->width - KEY, BELOW, job->height - ABOVE);
    fprintf(job->script,
            "set border 3 lw 0.8\nset tics nomirror out scale 0.6\nset grid y lc rgb '#e6e6e6' lw 0.6 lt 1\n"
            "set xlabel 'clusters'\nset yrange [%g:1]\nset format x '%%g'\n",
            floor(5 * all->low) / 5);
    plot_tics(job, 'y', 0.2);
    if (all->most >= MANY_TIMES * all->least)
        fprintf(job->script, "set logscale x 2\nset xrange [%g:%g]\n", 0.9 * (double)all->least,
                1.1 * (double)all->most);
    else
        fprintf(job->script, "set xrange [%g:%g]\nset xtics %g\n", (double)all->least - beside,
                (double)all->most + beside, fmax(1, plot_step(apart, 10)));
}

armilla_status plot_numbers(plot_job *job)
{
    numbers all = {.count = 0};
    const armilla_status status = read_numbers(job, &all);
    if (status != ARMILLA_OK) return status;
    plot_title(job, "Numbers of clusters: %lld looked at, %lld taken", (long long)all.count, (long long)all.taken);
    plot_page(job, WIDTH + KEY, HEIGHT);
    put_axes(job, &all);
    if (all.taken >= all.least && all.taken <= all.most)
        fprintf(job->script,
                "set arrow 1 from first %lld, graph 0 to first %lld, graph 1 nohead lc rgb '#909090' lw 1 dt 2 back\n",
                (long long)all.taken, (long long)all.taken);
    fprintf(job->script,
            "set key at screen %.5g,%.5g left top Left reverse samplen 1.5 spacing 1.3\n"
            "plot data using 1:2 with linespoints pt 7 ps 0.5 lw 1.5 lc rgb '#0072B2' title 'stability', \\\n"
            "     data using 1:3 with linespoints pt 5 ps 0.5 lw 1.5 lc rgb '#009E73' title 'modularity', \\\n"
            "     data using 1:4 with linespoints pt 9 ps 0.7 lw 2.5 lc rgb '#D55E00' title 'score'\n",
            (job->width - KEY + 6) / job->width, 1 - ABOVE / job->height);
    return ARMILLA_OK;
}
