/* The summary of armilla cluster, for people and as JSON. */
#include "clustering.h"

#include "json.h"
#include "messages.h"
#include "preparing.h"
#include "scoring.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Numbers of clusters with that part of the best score are plausible. */
#define PLAUSIBLE 0.8

/* What the labels are of. */
static const char *place_of(const cli_clustering *work, const armilla_cluster_summary *found)
{
    if (!work->model) return "data";
    return work->X && found->by ? "both" : "codes";
}

/* Reports the source of the labels of a graph, and the evidence for them. */
static void report_evidence(cli_session *session, const armilla_cluster_summary *found)
{
    if (isnan(found->modularity)) {
        message_line(&session->messages, "evidence  none: %s without a graph of neighbours: %s", found->by,
                     found->reason);
        return;
    }
    char more[64] = "";
    if (!isnan(found->stability)) snprintf(more, sizeof more, ", stability %.3f", found->stability);
    message_line(&session->messages, "evidence  %s: modularity %.3f, %.1f %% of the edges inside%s; %s", found->by,
                 found->modularity, 100 * found->coverage, more, found->reason);
}

/* The numbers that are plausible beside the one that was taken, with their evidence. */
static void report_numbers(cli_session *session, const armilla_clustering *clustering)
{
    const int64_t count = armilla_clustering_numbers(clustering);
    armilla_cluster_summary found;
    double most = 0;
    armilla_clustering_summarize(clustering, &found);
    for (int64_t i = 0; i < count; i++) {
        armilla_cluster_number number;
        armilla_clustering_number(clustering, i, &number);
        most = fmax(most, number.score);
    }
    message_line(&session->messages,
                 "numbers   clusters  stability  modularity  score   (those within a fifth of the best)");
    for (int64_t i = 0; i < count; i++) {
        armilla_cluster_number number;
        armilla_clustering_number(clustering, i, &number);
        if (number.score < PLAUSIBLE * most) continue;
        message_line(&session->messages, "          %8" PRId64 "  %9.3f  %10.3f  %5.3f%s", number.k, number.stability,
                     number.modularity, number.score, number.k == found.k ? "   taken" : "");
    }
}

/* Whether there are groups, with the figures that say so. */
static void report_verdict(cli_session *session, const armilla_structure *found)
{
    static const char all_the_same[] = "the clusters below divide the samples all the same";
    const bool by_gap =
        found->is_structure && !(found->ratio < ARMILLA_MOST_RATIO && found->score >= ARMILLA_LEAST_SCORE);
    if (by_gap) /* cuts do not differ */
        message_line(&session->messages, "verdict   %s: %s (edges between them are %.1f %% of chance)", found->verdict,
                     found->reason, 100 * found->cut);
    else if (isfinite(found->ratio) && found->dependence >= ARMILLA_LEAST_DEPENDENCE)
        message_line(&session->messages,
                     "verdict   %s: %s (edges between them are %.1f %% of chance, %.1f %% without groups)%s%s",
                     found->verdict, found->reason, 100 * found->cut, 100 * found->expected,
                     found->is_structure ? "" : "; ", found->is_structure ? "" : all_the_same);
    else if (isfinite(found->ratio))
        message_line(&session->messages, "verdict   %s: %s (by %.1f standard deviations; %.1f are the least); %s",
                     found->verdict, found->reason, found->dependence, ARMILLA_LEAST_DEPENDENCE, all_the_same);
    else
        message_line(&session->messages, "verdict   %s: %s", found->verdict, found->reason);
}

/* Why clusters are empty: centres have nothing to be nearest to, or no sample has most of an atom. */
static void explain_empty(const armilla_cluster_summary *found, int64_t filled, char *text, size_t size)
{
    const int64_t empty = found->k - filled;
    if (empty == 0)
        *text = '\0';
    else if (strcmp(found->method, "argmax") == 0)
        snprintf(text, size, "; %" PRId64 " empty: their atoms contribute most to no sample", empty);
    else if (found->stop == ARMILLA_STOP_INTERRUPTED)
        snprintf(text, size, "; %" PRId64 " empty: k-means was stopped", empty);
    else if (filled == 1)
        snprintf(text, size, "; %" PRId64 " empty: all samples are alike as prepared", empty);
    else
        snprintf(text, size, "; %" PRId64 " empty: only %" PRId64 " samples differ", empty, filled);
}

static void report_sizes(cli_session *session, const cli_clustering *work, const armilla_cluster_summary *found)
{
    const int64_t *sizes = armilla_clustering_sizes(work->clustering);
    int64_t least = INT64_MAX, most = 0, filled = 0;
    char empty[128];
    for (int64_t k = 0; k < found->k; k++) {
        if (sizes[k] == 0) continue;
        least = sizes[k] < least ? sizes[k] : least;
        most = sizes[k] > most ? sizes[k] : most;
        filled++;
    }
    explain_empty(found, filled, empty, sizeof empty);
    message_line(&session->messages, "clusters  %" PRId64 " by %s on %s, of %" PRId64 " to %" PRId64 " samples%s",
                 found->k, found->method, place_of(work, found), least, most, empty);
}

static void report_quality(cli_session *session, const cli_clustering *work)
{
    char figures[5][MESSAGE_FIGURE];
    const armilla_scores *s = &work->scores;
    const double values[] = {s->accuracy, s->nmi, s->ari, s->ami, s->purity};
    for (int i = 0; i < 5; i++) message_figure(values[i], 4, figures[i]);
    if (work->scored)
        message_line(&session->messages, "scores    accuracy %s, nmi %s, ari %s, ami %s, purity %s", figures[0],
                     figures[1], figures[2], figures[3], figures[4]);
    if (!isfinite(work->quality.angle)) return;
    message_figure(work->quality.silhouette, 3, figures[0]);
    message_line(&session->messages, "shape     angle within clusters %.1f°, silhouette %s",
                 message_degrees(work->quality.angle),
                 isfinite(work->quality.silhouette) ? strcat(figures[0], " (cosine)")
                                                    : "undefined: one cluster has all samples");
}

void clustering_report(cli_session *session, const cli_clustering *work)
{
    armilla_cluster_summary found;
    armilla_clustering_summarize(work->clustering, &found);
    report_verdict(session, &work->structure);
    if (work->model && work->X) message_summary(&session->messages, work->model, settings_fit(session));
    report_sizes(session, work, &found);
    if (work->choice.kind)
        message_line(&session->messages, "choice    %s: %s", work->choice.kind, work->choice.preparation_reason);
    if (found.by) report_evidence(session, &found);
    if (armilla_clustering_numbers(work->clustering) > 0) report_numbers(session, work->clustering);
    report_quality(session, work);
    const char *out = session->settings->out, *model = cluster_of(session)->model_out;
    if (out || model)
        message_line(&session->messages, "written   %s%s%s", out ? out : "", out && model ? ", " : "",
                     model ? model : "");
}

static json_t *fit_facts(const armilla_model *model)
{
    const armilla_options prepared = preparing_of_model(model);
    armilla_model_summary summary;
    json_t *object = json_object();
    armilla_model_summarize(model, &summary);
    json_put_summary(object, &summary);
    preparing_put(object, &prepared);
    return object;
}

static json_t *score_facts(const armilla_scores *scores)
{
    json_t *object = json_object();
    scoring_put(object, scores);
    return object;
}

static json_t *structure_facts(const armilla_structure *found)
{
    json_t *object = json_object();
    json_put_text(object, "reason", found->reason);
    json_put_number(object, "cut", found->cut);
    json_put_number(object, "expected", found->expected);
    json_put_number(object, "ratio", found->ratio);
    json_put_number(object, "score", found->score);
    json_put_number(object, "dependence", found->dependence);
    json_put_count(object, "communities", isfinite(found->cut) ? found->communities : -1);
    json_put_text(object, "beside", found->beside);
    json_put_count(object, "samples", found->samples);
    json_put_count(object, "distinct", found->distinct);
    json_put_count(object, "features", found->features);
    return object;
}

static json_t *graph_facts(const armilla_cluster_summary *found)
{
    json_t *object = json_object();
    json_put_text(object, "by", found->by);
    json_put_number(object, "modularity", found->modularity);
    json_put_number(object, "coverage", found->coverage);
    json_put_number(object, "resolution", found->resolution);
    json_put_number(object, "stability", found->stability);
    json_put_number(object, "neighbor_distance", found->neighbor_distance);
    return object;
}

/* Why the preparation, the method and the labels are what they are; null where that was not chosen. */
static json_t *choice_facts(const armilla_cluster_choice *choice, const armilla_cluster_summary *found)
{
    json_t *object = json_object();
    json_put_text(object, "kind", choice->kind);
    json_put_text(object, "preparation", choice->preparation_reason);
    json_put_text(object, "method", choice->method_reason);
    json_put_text(object, "labels", found->reason);
    return object;
}

static int64_t count_empty(const int64_t *sizes, int64_t k)
{
    int64_t empty = 0;
    for (int64_t c = 0; c < k; c++) empty += sizes[c] == 0;
    return empty;
}

/* Every number of clusters that was looked at; null where it was given. */
static json_t *number_facts(const armilla_clustering *clustering)
{
    const int64_t count = armilla_clustering_numbers(clustering);
    json_t *rows = count > 0 ? json_array() : json_null();
    for (int64_t i = 0; i < count; i++) {
        armilla_cluster_number number;
        json_t *row = json_object();
        armilla_clustering_number(clustering, i, &number);
        json_put_count(row, "k", number.k);
        json_put_number(row, "resolution", number.resolution);
        json_put_number(row, "stability", number.stability);
        json_put_number(row, "modularity", number.modularity);
        json_put_number(row, "score", number.score);
        (void)json_array_append_new(rows, row);
    }
    return rows;
}

armilla_status clustering_print_json(cli_session *session, const cli_clustering *work)
{
    const int64_t *counts = armilla_clustering_sizes(work->clustering);
    armilla_cluster_summary found;
    json_t *object = json_object();
    armilla_clustering_summarize(work->clustering, &found);
    const bool tried = strcmp(found.method, "argmax") != 0 && !(found.by && strcmp(found.by, "communities") == 0);
    json_put_text(object, "verdict", work->structure.verdict);
    (void)json_object_set_new(object, "structure", structure_facts(&work->structure));
    json_put_text(object, "method", found.method);
    json_put_text(object, "on", place_of(work, &found));
    json_put_count(object, "k", found.k);
    json_put_count(object, "n", found.n);
    json_put_counts(object, "sizes", counts, found.k);
    json_put_count(object, "empty", count_empty(counts, found.k));
    json_put_number(object, "inertia", found.inertia);
    json_put_number(object, "angle", work->quality.angle);
    json_put_number(object, "silhouette", work->quality.silhouette);
    json_put_count(object, "seed", settings_fit(session)->seed);
    json_put_count(object, "tries", tried ? found.tries : -1);
    json_put_count(object, "iterations", tried ? found.iterations : -1);
    json_put_text(object, "stop", tried ? armilla_stop_word(found.stop) : NULL);
    (void)json_object_set_new(object, "graph", found.by ? graph_facts(&found) : json_null());
    (void)json_object_set_new(object, "choice", choice_facts(&work->choice, &found));
    (void)json_object_set_new(object, "numbers", number_facts(work->clustering));
    (void)json_object_set_new(object, "scores", work->scored ? score_facts(&work->scores) : json_null());
    (void)json_object_set_new(object, "fit", work->model ? fit_facts(work->model) : json_null());
    json_put_number(object, "seconds", now() - work->begun);
    json_put_peak_memory(object);
    json_put_text(object, "out", session->settings->out);
    json_put_text(object, "model_out", cluster_of(session)->model_out);
    json_put_counts(object, "labels", session->settings->out ? NULL : armilla_clustering_labels(work->clustering),
                    found.n);
    return json_print(session, object);
}
