/* The decisions of solver `fast`, without data. */
#include "reference/reference.h"

#include "solve/trial.h"

#include <math.h>

static void test_momentum_grows_to_its_cap(void **state)
{
    armilla_momentum momentum = {-1};
    (void)state;
    armilla_momentum_begin(&momentum);
    assert_true(momentum.beta == 0.5);
    for (int step = 0; step < 100; step++) {
        const double before = momentum.beta;
        armilla_momentum_accept(&momentum);
        assert_true(momentum.beta > before || momentum.beta == 3);
        assert_true(momentum.beta <= 3 && momentum.beta <= 1.1 * before * (1 + 1e-15));
    }
    assert_true(momentum.beta == 3);
}

static void test_momentum_halves(void **state)
{
    armilla_momentum momentum;
    (void)state;
    armilla_momentum_begin(&momentum);
    for (int step = 0; step < 50; step++) {
        const double before = momentum.beta;
        armilla_momentum_reject(&momentum);
        assert_true(momentum.beta == before / 2 && momentum.beta >= 0);
    }
    for (int step = 0; step < 500; step++) armilla_momentum_accept(&momentum);
    assert_true(momentum.beta == 3); /* it can come back */
    armilla_momentum_begin(&momentum);
    assert_true(momentum.beta == 0.5);
}

/* Whatever happens, 0 <= beta <= 3. */
static void test_momentum_stays_in_bounds(void **state)
{
    uint64_t random = 221;
    armilla_momentum momentum;
    (void)state;
    armilla_momentum_begin(&momentum);
    for (int step = 0; step < 100000; step++) {
        if (reference_below(&random, 8))
            armilla_momentum_accept(&momentum);
        else
            armilla_momentum_reject(&momentum);
        assert_true(momentum.beta > 0 && momentum.beta <= 3);
    }
}

static void test_continuation_falls_from_r_to_s(void **state)
{
    (void)state;
    for (int64_t r = 1; r <= 200; r++)
        for (int64_t s = 1; s <= r; s++) {
            int64_t before = armilla_continuation_sparsity(r, s, 0);
            assert_int_equal(before, r);
            const int64_t sweeps = armilla_continuation_sweeps(r, s);
            assert_true(sweeps >= 4 && sweeps <= ARMILLA_CONTINUATION_SWEEPS);
            for (int64_t sweep = 1; sweep < 2 * ARMILLA_CONTINUATION_SWEEPS; sweep++) {
                const int64_t now = armilla_continuation_sparsity(r, s, sweep);
                assert_true(now <= before && now >= s);
                assert_true(sweep < sweeps - 1 || now == s);
                before = now;
            }
        }
    /* Little by little: no sweep drops more than its share, rounded up. */
    for (int64_t sweep = 1; sweep < ARMILLA_CONTINUATION_SWEEPS; sweep++)
        assert_true(armilla_continuation_sparsity(1000, 10, sweep - 1) -
                        armilla_continuation_sparsity(1000, 10, sweep) <=
                    990 / (ARMILLA_CONTINUATION_SWEEPS - 1) + 1);
}

/* Few steps on the steep part, more on the flat one, and always some. */
static void test_steps_are_bounded(void **state)
{
    (void)state;
    for (double fall = 1; fall > 1e-12; fall /= 3) {
        assert_true(armilla_code_steps(fall) >= 1 && armilla_code_steps(fall) <= 10);
        assert_true(armilla_code_steps(fall / 3) >= armilla_code_steps(fall));
    }
    assert_true(armilla_code_steps(0) > armilla_code_steps(1));
}

static void test_polish_waits(void **state)
{
    const double slow = 1e-6, quick = 1e-1;
    armilla_polish polish;
    (void)state;
    armilla_polish_begin(&polish, false);
    assert_true(armilla_polish_due(&polish, 0, slow));
    assert_false(armilla_polish_due(&polish, 0, quick)); /* cheap steps still do well */
    for (int64_t at = 0, wait = 0, round = 0; round < 10; round++) {
        armilla_polish_done(&polish, at, slow);
        const int64_t last = wait;
        for (wait = 0; !armilla_polish_due(&polish, at + wait, slow); wait++)
            assert_false(armilla_polish_due(&polish, at + wait, quick));
        assert_true(wait >= 1 && (round == 0 || wait == 2 * last)); /* doubles where it brought little */
        assert_true(armilla_polish_due(&polish, at + wait + 1, slow));
        assert_false(armilla_polish_due(&polish, at + wait, quick));
        at += wait;
    }
    armilla_polish_done(&polish, 100000, quick); /* it paid: soon again */
    assert_false(armilla_polish_due(&polish, 100001, slow));
    assert_true(armilla_polish_due(&polish, 100010, slow));
    assert_false(armilla_polish_due(&polish, 100010, quick));
}

/* Samples of one length, and codes whose only trap is an axis: polishing comes later, but it comes. */
static void test_descent_suffices_for_one_length(void **state)
{
    armilla_polish soon, late;
    (void)state;
    assert_true(armilla_descent_suffices(&armilla_codes_nonneg_sphere, 1));
    assert_true(armilla_descent_suffices(&armilla_codes_nonneg_sphere, 1 + 1e-5));
    assert_false(armilla_descent_suffices(&armilla_codes_nonneg_sphere, 2));
    assert_false(armilla_descent_suffices(&armilla_codes_nonneg_sphere, 0)); /* not known */
    assert_false(armilla_descent_suffices(&armilla_codes_nonneg_sphere, NAN));
    assert_false(armilla_descent_suffices(&armilla_codes_nonneg_sparse_sphere, 1));
    assert_false(armilla_descent_suffices(&armilla_codes_sparse_sphere, 1));
    assert_false(armilla_descent_suffices(&armilla_codes_sphere, 1));
    assert_false(armilla_descent_suffices(&armilla_codes_nonneg, 1));
    armilla_polish_begin(&soon, false);
    armilla_polish_begin(&late, true);
    for (double fall = 1; fall > 1e-12; fall /= 2)
        assert_true(armilla_polish_due(&soon, 0, fall) || !armilla_polish_due(&late, 0, fall));
    assert_true(armilla_polish_due(&soon, 0, 5e-4) && !armilla_polish_due(&late, 0, 5e-4));
    assert_true(armilla_polish_due(&late, 0, 1e-5));
}

/* One start on at most half of the samples, which have seen enough of every feature. */
static void test_leads_are_halves_at_most(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 1000000000; n = 3 * n + 1)
        for (int64_t r = 1; r < 3000; r *= 3)
            for (double density = 1; density > 1e-4; density /= 7) {
                const armilla_sketch_plan plan = armilla_sketch_lead(n, r, density);
                assert_true(plan.samples >= 0 && plan.samples <= n / 2 && plan.starts == 1 && plan.kept == 1);
                assert_true(plan.samples == 0 || (double)plan.samples * density >= 50 * (double)r * (1 - 1e-12));
                assert_true(plan.samples > 0 || n < 2000 || (double)n * density <= 100 * (double)r + 2);
            }
}

/* All samples of data that are few, no fewer starts on them than are asked for, none goes on for longer than the fit, and
 * what the starts need together is bounded. */
static void test_few_data_have_several_starts(void **state)
{
    int64_t halved = 0;
    (void)state;
    for (int64_t n = 1; n < 1000000; n = 3 * n + 1)
        for (int64_t m = 1; m < 1000000; m = 7 * m + 1)
            for (int64_t r = 1; r < 2000; r = 5 * r + 1)
                for (int64_t restarts = 1; restarts < 100; restarts = 2 * restarts + 1) {
                    const armilla_few_data data = {.n = n, .m = m, .stored = n * m, .r = r};
                    const armilla_sketch_plan plan = armilla_sketch_halve(&data, restarts, 1 + restarts);
                    if (n * m * r < 1000000 && m * r < 10000 && n < 10000) assert_true(plan.samples == n);
                    if (plan.samples == 0) continue;
                    assert_true(plan.samples == n && (double)n * (double)m * (double)r < 1e8);
                    assert_true(plan.starts >= restarts && plan.starts >= 8 && plan.kept >= 1 && plan.kept <= restarts);
                    assert_true(plan.together >= 1 && plan.together <= plan.starts);
                    assert_true(plan.together == 1 || plan.together * n <= 1 << 22);
                    assert_true(plan.together == 1 || plan.together * m * r <= 1 << 20);
                    assert_int_equal(plan.iterations, 1 + restarts);
                    halved++;
                }
    assert_true(halved > 100);
}

static void test_some_passes(void **state)
{
    (void)state;
    for (size_t i = 0; armilla_codes_row(i); i++) {
        const armilla_code_set *codes = armilla_codes_row(i);
        const int passes = armilla_basis_passes(codes, 1, true);
        const int usual = codes->descends && !codes->spherical ? passes : 1;
        assert_true(codes->spherical || codes->descends ? passes > 1 && passes < 5 : passes == 1);
        assert_int_equal(armilla_basis_passes(codes, 1, false), usual);
        assert_int_equal(armilla_basis_passes(codes, 2, true), usual);
        assert_int_equal(armilla_basis_passes(codes, 0, true), usual);
    }
}

/* A sketch is a small part of the data, or there is none; it grows with the rank. */
static void test_sketches_are_small(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 1000000000; n = 3 * n + 1)
        for (int64_t r = 1; r < 3000; r *= 3) {
            const int64_t size = armilla_sketch_decide(ARMILLA_LOCAL_MINIMA, n, r, 0.01, 1).samples;
            const int64_t full = armilla_sketch_decide(ARMILLA_CONVEX, n, r, 1, 1).samples;
            const int64_t thin = armilla_sketch_decide(ARMILLA_CONVEX, n, r, 0.01, 1).samples;
            assert_true(size >= 0 && size <= n / 5);
            assert_true(size == 0 || size >= 10 * r);
            if (n >= 500 * r && n >= 10000)
                assert_true(size > 0 && armilla_sketch_decide(ARMILLA_LOCAL_MINIMA, 2 * n, r, 0.5, 1).samples == size);
            assert_true(full == size);
            assert_true(armilla_sketch_decide(ARMILLA_SUBSPACE, n, r, 0.01, 1).samples == (thin > 0 ? size : 0));
            assert_true(armilla_sketch_decide(ARMILLA_SUBSPACE, n, r, 0.01, 2).samples == size);
            assert_true(armilla_sketch_decide(ARMILLA_CLOSED, n, r, 0.01, 1).samples == size);
            assert_true(thin == 0 || (thin >= 1000 * r && thin <= n / 5));
        }
    for (int64_t restarts = 1; restarts < 100; restarts++) {
        const armilla_sketch_plan closed = armilla_sketch_decide(ARMILLA_CLOSED, 100000, 10, 1, restarts);
        const armilla_sketch_plan convex = armilla_sketch_decide(ARMILLA_CONVEX, 100000, 10, 1, restarts);
        const armilla_sketch_plan many_minima = armilla_sketch_decide(ARMILLA_LOCAL_MINIMA, 100000, 10, 1, restarts);
        assert_true(closed.starts == restarts && convex.starts == restarts && many_minima.starts >= restarts);
        assert_true(many_minima.kept >= 1 && many_minima.kept <= restarts && closed.kept == many_minima.kept);
        assert_int_equal(armilla_sketch_decide(ARMILLA_GLOBAL, 100000, 10, 1, restarts).samples, 0);
        if (restarts >= 4) assert_true(many_minima.kept <= restarts / 2);
        /* One start that is followed longer costs no more than the three of a many_minima. */
        assert_true(convex.iterations > many_minima.iterations);
        if (restarts == 1) assert_true(convex.iterations <= many_minima.iterations * many_minima.starts);
    }
}

/* An orthonormal basis has closed forms, NMF convex blocks; what chooses, or is on a part of a sphere, is a many_minima. */
static void test_landscapes(void **state)
{
    static const struct {
        const char *basis, *codes;
        armilla_landscape landscape;
    } rows[] = {
        {"orthonormal", "free", ARMILLA_GLOBAL},
        {"orthonormal", "sphere", ARMILLA_SUBSPACE},
        {"orthonormal", "sparse-sphere", ARMILLA_CLOSED},
        {"orthonormal", "nonneg-sparse-sphere", ARMILLA_CLOSED},
        {"orthonormal-nonneg", "nonneg", ARMILLA_CLOSED},
        {"nonnegative", "sphere", ARMILLA_CLOSED},
        {"free", "free", ARMILLA_CLOSED},
        {"nonnegative", "nonneg", ARMILLA_CONVEX},
        {"free", "nonneg", ARMILLA_CONVEX},
        {"nonnegative", "nonneg-sphere", ARMILLA_LOCAL_MINIMA},
        {"unit", "sparse", ARMILLA_LOCAL_MINIMA},
        {"free", "one-hot", ARMILLA_LOCAL_MINIMA},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(armilla_pair_landscape(armilla_basis_find(rows[i].basis), armilla_codes_find(rows[i].codes)),
                         rows[i].landscape);
}

/* Revival may happen at once, and then ever more rarely: about log2 of the iterations in all. */
static void test_revivals_become_rare(void **state)
{
    armilla_revival revival;
    int count = 0;
    (void)state;
    armilla_revival_begin(&revival);
    for (int64_t iteration = 0; iteration < 1000; iteration++)
        if (armilla_revival_due(&revival, iteration)) {
            armilla_revival_done(&revival, iteration);
            count++;
            assert_false(armilla_revival_due(&revival, iteration));
        }
    assert_true(count >= 5 && count <= 12);
}

/* What was tried in vain is passed over until h has fallen. */
static void test_failed_revivals_are_not_repeated(void **state)
{
    armilla_revival revival;
    (void)state;
    armilla_revival_begin(&revival);
    assert_int_equal(revival.passed, 0);
    armilla_revival_failed(&revival, 2);
    armilla_revival_failed(&revival, 3);
    assert_int_equal(revival.passed, 5);
    armilla_revival_moved(&revival);
    assert_int_equal(revival.passed, 0);
}

/* A trial that brought nothing: without the samples next time, or with less momentum, or there is nothing to give up. */
static void test_retreats(void **state)
{
    armilla_trial trial = {.momentum = {0.8}, .reviving = 2};
    (void)state;
    armilla_revival_begin(&trial.revival);
    assert_true(armilla_trial_retreat(&trial, 0));
    assert_true(trial.momentum.beta == 0.8 && trial.reviving == 0 && trial.revival.passed == 2);
    assert_false(armilla_trial_retreat(&trial, 0));
    assert_true(trial.momentum.beta == 0.8 && trial.revival.passed == 2);
    assert_true(armilla_trial_retreat(&trial, 0.8));
    assert_true(trial.momentum.beta == 0.4 && trial.revival.passed == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_momentum_grows_to_its_cap),
        cmocka_unit_test(test_momentum_halves),
        cmocka_unit_test(test_momentum_stays_in_bounds),
        cmocka_unit_test(test_continuation_falls_from_r_to_s),
        cmocka_unit_test(test_steps_are_bounded),
        cmocka_unit_test(test_polish_waits),
        cmocka_unit_test(test_descent_suffices_for_one_length),
        cmocka_unit_test(test_leads_are_halves_at_most),
        cmocka_unit_test(test_few_data_have_several_starts),
        cmocka_unit_test(test_some_passes),
        cmocka_unit_test(test_sketches_are_small),
        cmocka_unit_test(test_landscapes),
        cmocka_unit_test(test_revivals_become_rare),
        cmocka_unit_test(test_failed_revivals_are_not_repeated),
        cmocka_unit_test(test_retreats),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
