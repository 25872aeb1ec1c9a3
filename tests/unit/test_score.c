/* Scores against brute force: every matching, every permutation of the labels, and cases whose value is known. */
#include "base/context.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "unit/support.h"

#include <math.h>
#include <string.h>

enum { MOST = 6 };

/* The heaviest way to give rows from `row` on columns of their own. */
static double heaviest(int64_t row, int64_t rows, int64_t cols, const double *weights, unsigned taken)
{
    double best = -INFINITY;
    if (row == rows) return 0;
    for (int64_t j = 0; j < cols; j++)
        if (!(taken & 1u << j))
            best = fmax(best, weights[row * cols + j] + heaviest(row + 1, rows, cols, weights, taken | 1u << j));
    return best;
}

static void test_matching(void **state)
{
    armilla_context *context = support_context();
    uint64_t index = 0;
    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        double weights[MOST * MOST], sum = 0;
        int64_t matching[MOST], cols = 1 + trial % MOST, rows = 1 + trial / MOST % cols;
        unsigned taken = 0;
        for (int64_t i = 0; i < rows * cols; i++) {
            const double drawn = armilla_random_uniform(11, ARMILLA_STREAM_TEST, index++);
            weights[i] = trial % 2 ? floor(4 * drawn) : drawn - 0.5; /* with ties, and with negative weights */
        }
        support_ok(context, armilla_match(context, rows, cols, weights, matching));
        for (int64_t i = 0; i < rows; i++) {
            assert_in_range(matching[i], 0, cols - 1);
            assert_false(taken & 1u << matching[i]);
            taken |= 1u << matching[i];
            sum += weights[i * cols + matching[i]];
        }
        assert_true(fabs(sum - heaviest(0, rows, cols, weights, 0)) <= 1e-12);
    }
    armilla_context_free(context);
}

/* Mutual information of two labellings of n samples by plain counting. */
static double information(int n, const int64_t *a, const int64_t *b)
{
    double sum = 0;
    for (int j = 0; j < n; j++) {
        double same_a = 0, same_b = 0, same = 0;
        for (int i = 0; i < n; i++) {
            same_a += a[i] == a[j];
            same_b += b[i] == b[j];
            same += a[i] == a[j] && b[i] == b[j];
        }
        sum += log(same * n / (same_a * same_b)) / n;
    }
    return sum;
}

/* The sum over all orders of b. */
static void permute(int n, int fixed, const int64_t *a, int64_t *b, double *sum, double *count)
{
    if (fixed == n) {
        *sum += information(n, a, b);
        *count += 1;
    }
    for (int i = fixed; i < n; i++) {
        int64_t swap = b[fixed];
        b[fixed] = b[i];
        b[i] = swap;
        permute(n, fixed + 1, a, b, sum, count);
        swap = b[fixed];
        b[fixed] = b[i];
        b[i] = swap;
    }
}

static void test_expected_information(void **state)
{
    armilla_context *context = support_context();
    (void)state;
    for (int trial = 0; trial < 12; trial++) {
        enum { N = 7 };
        int64_t a[N], b[N], sizes_a[N] = {0}, sizes_b[N] = {0}, counts[2] = {0, 0};
        double sum = 0, count = 0, expected = 0;
        for (int j = 0; j < N; j++) {
            a[j] = (int64_t)(armilla_random_bits((uint64_t)trial, ARMILLA_STREAM_TEST, (uint64_t)j) % 4);
            b[j] = (int64_t)(armilla_random_bits((uint64_t)trial, ARMILLA_STREAM_TEST, (uint64_t)j + 50) % 3);
        }
        for (int k = 0; k < N; k++) {
            int64_t in_a = 0, in_b = 0;
            for (int j = 0; j < N; j++) {
                in_a += a[j] == k;
                in_b += b[j] == k;
            }
            if (in_a) sizes_a[counts[0]++] = in_a;
            if (in_b) sizes_b[counts[1]++] = in_b;
        }
        const int64_t *sizes[2] = {sizes_a, sizes_b};
        permute(N, 0, a, b, &sum, &count);
        support_ok(context, armilla_expected_information(context, N, sizes, counts, &expected));
        assert_true(fabs(expected - sum / count) <= 1e-12);
    }
    armilla_context_free(context);
}

static void test_known_cases(void **state)
{
    static const struct {
        int64_t n, labels[6], truth[6];
        double wanted[5]; /* accuracy, nmi, ari, ami, purity */
    } cases[] = {
        {0, {0}, {0}, {NAN, 1, 1, 1, NAN}},
        {1, {5}, {-3}, {1, 1, 1, 1, 1}},
        {4, {0, 0, 0, 0}, {7, 7, 7, 7}, {1, 1, 1, 1, 1}},
        {4, {0, 0, 0, 0}, {0, 0, 1, 1}, {0.5, 0, 0, 0, 0.5}},
        {4, {9, 9, -1, -1}, {0, 0, 1, 1}, {1, 1, 1, 1, 1}},
        {4, {0, 1, 2, 3}, {3, 2, 1, 0}, {1, 1, 1, 1, 1}},
        {4, {0, 1, 2, 3}, {0, 0, 1, 1}, {0.5, 2. / 3, 0, 0, 1}},
        {4, {0, 1, 0, 1}, {0, 0, 1, 1}, {0.5, 0, -0.5, -0.5, 0.5}},
    };
    armilla_context *context = support_context();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        armilla_scores got;
        support_ok(context, armilla_score(context, cases[i].n, cases[i].labels, cases[i].truth, &got));
        const double *a = &got.accuracy, *b = cases[i].wanted;
        for (int s = 0; s < 5; s++)
            if (!(isnan(a[s]) && isnan(b[s])) && !(fabs(a[s] - b[s]) <= 1e-12))
                fail_msg("case %d, score %d: %.17g instead of %.17g", (int)i, s, a[s], b[s]);
    }
    armilla_scores none;
    support_fails(context, armilla_score(context, -1, cases[0].labels, cases[0].truth, &none), ARMILLA_BAD_ARGUMENT,
                  "negative");
    armilla_context_free(context);
}

/* Labels that count from 0 are counted, others sorted: the scores have the same bits, also where pairs of classes are more
 * than samples. */
static void test_numbers_and_names(void **state)
{
    enum { N = 60 };
    armilla_context *context = support_context();
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        int64_t numbers[2][N], names[2][N];
        armilla_scores counted, sorted;
        double agreement[2], rand[2];
        for (uint64_t i = 0; i < 2 * N; i++) {
            const uint64_t classes = 1 + (uint64_t)trial % (i < N ? 7 : 40);
            const int64_t drawn = (int64_t)(armilla_random_bits((uint64_t)trial, ARMILLA_STREAM_TEST, i) % classes);
            numbers[i / N][i % N] = drawn;
            names[i / N][i % N] = drawn * 1000003 - 5000;
        }
        const int side = trial % 3; /* the first alone, the second alone, both */
        const int64_t *a = side == 1 ? numbers[0] : names[0], *b = side == 0 ? numbers[1] : names[1];
        support_ok(context, armilla_score(context, N, numbers[0], numbers[1], &counted));
        support_ok(context, armilla_score(context, N, a, b, &sorted));
        assert_memory_equal(&counted, &sorted, sizeof sorted);
        support_ok(context, armilla_agreement(context, N, numbers[0], numbers[1], &agreement[0]));
        support_ok(context, armilla_agreement(context, N, a, b, &agreement[1]));
        support_ok(context, armilla_adjusted_rand(context, N, numbers[0], numbers[1], &rand[0]));
        support_ok(context, armilla_adjusted_rand(context, N, a, b, &rand[1]));
        assert_true(agreement[0] == agreement[1] && rand[0] == rand[1]);
    }
    armilla_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matching),
        cmocka_unit_test(test_expected_information),
        cmocka_unit_test(test_known_cases),
        cmocka_unit_test(test_numbers_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
