/* What the kinds of pictures share. A kind is one file and one row: it writes a gnuplot script and its data, and
 * plot_gnuplot.c runs the one on the other. Whatever a user named goes through plot_text or
 * plot_path. Places and sizes are in points, of which an inch has 72. */
#ifndef ARMILLA_CLI_PLOT_H
#define ARMILLA_CLI_PLOT_H

#include "command.h"

#include <stdio.h>

/* What classes of samples are, on an axis or above a legend and, with their number and a plural s, in a title. */
typedef struct plot_grouping {
    const char *word, *title;
} plot_grouping;

/* Classes 0 ... count-1 of the samples, in the order of labels. */
typedef struct plot_labels {
    int64_t *classes;   /* of each sample */
    const char **names; /* of the classes */
    int64_t count, missing;
    armilla_data *samples; /* what the names point into: the codes with the labels of a file; */
    char *numbers;         /* or of clusters and atoms; both NULL: the model */
} plot_labels;

/* Settings of `armilla plot`. */
typedef struct plot_settings {
    cli_settings common;
    const char *kind, *title, *images, *components, *labels, *truth;
    bool globe;
} plot_settings;

typedef struct plot_job {
    cli_session *session;
    const plot_settings *settings; /* of the picture; what it is written to is the session's --out */
    const armilla_model *model;
    armilla_model_summary summary;
    double *U, *V;           /* m x r and r x n, column-major */
    double *lengths;         /* of the atoms: entry k of a code contributes v_k u_k, which is lengths[k] |v_k| long */
    plot_labels labels;      /* what samples are drawn by; 1 or more classes */
    const plot_grouping *by; /* what the classes are */
    FILE *script, *data;     /* what draw writes */
    double width, height;    /* of the picture, in points */
    char title[512];         /* "": none */
    int64_t rows, columns;   /* of the images that samples are, 0 where nobody knows */
    bool column_major;       /* their pixels come column by column */
} plot_job;

typedef struct plot_kind {
    const char *name;
    armilla_status (*draw)(plot_job *job);
    bool of_text; /* the operand is no model, and draw reads it */
    bool classes; /* samples are drawn by their class */
} plot_kind;

armilla_status plot_convergence(plot_job *job);
armilla_status plot_sphere(plot_job *job);
armilla_status plot_scatter(plot_job *job);
armilla_status plot_graph(plot_job *job);
armilla_status plot_atoms(plot_job *job);
armilla_status plot_features(plot_job *job);
armilla_status plot_codes(plot_job *job);
armilla_status plot_clusters(plot_job *job);
armilla_status plot_confusion(plot_job *job);
armilla_status plot_numbers(plot_job *job);
/* Draws the matches of two models, to --out of the session. */
armilla_status plot_matches(cli_session *session, const armilla_comparison *found);

/* --- plot_text.c --- */

enum { PLOT_TITLE = 160, PLOT_NAME = 60 }; /* characters that are shown of a text */

/* Text of a user as a gnuplot string: nothing in it is a command, and control characters and what is not UTF-8 are
 * replaced, an SVG with it is well-formed, and of more than `most` characters the last is an ellipsis. To be followed by
 * `noenhanced` wherever it is shown. */
void plot_text(FILE *script, const char *text, int most);
/* The same at a tic of an axis, where gnuplot takes it for a format. */
void plot_tic_text(FILE *script, const char *text, int most);
/* The name of a file as a gnuplot string: all its bytes, whatever they are. */
void plot_path(FILE *script, const char *path);

/* Points that the text takes in a font of that size, rather too many than too few. */
double plot_text_width(const char *text, int most, double font);

/* --- plot_page.c: where things stand, in points from the lower left corner --- */

/* The title: --title, or the format's text where none was given. To be called before the page. */
void plot_title(plot_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Begins the script: the size of the picture, made wider where the title needs it, and the title on top of it. */
void plot_page(plot_job *job, double width, double height);
/* The borders of the next panel. */
void plot_box(plot_job *job, double left, double right, double bottom, double top);
/* A remark in small letters, centred at the bottom of the page. */
void plot_note(plot_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A step of 1, 2 or 5 times a power of ten that divides the range into at most `most` parts. */
double plot_step(double range, int most);
/* Tics of the axis 'x' or 'y' at multiples of the step, with the decimals that these have. */
void plot_tics(plot_job *job, char axis, double step);

/* --- plot_list.c: names along an axis --- */

typedef struct plot_list {
    const char *const *names; /* NULL: numbers from 0 */
    int64_t count;
    bool numbered; /* the number stands before each name */
    int64_t every; /* 1: all are shown; 5: the first and every fifth after it */
} plot_list;

enum { PLOT_LISTED = 60 }; /* of more, cells are narrower than a line of text */

/* The name of an item, or its number from 0, in the buffer where need be. */
const char *plot_list_text(const plot_list *list, int64_t index, char buffer[32]);
/* How many are shown beside cells of that height. */
void plot_list_beside(plot_list *list, double cell);
/* The same below cells of that width, turned where they are too long; returns the points that they take. */
double plot_list_below(plot_list *list, double cell, int most, bool *turned);
/* The longest that is shown in points, at most `most` characters each. */
double plot_list_width(const plot_list *list, int most);
/* The tics of the axis "x" or "y" at 0, 1, ... */
void plot_list_tics(plot_job *job, const char *axis, const plot_list *list, int most);
/* What the axis is called: the word, and which are named where a reader could not tell. */
const char *plot_list_title(const plot_list *list, const char *word, char buffer[96]);

/* --- plot_points.c: samples as points --- */

/* A random number of the index, by splitmix64: the picture is the same whenever it is drawn. */
uint64_t plot_shuffle(uint64_t index);

/* Some of the samples, spread evenly over all, in a random order. */
typedef struct plot_points {
    int64_t count;
    int64_t *samples;
} plot_points;

armilla_status plot_points_choose(plot_job *job, plot_points *points);
/* "4000 of 10000" or "200". */
const char *plot_points_text(const plot_job *job, const plot_points *points, char buffer[64]);
/* A line of data: x, y, size, mark and colour of a sample's point, by how many there are. paler: 0 ... 1. */
void plot_points_put(plot_job *job, const plot_points *points, int64_t sample, const double at[2], double paler);
/* Space for the legend in points, 0 where there is none. */
double plot_key_width(const plot_job *job);
/* The legend, its upper left corner there; the `plot` of lines like those above, and of the legend's entries. */
void plot_key(plot_job *job, double left, double top);
void plot_points_draw(plot_job *job, const char *before, int block);

/* Directions of r numbers each, which codes are drawn along. */
typedef struct plot_axes {
    int count;          /* 2 or 3 */
    double *directions; /* count x r, one after the other */
    bool principal;
    int64_t chosen[3];
    double share[3]; /* of the points' squared length, or of their variance where centred, along a principal one */
} plot_axes;

/* Entries of a code that --components names, 2 to `most` of them; fails where it names something else. */
armilla_status plot_axes_parse(plot_job *job, int most, plot_axes *axes);
/* The leading directions of the points, as row i of `points` (count x r) has them. */
armilla_status plot_axes_lead(plot_job *job, const double *points, int64_t count, plot_axes *axes);
/* a'b of r numbers each. */
double plot_dot(const double *a, const double *b, int64_t r);

/* --- plot_sphere.c --- */

/* A page with a globe and the points on it or in it, the title set before; axes NULL: none are named. */
void plot_globe(plot_job *job, const plot_points *points, const double (*places)[3], const plot_axes *axes);

/* --- plot_style.c --- */

/* Classes differ by colour, and from the eighth on by shape too: a colour as 0xRRGGBB that those who see few colours can
 * tell from the other six, and a mark of gnuplot's. */
unsigned plot_colour(int64_t c);
int plot_mark(int64_t c);

/* 0xRRGGBB of t in [-1, 1], from blue by white to red; of t in [0, 1], from white to black. */
unsigned plot_diverging(double t);
unsigned plot_gray(double t);
/* Palettes of gnuplot's like these, and from white to blue, or the other way. */
extern const char plot_palette_diverging[], plot_palette_gray[], plot_palette_blue[], plot_palette_blue_down[];

/* A grid of cells, each with a colour. */
typedef struct plot_cells {
    const char *from;      /* the data's block: "data index 1" */
    const char *x, *y;     /* where the middle of a cell is, as gnuplot's expressions of the columns */
    const char *value;     /* the column of its value, whose colour the palette has */
    bool rgb;              /* red, green and blue are columns 3, 4 and 5 instead */
    double width, height;  /* of a cell, on the axes */
    int64_t rows, columns; /* of the grid */
    int64_t drawn;         /* cells of the whole picture */
} plot_cells;

/* What is behind `plot`: an image, or rectangles where there is a single row or column, of which gnuplot draws none. */
void plot_cells_put(plot_job *job, const plot_cells *cells);

/* --- plot_classes.c --- */

/* Reads labels from the file, or those of the model where path is NULL; names stay NULL where the model has none. */
armilla_status plot_labels_read(plot_job *job, const char *path, plot_labels *labels);
void plot_labels_free(plot_job *job, plot_labels *labels);

/* Classes instead of those that there are: the clusters that the model keeps, or else the largest contribution. */
armilla_status plot_classify_found(plot_job *job);
/* "60 samples with 3 labels" */
void plot_classes_title(plot_job *job);
/* Fails where there are more than `most` classes. */
armilla_status plot_classes_check(const plot_job *job, int64_t most);
/* Fills classes: --labels, the model's labels, the clusters that it keeps, or else the largest contribution. */
armilla_status plot_classify(plot_job *job);

/* *found = samples by the atom that contributes most to them. */
armilla_status plot_assign_atoms(const plot_job *job, armilla_clustering **found);

/* --- plot_gnuplot.c --- */

/* Draws: script and data go to gnuplot, and then, with the picture, to the files of --out. Outputs were checked. */
armilla_status plot_render(plot_job *job, const char *script, const char *data, size_t data_size);

/* ARMILLA_BAD_ARGUMENT where --out does not end as a picture does; the names of the script and the data. */
armilla_status plot_check_outputs(cli_session *session, const char *option);

/* --- cmd_plot.c --- */

/* Makes the script and the data, and draws them. */
armilla_status plot_draw(plot_job *job, const plot_kind *kind);

#endif
