/* Classes of the samples: labels that a file or the model has, clusters that it keeps, or the atom that contributes
 * most. */
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t plot_largest(const plot_job *job, int64_t j)
{
    const int64_t r = job->summary.rank;
    const double *code = job->V + j * r;
    int64_t best = 0;
    for (int64_t k = 1; k < r; k++)
        if (fabs(code[k]) * job->lengths[k] > fabs(code[best]) * job->lengths[best]) best = k;
    return best;
}

/* The texts of the file, which belong to labels->samples. */
static armilla_status read_file(plot_job *job, const char *path, plot_labels *labels, const char **texts)
{
    armilla_context *context = job->session->context;
    const armilla_model_summary *of = &job->summary;
    armilla_status status =
        armilla_data_wrap_dense(context, ARMILLA_F64, job->V, of->rank, of->n, of->rank, &labels->samples);
    if (status == ARMILLA_OK) status = armilla_data_read_labels(context, labels->samples, path);
    for (int64_t j = 0; j < of->n && status == ARMILLA_OK; j++)
        texts[j] = armilla_data_name(labels->samples, ARMILLA_SAMPLE_LABELS, j);
    return status;
}

/* The order of classes: numbers by value, then texts, in which runs of digits compare as numbers. */
static int compare_labels(const void *first, const void *second)
{
    const char *a = *(const char *const *)first, *b = *(const char *const *)second;
    char *a_end, *b_end;
    const double x = strtod(a, &a_end), y = strtod(b, &b_end);
    if (*a && *b && !*a_end && !*b_end && x != y) return x < y ? -1 : 1;
    return strverscmp(a, b);
}

/* Numbers the labels that differ. */
static armilla_status number_labels(plot_job *job, plot_labels *labels, const char **texts)
{
    const int64_t n = job->summary.n;
    armilla_status status = armilla_take(job->session->context, n, sizeof *labels->names, &labels->names);
    if (status == ARMILLA_OK)
        status = armilla_take(job->session->context, n, sizeof *labels->classes, &labels->classes);
    if (status != ARMILLA_OK) return status;
    const char **names = labels->names;
    memcpy(names, texts, (size_t)n * sizeof *texts);
    qsort(names, (size_t)n, sizeof *names, compare_labels);
    for (int64_t j = 0; j < n; j++)
        if (j == 0 || compare_labels(&names[j], &names[labels->count - 1]) != 0) names[labels->count++] = names[j];
    for (int64_t j = 0; j < n; j++) {
        const char **found = bsearch(&texts[j], names, (size_t)labels->count, sizeof *names, compare_labels);
        labels->classes[j] = found ? found - names : 0;
    }
    return ARMILLA_OK;
}

armilla_status plot_labels_read(plot_job *job, const char *path, plot_labels *labels)
{
    const int64_t n = job->summary.n;
    const char **texts = NULL;
    *labels = (plot_labels){.count = 0};
    if (!path && !armilla_model_name(job->model, ARMILLA_SAMPLE_LABELS, 0)) return ARMILLA_OK;
    armilla_status status = armilla_take(job->session->context, n, sizeof *texts, &texts);
    if (status == ARMILLA_OK && path) status = read_file(job, path, labels, texts);
    for (int64_t j = 0; j < n && status == ARMILLA_OK && !path; j++)
        texts[j] = armilla_model_name(job->model, ARMILLA_SAMPLE_LABELS, j);
    if (status == ARMILLA_OK) status = number_labels(job, labels, texts);
    armilla_release(job->session->context, texts);
    return status;
}

void plot_labels_free(plot_job *job, plot_labels *labels)
{
    armilla_release(job->session->context, labels->classes);
    armilla_release(job->session->context, labels->names);
    armilla_data_free(labels->samples);
}

static void forget_classes(plot_job *job)
{
    armilla_release(job->session->context, job->classes);
    armilla_release(job->session->context, job->names);
    armilla_release(job->session->context, job->numbers);
    armilla_data_free(job->samples);
    job->classes = NULL;
    job->names = NULL;
    job->numbers = NULL;
    job->samples = NULL;
}

/* Clusters and atoms are called by their numbers from 0, as in files of labels and by armilla top. */
static armilla_status name_numbers(plot_job *job, int64_t k)
{
    enum { DIGITS = 24 };
    armilla_context *context = job->session->context;
    armilla_status status = armilla_take(context, k, DIGITS, &job->numbers);
    if (status == ARMILLA_OK) status = armilla_take(context, k, sizeof *job->names, &job->names);
    for (int64_t i = 0; i < k && status == ARMILLA_OK; i++) {
        job->names[i] = job->numbers + i * DIGITS;
        snprintf(job->numbers + i * DIGITS, DIGITS, "%" PRId64, i);
    }
    return status;
}

armilla_status plot_classify_found(plot_job *job)
{
    int64_t k = job->summary.rank;
    const int64_t *kept = armilla_model_clusters(job->model, &k);
    forget_classes(job);
    armilla_status status = armilla_take(job->session->context, job->summary.n, sizeof *job->classes, &job->classes);
    if (status == ARMILLA_OK) status = name_numbers(job, k);
    for (int64_t j = 0; j < job->summary.n && status == ARMILLA_OK; j++)
        job->classes[j] = kept ? kept[j] : plot_largest(job, j);
    job->class_count = k;
    job->class_word = kept ? "cluster" : "largest atom";
    return status;
}

armilla_status plot_classify(plot_job *job)
{
    plot_labels labels;
    const armilla_status status = plot_labels_read(job, job->session->settings.labels, &labels);
    job->classes = labels.classes;
    job->names = labels.names;
    job->samples = labels.samples;
    job->class_count = labels.count;
    job->class_word = "label";
    return status != ARMILLA_OK || labels.names ? status : plot_classify_found(job);
}
