/* The preparation among the options of a fit. */
#include "preparing.h"

#include <string.h>

const char *preparing_given(const armilla_options *fit)
{
    armilla_options plain;
    armilla_options_default(&plain);
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row)) {
        char given[64], usual[64];
        if (armilla_option_is_of(row, ARMILLA_PREPARATION) &&
            strcmp(armilla_option_show(row, fit, given, sizeof given),
                   armilla_option_show(row, &plain, usual, sizeof usual)) != 0)
            return row->name;
    }
    return NULL;
}

void preparing_take(armilla_options *fit, const armilla_options *chosen)
{
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row))
        if (armilla_option_is_of(row, ARMILLA_PREPARATION)) armilla_option_copy(row, chosen, fit);
}
