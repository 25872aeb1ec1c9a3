/* The atoms of two models: the angle of every pair as a heat map, with matched atoms on the diagonal, nearest first, and
 * those that were not matched behind them. */
#include "plot.h"

#include <inttypes.h>
#include <math.h>

enum { MOST_ATOMS = 500, SIDE = 360, TALL = 720, SCALE = 84, ABOVE = 36, MARGIN = 12, LABEL = 22, LEAST = 13 };

typedef struct matches {
    plot_job job; /* first: a job is one of these */
    const armilla_comparison *found;
    armilla_comparison_summary summary;
    int64_t *order[2];   /* the atom in each place */
    char (*numbers)[32]; /* of both, one after the other */
    const char **names[2];
    double largest; /* angle that is drawn, in degrees */
} matches;

/* Matched atoms in the order of their matches, then the others. */
static void order_atoms(matches *m, int side)
{
    const int64_t count = m->summary.ranks[side];
    armilla_atom_match match;
    int64_t places = 0;
    for (; armilla_comparison_match(m->found, places, &match); places++) m->order[side][places] = match.atoms[side];
    const int64_t matched = places;
    for (int64_t k = 0; k < count; k++) {
        bool there = false;
        for (int64_t i = 0; i < matched; i++) there |= m->order[side][i] == k;
        if (!there) m->order[side][places++] = k;
    }
}

static armilla_status name_atoms(matches *m)
{
    armilla_context *context = m->job.session->context;
    armilla_status status =
        armilla_take(context, m->summary.ranks[0] + m->summary.ranks[1], sizeof *m->numbers, &m->numbers);
    for (int side = 0; side < 2 && status == ARMILLA_OK; side++) {
        const int64_t count = m->summary.ranks[side], before = side ? m->summary.ranks[0] : 0;
        status = armilla_take(context, count, sizeof **m->order, &m->order[side]);
        if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof **m->names, &m->names[side]);
        if (status != ARMILLA_OK) break;
        order_atoms(m, side);
        for (int64_t i = 0; i < count; i++) {
            snprintf(m->numbers[before + i], sizeof *m->numbers, "%" PRId64, m->order[side][i]);
            m->names[side][i] = m->numbers[before + i];
        }
    }
    return status;
}

/* Column, row, angle in degrees; NaN where an atom is 0. */
static void put_data(matches *m)
{
    const double *angles = armilla_comparison_angles(m->found);
    for (int64_t a = 0; a < m->summary.ranks[0]; a++)
        for (int64_t b = 0; b < m->summary.ranks[1]; b++) {
            const double angle = angles[m->order[1][b] * m->summary.ranks[0] + m->order[0][a]];
            fprintf(m->job.data, "%" PRId64 " %" PRId64 " ", b, a);
            if (isnan(angle)) {
                fprintf(m->job.data, "NaN\n");
                continue;
            }
            m->largest = fmax(m->largest, message_degrees(angle));
            fprintf(m->job.data, "%.4f\n", message_degrees(angle));
        }
}

/* The side of a cell in points; `count` cells have at least the length `least` together. */
static double cell_size(int64_t count, double least)
{
    const double usual =
        count > PLOT_LISTED ? (double)TALL / (double)count : fmin(48, fmax(LEAST, SIDE / (double)count));
    return fmax(usual, least / (double)count);
}

static void put_script(matches *m)
{
    plot_job *job = &m->job;
    const int64_t rows = m->summary.ranks[0], columns = m->summary.ranks[1];
    plot_list first = {.names = m->names[0], .count = rows}, second = {.names = m->names[1], .count = columns};
    const double wide = cell_size(columns, 100), high = cell_size(rows, 60);
    bool turned = false;
    char across[96], down[96];
    const double below = plot_list_below(&second, wide, PLOT_NAME, &turned) + LABEL + MARGIN;
    plot_list_beside(&first, high);
    const double left = MARGIN + LABEL + plot_list_width(&first, PLOT_NAME);
    const double right = left + wide * (double)columns, top = below + high * (double)rows;
    const int most = m->largest <= 90.5 ? 90 : 180; /* directions without negative entries are no further apart */
    plot_title(job, "Atoms of two models: mean angle of %" PRId64 " matches %.1f°", m->summary.matched,
               message_degrees(m->summary.mean_angle));
    plot_page(job, right + SCALE, top + ABOVE);
    plot_box(job, left, right, below, top);
    fprintf(job->script,
            "unset key\nset border lw 0.6 lc rgb '#909090'\nset tics nomirror scale 0 tc rgb 'black'\n"
            "set xrange [-0.5:%g]\nset yrange [%g:-0.5]\nset cbrange [0:%d]\n%sset cbtics %d scale 0.4 font ',10'\n"
            "set cblabel 'angle in degrees' offset 0.5,0\n"
            "set colorbox user origin screen %.5g,graph 0 size screen %.5g,graph 1\n"
            "set label 1 '%s' at screen %.5g,%.5g center\n"
            "set label 2 '%s' at screen %.5g,%.5g center rotate by 90\n",
            (double)columns - 0.5, (double)rows - 0.5, most, plot_palette_blue_down, most / 6,
            (right + 10) / job->width, 10 / job->width, plot_list_title(&second, "atom of the second model", across),
            (left + right) / 2 / job->width, 14 / job->height, plot_list_title(&first, "atom of the first", down),
            14 / job->width, (below + top) / 2 / job->height);
    plot_list_tics(job, "y", &first, PLOT_NAME);
    plot_list_tics(job, "x", &second, PLOT_NAME);
    if (turned) fprintf(job->script, "set xtics rotate by 90 right\n");
    fprintf(job->script, "plot ");
    plot_cells_put(job, &(plot_cells){"data", "$1", "$2", "3", false, 1, 1, rows, columns, rows * columns});
    if (fmin(wide, high) >= 22)
        fprintf(
            job->script,
            ", \\\n     data using 1:2:(strcol(3) eq 'NaN' ? '–' : sprintf('%%.0f',$3)):($3 < %g ? 0xFFFFFF : 0x202020) with labels font ',9' "
            "tc rgb variable",
            0.45 * most);
    fprintf(job->script, "\n");
}

static armilla_status draw(plot_job *job)
{
    matches *m = (matches *)job;
    const armilla_status status = name_atoms(m);
    if (status != ARMILLA_OK) return status;
    put_data(m);
    put_script(m);
    return ARMILLA_OK;
}

armilla_status plot_matches(cli_session *session, const armilla_comparison *found)
{
    static const plot_kind kind = {.name = "matches", .draw = draw};
    static const plot_settings plain = {.title = NULL};
    matches m = {.job = {.session = session, .settings = &plain}, .found = found};
    armilla_comparison_summarize(found, &m.summary);
    if (m.summary.ranks[0] > MOST_ATOMS || m.summary.ranks[1] > MOST_ATOMS)
        return fail(session, ARMILLA_BAD_DATA,
                    "--plot: %" PRId64 " and %" PRId64 " atoms are too many for one picture (at most %d)",
                    m.summary.ranks[0], m.summary.ranks[1], MOST_ATOMS);
    const armilla_status status = plot_draw(&m.job, &kind);
    for (int side = 0; side < 2; side++) {
        armilla_release(session->context, m.order[side]);
        armilla_release(session->context, m.names[side]);
    }
    armilla_release(session->context, m.numbers);
    return status;
}
