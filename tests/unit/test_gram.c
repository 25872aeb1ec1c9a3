/* XX' by a pass over dense data against a plain loop, and its bits on any number of threads. */
#include "reference/reference.h"
#include "unit/support.h"

#include "data/gram.h"
#include "linalg/dense.h"

#include <armilla/data.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct shape {
    int64_t m, n, padding;
} shapes[] = {
    {1, 1, 0},     {1, 700, 3},  {2, 90, 1},   {7, 5, 0},     {15, 2000, 2},  {16, 333, 0},  {33, 1300, 0},
    {64, 1797, 0}, {64, 500, 1}, {100, 77, 0}, {200, 900, 5}, {301, 2500, 0}, {256, 640, 0}, {800, 150, 1},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* What lies between the samples is no number. */
static double *make_numbers(const struct shape *of, uint64_t *random)
{
    const int64_t stride = of->m + of->padding, count = stride * of->n;
    double *x = reference_new(count);
    reference_fill_normal(random, count, x);
    for (int64_t i = 0; i < count; i++) x[i] = i % stride < of->m ? x[i] + 0.5 : NAN;
    return x;
}

static double *sum_plainly(const struct shape *of, const double *x)
{
    const int64_t m = of->m, stride = m + of->padding;
    double *G = reference_new(m * m);
    memset(G, 0, (size_t)(m * m) * sizeof *G);
    for (int64_t j = 0; j < of->n; j++)
        for (int64_t k = 0; k < m; k++)
            for (int64_t i = 0; i < m; i++) G[k * m + i] += x[j * stride + i] * x[j * stride + k];
    return G;
}

static void compare(const struct shape *of, armilla_type type, const double *G, const double *plain)
{
    const int64_t m = of->m;
    for (int64_t k = 0; k < m; k++)
        for (int64_t i = 0; i < m; i++) {
            const double size = sqrt(plain[k * m + k]) * sqrt(plain[i * m + i]);
            REFERENCE_NEAR(G[k * m + i], plain[k * m + i], 32 * armilla_epsilon(type) * size);
            REFERENCE_HOLDS(G[k * m + i] == G[i * m + k]);
        }
}

static void check(const struct shape *of, armilla_type type, uint64_t *random)
{
    static const int threads[] = {1, 2, 3, 4, 8};
    const int64_t m = of->m, stride = m + of->padding, count = stride * of->n;
    const size_t bytes = (size_t)(m * m) * sizeof(double);
    double *x = make_numbers(of, random), *G = reference_new(m * m), *first = reference_new(m * m);
    void *typed = calloc((size_t)count, armilla_type_size(type));
    armilla_data *data = NULL;
    assert_non_null(typed);
    armilla_store(type, count, x, typed);
    armilla_fetch(type, count, typed, x);
    double *plain = sum_plainly(of, x);
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, type, typed, m, of->n, stride, &data));
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        reference_scene("%d x %d and %d, %s, %d threads", (int)m, (int)of->n, (int)of->padding, armilla_type_word(type),
                        threads[t]);
        REFERENCE_OK(armilla_call_enter(reference_context, threads[t]));
        REFERENCE_OK(armilla_data_gram(reference_context, data, type, G));
        armilla_call_leave(reference_context);
        if (t == 0) memcpy(first, G, bytes);
        REFERENCE_HOLDS(memcmp(first, G, bytes) == 0);
    }
    compare(of, type, G, plain);
    armilla_data_free(data);
    free(plain);
    free(typed);
    free(first);
    free(G);
    free(x);
}

static void test_it_is_the_plain_sum(void **state)
{
    uint64_t random = 17;
    (void)state;
    for (size_t i = 0; i < SHAPES; i++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) check(&shapes[i], (armilla_type)type, &random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_the_plain_sum),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
