/* The generic part of the option tables: parsing, showing, and suggesting what was meant. */
#include "base/ascii.h"
#include "base/context.h"
#include "base/number.h"

#include <armilla/options.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *field(const armilla_option *row, void *target)
{
    return (char *)target + row->offset;
}

static const void *field_const(const armilla_option *row, const void *source)
{
    return (const char *)source + row->offset;
}

static const size_t field_sizes[] = {
    [ARMILLA_OPTION_FLAG] = sizeof(bool),       [ARMILLA_OPTION_INTEGER] = sizeof(int64_t),
    [ARMILLA_OPTION_REAL] = sizeof(double),     [ARMILLA_OPTION_POSITIVE] = sizeof(double),
    [ARMILLA_OPTION_MULTIPLE] = sizeof(char *), [ARMILLA_OPTION_WORD] = sizeof(char *),
    [ARMILLA_OPTION_TEXT] = sizeof(char *),     [ARMILLA_OPTION_SIZE] = sizeof(int64_t),
};
enum { KINDS = sizeof field_sizes / sizeof *field_sizes };

/* Whether the struct has the row's field: a program may have been compiled for a library with fewer. */
static bool has_field(const armilla_option *row, const void *target)
{
    size_t size = SIZE_MAX;
    if (row->sized) memcpy(&size, target, sizeof size);
    return (unsigned)row->kind < KINDS && row->offset + field_sizes[row->kind] <= size;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t armilla_word_distance(const char *a, const char *b)
{
    enum { LONGEST = 48 };
    if (!a || !b) return SIZE_MAX;
    size_t rows[3][LONGEST + 1];
    const size_t la = smaller(strlen(a), LONGEST), lb = smaller(strlen(b), LONGEST);
    for (size_t j = 0; j <= lb; j++) rows[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *now = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            const bool same = armilla_ascii_begins(a + i - 1, b + j - 1, 1);
            now[j] = smaller(smaller(up[j], now[j - 1]) + 1, up[j - 1] + !same);
            if (i > 1 && j > 1 && armilla_ascii_begins(a + i - 1, b + j - 2, 1) &&
                armilla_ascii_begins(a + i - 2, b + j - 1, 1))
                now[j] = smaller(now[j], up2[j - 2] + 1);
        }
    }
    return rows[la % 3][lb];
}

const armilla_option *armilla_option_find(const armilla_option *table, const char *name)
{
    for (; table && name && table->name; table = armilla_option_next(table))
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

/* A double in the C notation whatever the locale's decimal point, and nothing behind it. */
static bool read_number(const char *text, const char *suffix, double *value)
{
    char *end = NULL;
    if (!text || !*text || strspn(text, "+-.0123456789eE") == 0) return false;
    errno = 0;
    *value = armilla_read_number(text, &end);
    return end != text && strcmp(end, suffix) == 0 && isfinite(*value) && errno != ERANGE;
}

static armilla_status set_integer(armilla_context *context, const armilla_option *row, void *target, const char *text)
{
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, ARMILLA_FIELD("%s") ": '%s' is not a whole number",
                            row->name, text);
    if (errno == ERANGE)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("%s") ": %s is out of range; give a smaller number", row->name, text);
    if ((double)value < row->low || (double)value > row->high) {
        if (row->high >= 9e18)
            return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                                ARMILLA_FIELD("%s") ": %lld is out of range; give at least %.0f", row->name, value,
                                row->low);
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("%s") ": %lld is out of range; give %.0f to %.0f", row->name, value, row->low,
                            row->high);
    }
    *(int64_t *)field(row, target) = value;
    return ARMILLA_OK;
}

/* What stands for the word `automatic` of a number that may be 0. */
#define AUTOMATIC (-1.0)

static armilla_status set_real(armilla_context *context, const armilla_option *row, void *target, const char *text)
{
    double value = AUTOMATIC;
    const bool automatic = row->automatic && strcmp(text, row->automatic) == 0;
    if (!automatic && !read_number(text, "", &value))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, ARMILLA_FIELD("%s") ": '%s' is not a number%s%s", row->name,
                            text, row->automatic ? ", nor " : "", row->automatic ? row->automatic : "");
    if (!automatic && (value < row->low || value > row->high))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("%s") ": %s is out of range; give a number from %g up to %g", row->name, text,
                            row->low, row->high);
    *(double *)field(row, target) = value;
    return ARMILLA_OK;
}

static armilla_status set_positive(armilla_context *context, const armilla_option *row, void *target, const char *text)
{
    double value = 0;
    if (strcmp(text, row->automatic) != 0 && (!read_number(text, "", &value) || value <= 0))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("%s") ": '%s' is neither a positive number nor '%s'", row->name, text,
                            row->automatic);
    *(double *)field(row, target) = value;
    return ARMILLA_OK;
}

/* Bytes; the suffixes are powers of 1024, and "B" or "iB" may stand behind them. */
static armilla_status set_size(armilla_context *context, const armilla_option *row, void *target, const char *text)
{
    static const char *const suffixes[] = {"", "K", "M", "G", "T", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"};
    enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };
    double value = 0;
    size_t i = 0;
    while (i < SUFFIXES && !read_number(text, suffixes[i], &value)) i++;
    if (i < SUFFIXES) value *= pow(1024, i ? (double)((i - 1) % 4 + 1) : 0);
    if (i == SUFFIXES || value < 1 || value > 9e18)
        return armilla_fail(
            context, ARMILLA_BAD_ARGUMENT,
            ARMILLA_FIELD(
                "%s") ": '%s' is not a size; give bytes, or a number with K, M, G or T behind it such as 512M",
            row->name, text);
    *(int64_t *)field(row, target) = (int64_t)value;
    return ARMILLA_OK;
}

static armilla_status set_multiple(armilla_context *context, const armilla_option *row, void *target, const char *text)
{
    double value = 0;
    if ((!read_number(text, "", &value) && !read_number(text, "x", &value)) || value <= 0)
        return armilla_fail(
            context, ARMILLA_BAD_ARGUMENT,
            ARMILLA_FIELD("%s") ": '%s' is neither a positive number nor a multiple of the safe value such as 0.3x",
            row->name, text);
    *(const char **)field(row, target) = text;
    return ARMILLA_OK;
}

static const char *nearest_choice(const armilla_option *row, const char *text)
{
    const char *best = NULL;
    size_t least = 1 + strlen(text) / 3;
    for (size_t i = 0; row->choice(i); i++) /* without distances, which take longer than a fit of few numbers */
        if (strcmp(row->choice(i), text) == 0) return row->choice(i);
    for (size_t i = 0; row->choice(i); i++) {
        const size_t distance = armilla_word_distance(row->choice(i), text);
        if (distance <= least) {
            least = distance;
            best = row->choice(i);
            if (distance == 0) break;
        }
    }
    return best;
}

/* "a, b, c" of every choice, cut where the buffer ends. */
static void join_choices(const armilla_option *row, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; row->choice(i) && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", row->choice(i));
}

static armilla_status set_word(armilla_context *context, const armilla_option *row, void *target, const char *text)
{
    const char *found = row->resolve ? row->resolve(text) : NULL;
    const char *near = nearest_choice(row, text);
    char all[256];
    if (!found && near && strcmp(near, text) == 0) found = near;
    if (!found && row->open) found = text;
    if (found) {
        *(const char **)field(row, target) = found;
        return ARMILLA_OK;
    }
    join_choices(row, all, sizeof all);
    if (near)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("%s") ": '%s' is unknown; did you mean '%s'? (choices: %s)", row->name, text,
                            near, all);
    return armilla_fail(context, ARMILLA_BAD_ARGUMENT, ARMILLA_FIELD("%s") ": '%s' is unknown; choices: %s", row->name,
                        text, all);
}

armilla_status armilla_option_set(armilla_context *context, const armilla_option *row, void *target, const char *text)
{
    const armilla_status status = ARMILLA_NOT_NULL(context, row, target);
    if (status != ARMILLA_OK) return status;
    if (!text && row->kind != ARMILLA_OPTION_FLAG)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, ARMILLA_FIELD("%s") ": text is NULL; give a value",
                            row->name);
    if ((unsigned)row->kind < KINDS && !has_field(row, target))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("%s") ": the program was compiled for a library without it; compile it again",
                            row->name);
    switch (row->kind) {
    case ARMILLA_OPTION_FLAG:
        *(bool *)field(row, target) = true;
        return ARMILLA_OK;
    case ARMILLA_OPTION_INTEGER:
        return set_integer(context, row, target, text);
    case ARMILLA_OPTION_REAL:
        return set_real(context, row, target, text);
    case ARMILLA_OPTION_POSITIVE:
        return set_positive(context, row, target, text);
    case ARMILLA_OPTION_MULTIPLE:
        return set_multiple(context, row, target, text);
    case ARMILLA_OPTION_WORD:
        return set_word(context, row, target, text);
    case ARMILLA_OPTION_SIZE:
        return set_size(context, row, target, text);
    case ARMILLA_OPTION_TEXT:
        *(const char **)field(row, target) = text;
        return ARMILLA_OK;
    }
    return armilla_fail(context, ARMILLA_INTERNAL, ARMILLA_FIELD("%s") ": this kind of option is unknown", row->name);
}

void armilla_option_presets(const armilla_option *table, void *target)
{
    armilla_context scratch = {.error = ""};
    if (!target) return;
    for (; table && table->name; table = armilla_option_next(table)) {
        if (!has_field(table, target)) continue;
        memset(field(table, target), 0, field_sizes[table->kind]);
        if (table->preset) (void)armilla_option_set(&scratch, table, target, table->preset);
    }
}

/* The shortest decimal that is read back as the same number. */
static void show_real(double value, char *buffer, size_t size)
{
    for (int digits = 6; digits <= 17; digits++) {
        (void)armilla_plain_print(buffer, size, "%.*g", digits, value);
        if (armilla_read_number(buffer, NULL) == value) return;
    }
}

void armilla_option_copy(const armilla_option *row, const void *source, void *target)
{
    if (!row || !source || !target || !has_field(row, source) || !has_field(row, target)) return;
    memcpy(field(row, target), field_const(row, source), field_sizes[row->kind]);
}

static bool is_automatic(const armilla_option *row, double value)
{
    return row->automatic && (value == (row->kind == ARMILLA_OPTION_POSITIVE ? 0 : AUTOMATIC));
}

const char *armilla_option_show(const armilla_option *row, const void *source, char *buffer, size_t size)
{
    const char *text = NULL;
    if (!buffer || size == 0) return "";
    buffer[0] = '\0';
    if (!row || !source || !has_field(row, source)) return buffer;
    const void *value = field_const(row, source);
    switch (row->kind) {
    case ARMILLA_OPTION_FLAG:
        snprintf(buffer, size, "%s", *(const bool *)value ? "yes" : "no");
        break;
    case ARMILLA_OPTION_SIZE:
    case ARMILLA_OPTION_INTEGER:
        snprintf(buffer, size, "%" PRId64, *(const int64_t *)value);
        if (*(const int64_t *)value == 0 && !row->preset) buffer[0] = '\0';
        break;
    case ARMILLA_OPTION_POSITIVE:
    case ARMILLA_OPTION_REAL:
        if (is_automatic(row, *(const double *)value))
            snprintf(buffer, size, "%s", row->automatic);
        else
            show_real(*(const double *)value, buffer, size);
        break;
    case ARMILLA_OPTION_MULTIPLE:
    case ARMILLA_OPTION_WORD:
    case ARMILLA_OPTION_TEXT:
        text = *(const char *const *)value;
        snprintf(buffer, size, "%s", text ? text : "");
        break;
    }
    return buffer;
}
