/* The radius step (A7). With V = lW it changes one number: c*l = <X,UW>/<UW,UW>. */
#include "solve/problem.h"

#include <math.h>

double armilla_radius_step(armilla_problem *problem)
{
    const double before = problem->l;
    const double cross = armilla_sweep_cross(problem->sweep), product_square = armilla_problem_product_square(problem);
    if (!problem->radius_stays && cross > 0 && product_square > 0) problem->l = cross / product_square;
    /* ||l'w' - lw||^2 = (l' - l)^2 + l l' ||w' - w||^2 for unit w, w': nothing cancels. In units of a power of two near
     * the radius, whose square may be no number: a basis of free scale can be as small as the radius is large. */
    int exponent = 0;
    (void)frexp(fmax(before, problem->l), &exponent);
    const double old = ldexp(before, -exponent), now = ldexp(problem->l, -exponent);
    const double change = armilla_sweep_change(problem->sweep);
    return ldexp(sqrt((double)problem->n * (now - old) * (now - old) + old * now * change), exponent);
}
