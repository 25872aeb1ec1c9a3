/* Scores as the commands print them. */
#ifndef ARMILLA_CLI_SCORING_H
#define ARMILLA_CLI_SCORING_H

#include "json.h"

/* Adds accuracy, nmi, ari, ami and purity. */
void scoring_put(json_t *object, const armilla_scores *scores);

#endif
