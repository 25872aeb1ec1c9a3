/* Atoms and clusters as JSON, as lines for people and as a table. */
#include "describing.h"

#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The lists of a group, by their names. */
enum { LISTS = 3 };
typedef struct list_row {
    armilla_top_list list;
    const char *name;
} list_row;

static const list_row lists[TOP_KINDS][LISTS] = {
    [TOP_ATOMS] = {{ARMILLA_TOP_FEATURES, "features"},
                   {ARMILLA_TOP_DISTINCTIVE, "distinctive"},
                   {ARMILLA_TOP_TYPICAL, "samples"}},
    [TOP_CLUSTERS] = {{ARMILLA_TOP_FEATURES, "features"}, {ARMILLA_TOP_TYPICAL, "typical"}, {ARMILLA_TOP_ODD, "odd"}},
};

static const char *const words[TOP_KINDS] = {[TOP_ATOMS] = "atom", [TOP_CLUSTERS] = "cluster"};

static bool is_of_features(armilla_top_list list)
{
    return list == ARMILLA_TOP_FEATURES || list == ARMILLA_TOP_DISTINCTIVE;
}

static const char *entry_name(const describing *d, armilla_top_list list, int64_t index, char buffer[TOP_NAME])
{
    const armilla_naming kind = is_of_features(list) ? ARMILLA_FEATURE_NAMES : ARMILLA_SAMPLE_NAMES;
    return top_name(d->model, d->X, kind, index, buffer);
}

/* The next group from k on that is shown; -1: none. */
static int64_t next_shown(const describing *d, top_kind kind, int64_t k)
{
    while (k < armilla_top_count(d->top[kind]) && !describing_shows(d, kind, k)) k++;
    return k < armilla_top_count(d->top[kind]) ? k : -1;
}

/* --- JSON --- */

static json_t *entry_facts(const describing *d, top_kind kind, armilla_top_list list, const armilla_top_entry *entry)
{
    char buffer[TOP_NAME];
    json_t *object = json_object();
    json_put_text(object, "name", entry_name(d, list, entry->index, buffer));
    if (!is_of_features(list)) {
        json_put_number(object, "angle", entry->angle);
    } else if (kind == TOP_ATOMS) {
        json_put_number(object, "weight", entry->weight);
        json_put_number(object, "lift", entry->lift);
    } else {
        json_put_number(object, "inside", entry->inside);
        json_put_number(object, "outside", entry->outside);
        json_put_number(object, "effect", entry->effect);
        json_put_number(object, "p", entry->p);
    }
    return object;
}

static void put_lists(const describing *d, top_kind kind, int64_t k, json_t *object)
{
    for (size_t i = 0; i < LISTS; i++) {
        const list_row *row = &lists[kind][i];
        json_t *entries = json_array();
        armilla_top_entry entry;
        for (int64_t e = 0; armilla_top_entry_get(d->top[kind], k, row->list, e, &entry); e++)
            (void)json_array_append_new(entries, entry_facts(d, kind, row->list, &entry));
        (void)json_object_set_new(object, row->name, entries);
    }
}

static void put_atom(json_t *object, int64_t k, const armilla_top_group *group)
{
    json_put_count(object, "atom", k);
    json_put_number(object, "share", group->share);
    json_put_count(object, "size", group->samples);
}

/* A label as a number where it is one as people write it: not 007, which is another label than 7. */
static void put_label(const describing *d, json_t *object, int64_t k)
{
    char buffer[TOP_NAME], again[TOP_NAME];
    const char *name = describing_name(d, TOP_CLUSTERS, k, buffer);
    const long long number = strtoll(name, NULL, 10);
    snprintf(again, sizeof again, "%lld", number);
    if (describing_is_missing(d, TOP_CLUSTERS, k))
        json_put_text(object, "cluster", NULL);
    else if (strcmp(again, name) == 0)
        (void)json_object_set_new(object, "cluster", json_integer(number));
    else
        json_put_text(object, "cluster", name);
}

static void put_cluster(const describing *d, json_t *object, int64_t k, const armilla_top_group *group)
{
    put_label(d, object, k);
    json_put_count(object, "size", group->samples);
    json_put_number(object, "share", group->share);
    json_put_count(object, "zero_samples", group->zeros);
    json_put_number(object, "coherence", group->coherence);
}

static json_t *kind_facts(const describing *d, top_kind kind)
{
    json_t *rows = json_array();
    for (int64_t k = next_shown(d, kind, 0); k >= 0; k = next_shown(d, kind, k + 1)) {
        json_t *object = json_object();
        armilla_top_group group;
        (void)armilla_top_group_get(d->top[kind], k, &group);
        if (kind == TOP_ATOMS)
            put_atom(object, k, &group);
        else
            put_cluster(d, object, k, &group);
        put_lists(d, kind, k, object);
        (void)json_array_append_new(rows, object);
    }
    return rows;
}

armilla_status describing_print_json(const describing *d)
{
    json_t *object = json_object();
    json_put_count(object, "zero_samples", describing_zeros(d));
    (void)json_object_set_new(object, "atoms", kind_facts(d, TOP_ATOMS));
    (void)json_object_set_new(object, "clusters", kind_facts(d, TOP_CLUSTERS));
    return json_print(d->session, object);
}

/* --- for people --- */

static void print_name(const char *name)
{
    char plain[256];
    snprintf(plain, sizeof plain, "%s", name);
    fputs(armilla_plain_text(plain), stdout);
}

static void print_entry(const describing *d, armilla_top_list list, const armilla_top_entry *entry)
{
    char buffer[TOP_NAME];
    print_name(entry_name(d, list, entry->index, buffer));
    if (!is_of_features(list))
        printf(" %.1f°", message_degrees(entry->angle));
    else if (isfinite(entry->weight))
        printf(list == ARMILLA_TOP_DISTINCTIVE ? " %.2fx" : " %.3g",
               list == ARMILLA_TOP_DISTINCTIVE ? entry->lift : entry->weight);
    else if (isinf(entry->effect))
        printf(" (%.3g : %.3g, without spread)", entry->inside, entry->outside);
    else if (!isnan(entry->effect) && isfinite(entry->p))
        printf(" (%.3g : %.3g, d %.2f, p %.1e)", entry->inside, entry->outside, entry->effect, entry->p);
    else if (!isnan(entry->effect))
        printf(" (%.3g : %.3g, d %.2f)", entry->inside, entry->outside, entry->effect);
    else
        printf(" (%.3g : %.3g)", entry->inside, entry->outside);
}

static void print_lists(const describing *d, top_kind kind, int64_t k)
{
    armilla_top_entry entry;
    for (size_t i = 0; i < LISTS; i++) {
        const list_row *row = &lists[kind][i];
        int64_t e = 0;
        for (; armilla_top_entry_get(d->top[kind], k, row->list, e, &entry); e++) {
            if (e == 0)
                printf("  %-12s", row->name);
            else
                fputs(", ", stdout);
            print_entry(d, row->list, &entry);
        }
        if (e > 0) putchar('\n');
    }
}

static void print_group(top_kind kind, const armilla_top_group *group)
{
    if (kind == TOP_ATOMS) {
        printf(": share %.1f %%, largest in %" PRId64 " samples\n", 100 * group->share, group->samples);
        return;
    }
    printf(": %" PRId64 " samples", group->samples);
    if (group->zeros > 0) printf(", %" PRId64 " of them zero", group->zeros);
    if (isfinite(group->coherence)) printf(", coherence %.3f", group->coherence);
    putchar('\n');
}

void describing_print(const describing *d)
{
    for (top_kind kind = TOP_ATOMS; kind < TOP_KINDS; kind++)
        for (int64_t k = next_shown(d, kind, 0); k >= 0; k = next_shown(d, kind, k + 1)) {
            armilla_top_group group;
            char buffer[TOP_NAME];
            (void)armilla_top_group_get(d->top[kind], k, &group);
            printf("%s ", words[kind]);
            print_name(describing_name(d, kind, k, buffer));
            print_group(kind, &group);
            print_lists(d, kind, k);
        }
}

/* --- the table --- */

static armilla_status write_number(armilla_output *output, double number)
{
    return isfinite(number) ? armilla_output_print(output, ",%.9g", number) : armilla_output_print(output, ",");
}

static armilla_status write_entry(const describing *d, armilla_output *output, armilla_top_list list,
                                  const armilla_top_entry *entry)
{
    const double numbers[] = {entry->weight, entry->lift, entry->inside, entry->outside,
                              entry->effect, entry->p,    entry->angle};
    char buffer[TOP_NAME];
    armilla_status status = armilla_output_field(output, entry_name(d, list, entry->index, buffer));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == ARMILLA_OK; i++)
        status = write_number(output, numbers[i]);
    return status == ARMILLA_OK ? armilla_output_print(output, "\n") : status;
}

static armilla_status write_group(const describing *d, armilla_output *output, top_kind kind, int64_t k)
{
    char buffer[TOP_NAME];
    const char *name = describing_is_missing(d, kind, k) ? "" : describing_name(d, kind, k, buffer);
    armilla_status status = ARMILLA_OK;
    armilla_top_entry entry;
    for (size_t i = 0; i < LISTS; i++) {
        const list_row *row = &lists[kind][i];
        for (int64_t e = 0; status == ARMILLA_OK && armilla_top_entry_get(d->top[kind], k, row->list, e, &entry); e++) {
            status = armilla_output_print(output, "%s,", words[kind]);
            if (status == ARMILLA_OK) status = armilla_output_field(output, name);
            if (status == ARMILLA_OK) status = armilla_output_print(output, ",%s,%" PRId64 ",", row->name, e + 1);
            if (status == ARMILLA_OK) status = write_entry(d, output, row->list, &entry);
        }
    }
    return status;
}

armilla_status describing_write(const describing *d)
{
    const cli_settings *settings = d->session->settings;
    armilla_output *output = NULL;
    armilla_status status = armilla_output_new(d->session->context, settings->out, settings->force, &output);
    if (status == ARMILLA_OK)
        status =
            armilla_output_print(output, "kind,number,list,place,name,weight,lift,inside,outside,effect,p,angle\n");
    for (top_kind kind = TOP_ATOMS; kind < TOP_KINDS; kind++)
        for (int64_t k = next_shown(d, kind, 0); k >= 0 && status == ARMILLA_OK; k = next_shown(d, kind, k + 1))
            status = write_group(d, output, kind, k);
    if (status == ARMILLA_OK) status = armilla_output_commit(output);
    armilla_output_free(output);
    if (status == ARMILLA_OK) message_line(&d->session->messages, "written   %s", settings->out);
    return status;
}
