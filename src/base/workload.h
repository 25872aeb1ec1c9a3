/* What calls are expected to take: the parts of a plan (base/plan.h), by shapes alone. */
#ifndef ARMILLA_BASE_WORKLOAD_H
#define ARMILLA_BASE_WORKLOAD_H

#include "base/plan.h"

/* The parts of such a call, where the plan has its next (armilla_plan_call). */
void armilla_workload_plan(const armilla_workload *workload, armilla_plan *plan);
/* The call in progress is that one, by its own threads: its parts take the place of those that were expected of it. */
void armilla_call_plan(armilla_context *context, const armilla_workload *workload);

/* More is known of a search among cells that is in progress or the next: so many queries are each compared with so many
 * samples of so many features. */
void armilla_call_plan_probed(armilla_context *context, double queries, double compared, double features);

#endif
