/* The options of a fit that say how its data are prepared, all of them: the rows of the option table that do. */
#ifndef ARMILLA_CLI_PREPARING_H
#define ARMILLA_CLI_PREPARING_H

#include <armilla/armilla.h>

/* The first of them that is given, NULL: none is. */
const char *preparing_given(const armilla_options *fit);
/* fit's become those of chosen. */
void preparing_take(armilla_options *fit, const armilla_options *chosen);

#endif
