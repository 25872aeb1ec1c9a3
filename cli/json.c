/* JSON through jansson; its objects keep the order in which members were added. */
#include "json.h"

#include "streams.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(json_t *object, const char *name, json_t *value)
{
    (void)json_object_set_new(object, name, value ? value : json_null());
}

/* File names need not be UTF-8, JSON must be. */
static json_t *ascii(const char *text)
{
    char plain[4096];
    snprintf(plain, sizeof plain, "%s", text);
    for (char *c = plain; *c; c++)
        if ((unsigned char)*c > 126) *c = '?';
    return json_string(plain);
}

void json_put_text(json_t *object, const char *name, const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    put(object, name, value ? value : ascii(text));
}

void json_put_file(json_t *object, const char *name, const cli_session *session, const char *path)
{
    json_put_text(object, name, streams_given(session, path));
}

void json_put_list(json_t *object, const char *name, const char *const *texts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && list; i++) {
        json_t *text = json_string(texts[i]);
        (void)json_array_append_new(list, text ? text : ascii(texts[i]));
    }
    put(object, name, list);
}

void json_put_number(json_t *object, const char *name, double number)
{
    put(object, name, isfinite(number) ? json_real(number) : json_null());
}

void json_put_count(json_t *object, const char *name, int64_t count)
{
    put(object, name, count < 0 ? json_null() : json_integer(count));
}

/* The most memory this process has had, in bytes; not getrusage, whose figure counts from before exec. -1: unknown. */
static int64_t peak_memory(void)
{
    char line[128];
    long long kilobytes = -1;
    FILE *file = fopen("/proc/self/status", "re");
    if (!file) return -1;
    while (kilobytes < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lld", &kilobytes) != 1) kilobytes = -1;
    fclose(file);
    return kilobytes < 0 ? -1 : (int64_t)kilobytes * 1024;
}

void json_put_peak_memory(json_t *object)
{
    json_put_count(object, "peak_rss_bytes", peak_memory());
}

void json_put_counts(json_t *object, const char *name, const int64_t *counts, int64_t count)
{
    json_t *list = counts ? json_array() : NULL;
    for (int64_t i = 0; i < count && list; i++) (void)json_array_append_new(list, json_integer(counts[i]));
    put(object, name, list);
}

void json_put_flag(json_t *object, const char *name, bool flag)
{
    put(object, name, json_boolean(flag));
}

void json_put_summary(json_t *object, const armilla_model_summary *summary)
{
    json_put_text(object, "model", summary->model);
    json_put_text(object, "basis", summary->basis);
    json_put_text(object, "codes", summary->codes);
    json_put_count(object, "sparsity", summary->sparsity > 0 ? summary->sparsity : -1);
    json_put_count(object, "rank", summary->rank);
    json_put_count(object, "m", summary->m);
    json_put_count(object, "n", summary->n);
    json_put_count(object, "nnz", summary->nnz);
    json_put_text(object, "solver", summary->solver);
    json_put_text(object, "start", summary->start);
    json_put_count(object, "seed", summary->seed);
    json_put_text(object, "precision", armilla_type_word(summary->precision));
    json_put_count(object, "threads", summary->threads);
    json_put_count(object, "ranks", summary->ranks);
    json_put_count(object, "iterations", summary->iterations);
    json_put_count(object, "sweeps", summary->sweeps);
    json_put_text(object, "stop", armilla_stop_word(summary->stop));
    json_put_number(object, "objective", summary->objective);
    json_put_number(object, "relative_error", summary->relative_error);
    json_put_number(object, "radius", summary->radius);
    json_put_number(object, "seconds", summary->seconds);
    json_put_number(object, "seconds_per_iteration", summary->iterations > 0 ? summary->seconds_per_iteration : NAN);
    json_put_count(object, "zero_samples", summary->zero_samples);
}

/* What a file calls things may hold anything, but a line stays a line, and nothing in it moves a terminal. */
static void print_plain(const char *text)
{
    char *copy = strdup(text ? text : "");
    if (copy) fputs(armilla_plain_text(copy), stdout);
    free(copy);
}

/* In a column of 16 characters, or as many as it takes and a blank. */
static void print_padded(const char *text)
{
    size_t width = 0;
    for (const char *c = text ? text : ""; *c; c++) width += (*c & 0xc0) != 0x80;
    print_plain(text);
    printf("%*s", width < 16 ? (int)(16 - width) : 1, "");
}

/* Texts one after the other. */
static void print_list(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (i) fputs(", ", stdout);
        print_plain(json_string_value(json_array_get(list, i)));
    }
}

static void print_value(const json_t *value)
{
    if (json_is_real(value))
        printf("%.10g", json_real_value(value));
    else if (json_is_integer(value))
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_string(value))
        print_plain(json_string_value(value));
    else if (json_is_array(value))
        print_list(value);
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "yes" : "no", stdout);
    else
        fputc('-', stdout);
}

static void print_members(json_t *object);

/* The letters of the paper are for programs. */
static const char *full_name(const char *name)
{
    return strcmp(name, "m") == 0 ? "features" : strcmp(name, "n") == 0 ? "samples" : name;
}

static void print_name(const char *name)
{
    char *copy = strdup(name);
    for (char *c = copy; c && *c; c++)
        if (*c == '_') *c = ' ';
    print_plain(copy);
    free(copy);
}

/* 5 of "distinct" -> "5 distinct", 5 of "distinct_more_than" -> "more than 5 distinct" */
static void print_count(const char *name, json_int_t count)
{
    static const char suffix[] = "_more_than";
    const size_t length = strlen(name), end = sizeof suffix - 1;
    const bool more = length > end && strcmp(name + length - end, suffix) == 0;
    printf(more ? "  more than %" JSON_INTEGER_FORMAT " %.*s" : "%7" JSON_INTEGER_FORMAT " %.*s", count,
           (int)(more ? length - end : length), name);
}

/* Objects with the same members, a line each. */
static void print_rows(const char *name, const json_t *list)
{
    enum { SHOWN = 40 };
    const size_t count = json_array_size(list);
    print_name(name);
    putchar('\n');
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        json_t *row = json_array_get(list, i);
        fputs("  ", stdout);
        for (void *at = json_object_iter(row); at; at = json_object_iter_next(row, at)) {
            const json_t *value = json_object_iter_value(at);
            if (json_is_integer(value))
                print_count(json_object_iter_key(at), json_integer_value(value));
            else if (!json_is_null(value))
                print_padded(json_string_value(value));
        }
        putchar('\n');
    }
    if (count > SHOWN) printf("  and %zu more (--json lists all)\n", count - SHOWN);
}

/* seconds_per_iteration -> "seconds per iteration   0.01" */
static void print_member(const char *name, json_t *value)
{
    if (json_is_array(value) && strcmp(name, "hints") == 0) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            print_plain(json_string_value(json_array_get(value, i)));
            putchar('\n');
        }
        return;
    }
    if (json_is_object(json_array_get(value, 0))) {
        print_rows(name, value);
        return;
    }
    if (json_is_object(value)) {
        printf("\n%s\n", name);
        print_members(value);
        return;
    }
    name = full_name(name);
    print_name(name);
    printf("%*s", strlen(name) < 24 ? (int)(24 - strlen(name)) : 1, "");
    print_value(value);
    putchar('\n');
}

static void print_members(json_t *object)
{
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
        print_member(json_object_iter_key(at), json_object_iter_value(at));
}

/* JSON in which DEL and the control characters past ASCII, U+0080 to U+009F, are escaped as those of ASCII are. */
static void print_escaped(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        const bool second = at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f;
        if (second || *at == 0x7f)
            printf("\\u%04x", second ? *++at : *at);
        else
            putchar(*at);
    }
}

armilla_status json_print(cli_session *session, json_t *object)
{
    if (!object) return fail(session, ARMILLA_NO_MEMORY, "out of memory for the report");
    message_erase(&session->messages); /* standard output may be the same terminal */
    if (session->settings->json) {
        char *text = json_dumps(object, JSON_INDENT(2));
        if (text) print_escaped(text);
        putchar('\n');
        free(text);
    } else {
        print_members(object);
    }
    json_decref(object);
    return ARMILLA_OK;
}
