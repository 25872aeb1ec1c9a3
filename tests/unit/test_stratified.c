/* The stratified draw: one number of each run, whatever the sizes. */
#include "unit/support.h"

#include "base/random.h"

enum { MOST = 400 };

static void test_one_of_each_run(void **state)
{
    int64_t drawn[MOST], again[MOST], other[MOST];
    (void)state;
    for (int64_t count = 1; count <= MOST; count += 7)
        for (int64_t n = count; n < 12 * count; n += 1 + n / 5) {
            armilla_draw_stratified(n, count, 3, ARMILLA_STREAM_CELLS, drawn);
            armilla_draw_stratified(n, count, 3, ARMILLA_STREAM_CELLS, again);
            assert_memory_equal(drawn, again, (size_t)count * sizeof *drawn);
            for (int64_t i = 0; i < count; i++) { /* but for rounding of a bound, in its run */
                assert_true(drawn[i] >= 0 && drawn[i] < n && (i == 0 || drawn[i] > drawn[i - 1]));
                assert_true((drawn[i] + 1) * count >= i * n && drawn[i] * count <= (i + 1) * n);
            }
        }
    armilla_draw_stratified(100 * MOST, MOST, 3, ARMILLA_STREAM_CELLS, drawn);
    armilla_draw_stratified(100 * MOST, MOST, 4, ARMILLA_STREAM_CELLS, again);
    armilla_draw_stratified(100 * MOST, MOST, 3, ARMILLA_STREAM_STRUCTURE, other);
    assert_memory_not_equal(drawn, again, sizeof drawn);
    assert_memory_not_equal(drawn, other, sizeof drawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_of_each_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
