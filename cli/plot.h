/* What the kinds of pictures share. A kind is one file and one row: it writes a gnuplot script and its data, and
 * plot_gnuplot.c runs the one on the other. Whatever a user named goes through plot_text or plot_path. */
#ifndef ARMILLA_CLI_PLOT_H
#define ARMILLA_CLI_PLOT_H

#include "command.h"

#include <stdio.h>

typedef struct plot_job {
    cli_session *session;
    const armilla_model *model;
    armilla_model_summary summary;
    double *U, *V;         /* m x r and r x n, column-major */
    int64_t *classes;      /* of each sample, 0 ... class_count-1 */
    int64_t class_count;   /* 1 or more */
    const char **names;    /* of the classes; NULL: their numbers */
    armilla_data *samples; /* the codes with the labels of --labels, which the names point into; or NULL */
    bool labelled;         /* the classes were given, not found as the largest entry of a code */
    FILE *script, *data;   /* what draw writes */
    double width, height;  /* of the picture, in points */
    int64_t rows, columns; /* of --images, 0 where it was not given */
} plot_job;

typedef struct plot_kind {
    const char *name;
    double width, height;
    armilla_status (*draw)(plot_job *job);
} plot_kind;

armilla_status plot_convergence(plot_job *job);
armilla_status plot_sphere(plot_job *job);
armilla_status plot_atoms(plot_job *job);
armilla_status plot_codes(plot_job *job);
armilla_status plot_clusters(plot_job *job);

/* Text of a user as a gnuplot string: nothing in it is a command, and control characters and what is not UTF-8 are
 * replaced, an SVG with it is well-formed, and what is very long is shortened. To be followed by `noenhanced` wherever
 * it is shown. */
void plot_text(FILE *script, const char *text);
/* The name of a file as a gnuplot string: all its bytes, whatever they are. */
void plot_path(FILE *script, const char *path);

/* The title: --title, or the format's text where none was given. */
void plot_title(plot_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The name of a class, or its number from 1; at a tic of an axis, where gnuplot takes it for a format. */
void plot_class_text(plot_job *job, int64_t c, bool tic);

/* A colour of the class that those who see few colours can tell from its neighbours, as 0xRRGGBB. */
unsigned plot_colour(int64_t c);

/* 0xRRGGBB of t in [-1, 1], from blue by white to red; of t in [0, 1], from white to black. */
unsigned plot_diverging(double t);
unsigned plot_gray(double t);

/* The word by which an image of so many cells is drawn: in an SVG as squares, since whoever shows it would smooth an
 * image; but not where they would be too many for a file of some size. */
const char *plot_pixels(const plot_job *job, int64_t cells);

/* Fills classes: --labels, the model's labels, or else the largest entry of a code. */
armilla_status plot_classify(plot_job *job);

/* The index of the entry of code j that is largest in absolute value. */
int64_t plot_largest(const plot_job *job, int64_t j);

/* Draws: script and data go to gnuplot, and then, with the picture, to the files of --out. Outputs were checked. */
armilla_status plot_render(plot_job *job, const char *script, const char *data, size_t data_size);

/* ARMILLA_BAD_ARGUMENT where --out does not end as a picture does; the names of the script and the data. */
armilla_status plot_check_outputs(cli_session *session);

#endif
