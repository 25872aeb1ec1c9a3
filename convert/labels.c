/* Labels of samples: a column of AnnData's obs, or a vector of a .mat, as texts. */
#include "convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The shortest of two ways that reads back as the same number. */
static char *text_of(double number)
{
    char text[64];
    snprintf(text, sizeof text, "%.15g", number);
    if (strtod(text, NULL) != number) snprintf(text, sizeof text, "%.17g", number);
    return strdup(text);
}

armilla_status texts_no_memory(conversion *c)
{
    return refuse(c, ARMILLA_NO_MEMORY, "%s: out of memory for names and labels; raise the limit by --memory SIZE",
                  c->path);
}

armilla_status labels_of_numbers(conversion *c, int64_t count, const double *numbers, text_list *list)
{
    const armilla_status status = take(c, count, sizeof *list->texts, &list->texts);
    if (status != ARMILLA_OK) return status;
    list->count = count;
    bool all = true;
    for (int64_t i = 0; i < count; i++) all &= (list->texts[i] = text_of(numbers[i])) != NULL;
    return all ? ARMILLA_OK : texts_no_memory(c);
}

armilla_status labels_of_codes(conversion *c, int64_t count, const double *codes, const text_list *categories,
                               text_list *list)
{
    const armilla_status status = take(c, count, sizeof *list->texts, &list->texts);
    if (status != ARMILLA_OK) return status;
    list->count = count;
    bool all = true;
    for (int64_t i = 0; i < count; i++) {
        const bool known = codes[i] >= 0 && codes[i] < (double)categories->count;
        all &= (list->texts[i] = strdup(known ? categories->texts[(int64_t)codes[i]] : "NA")) != NULL;
    }
    return all ? ARMILLA_OK : texts_no_memory(c);
}

armilla_status labels_refuse(conversion *c, const char *why, int64_t samples)
{
    return refuse(c, ARMILLA_BAD_DATA,
                  "%s: labels %s: %s; name one with a text or a number for each of the %lld samples", c->path,
                  c->labels, why, (long long)samples);
}
