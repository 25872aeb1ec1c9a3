/* Why an iteration ends. */
#include "solve/problem.h"

#include "base/size.h"

#include <math.h>

/* Constants of the guess where iterations end: points that a line is fitted to, at least and at most; what is expected
 * without; how far ahead it may be, in parts of what is behind; and falls that count as none, in parts of the
 * tolerance. */
enum { LEAST_POINTS = 8, POINTS = 32 };
#define FIRST_GUESS 60.0
#define LEAST_AHEAD 1.05
#define MOST_AHEAD 4.0
#define LEAST_FALL 0.1
#define FAR_AWAY 1e9
#define LEAST_POWER 0.5
#define MOST_POWER 3.0
/* Nine of ten ends are between these multiples of the guess, by 155 traces of eleven models. */
#define SOONEST 0.15
#define LATEST 4.0

/* h_{k-1} - h_k <= tol*h_{k-1}, or h_k is as good as 0. A rise beyond rounding, which a too small lambda or mu can
 * make, is no convergence; tol = 0 never converges, so that a given number of iterations can be asked for. */
static bool converged(const armilla_stop_rule *rule, double before, double now)
{
    if (rule->tol <= 0) return false;
    if (now <= rule->noise) return true;
    return before - now <= rule->tol * before && now - before <= 100 * rule->noise;
}

/* h falls like k^-p at last, but in fits that converge quickly: then the last fifth of k iterations has gained about p/5 of
 * what is still to be gained, whatever k is (docs/algorithm.md#when-to-stop). Long fits gain little for their time. */
enum { SHARE = 5, LEAST_WINDOW = 8, MOST_WINDOW = 32 };
#define LITTLE 1e-3
#define LITTLE_EXPLAINED 1e-2 /* of what a start that is a result explains */
/* ||X - UV||/||X|| below which a part of h matters less. */
#define SMALL_ERROR 0.1

/* What gains are measured by: what is left of X, more where that is little, or what is explained of it, whichever is less:
 * where little can be explained, a small part of h is much. */
static double measure(const armilla_stop_rule *rule, double h)
{
    const double left = fmax(h, SMALL_ERROR * sqrt(h) * sqrt(rule->squared_norm));
    return fmin(left, rule->squared_norm - h);
}

/* What the last fifth of the iterations has gained, beside that. 1 where there are too few. */
static double gained(const armilla_stop_rule *rule, const armilla_trace *trace)
{
    const int64_t last = trace->count - 1;
    const int64_t window = armilla_max64(armilla_min64(last / SHARE, MOST_WINDOW), LEAST_WINDOW);
    if (last <= window) return 1;
    const double before = trace->entries[last - window].objective, now = trace->entries[last].objective;
    const double least = measure(rule, now);
    return least > 0 ? (before - now) / least : 1;
}

double armilla_stop_allowance(const armilla_stop_rule *rule, double h)
{
    return rule->automatic ? fmin(LITTLE * h, LITTLE_EXPLAINED * (1 - h)) : rule->tol * h;
}

static bool has_eased(const armilla_stop_rule *rule, const armilla_trace *trace)
{
    const double part = rule->eases ? gained(rule, trace) : 1;
    return part >= 0 && part <= LITTLE;
}

/* The logarithm of how much the objective fell in an iteration, by which it converges. */
static double fall_at(const armilla_stop_rule *rule, const armilla_trace *trace, int64_t iteration)
{
    const double before = trace->entries[iteration - 1].objective, now = trace->entries[iteration].objective;
    return log(fmax(before > 0 ? (before - now) / before : 0, LEAST_FALL * rule->tol));
}

/* The x at which the line through falling points (x, y) comes within their deviation of `wanted`; a large x for others. */
static double meets(int count, const double *x, const double *y, double wanted)
{
    double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
    for (int i = 0; i < count; i++) {
        mx += x[i] / count;
        my += y[i] / count;
    }
    for (int i = 0; i < count; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
        yy += (y[i] - my) * (y[i] - my);
    }
    const double deviation = sqrt(fmax(yy - xy * xy / xx, 0) / count);
    return xy < 0 ? mx + (my - deviation - wanted) * xx / -xy : FAR_AWAY;
}

/* The iteration at which the last fifth of them will have gained little, where gains fall like a power of their number. */
static double expect_ease(const armilla_stop_rule *rule, const armilla_trace *trace)
{
    const armilla_trace half = {.entries = trace->entries, .count = (trace->count + 1) / 2};
    const double now = fmax(gained(rule, trace), LITTLE), before = fmax(gained(rule, &half), now);
    const double power = fmin(fmax(log2(before / now), LEAST_POWER), MOST_POWER);
    return (double)trace->count * pow(now / LITTLE, 1 / power);
}

/* Falls become geometrically smaller near a minimum, and vary: the first small one is the last. Nothing is expected that
 * differs much from what is already behind. */
static double expect_last(const armilla_stop_rule *rule, const armilla_trace *trace)
{
    const int64_t last = trace->count - 1, first = armilla_max64(1, last / 2);
    const double now = (double)armilla_max64(last, 1), most = (double)rule->max_iter;
    double x[POINTS], y[POINTS];
    int count = 0;
    if (last < LEAST_POINTS) return fmax(fmin(most, FIRST_GUESS), now + 1);
    const int64_t step = 1 + (last - first) / POINTS;
    for (int64_t k = last; k >= first && count < POINTS; k -= step) {
        x[count] = (double)k;
        y[count++] = fall_at(rule, trace, k);
    }
    const double by_falls = meets(count, x, y, log(rule->tol));
    const double expected =
        fmin(fmax(rule->eases ? fmin(by_falls, expect_ease(rule, trace)) : by_falls, now + 1), most);
    return fmin(fmax(fmin(expected, fmax(MOST_AHEAD * now, FIRST_GUESS)), LEAST_AHEAD * now), fmax(most, now));
}

armilla_stop_guess armilla_stop_expect(const armilla_stop_rule *rule, const armilla_trace *trace)
{
    const double now = (double)(trace->count - 1), most = (double)rule->max_iter;
    if (rule->tol <= 0) return (armilla_stop_guess){fmax(fmax(most, now), 1), 1, 1};
    const double last = expect_last(rule, trace), rest = last - now;
    return (armilla_stop_guess){last, SOONEST, rest > 0 ? fmin(LATEST, fmax((most - now) / rest, 1)) : 1};
}

bool armilla_stop_decide(const armilla_stop_rule *rule, const armilla_trace *trace, bool interrupted,
                         armilla_stop *reason)
{
    const armilla_trace_entry *now = &trace->entries[trace->count - 1], *before = now - 1;
    const bool ends[] = {
        [ARMILLA_STOP_CONVERGED] =
            trace->count > 1 && (converged(rule, before->objective, now->objective) || has_eased(rule, trace)),
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
