/* Labels of samples: a column of AnnData's obs, or a vector of a .mat, as texts. */
#include "convert.h"

#include <math.h>
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

/* The category that the code numbers, "NA" for -1; NULL where there is none. */
static const char *category_of(double code, const text_list *categories)
{
    if (code == -1) return "NA";
    const bool known = code >= 0 && code < (double)categories->count && code == floor(code);
    return known ? categories->texts[(int64_t)code] : NULL;
}

armilla_status labels_of_codes(conversion *c, const char *array, int64_t count, const double *codes,
                               const text_list *categories, text_list *list)
{
    for (int64_t i = 0; i < count; i++)
        if (!category_of(codes[i], categories))
            return refuse(
                c, ARMILLA_BAD_DATA,
                "%s: %s: code %lld (from 0) is %.15g, and there are %lld categories: a code is from 0 to %lld, "
                "or -1 where a value is missing; the file is damaged: write it again",
                c->path, array, (long long)i, codes[i], (long long)categories->count, (long long)categories->count - 1);
    const armilla_status status = take(c, count, sizeof *list->texts, &list->texts);
    if (status != ARMILLA_OK) return status;
    list->count = count;
    bool all = true;
    for (int64_t i = 0; i < count; i++) all &= (list->texts[i] = strdup(category_of(codes[i], categories))) != NULL;
    return all ? ARMILLA_OK : texts_no_memory(c);
}

armilla_status labels_refuse(conversion *c, const char *why, int64_t samples)
{
    return refuse(c, ARMILLA_BAD_DATA,
                  "%s: labels %s: %s; name one with a text or a number for each of the %lld samples", c->path,
                  c->labels, why, (long long)samples);
}
