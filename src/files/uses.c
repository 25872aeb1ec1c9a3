/* Options of reading that a format has no use for are refused, rather than left without an effect; those that are recalled
 * count where it has one. */
#include "files/files.h"

#include <stddef.h>
#include <string.h>

/* The options that not every format has a use for, and where they have one. */
static const struct narrow_option {
    const char *field;
    size_t offset;
    const char *where;
} narrow[] = {
#define NARROW(member, text)                                                                                           \
    {                                                                                                                  \
#member, offsetof(armilla_read_options, member), text                                                          \
    }
    NARROW(array, "it is for files that hold several arrays"),
    NARROW(
        label_column,
        "text tables and the obs of .h5ad files have such columns; labels of their own file are given by " ARMILLA_FIELD(
            "labels")),
    NARROW(label_array,
           ".npz and .mat files have such arrays; labels of their own file are given by " ARMILLA_FIELD("labels")),
    NARROW(name_column, "it is for text tables; names of their own file are given by " ARMILLA_FIELD("sample_names")),
    NARROW(separator, "it is for text tables"),
    NARROW(header, "it is for text tables"),
    NARROW(decimal, "it is for text tables"),
    NARROW(ignore_columns, "it is for text tables; features are chosen by " ARMILLA_FIELD("selection.features")),
};

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        const size_t part = strcspn(at, " ");
        if (part == length && strncmp(at, word, length) == 0) return true;
        at += part;
    }
    return false;
}

/* The i-th of them. */
static const char **option_at(armilla_read_options *options, size_t i)
{
    return (const char **)(void *)((char *)options + narrow[i].offset);
}

bool armilla_option_recalled(const armilla_read_options *options, const char *value)
{
    armilla_read_options other = options->recalled ? *options->recalled : (armilla_read_options){.size = 0};
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow && value; i++)
        if (*option_at(&other, i) == value) return true;
    return false;
}

/* Labels of files with several arrays are no part of the numbers: they are not looked for again. */
static void recall(const armilla_format *format, armilla_read_options *settled)
{
    if (!settled->recalled || !settled->recalled->format || strcmp(settled->recalled->format, format->name) != 0)
        return;
    armilla_read_options other = *settled->recalled;
    other.label_array = NULL;
    settled->sample_columns |= other.sample_columns;
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        if (!*option_at(settled, i) && has_word(format->uses, narrow[i].field))
            *option_at(settled, i) = *option_at(&other, i);
}

armilla_status armilla_format_settle(armilla_context *context, const char *path, const armilla_format *format,
                                     const armilla_read_options *options, armilla_read_options *settled)
{
    *settled = *options;
    if (settled->found) settled->found->format = format->name;
    recall(format, settled);
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        if (!*option_at(settled, i) || has_word(format->uses, narrow[i].field)) continue;
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "%s: the format %s has no use for " ARMILLA_FIELD("%s") ": %s", path, format->name,
                            narrow[i].field, narrow[i].where);
    }
    return ARMILLA_OK;
}
