/* The options of a fit that say how its data are prepared, all of them: the rows of the option table that do. */
#ifndef ARMILLA_CLI_PREPARING_H
#define ARMILLA_CLI_PREPARING_H

#include "settings.h"

#include <jansson.h>

/* These rows for commands that compare directions and fit nothing: all but that of the length. */
extern const cli_group group_preparation;

/* Adds each of them as a member: a flag, a number, or a word. */
void preparing_put(json_t *object, const armilla_options *fit);
/* Those of the model's fit. */
armilla_options preparing_of_model(const armilla_model *model);

#endif
