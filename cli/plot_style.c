/* Colours and marks. */
#include "plot.h"

#include <math.h>
#include <string.h>

/* Okabe and Ito's colours, darkest first, with a dark gray for their black; yellow, which white swallows, is left
 * out. Not everybody can distinguish more than these seven. */
unsigned plot_colour(int64_t c)
{
    static const unsigned colours[] = {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0x56B4E9, 0xE69F00, 0x333333};
    return colours[(uint64_t)c % (sizeof colours / sizeof *colours)];
}

/* Filled shapes: circle, triangle, square, diamond, the triangle upside down, pentagon. */
int plot_mark(int64_t c)
{
    static const int marks[] = {7, 9, 5, 13, 11, 15};
    return marks[(uint64_t)c / 7 % (sizeof marks / sizeof *marks)];
}

const char plot_palette_diverging[] =
    "set palette defined (0 '#053061', 1 '#4393C3', 2 '#F7F7F7', 3 '#D6604D', 4 '#67001F')\n";
const char plot_palette_gray[] = "set palette defined (0 '#FFFFFF', 1 '#000000')\n";
const char plot_palette_blue[] =
    "set palette defined (0 '#FFFFFF', 1 '#C6DBEF', 2 '#6BAED6', 3 '#2171B5', 4 '#08306B')\n";
const char plot_palette_blue_down[] =
    "set palette defined (0 '#08306B', 1 '#2171B5', 2 '#6BAED6', 3 '#C6DBEF', 4 '#FFFFFF')\n";

static unsigned blend(unsigned a, unsigned b, double t)
{
    unsigned colour = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        const double from = (a >> shift) & 255, to = (b >> shift) & 255;
        colour |= (unsigned)lround(from + (to - from) * t) << shift;
    }
    return colour;
}

unsigned plot_diverging(double t)
{
    static const unsigned stops[] = {0x053061, 0x4393C3, 0xF7F7F7, 0xD6604D, 0x67001F};
    const double place = fmin(fmax(2 * (t + 1), 0), 4);
    const int first = place >= 4 ? 3 : (int)place;
    return blend(stops[first], stops[first + 1], place - first);
}

unsigned plot_gray(double t)
{
    return blend(0xFFFFFF, 0x000000, fmin(fmax(t, 0), 1));
}

/* The word by which an image of so many cells is drawn: in an SVG as squares, since whoever shows it would smooth an
 * image; but not where they would be too many for a file of some size. */
static const char *pixels_word(const plot_job *job, int64_t cells)
{
    enum { MOST_CELLS = 20000 };
    const char *dot = strrchr(job->session->settings->out, '.');
    return cells <= MOST_CELLS && dot && strcmp(dot, ".svg") == 0 ? " pixels" : "";
}

void plot_cells_put(plot_job *job, const plot_cells *cells)
{
    fprintf(job->script, "%s using (%s):(%s):", cells->from, cells->x, cells->y);
    if (cells->rows > 1 && cells->columns > 1)
        fprintf(job->script, "%s with %s%s", cells->rgb ? "3:4:5" : cells->value, cells->rgb ? "rgbimage" : "image",
                pixels_word(job, cells->drawn));
    else
        fprintf(job->script, "(%.9g):(%.9g):%s with boxxyerror fs solid 1 noborder lc %s", cells->width / 2,
                cells->height / 2, cells->rgb ? "($3*65536+$4*256+$5)" : cells->value,
                cells->rgb ? "rgb variable" : "palette z");
}
