/* The one order of labels: whether they are numbers is asked of all of them together. An order that asked it of each pair
 * would not be transitive where some are numbers: 2 < 1e3 as numbers, 1e3 < 1f and 1f < 2 as texts. */
#include "cluster/label_order.h"

#include "base/context.h"
#include "base/number.h"
#include "files/decimal.h"

#include <stdlib.h>
#include <string.h>

bool armilla_label_missing(const char *text)
{
    static const char *const words[] = {"",     "nan",  "NaN",    "-nan",    "-NaN",     "NA",      "N/A",
                                        "n/a",  "<NA>", "#NA",    "#N/A",    "#N/A N/A", "None",    "NULL",
                                        "null", "NaT",  "1.#IND", "-1.#IND", "1.#QNAN",  "-1.#QNAN"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) return true;
    return false;
}

int armilla_label_compare(const armilla_label *a, const armilla_label *b)
{
    if (a->missing || b->missing) return a->missing - b->missing;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    const int order = strcmp(a->text, b->text);
    return (order > 0) - (order < 0);
}

static int compare(const void *first, const void *second)
{
    const armilla_label *a = first, *b = second;
    const int order = armilla_label_compare(a, b);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static bool is_number(const char *text, locale_t plain, double *value)
{
    const unsigned char *start = (const unsigned char *)text;
    return armilla_decimal_parse(start, start + strlen(text), '.', plain, value) == ARMILLA_DECIMAL_NUMBER;
}

armilla_status armilla_labels_sort(armilla_context *context, int64_t count, armilla_label *labels)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    bool numbers = true;
    if (!plain) return armilla_fail(context, ARMILLA_NO_MEMORY, "labels: out of memory");
    for (int64_t i = 0; i < count; i++) {
        labels[i].missing = armilla_label_missing(labels[i].text);
        labels[i].value = 0;
        numbers = numbers && (labels[i].missing || is_number(labels[i].text, plain, &labels[i].value));
    }
    for (int64_t i = 0; i < count && !numbers; i++) labels[i].value = 0;
    freelocale(plain);
    if (count > 1) qsort(labels, (size_t)count, sizeof *labels, compare);
    return ARMILLA_OK;
}
