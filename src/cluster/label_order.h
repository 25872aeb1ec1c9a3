/* The one order of labels. */
#ifndef ARMILLA_CLUSTER_LABEL_ORDER_H
#define ARMILLA_CLUSTER_LABEL_ORDER_H

#include <armilla/base.h>

/* A label and what its place depends on. */
typedef struct armilla_label {
    const char *text;
    int64_t index; /* the caller's */
    bool missing;  /* comes last */
    double value;  /* 0 where labels are ordered by text */
} armilla_label;

/* Whether the text says that there is no label: it is empty, or a word that pandas.read_csv takes for a missing value. */
bool armilla_label_missing(const char *text);

/* By number, and equal numbers by text, where all labels but the missing ones are numbers. Otherwise by text: its
 * bytes, whatever the locale, which in UTF-8 is the order of the characters. 0 only for equal texts or two missing
 * ones. */
int armilla_label_compare(const armilla_label *a, const armilla_label *b);

/* Sorts labels whose text and index are set. */
armilla_status armilla_labels_sort(armilla_context *context, int64_t count, armilla_label *labels);

#endif
