/* Agreement of a clustering with known classes, from the table of how many samples each pair of cluster and class
 * shares. Definitions and odd cases (one cluster, all alone, no samples) are those of scikit-learn. */
#include "cluster/cluster.h"

#include "base/order.h"
#include "base/size.h"
#include "base/sized.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Classes times clusters beyond which no matching is sought: its matrix would not fit, and its time neither. */
#define MOST_PAIRS 1e8

enum { LABELS, TRUTH, SIDES };

typedef struct pair {
    int64_t of[SIDES];
    int64_t shared;
} pair;

/* The table of pairs that occur, in order, and the sizes on both sides. */
typedef struct contingency {
    int64_t n, count;
    pair *pairs;
    int64_t classes[SIDES];
    int64_t *sizes[SIDES];
} contingency;

static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    const int first = armilla_by_integer(&x->of[LABELS], &y->of[LABELS]);
    return first ? first : armilla_by_integer(&x->of[TRUTH], &y->of[TRUTH]);
}

/* The different values in order: *sorted, of which the first *classes count. */
static armilla_status sort_values(armilla_context *context, int64_t n, const int64_t *values, int64_t **sorted,
                                  int64_t *classes)
{
    int64_t *made = NULL;
    const armilla_status status = armilla_take(context, n, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < n; i++) made[i] = values[i];
    if (n > 0) qsort(made, (size_t)n, sizeof *made, armilla_by_integer);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || made[i] != made[*classes - 1]) made[(*classes)++] = made[i];
    *sorted = made;
    return status;
}

/* Whether all values are in 0 ... n-1, as those of clusters are. */
static bool are_numbers(int64_t n, const int64_t *values)
{
    bool within = true;
    for (int64_t i = 0; i < n; i++) within &= values[i] >= 0 && values[i] < n;
    return within;
}

/* The same without sorting, for values that are numbers: sorted[v] = the number of v. */
static armilla_status mark_values(armilla_context *context, int64_t n, const int64_t *values, int64_t **sorted,
                                  int64_t *classes)
{
    int64_t *made = NULL;
    const armilla_status status = armilla_take(context, n, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < n; i++) made[values[i]] = 1;
    for (int64_t v = 0; v < n; v++)
        if (made[v]) made[v] = (*classes)++;
    *sorted = made;
    return status;
}

/* values become numbers from 0 in the order of their size, *classes how many there are. */
static armilla_status number_side(armilla_context *context, int64_t n, const int64_t *values, int side, contingency *t)
{
    const bool numbers = are_numbers(n, values);
    int64_t *sorted = NULL, classes = 0;
    armilla_status status = numbers ? mark_values(context, n, values, &sorted, &classes)
                                    : sort_values(context, n, values, &sorted, &classes);
    t->classes[side] = classes;
    if (status == ARMILLA_OK) status = armilla_take(context, classes, sizeof **t->sizes, &t->sizes[side]);
    for (int64_t i = 0; i < n && status == ARMILLA_OK; i++) {
        const int64_t *found =
            numbers ? NULL : bsearch(&values[i], sorted, (size_t)classes, sizeof *sorted, armilla_by_integer);
        const int64_t number = numbers ? sorted[values[i]] : found - sorted;
        t->pairs[i].of[side] = number;
        t->sizes[side][number]++;
    }
    armilla_release(context, sorted);
    return status;
}

static void sort_pairs(contingency *t)
{
    if (t->n > 0) qsort(t->pairs, (size_t)t->n, sizeof *t->pairs, compare_pairs);
    for (int64_t i = 0; i < t->n; i++) {
        if (t->count == 0 || compare_pairs(&t->pairs[t->count - 1], &t->pairs[i]) != 0) {
            t->pairs[t->count] = t->pairs[i];
            t->pairs[t->count++].shared = 0;
        }
        t->pairs[t->count - 1].shared++;
    }
}

/* The same by counting, where the table of all pairs is no longer than the samples. */
static armilla_status count_pairs(armilla_context *context, contingency *t)
{
    const int64_t rows = t->classes[LABELS], cols = t->classes[TRUTH];
    int64_t *table = NULL;
    const armilla_status status = armilla_take(context, rows * cols, sizeof *table, &table);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < t->n; i++) table[t->pairs[i].of[LABELS] * cols + t->pairs[i].of[TRUTH]]++;
    for (int64_t p = 0; p < rows * cols; p++)
        if (table[p] > 0) t->pairs[t->count++] = (pair){.of = {p / cols, p % cols}, .shared = table[p]};
    armilla_release(context, table);
    return status;
}

/* The table, in order, from the pair of each sample. */
static armilla_status merge_pairs(armilla_context *context, contingency *t)
{
    if (t->n > 0 && t->classes[LABELS] <= t->n / t->classes[TRUTH]) return count_pairs(context, t);
    sort_pairs(t);
    return ARMILLA_OK;
}

static void free_contingency(armilla_context *context, contingency *t)
{
    for (int side = 0; side < SIDES; side++) armilla_release(context, t->sizes[side]);
    armilla_release(context, t->pairs);
}

static double entropy(const contingency *t, int side)
{
    const double n = (double)t->n;
    double sum = 0;
    if (t->classes[side] == 1) return 0;
    for (int64_t i = 0; i < t->classes[side]; i++) {
        const double size = (double)t->sizes[side][i];
        sum -= size / n * (log(size) - log(n));
    }
    return sum;
}

static double information(const contingency *t)
{
    const double n = (double)t->n;
    double sum = 0;
    for (int64_t i = 0; i < t->count; i++) {
        const pair *p = &t->pairs[i];
        const double shared = (double)p->shared;
        const double outer = (double)t->sizes[LABELS][p->of[LABELS]] * (double)t->sizes[TRUTH][p->of[TRUTH]];
        const double term = shared / n * (log(shared) - log(n)) + shared / n * (2 * log(n) - log(outer));
        if (fabs(term) >= DBL_EPSILON) sum += term;
    }
    return fmax(sum, 0);
}

static armilla_status informations(armilla_context *context, const contingency *t, armilla_scores *scores)
{
    const int64_t *sizes[SIDES] = {t->sizes[LABELS], t->sizes[TRUTH]};
    double expected = 0;
    scores->nmi = scores->ami = 1;
    if (t->n == 0 || (t->classes[LABELS] == 1 && t->classes[TRUTH] == 1)) return ARMILLA_OK;
    const double shared = information(t), mean = (entropy(t, LABELS) + entropy(t, TRUTH)) / 2;
    const armilla_status status = armilla_expected_information(context, t->n, sizes, t->classes, &expected);
    const double range = mean - expected;
    scores->nmi = shared <= DBL_EPSILON ? 0 : shared / mean;
    scores->ami = (shared - expected) / (range < 0 ? fmin(range, -DBL_EPSILON) : fmax(range, DBL_EPSILON));
    /* Everybody alone in both: 0/0 of two entropies, and a perfect match. */
    if (t->classes[LABELS] == t->n && t->classes[TRUTH] == t->n) scores->ami = 1;
    return status;
}

/* The adjusted Rand index from numbers of ordered pairs of samples: together in both, in the one alone, in the other
 * alone, in neither. */
static double adjusted_rand(const contingency *t)
{
    const double n = (double)t->n;
    double squares = 0, sides[SIDES] = {0, 0};
    for (int64_t i = 0; i < t->count; i++) squares += (double)t->pairs[i].shared * (double)t->pairs[i].shared;
    for (int side = 0; side < SIDES; side++)
        for (int64_t i = 0; i < t->classes[side]; i++)
            sides[side] += (double)t->sizes[side][i] * (double)t->sizes[side][i];
    const double both = squares - n, first = sides[LABELS] - squares, second = sides[TRUTH] - squares;
    const double neither = n * n - first - second - squares;
    if (first == 0 && second == 0) return 1;
    return 2 * (both * neither - first * second) /
           ((both + second) * (second + neither) + (both + first) * (first + neither));
}

static double purity(const contingency *t)
{
    int64_t pure = 0, most = 0;
    for (int64_t i = 0; i < t->count; i++) {
        most = armilla_max64(most, t->pairs[i].shared);
        if (i + 1 < t->count && t->pairs[i + 1].of[LABELS] == t->pairs[i].of[LABELS]) continue;
        pure += most;
        most = 0;
    }
    return t->n > 0 ? (double)pure / (double)t->n : NAN;
}

/* The side with fewer classes gives the rows. */
static armilla_status accuracy(armilla_context *context, const contingency *t, double *found)
{
    const int rows_side = t->classes[LABELS] <= t->classes[TRUTH] ? LABELS : TRUTH, cols_side = 1 - rows_side;
    const int64_t rows = t->classes[rows_side], cols = t->classes[cols_side];
    double *table = NULL, matched = 0;
    int64_t *matching = NULL;
    *found = NAN;
    if (t->n == 0 || (double)rows * (double)cols > MOST_PAIRS) return ARMILLA_OK;
    armilla_status status = armilla_take(context, rows * cols, sizeof *table, &table);
    if (status == ARMILLA_OK) status = armilla_take(context, rows, sizeof *matching, &matching);
    if (status != ARMILLA_OK) goto done;
    for (int64_t i = 0; i < t->count; i++)
        table[t->pairs[i].of[rows_side] * cols + t->pairs[i].of[cols_side]] = (double)t->pairs[i].shared;
    status = armilla_match(context, rows, cols, table, matching);
    for (int64_t i = 0; i < rows && status == ARMILLA_OK; i++) matched += table[i * cols + matching[i]];
    if (status == ARMILLA_OK) *found = matched / (double)t->n;
done:
    armilla_release(context, matching);
    armilla_release(context, table);
    return status;
}

static armilla_status fill_contingency(armilla_context *context, const int64_t *labels, const int64_t *truth,
                                       contingency *t)
{
    armilla_status status = armilla_take(context, t->n, sizeof *t->pairs, &t->pairs);
    if (status == ARMILLA_OK) status = number_side(context, t->n, labels, LABELS, t);
    if (status == ARMILLA_OK) status = number_side(context, t->n, truth, TRUTH, t);
    if (status == ARMILLA_OK) status = merge_pairs(context, t);
    return status;
}

armilla_status armilla_agreement(armilla_context *context, int64_t n, const int64_t *labels, const int64_t *others,
                                 double *nmi)
{
    contingency t = {.n = n};
    const armilla_status status = fill_contingency(context, labels, others, &t);
    if (status == ARMILLA_OK) {
        const double mean = (entropy(&t, LABELS) + entropy(&t, TRUTH)) / 2;
        *nmi = mean > 0 ? information(&t) / mean : 1;
    }
    free_contingency(context, &t);
    return status;
}

armilla_status armilla_adjusted_rand(armilla_context *context, int64_t n, const int64_t *labels, const int64_t *others,
                                     double *ari)
{
    contingency t = {.n = n};
    const armilla_status status = fill_contingency(context, labels, others, &t);
    if (status == ARMILLA_OK) *ari = adjusted_rand(&t);
    free_contingency(context, &t);
    return status;
}

armilla_status armilla_score_sized(armilla_context *context, int64_t n, const int64_t *labels, const int64_t *truth,
                                   armilla_scores *scores, size_t size)
{
    contingency t = {.n = n};
    armilla_scores made;
    armilla_status status = ARMILLA_NOT_NULL(context, labels, truth, scores);
    if (status != ARMILLA_OK) return status;
    if (n < 0) return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "a negative number of labels cannot be scored");
    status = fill_contingency(context, labels, truth, &t);
    if (status != ARMILLA_OK) goto done;
    made.ari = adjusted_rand(&t);
    made.purity = purity(&t);
    status = informations(context, &t, &made);
    if (status == ARMILLA_OK) status = accuracy(context, &t, &made.accuracy);
    if (status == ARMILLA_OK) armilla_sized_write(&made, sizeof made, scores, size);
done:
    free_contingency(context, &t);
    return status;
}
