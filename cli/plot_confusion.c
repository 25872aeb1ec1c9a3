/* Clusters against classes: how many samples of each class (row) each cluster (column) has, with the share of the class
 * as the colour. Columns are ordered so that large numbers come near the diagonal; numbers of clusters mean nothing. */
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_CLASSES = 500, NAME_BELOW = 24 };
enum { SIDE = 360, TALL = 720, SCALE = 88, ABOVE = 36, MARGIN = 12, LABEL = 22 };

typedef struct confusion {
    plot_labels truth;
    int64_t rows, columns;
    int64_t *counts; /* rows x columns */
    int64_t *totals; /* of the rows */
    int64_t *order;  /* the cluster in each place */
    armilla_scores scores;
} confusion;

static armilla_status count(plot_job *job, confusion *c)
{
    armilla_context *context = job->session->context;
    armilla_status status = armilla_take(context, c->rows, (size_t)c->columns * sizeof *c->counts, &c->counts);
    if (status == ARMILLA_OK) status = armilla_take(context, c->rows, sizeof *c->totals, &c->totals);
    if (status == ARMILLA_OK) status = armilla_take(context, c->columns, sizeof *c->order, &c->order);
    for (int64_t j = 0; j < job->summary.n && status == ARMILLA_OK; j++) {
        c->counts[c->truth.classes[j] * c->columns + job->labels.classes[j]]++;
        c->totals[c->truth.classes[j]]++;
    }
    if (status == ARMILLA_OK)
        status = armilla_score(context, job->summary.n, job->labels.classes, c->truth.classes, &c->scores);
    return status;
}

/* The largest count of a class and a cluster that have not been matched. */
static bool find_largest(const confusion *c, const bool *row_done, const bool *column_done, int64_t found[2])
{
    int64_t most = 0;
    for (int64_t a = 0; a < c->rows; a++)
        for (int64_t b = 0; b < c->columns; b++) {
            if (row_done[a] || column_done[b] || c->counts[a * c->columns + b] <= most) continue;
            most = c->counts[a * c->columns + b];
            found[0] = a;
            found[1] = b;
        }
    return most > 0;
}

typedef struct cluster_place {
    double place; /* of the class that it was matched with, or has most of, from 0 */
    int64_t cluster;
} cluster_place;

static int compare_places(const void *first, const void *second)
{
    const cluster_place *a = first, *b = second;
    if (a->place != b->place) return a->place < b->place ? -1 : 1;
    return a->cluster < b->cluster ? -1 : a->cluster > b->cluster;
}

/* Clusters that were matched stand at their class; others behind the class that they have most of. */
static armilla_status order_clusters(plot_job *job, confusion *c)
{
    armilla_context *context = job->session->context;
    bool *row_done = NULL, *column_done = NULL;
    cluster_place *places = NULL;
    int64_t found[2] = {0, 0};
    armilla_status status = armilla_take(context, c->rows, sizeof *row_done, &row_done);
    if (status == ARMILLA_OK) status = armilla_take(context, c->columns, sizeof *column_done, &column_done);
    if (status == ARMILLA_OK) status = armilla_take(context, c->columns, sizeof *places, &places);
    for (int64_t b = 0; b < c->columns && status == ARMILLA_OK; b++) {
        int64_t most = 0;
        for (int64_t a = 1; a < c->rows; a++)
            if (c->counts[a * c->columns + b] > c->counts[most * c->columns + b]) most = a;
        places[b] = (cluster_place){(double)most + 0.5, b};
    }
    while (status == ARMILLA_OK && find_largest(c, row_done, column_done, found)) {
        row_done[found[0]] = column_done[found[1]] = true;
        places[found[1]].place = (double)found[0];
    }
    if (status == ARMILLA_OK) qsort(places, (size_t)c->columns, sizeof *places, compare_places);
    for (int64_t b = 0; b < c->columns && status == ARMILLA_OK; b++) c->order[b] = places[b].cluster;
    armilla_release(context, row_done);
    armilla_release(context, column_done);
    armilla_release(context, places);
    return status;
}

/* Column, row, count, percent of the row. */
static void put_data(plot_job *job, const confusion *c)
{
    for (int64_t a = 0; a < c->rows; a++)
        for (int64_t b = 0; b < c->columns; b++) {
            const int64_t number = c->counts[a * c->columns + c->order[b]];
            fprintf(job->data, "%" PRId64 " %" PRId64 " %" PRId64 " %.4g\n", b, a, number,
                    c->totals[a] > 0 ? 100 * (double)number / (double)c->totals[a] : 0);
        }
}

static double cell_size(int64_t count, double least)
{
    return count > PLOT_LISTED ? (double)TALL / (double)count : fmin(48, fmax(least, (double)SIDE / (double)count));
}

/* The digits of the largest count have to fit into a cell that shows them. */
static double digits_width(const plot_job *job)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, job->summary.n);
    return plot_text_width(text, PLOT_NAME, 9);
}

static void put_matrix(plot_job *job, const confusion *c, double cell)
{
    fprintf(job->script, "plot ");
    plot_cells_put(job, &(plot_cells){"data", "$1", "$2", "4", false, 1, 1, c->rows, c->columns, c->rows * c->columns});
    if (cell >= fmax(20, digits_width(job)))
        fprintf(job->script, ", \\\n     data using 1:2:($3 > 0 ? sprintf('%%d',$3) : ''):($4 > 55 ? 0xFFFFFF : "
                             "0x202020) with labels font ',9' tc rgb variable");
    fprintf(job->script, "\n");
}

static void draw(plot_job *job, const confusion *c, const char **ordered)
{
    plot_list classes = {.names = c->truth.names, .count = c->rows};
    plot_list clusters = {.names = ordered, .count = c->columns};
    char across[96], down[96];
    const double wide = fmax(cell_size(c->columns, 13), 100.0 / (double)c->columns);
    const double high = fmax(cell_size(c->rows, 13), 60.0 / (double)c->rows);
    bool turned = false;
    const double below = plot_list_below(&clusters, wide, NAME_BELOW, &turned) + LABEL + MARGIN;
    plot_list_beside(&classes, high);
    const double left = MARGIN + LABEL + plot_list_width(&classes, PLOT_NAME);
    const double right = left + wide * (double)c->columns, top = below + high * (double)c->rows;
    put_data(job, c);
    plot_title(job, "%" PRId64 " samples: accuracy %.3f, NMI %.3f", job->summary.n, c->scores.accuracy, c->scores.nmi);
    plot_page(job, right + SCALE, top + ABOVE);
    plot_box(job, left, right, below, top);
    fprintf(
        job->script,
        "unset key\nset border lw 0.6 lc rgb '#909090'\nset tics nomirror scale 0 tc rgb 'black'\nset xrange [-0.5:%g]\n"
        "set yrange [%g:-0.5]\nset cbrange [0:100]\n%sset cbtics 25 scale 0.4 font ',10'\n"
        "set cblabel '%% of the class' offset 0.5,0\n"
        "set colorbox user origin screen %.5g,graph 0 size screen %.5g,graph 1\n"
        "set label 1 '%s' at screen %.5g,%.5g center\n"
        "set label 2 '%s' at screen %.5g,%.5g center rotate by 90\n",
        (double)c->columns - 0.5, (double)c->rows - 0.5, plot_palette_blue, (right + 10) / job->width, 10 / job->width,
        plot_list_title(&clusters, job->by->word, across), (left + right) / 2 / job->width, 14 / job->height,
        plot_list_title(&classes, "class", down), 14 / job->width, (below + top) / 2 / job->height);
    plot_list_tics(job, "y", &classes, PLOT_NAME);
    plot_list_tics(job, "x", &clusters, NAME_BELOW);
    if (turned) fprintf(job->script, "set xtics rotate by 90 right\n");
    put_matrix(job, c, fmin(wide, high));
}

/* The names of the clusters in the order of the columns. */
static armilla_status draw_ordered(plot_job *job, const confusion *c)
{
    armilla_context *context = job->session->context;
    const char **ordered = NULL;
    const armilla_status status = armilla_take(context, c->columns, sizeof *ordered, &ordered);
    for (int64_t b = 0; b < c->columns && status == ARMILLA_OK; b++) ordered[b] = job->labels.names[c->order[b]];
    if (status == ARMILLA_OK) draw(job, c, ordered);
    armilla_release(context, ordered);
    return status;
}

/* The classes: --truth, or the model's labels. What is drawn against them: --labels, or what was found, since labels of
 * the model are classes. */
static armilla_status read_classes(plot_job *job, confusion *c)
{
    const plot_settings *settings = job->settings;
    armilla_status status = plot_labels_read(job, settings->truth, &c->truth);
    if (status != ARMILLA_OK) return status;
    if (!c->truth.names)
        return fail(job->session, ARMILLA_BAD_ARGUMENT,
                    "confusion: the model has no labels; give the classes of the samples by --truth FILE");
    if (!settings->labels) status = plot_classify_found(job);
    if (status != ARMILLA_OK) return status;
    job->labels.missing = c->truth.missing > job->labels.missing ? c->truth.missing : job->labels.missing;
    c->rows = c->truth.count;
    c->columns = job->labels.count;
    if (c->rows > MOST_CLASSES)
        return fail(job->session, ARMILLA_BAD_DATA,
                    "confusion: %" PRId64
                    " classes are too many for one picture, which has space for %d; give classes of "
                    "fewer kinds by --truth FILE",
                    c->rows, MOST_CLASSES);
    return plot_classes_check(job, MOST_CLASSES);
}

armilla_status plot_confusion(plot_job *job)
{
    armilla_context *context = job->session->context;
    confusion c = {.rows = 0};
    armilla_status status = read_classes(job, &c);
    if (status == ARMILLA_OK) status = count(job, &c);
    if (status == ARMILLA_OK) status = order_clusters(job, &c);
    if (status == ARMILLA_OK) status = draw_ordered(job, &c);
    plot_labels_free(job, &c.truth);
    armilla_release(context, c.counts);
    armilla_release(context, c.totals);
    armilla_release(context, c.order);
    return status;
}
