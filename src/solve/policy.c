/* The decisions of solver `fast`. */
#include "solve/policy.h"

#include <math.h>

#define FIRST_BETA 0.5
#define MOST_BETA 3.0
#define BETA_GROWTH 1.1

void armilla_momentum_begin(armilla_momentum *momentum)
{
    momentum->beta = FIRST_BETA;
}

void armilla_momentum_accept(armilla_momentum *momentum)
{
    momentum->beta = fmin(momentum->beta * BETA_GROWTH, MOST_BETA);
}

void armilla_momentum_reject(armilla_momentum *momentum)
{
    momentum->beta /= 2;
}

int64_t armilla_continuation_sparsity(int64_t r, int64_t s, int64_t sweep)
{
    if (sweep >= ARMILLA_CONTINUATION_SWEEPS - 1) return s;
    const double along = (double)sweep / (ARMILLA_CONTINUATION_SWEEPS - 1);
    return s + (int64_t)ceil((1 - along) * (double)(r - s));
}

#define SLOW_FALL 1e-3

/* Few at first: with codes that run ahead of the basis, as with a basis that runs ahead of the codes, the minimum at
 * the end is a worse one. More where the way down has become slow. */
int armilla_code_steps(double fall)
{
    return fall < SLOW_FALL ? 10 : 6;
}

#define FIRST_WAIT 4
#define THOROUGH_WAIT 12

void armilla_polish_begin(armilla_polish *polish)
{
    *polish = (armilla_polish){.last = -FIRST_WAIT, .wait = FIRST_WAIT};
}

bool armilla_polish_due(const armilla_polish *polish, int64_t iteration, double fall)
{
    return (double)(iteration - polish->last) >= polish->wait && fall < SLOW_FALL;
}

void armilla_polish_done(armilla_polish *polish, int64_t iteration, double fall)
{
    const bool little = fall < SLOW_FALL;
    polish->last = iteration;
    polish->wait = little && polish->thorough ? 2 * polish->wait : little ? THOROUGH_WAIT : FIRST_WAIT;
    polish->thorough = little;
}

void armilla_revival_begin(armilla_revival *revival)
{
    *revival = (armilla_revival){.due = 0, .wait = 1};
}

bool armilla_revival_due(const armilla_revival *revival, int64_t iteration)
{
    return iteration >= revival->due;
}

void armilla_revival_done(armilla_revival *revival, int64_t iteration)
{
    revival->due = iteration + revival->wait;
    revival->wait *= 2;
}

#define LEAST_SKETCH 1000
#define SKETCH_PER_ATOM 50
#define SKETCH_SHARE 5 /* of n a sketch has at most the fifth part */

int64_t armilla_sketch_size(int64_t n, int64_t r)
{
    const int64_t wanted = r > LEAST_SKETCH / SKETCH_PER_ATOM ? SKETCH_PER_ATOM * r : LEAST_SKETCH;
    return wanted <= n / SKETCH_SHARE ? wanted : 0;
}

#define LEAST_LOTTERY_STARTS 3

int64_t armilla_sketch_starts(int64_t restarts, bool lottery)
{
    return lottery && restarts < LEAST_LOTTERY_STARTS ? LEAST_LOTTERY_STARTS : restarts;
}

int64_t armilla_sketch_kept(int64_t restarts)
{
    return 1 + restarts / 4;
}
