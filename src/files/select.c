/* Choosing features and samples by what people write: names, numbers, ranges and labels, in a list or in a file. */
#include "files/files.h"

#include "base/sized.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The three lists of a selection. */
typedef struct list_kind {
    const char *option, *noun;
    armilla_naming naming;
    bool by_number; /* entries may be numbers and ranges, and the list a file */
} list_kind;

static const list_kind kinds[ARMILLA_NAMING_COUNT] = {
    [ARMILLA_FEATURE_NAMES] = {ARMILLA_FIELD("selection.features"), "feature", ARMILLA_FEATURE_NAMES, true},
    [ARMILLA_SAMPLE_NAMES] = {ARMILLA_FIELD("selection.samples"), "sample", ARMILLA_SAMPLE_NAMES, true},
    [ARMILLA_SAMPLE_LABELS] = {ARMILLA_FIELD("selection.labels"), "label", ARMILLA_SAMPLE_LABELS, false},
};

/* The pieces of text between separators, without the blanks around them; empty ones are passed over. */
static armilla_status split(armilla_context *context, const char *text, size_t count, char separator,
                            armilla_names *entries)
{
    const char *end = text + count;
    armilla_status status = ARMILLA_OK;
    while (text < end && status == ARMILLA_OK) {
        const char *stop = memchr(text, separator, (size_t)(end - text));
        const char *first = text, *last = stop ? stop : end;
        text = stop ? stop + 1 : end;
        while (first < last && memchr(" \t\r", *first, 3)) first++;
        while (first < last && memchr(" \t\r", last[-1], 3)) last--;
        if (first < last) status = armilla_names_add(context, entries, first, (size_t)(last - first));
    }
    return status;
}

/* What cannot be the name of a file is a list; a file that cannot be looked at is no list for that. */
static armilla_status is_file(armilla_context *context, const char *text, bool *file)
{
    struct stat facts;
    *file = context->io->stat(text, &facts) == 0;
    if (!*file && errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
        return armilla_cannot_open(context, text);
    *file = *file && S_ISREG(facts.st_mode);
    return ARMILLA_OK;
}

static armilla_status read_list(armilla_context *context, const list_kind *kind, const char *text,
                                armilla_names *entries)
{
    armilla_bytes bytes;
    bool file = false;
    armilla_status status = kind->by_number ? is_file(context, text, &file) : ARMILLA_OK;
    if (status != ARMILLA_OK) return status;
    if (file) {
        status = armilla_bytes_open(context, text, &bytes);
        if (status != ARMILLA_OK) return status;
        status = split(context, (const char *)bytes.start, bytes.count, '\n', entries);
        armilla_bytes_free(context, &bytes);
    } else {
        status = split(context, text, strlen(text), ',', entries);
    }
    if (status == ARMILLA_OK && entries->count == 0)
        status = armilla_fail(context, ARMILLA_BAD_ARGUMENT, "%s: '%s' names nothing; give what is to be kept",
                              kind->option, text);
    return status;
}

/* "7" or "7-12", from 1 and in order; not whether there are so many. */
static bool read_range(const char *text, int64_t *first, int64_t *last)
{
    char *end = NULL;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    *first = *last = strtoll(text, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9') *last = strtoll(end + 1, &end, 10);
    return errno == 0 && *end == '\0' && *first >= 1 && *first <= *last;
}

/* An entry that is nobody's name. */
static armilla_status keep_range(armilla_context *context, const list_kind *kind, const char *entry, int64_t count,
                                 bool *keep)
{
    int64_t first = 0, last = 0;
    if (!kind->by_number)
        return armilla_fail(context, ARMILLA_BAD_DATA, "%s: no sample has the label '%s'", kind->option, entry);
    if (!read_range(entry, &first, &last))
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: '%s' is neither the name of a %s, nor a number from 1 or a range such as 1-100, nor a "
                            "file",
                            kind->option, entry, kind->noun);
    if (last > count)
        return armilla_fail(context, ARMILLA_BAD_DATA, "%s: there is no %s %" PRId64 ": the data have %" PRId64,
                            kind->option, kind->noun, last, count);
    for (int64_t i = first - 1; i < last; i++) keep[i] = true;
    return ARMILLA_OK;
}

/* keep[i] for everything that an entry names. */
static armilla_status mark(armilla_context *context, const armilla_data *X, const list_kind *kind,
                           const armilla_names *entries, int64_t count, bool *keep)
{
    const bool named = armilla_data_names(X, kind->naming) != NULL;
    armilla_names_index index = {0};
    bool *found = NULL;
    armilla_status status = armilla_names_index_new(context, entries, &index);
    if (status == ARMILLA_OK) status = armilla_take(context, entries->count, sizeof *found, &found);
    for (int64_t i = 0; i < count && status == ARMILLA_OK && named; i++) {
        const int64_t entry = armilla_names_find(&index, armilla_data_name(X, kind->naming, i));
        if (entry < 0) continue;
        found[entry] = true;
        keep[i] = true;
    }
    for (int64_t e = 0; e < entries->count && status == ARMILLA_OK; e++) {
        const int64_t first = armilla_names_find(&index, armilla_names_at(entries, e)); /* of equal entries */
        if (!found[first]) status = keep_range(context, kind, armilla_names_at(entries, e), count, keep);
    }
    armilla_release(context, found);
    armilla_names_index_free(context, &index);
    return status;
}

/* Leaves in `keep`, `count` flags, those that the list keeps as well. */
static armilla_status narrow(armilla_context *context, const armilla_data *X, const list_kind *kind, const char *text,
                             int64_t count, bool *keep)
{
    armilla_names entries = {0};
    bool *listed = NULL;
    if (kind->naming == ARMILLA_SAMPLE_LABELS && !armilla_data_names(X, ARMILLA_SAMPLE_LABELS))
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: the data have no labels; name the column or the file that they stand in",
                            kind->option);
    armilla_status status = read_list(context, kind, text, &entries);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *listed, &listed);
    if (status == ARMILLA_OK) status = mark(context, X, kind, &entries, count, listed);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++) keep[i] = keep[i] && listed[i];
    armilla_release(context, listed);
    armilla_names_free(context, &entries);
    return status;
}

/* What all of the lists (NULL: everything) leave of `count`; kept->at stays NULL where there is no list. */
static armilla_status gather(armilla_context *context, const armilla_data *X, const char *const lists[], int64_t count,
                             armilla_kept *kept)
{
    bool *keep = NULL, any = false;
    armilla_status status = armilla_take(context, count, sizeof *keep, &keep);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++) keep[i] = true;
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT && status == ARMILLA_OK; kind++) {
        if (!lists[kind]) continue;
        any = true;
        status = narrow(context, X, &kinds[kind], lists[kind], count, keep);
    }
    if (status == ARMILLA_OK && any) status = armilla_take(context, count, sizeof *kept->at, &kept->at);
    for (int64_t i = 0; i < count && status == ARMILLA_OK && any; i++)
        if (keep[i]) kept->at[kept->count++] = i;
    if (status == ARMILLA_OK && any && kept->count == 0)
        status = armilla_fail(
            context, ARMILLA_BAD_DATA,
            ARMILLA_FIELD("selection.labels") " and " ARMILLA_FIELD("selection.samples") " together leave no sample");
    kept->of = count;
    armilla_release(context, keep);
    return status;
}

void armilla_selection_default_sized(armilla_selection *selection, size_t size)
{
    const armilla_selection none = {.size = 0};
    armilla_sized_begin(&none, sizeof none, selection, size);
}

armilla_status armilla_data_select(armilla_context *context, const armilla_data *X, const armilla_selection *selection,
                                   armilla_data **data)
{
    armilla_selection whole = {.size = sizeof whole};
    armilla_kept kept[ARMILLA_KEPT_COUNT] = {{0}, {0}};
    armilla_status status = ARMILLA_NOT_NULL(context, X, selection, data);
    if (status == ARMILLA_OK)
        status = armilla_sized_read(context, "armilla_selection", selection, &whole, sizeof whole);
    if (status != ARMILLA_OK) return status;
    const char *const of_features[ARMILLA_NAMING_COUNT] = {[ARMILLA_FEATURE_NAMES] = whole.features};
    const char *const of_samples[ARMILLA_NAMING_COUNT] = {
        [ARMILLA_SAMPLE_NAMES] = whole.samples, [ARMILLA_SAMPLE_LABELS] = whole.labels};
    status = gather(context, X, of_features, X->m, &kept[ARMILLA_KEPT_FEATURES]);
    if (status == ARMILLA_OK) status = gather(context, X, of_samples, X->n, &kept[ARMILLA_KEPT_SAMPLES]);
    if (status == ARMILLA_OK) status = armilla_data_keep(context, X, kept, data);
    for (int i = 0; i < ARMILLA_KEPT_COUNT; i++) armilla_kept_free(context, &kept[i]);
    return status;
}
