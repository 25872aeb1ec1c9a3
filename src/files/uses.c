/* Options of reading that a format has no use for: refused, rather than left without an effect. */
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

armilla_status armilla_format_check(armilla_context *context, const char *path, const armilla_format *format,
                                    const armilla_read_options *options)
{
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        const char *given = *(const char *const *)(const void *)((const char *)options + narrow[i].offset);
        if (!given || has_word(format->uses, narrow[i].field)) continue;
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "%s: the format %s has no use for " ARMILLA_FIELD("%s") ": %s", path, format->name,
                            narrow[i].field, narrow[i].where);
    }
    return ARMILLA_OK;
}
