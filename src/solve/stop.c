/* Why an iteration ends. */
#include "solve/problem.h"

#include <math.h>

/* h_{k-1} - h_k <= tol*h_{k-1}, or h_k is as good as 0. A rise beyond rounding, which a too small lambda or mu can
 * make, is no convergence; tol = 0 never converges, so that a given number of iterations can be asked for. */
static bool converged(const armilla_stop_rule *rule, double before, double now)
{
    if (rule->tol <= 0) return false;
    if (now <= rule->noise) return true;
    return before - now <= rule->tol * before && now - before <= 100 * rule->noise;
}

bool armilla_stop_decide(const armilla_stop_rule *rule, const armilla_trace_entry *before,
                         const armilla_trace_entry *now, bool interrupted, armilla_stop *reason)
{
    const bool ends[] = {
        [ARMILLA_STOP_CONVERGED] = before && converged(rule, before->objective, now->objective),
        [ARMILLA_STOP_MAX_ITER] = now->iteration >= rule->max_iter,
        [ARMILLA_STOP_TIME_LIMIT] = rule->time_limit > 0 && now->seconds >= rule->time_limit,
        [ARMILLA_STOP_INTERRUPTED] = interrupted,
    };
    static const armilla_stop order[] = {ARMILLA_STOP_INTERRUPTED, ARMILLA_STOP_CONVERGED, ARMILLA_STOP_MAX_ITER,
                                         ARMILLA_STOP_TIME_LIMIT};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (ends[order[i]]) {
            *reason = order[i];
            return true;
        }
    return false;
}
