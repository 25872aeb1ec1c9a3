/* The radius step (A7). With V = lW it changes one number: c*l = <X,UW>/<UW,UW>. */
#include "solve/problem.h"

#include <math.h>

double armilla_radius_step(armilla_problem *problem)
{
    const double before = problem->l;
    const double cross = armilla_sweep_cross(problem->sweep), reach = armilla_problem_reach(problem);
    if (!problem->radius_stays && cross > 0 && reach > 0) problem->l = cross / reach;
    const double now = problem->l;
    /* ||l'w' - lw||^2 = (l' - l)^2 + l l' ||w' - w||^2 for unit w, w': nothing cancels. */
    return sqrt((double)problem->n * (now - before) * (now - before) +
                before * now * armilla_sweep_change(problem->sweep));
}
