/* Classes of the samples: labels that a file or the model has, clusters that it keeps, or the atom that contributes
 * most. */
#include "labelling.h"
#include "plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const plot_grouping labels_row = {"label", "with %" PRId64 " label%s"};
static const plot_grouping clusters_row = {"cluster", "in %" PRId64 " cluster%s"};
static const plot_grouping atoms_row = {"largest atom", "by the largest of %" PRId64 " atom%s"};

armilla_status plot_assign_atoms(const plot_job *job, armilla_clustering **found)
{
    armilla_cluster_options options;
    armilla_cluster_options_default(&options);
    options.method = "argmax";
    return armilla_cluster_model(job->session->context, job->model, &options, found);
}

/* A class is called as its first sample is labelled. */
static armilla_status name_classes(plot_job *job, plot_labels *labels)
{
    const armilla_status status =
        armilla_take(job->session->context, labels->count, sizeof *labels->names, &labels->names);
    for (int64_t j = job->summary.n - 1; j >= 0 && status == ARMILLA_OK; j--)
        labels->names[labels->classes[j]] = labels->samples
                                                ? armilla_data_name(labels->samples, ARMILLA_SAMPLE_LABELS, j)
                                                : armilla_model_name(job->model, ARMILLA_SAMPLE_LABELS, j);
    if (status == ARMILLA_OK && labels->missing > 0) labels->names[labels->count - 1] = LABEL_MISSING;
    return status;
}

armilla_status plot_labels_read(plot_job *job, const char *path, plot_labels *labels)
{
    armilla_context *context = job->session->context;
    armilla_labels read = {.count = 0};
    *labels = (plot_labels){.count = 0};
    armilla_status status = path ? labelling_open(job->session, path, job->model, NULL, &labels->samples)
                                 : armilla_labels_of_model(context, job->model, &read);
    if (status == ARMILLA_OK && path) status = armilla_labels_of_data(context, labels->samples, &read);
    labels->classes = read.values;
    labels->count = read.classes;
    labels->missing = read.missing;
    return status == ARMILLA_OK && read.values ? name_classes(job, labels) : status;
}

void plot_labels_free(plot_job *job, plot_labels *labels)
{
    armilla_release(job->session->context, labels->classes);
    armilla_release(job->session->context, labels->names);
    armilla_release(job->session->context, labels->numbers);
    armilla_data_free(labels->samples);
    *labels = (plot_labels){.count = 0};
}

/* Clusters and atoms are called by their numbers from 0, as in files of labels and by armilla top. */
static armilla_status name_numbers(plot_job *job, int64_t k)
{
    enum { DIGITS = 24 };
    armilla_context *context = job->session->context;
    armilla_status status = armilla_take(context, k, DIGITS, &job->labels.numbers);
    if (status == ARMILLA_OK) status = armilla_take(context, k, sizeof *job->labels.names, &job->labels.names);
    for (int64_t i = 0; i < k && status == ARMILLA_OK; i++) {
        job->labels.names[i] = job->labels.numbers + i * DIGITS;
        snprintf(job->labels.numbers + i * DIGITS, DIGITS, "%" PRId64, i);
    }
    return status;
}

armilla_status plot_classify_found(plot_job *job)
{
    int64_t k = job->summary.rank;
    const int64_t *kept = armilla_model_clusters(job->model, &k);
    armilla_clustering *atoms = NULL;
    plot_labels_free(job, &job->labels);
    armilla_status status =
        armilla_take(job->session->context, job->summary.n, sizeof *job->labels.classes, &job->labels.classes);
    if (status == ARMILLA_OK) status = name_numbers(job, k);
    if (status == ARMILLA_OK && !kept) status = plot_assign_atoms(job, &atoms);
    if (status == ARMILLA_OK)
        memcpy(job->labels.classes, kept ? kept : armilla_clustering_labels(atoms),
               (size_t)job->summary.n * sizeof *job->labels.classes);
    armilla_clustering_free(atoms);
    job->labels.count = k;
    job->by = kept ? &clusters_row : &atoms_row;
    return status;
}

armilla_status plot_classify(plot_job *job)
{
    const armilla_status status = plot_labels_read(job, job->settings->labels, &job->labels);
    job->by = &labels_row;
    return status != ARMILLA_OK || job->labels.names ? status : plot_classify_found(job);
}

void plot_classes_title(plot_job *job)
{
    char classes[80];
    snprintf(classes, sizeof classes, job->by->title, job->labels.count, job->labels.count == 1 ? "" : "s");
    plot_title(job, "%" PRId64 " sample%s %s", job->summary.n, job->summary.n == 1 ? "" : "s", classes);
}

armilla_status plot_classes_check(const plot_job *job, int64_t most)
{
    if (job->labels.count <= most) return ARMILLA_OK;
    return fail(job->session, ARMILLA_BAD_DATA,
                "%s: %" PRId64 " %ss are too many for one picture, which has space for %" PRId64
                "; give fewer kinds of labels by --labels FILE",
                job->settings->kind, job->labels.count, job->by->word, most);
}
