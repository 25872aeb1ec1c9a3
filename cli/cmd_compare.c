/* armilla compare: two models side by side. */
#include "plot.h"
#include "reading.h"
#include "scoring.h"
#include "streams.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct compare_settings {
    cli_settings common;
    reading_settings reading;
    const char *data;
} compare_settings;

static const armilla_option options[] = {
    OPTION_PATH("data", compare_settings, data, "DATA",
                "samples whose errors and clusters are compared, coded by both models"),
    OPTION_PATH("plot", cli_settings, out, "FILE.svg",
                "draw the angles of all pairs of atoms, matched ones on the diagonal"),
    OPTION_THREADS,
    OPTION_JSON,
    OPTION_FORCE,
    OPTION_END,
};

static const compare_settings *settings_of(const cli_session *session)
{
    return (const compare_settings *)session->settings;
}

typedef struct comparing {
    cli_session *session;
    armilla_model *models[2];
    armilla_comparison *found;
    armilla_comparison_summary summary;
} comparing;

/* Whether the atom of that model is in a pair; of models of different rank some of the larger one are not. */
static bool is_matched(const comparing *c, int side, int64_t atom)
{
    armilla_atom_match match;
    for (int64_t i = 0; armilla_comparison_match(c->found, i, &match); i++)
        if (match.atoms[side] == atom) return true;
    return false;
}

static json_t *unmatched_facts(const comparing *c, int side, int64_t rank)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < rank; k++)
        if (!is_matched(c, side, k)) (void)json_array_append_new(list, json_integer(k));
    return list;
}

static json_t *model_facts(const comparing *c, int side)
{
    armilla_model_summary model;
    json_t *object = json_object();
    armilla_model_summarize(c->models[side], &model);
    json_put_file(object, "file", c->session, c->session->settings->operands[side]);
    json_put_text(object, "model", model.model);
    json_put_text(object, "basis", model.basis);
    json_put_text(object, "codes", model.codes);
    json_put_count(object, "rank", model.rank);
    json_put_count(object, "dimension", c->summary.dimensions[side]);
    json_put_count(object, "n", model.n);
    json_put_number(object, "relative_error", c->summary.relative_errors[side]);
    json_put_number(object, "data_error", c->summary.data_errors[side]);
    (void)json_object_set_new(object, "unmatched", unmatched_facts(c, side, model.rank));
    return object;
}

static json_t *match_facts(const comparing *c)
{
    json_t *list = json_array();
    armilla_atom_match match;
    for (int64_t i = 0; armilla_comparison_match(c->found, i, &match); i++) {
        json_t *object = json_object();
        json_put_count(object, "first", match.atoms[0]);
        json_put_count(object, "second", match.atoms[1]);
        json_put_number(object, "angle", match.angle);
        json_put_flag(object, "negated", match.negated);
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *cluster_facts(bool there, int64_t samples, const armilla_scores *scores)
{
    if (!there) return json_null();
    json_t *object = json_object();
    json_put_count(object, "samples", samples);
    scoring_put(object, scores);
    return object;
}

static json_t *principal_facts(const comparing *c)
{
    const double *angles = armilla_comparison_principal(c->found);
    json_t *list = json_array();
    for (int64_t i = 0; i < c->summary.principal; i++) (void)json_array_append_new(list, json_real(angles[i]));
    return list;
}

static json_t *facts(const comparing *c)
{
    armilla_scores scores, kept;
    const bool clustered = armilla_comparison_scores(c->found, &scores);
    const bool keep = armilla_comparison_kept_scores(c->found, &kept);
    json_t *object = json_object();
    json_put_count(object, "m", c->summary.m);
    json_put_flag(object, "reordered", c->summary.reordered);
    json_put_flag(object, "lines", c->summary.lines);
    json_put_flag(object, "same_preparation", c->summary.same_preparation);
    json_put_count(object, "data_samples", c->summary.samples);
    (void)json_object_set_new(object, "first", model_facts(c, 0));
    (void)json_object_set_new(object, "second", model_facts(c, 1));
    (void)json_object_set_new(object, "matches", match_facts(c));
    json_put_number(object, "mean_angle", c->summary.mean_angle);
    json_put_number(object, "largest_angle", c->summary.largest_angle);
    (void)json_object_set_new(object, "principal_angles", principal_facts(c));
    (void)json_object_set_new(object, "clusters", cluster_facts(clustered, c->summary.clustered, &scores));
    (void)json_object_set_new(object, "kept_clusters", cluster_facts(keep, c->summary.kept, &kept));
    return object;
}

/* --- for people --- */

static void print_model(const comparing *c, int side)
{
    char file[4096];
    armilla_model_summary model;
    armilla_model_summarize(c->models[side], &model);
    snprintf(file, sizeof file, "%s", streams_given(c->session, c->session->settings->operands[side]));
    printf("%s  %s: ", side == 0 ? "first    " : "second   ", armilla_plain_text(file));
    if (model.model)
        printf("%s", model.model);
    else
        printf("%s x %s", model.basis, model.codes);
    printf(", rank %" PRId64 ", relative error %.6f of its %" PRId64 " samples", model.rank,
           c->summary.relative_errors[side], model.n);
    if (c->summary.samples >= 0) printf(", %.6f of these data", c->summary.data_errors[side]);
    putchar('\n');
}

static void print_unmatched(const comparing *c)
{
    for (int side = 0; side < 2; side++) {
        armilla_model_summary model;
        armilla_model_summarize(c->models[side], &model);
        for (int64_t k = 0; k < model.rank; k++) {
            if (is_matched(c, side, k)) continue;
            printf(side == 0 ? "%5" PRId64 "       -" : "    -  %6" PRId64, k);
            printf("        -  not matched\n");
        }
    }
}

static void print_matches(const comparing *c)
{
    armilla_atom_match match;
    printf("\nfirst  second    angle\n");
    for (int64_t i = 0; armilla_comparison_match(c->found, i, &match); i++) {
        printf("%5" PRId64 "  %6" PRId64, match.atoms[0], match.atoms[1]);
        if (isnan(match.angle))
            printf("        -  an atom is 0\n");
        else
            printf("  %6.2f°%s\n", message_degrees(match.angle), match.negated ? "  negated" : "");
    }
    print_unmatched(c);
    if (isnan(c->summary.mean_angle)) return;
    printf("atoms     %" PRId64 " matched, mean angle %.2f°, largest %.2f°\n", c->summary.matched,
           message_degrees(c->summary.mean_angle), message_degrees(c->summary.largest_angle));
}

static void print_spaces(const comparing *c)
{
    const double *angles = armilla_comparison_principal(c->found);
    const int64_t count = c->summary.principal;
    if (count == 0) return;
    printf("spaces    of dimension %" PRId64 " and %" PRId64 ", principal angles %.2f° to %.2f°\n",
           c->summary.dimensions[0], c->summary.dimensions[1], message_degrees(angles[0]),
           message_degrees(angles[count - 1]));
}

static void print_clusters(const comparing *c)
{
    armilla_scores scores;
    if (armilla_comparison_scores(c->found, &scores))
        printf("clusters  of %" PRId64 " samples, by the atom that contributes most: accuracy %.4f, NMI %.4f, "
               "ARI %.4f\n",
               c->summary.clustered, scores.accuracy, scores.nmi, scores.ari);
    else
        printf("clusters  not compared: the models are of other samples; --data DATA compares those of DATA\n");
    if (armilla_comparison_kept_scores(c->found, &scores))
        printf("kept      clusters of %" PRId64 " samples, of both models: accuracy %.4f, NMI %.4f, ARI %.4f\n",
               c->summary.kept, scores.accuracy, scores.nmi, scores.ari);
}

static armilla_status print(comparing *c)
{
    if (c->session->settings->json) return json_print(c->session, facts(c));
    message_erase(&c->session->messages);
    print_model(c, 0);
    print_model(c, 1);
    if (c->summary.reordered) printf("features  matched by name: they stand in another order in the second\n");
    if (!c->summary.same_preparation)
        printf("errors    are not of the same numbers: the models prepare data in different ways\n");
    print_matches(c);
    print_spaces(c);
    print_clusters(c);
    return ARMILLA_OK;
}

/* A message is about the second model where the two do not go together, else about the data. */
static armilla_status about_either(cli_session *session, armilla_status status)
{
    static const char *const of_models[] = {"the models have ", "the first model has "};
    const char *path = settings_of(session)->data, *message = armilla_context_error(session->context);
    for (size_t i = 0; i < sizeof of_models / sizeof *of_models; i++)
        if (strncmp(message, of_models[i], strlen(of_models[i])) == 0) path = NULL;
    return about(session, path ? path : session->settings->operands[1], status);
}

static armilla_status run(cli_session *session)
{
    const cli_settings *settings = session->settings;
    const char *data = settings_of(session)->data;
    comparing c = {.session = session};
    armilla_data *X = NULL;
    armilla_status status = settings->out ? plot_check_outputs(session, "--plot") : ARMILLA_OK;
    if (status == ARMILLA_OK && !data)
        status = reading_refuse(session, settings->operands[0], NULL, ", or give --data DATA");
    for (int i = 0; i < 2 && status == ARMILLA_OK; i++)
        status = open_model(session, settings->operands[i], &c.models[i]);
    if (status == ARMILLA_OK && data) status = reading_recall(session, c.models[0]);
    if (status == ARMILLA_OK && data) status = open_data(session, data, &X, NULL);
    if (status == ARMILLA_OK)
        status = about_either(session, armilla_model_compare(session->context, c.models[0], c.models[1], X,
                                                             (int)settings->threads, &c.found));
    if (status == ARMILLA_OK) {
        armilla_comparison_summarize(c.found, &c.summary);
        if (settings->out) status = plot_matches(session, c.found);
        if (status == ARMILLA_OK) status = print(&c);
    }
    armilla_comparison_free(c.found);
    armilla_data_free(X);
    for (int i = 0; i < 2; i++) armilla_model_free(c.models[i]);
    return status;
}

const cli_command command_compare = {
    .name = "compare",
    .synopsis = "MODEL MODEL [--data DATA] [--plot FILE.svg] [options]",
    .meaning = "two models side by side: matched atoms, spaces, errors and clusters",
    .operands = {"MODEL", "MODEL"},
    .required = 2,
    .settings_size = sizeof(compare_settings),
    .options = options,
    .groups = {{&group_reading, offsetof(compare_settings, reading)}},
    .input = offsetof(compare_settings, data),
    .notes =
        "Atoms are matched one to one so that the sum of their angles is least; where a model may negate an atom\n"
        "together with its codes, atoms count as lines. Principal angles are those between the spaces that the atoms\n"
        "span. A sample's cluster is the atom that contributes most to it, the one with the largest v_k |u_k|, with its\n"
        "sign; without --data, clusters are those of the samples in the models, where both have the same. Features are\n"
        "matched by name where both models have names.\n"
        "Atoms are numbered from 0. Angles are in radians in JSON, whose members are m, reordered (features stood in\n"
        "another order), lines, same_preparation, data_samples, first and second (file, model, basis, codes, rank,\n"
        "dimension, n, relative_error, data_error, unmatched), matches (first, second, angle, negated), mean_angle,\n"
        "largest_angle, principal_angles, clusters (samples, accuracy, nmi, ari, ami, purity) and kept_clusters (the same\n"
        "of clusters that both models keep); what there is not is null.\n\n"
        "examples:\n"
        "  armilla compare first.npz second.npz --plot atoms.svg\n"
        "  armilla compare first.npz second.npz --data new.csv --json\n",
    .run = run,
};
