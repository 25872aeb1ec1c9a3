/* Flags are called as the fields are, but for these. */
#include "wording.h"

#include <armilla/armilla.h>

#include <stdio.h>
#include <string.h>

static const struct {
    const char *field, *flag;
} others[] = {
    {"cluster.max_iter", "cluster-iter"},
    {"overwrite", "force"},
    {"sample_columns", "samples"},
    {"selection.features", "keep-features"},
    {"selection.labels", "keep-label"},
    {"selection.samples", "keep-samples"},
    {"write.format", "to"},
    {"write.sample_columns", "to-samples"},
};

void wording_flag(void *user, const char *field, const char *value, char *text, size_t size)
{
    (void)user;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(field, others[i].field) == 0) field = others[i].flag;
    snprintf(text, size, "--%s%s%s", field, value ? " " : "", value ? value : "");
    for (char *c = text; *c && *c != ' '; c++)
        if (*c == '_') *c = '-';
}

const char *wording_apply(const char *text, char *buffer, size_t size)
{
    return armilla_wording_apply(wording_flag, NULL, text, buffer, size);
}
