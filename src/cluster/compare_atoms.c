/* Angles between the atoms of two models, and the one-to-one matching with the least sum of them. */
#include "cluster/compare.h"

#include "base/size.h"

#include <math.h>
#include <stdlib.h>

/* Squared cosine beyond which a cosine has lost digits of its angle. */
#define NARROW 0.98

static const double PI = 3.14159265358979323846;

/* 2 atan2(|a - b|, |a + b|) of unit vectors, exact for small angles too (Kahan). */
static double narrow_angle(int64_t m, const double *a, const double *b)
{
    double apart = 0, together = 0;
    for (int64_t i = 0; i < m; i++) {
        const double difference = a[i] - b[i], sum = a[i] + b[i];
        apart += difference * difference;
        together += sum * sum;
    }
    return 2 * atan2(sqrt(apart), sqrt(together));
}

/* The angle of atom i of the first and j of the second, 0 to pi; cosine is a'b. */
static double angle_between(const armilla_compared_atoms *atoms, int64_t i, int64_t j, double cosine)
{
    if (atoms->lengths[0][i] == 0 || atoms->lengths[1][j] == 0) return NAN;
    if (cosine * cosine <= NARROW) return acos(cosine);
    return narrow_angle(atoms->m, atoms->unit[0] + i * atoms->m, atoms->unit[1] + j * atoms->m);
}

/* What an angle counts in the matching. */
static double cost(double angle)
{
    return isnan(angle) ? PI : angle;
}

/* The rows are the model with fewer atoms. */
static armilla_status find_matching(armilla_context *context, const armilla_comparison *made, int64_t *matching)
{
    const int64_t ra = made->summary.ranks[0], rb = made->summary.ranks[1];
    const bool turned = ra > rb;
    const int64_t rows = turned ? rb : ra, columns = turned ? ra : rb;
    double *weights = NULL;
    armilla_status status = armilla_take(context, rows * columns, sizeof *weights, &weights);
    for (int64_t j = 0; j < rb && status == ARMILLA_OK; j++)
        for (int64_t i = 0; i < ra; i++)
            weights[turned ? j * columns + i : i * columns + j] = -cost(made->angles[j * ra + i]);
    if (status == ARMILLA_OK) status = armilla_match(context, rows, columns, weights, matching);
    armilla_release(context, weights);
    return status;
}

/* Nearest first; among equals the lower atom. */
static int compare_matches(const void *first, const void *second)
{
    const armilla_atom_match *a = first, *b = second;
    const double x = cost(a->angle), y = cost(b->angle);
    if (isnan(a->angle) != isnan(b->angle)) return isnan(a->angle) ? 1 : -1;
    if (x != y) return x < y ? -1 : 1;
    return a->atoms[0] < b->atoms[0] ? -1 : a->atoms[0] > b->atoms[0];
}

static void describe(armilla_comparison *made, const int64_t *matching, const bool *negated)
{
    armilla_comparison_summary *s = &made->summary;
    const int64_t ra = s->ranks[0];
    const bool turned = ra > s->ranks[1];
    int64_t counted = 0;
    double sum = 0;
    s->largest_angle = NAN;
    for (int64_t i = 0; i < s->matched; i++) {
        const int64_t a = turned ? matching[i] : i, b = turned ? i : matching[i];
        const double angle = made->angles[b * ra + a];
        made->matches[i] = (armilla_atom_match){.atoms = {a, b}, .angle = angle, .negated = negated[b * ra + a]};
    }
    qsort(made->matches, (size_t)s->matched, sizeof *made->matches, compare_matches);
    for (int64_t i = 0; i < s->matched && !isnan(made->matches[i].angle); i++, counted++) {
        sum += made->matches[i].angle;
        s->largest_angle = made->matches[i].angle;
    }
    s->mean_angle = counted > 0 ? sum / (double)counted : NAN;
}

/* Angles from the cosines, which are replaced; between lines where the summary says so. */
static void turn_into_angles(const armilla_compared_atoms *atoms, armilla_comparison *made, bool *negated)
{
    for (int64_t j = 0; j < atoms->ranks[1]; j++)
        for (int64_t i = 0; i < atoms->ranks[0]; i++) {
            const int64_t at = j * atoms->ranks[0] + i;
            const double angle = angle_between(atoms, i, j, made->angles[at]);
            negated[at] = made->summary.lines && made->angles[at] < 0;
            made->angles[at] = negated[at] ? PI - angle : angle;
        }
}

armilla_status armilla_compared_match(armilla_context *context, const armilla_compared_atoms *atoms,
                                      armilla_comparison *made)
{
    const int64_t ra = atoms->ranks[0], rb = atoms->ranks[1], least = armilla_min64(ra, rb);
    int64_t *matching = NULL;
    bool *negated = NULL;
    made->summary.matched = least;
    armilla_status status = armilla_take(context, ra * rb, sizeof *made->angles, &made->angles);
    if (status == ARMILLA_OK) status = armilla_take(context, least, sizeof *made->matches, &made->matches);
    if (status == ARMILLA_OK) status = armilla_take(context, least, sizeof *matching, &matching);
    if (status == ARMILLA_OK) status = armilla_take(context, ra * rb, sizeof *negated, &negated);
    if (status != ARMILLA_OK) goto done;
    armilla_inner(atoms->m, ra, rb, atoms->unit[0], atoms->unit[1], made->angles);
    turn_into_angles(atoms, made, negated);
    status = find_matching(context, made, matching);
    if (status == ARMILLA_OK) describe(made, matching, negated);
done:
    armilla_release(context, negated);
    armilla_release(context, matching);
    return status;
}
