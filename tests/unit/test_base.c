/* What everything else stands on: random numbers, sizes, words, the reference_context, and the option tables. */
#include "reference/reference.h"
#include "unit/support.h"

#include "base/context.h"
#include "base/random.h"
#include "base/size.h"
#include "base/team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The known answers that Random123 is distributed with. */
static void test_philox_known_answers(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } answers[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    uint32_t out[4];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        armilla_philox(answers[i].counter, answers[i].key, out);
        assert_memory_equal(out, answers[i].out, sizeof out);
    }
}

/* Draws differ by seed, stream and index, also beyond 32 bits of each. */
static void test_draws_have_their_own_counter(void **state)
{
    static const uint64_t seeds[] = {0, 1, 1ull << 32, UINT64_MAX}, indices[] = {0, 1, 1ull << 32, UINT64_MAX};
    uint64_t seen[4 * 4 * 3];
    size_t count = 0;
    (void)state;
    for (size_t s = 0; s < 4; s++)
        for (size_t i = 0; i < 4; i++)
            for (armilla_stream stream = ARMILLA_STREAM_BASIS; stream <= ARMILLA_STREAM_SAMPLES; stream++)
                seen[count++] = armilla_random_bits(seeds[s], stream, indices[i]);
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < a; b++) assert_true(seen[a] != seen[b]);
    assert_true(armilla_random_bits(5, ARMILLA_STREAM_TEST, 9) == armilla_random_bits(5, ARMILLA_STREAM_TEST, 9));
}

static void test_moments(void **state)
{
    enum { DRAWS = 400000 };
    double uniform[2] = {0}, normal[5] = {0}, lagged = 0, before = 0;
    (void)state;
    for (uint64_t i = 0; i < DRAWS; i++) {
        const double u = armilla_random_uniform(3, ARMILLA_STREAM_TEST, i);
        const double z = armilla_random_normal(4, ARMILLA_STREAM_TEST, i);
        assert_true(u > 0 && u < 1 && isfinite(z));
        uniform[0] += u;
        uniform[1] += u * u;
        for (int p = 1; p <= 4; p++) normal[p] += pow(z, p);
        lagged += before * z;
        before = z;
    }
    /* Five standard errors each. */
    REFERENCE_NEAR(uniform[0] / DRAWS, 0.5, 5 * sqrt(1.0 / 12 / DRAWS));
    REFERENCE_NEAR(uniform[1] / DRAWS, 1.0 / 3, 5 * sqrt(4.0 / 45 / DRAWS));
    REFERENCE_NEAR(normal[1] / DRAWS, 0, 5 * sqrt(1.0 / DRAWS));
    REFERENCE_NEAR(normal[2] / DRAWS, 1, 5 * sqrt(2.0 / DRAWS));
    REFERENCE_NEAR(normal[3] / DRAWS, 0, 5 * sqrt(15.0 / DRAWS));
    REFERENCE_NEAR(normal[4] / DRAWS, 3, 5 * sqrt(96.0 / DRAWS));
    REFERENCE_NEAR(lagged / DRAWS, 0, 5 * sqrt(1.0 / DRAWS));
}

static void test_symmetric_numbers(void **state)
{
    enum { COUNT = 40001, PART = 37 };
    static double all[COUNT];
    double part[PART], sum = 0, squares = 0, neighbours = 0;
    (void)state;
    armilla_random_symmetric(9, ARMILLA_STREAM_TEST, 0, COUNT, all);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_true(all[i] > -1 && all[i] < 1);
        sum += all[i];
        squares += all[i] * all[i];
        if (i > 0) neighbours += all[i] * all[i - 1];
    }
    assert_true(fabs(sum / COUNT) < 0.02 && fabs(squares / COUNT - 1.0 / 3) < 0.01 && fabs(neighbours / COUNT) < 0.01);
    for (uint64_t first = 0; first < 9; first++) { /* wherever a part begins */
        armilla_random_symmetric(9, ARMILLA_STREAM_TEST, first, PART, part);
        assert_memory_equal(part, all + first, sizeof part);
    }
    armilla_random_symmetric(10, ARMILLA_STREAM_TEST, 0, PART, part);
    assert_memory_not_equal(part, all, sizeof part);
}

static void test_sizes(void **state)
{
    size_t bytes = 77;
    int64_t area = 0;
    (void)state;
    assert_true(armilla_size_multiply(3, 8, &bytes) && bytes == 24);
    assert_true(armilla_size_multiply(0, 8, &bytes) && bytes == 0);
    assert_true(armilla_size_multiply(PTRDIFF_MAX, 1, &bytes) && bytes == PTRDIFF_MAX);
    bytes = 77;
    assert_false(armilla_size_multiply(-1, 8, &bytes));
    assert_false(armilla_size_multiply(PTRDIFF_MAX / 8 + 1, 8, &bytes));
    assert_false(armilla_size_multiply(INT64_MAX, SIZE_MAX, &bytes));
    assert_true(bytes == 77);
    assert_true(armilla_size_area(3000000000, 3000000000, &area) && area == 9000000000000000000);
    assert_false(armilla_size_area(-1, 2, &area) || armilla_size_area(2, -1, &area));
    assert_false(armilla_size_area(INT64_MAX / 2 + 1, 2, &area));
    assert_true(armilla_size_fits_int(INT_MAX) && armilla_size_fits_int(0));
    assert_false(armilla_size_fits_int((int64_t)INT_MAX + 1) || armilla_size_fits_int(-1));
    assert_true(armilla_min64(-3, 2) == -3 && armilla_max64(-3, 2) == 2);
}

static void test_words(void **state)
{
    static const int exits[] = {0, 64, 65, 66, 69, 70, 71, 73, 74, 130};
    static const char *const stops[] = {"converged", "max-iter", "time-limit", "interrupted"};
    (void)state;
    assert_int_equal(ARMILLA_STATUS_COUNT, sizeof exits / sizeof exits[0]);
    for (int i = 0; i < ARMILLA_STATUS_COUNT; i++) {
        assert_int_equal(armilla_status_exit((armilla_status)i), exits[i]);
        assert_true(strlen(armilla_status_text((armilla_status)i)) > 0);
    }
    for (int i = 0; i < ARMILLA_STOP_COUNT; i++) assert_string_equal(armilla_stop_word((armilla_stop)i), stops[i]);
    assert_string_equal(armilla_type_word(ARMILLA_F32), "f32");
    assert_string_equal(armilla_type_word(ARMILLA_F64), "f64");
    assert_string_equal(armilla_type_word(ARMILLA_U8), "u8");
    assert_int_equal(armilla_type_size(ARMILLA_U8), 1);
    assert_int_equal(ARMILLA_PRECISION_COUNT, 2);
    assert_int_equal(armilla_type_precision(ARMILLA_U8), ARMILLA_F32);
    assert_int_equal(armilla_type_precision(ARMILLA_F64), ARMILLA_F64);
    assert_int_equal(armilla_type_size(ARMILLA_F32), 4);
    assert_int_equal(armilla_type_size(ARMILLA_F64), 8);
    /* Values that no list has. */
    assert_int_equal(armilla_status_exit((armilla_status)1000), 70);
    assert_non_null(armilla_status_text((armilla_status)1000));
    assert_non_null(armilla_stop_word((armilla_stop)1000));
    assert_non_null(armilla_type_word((armilla_type)1000));
    assert_int_equal(armilla_type_size((armilla_type)1000), 0);
    assert_string_equal(armilla_version(), ARMILLA_VERSION);
}

static void test_memory(void **state)
{
    int64_t *block = NULL;
    char *copy = (char *)"untouched";
    (void)state;
    REFERENCE_OK(armilla_take(reference_context, 100, sizeof *block, &block));
    for (int i = 0; i < 100; i++) assert_true(block[i] == 0);
    block[99] = 5;
    REFERENCE_OK(armilla_grow(reference_context, 1000, sizeof *block, &block));
    assert_true(block[99] == 5);
    int64_t *kept = block;
    REFERENCE_STATUS(armilla_take(reference_context, INT64_MAX, sizeof *block, &block), ARMILLA_NO_MEMORY);
    REFERENCE_STATUS(armilla_grow(reference_context, -1 - INT64_MAX, SIZE_MAX, &block), ARMILLA_NO_MEMORY);
    assert_ptr_equal(block, kept);
    assert_non_null(strstr(armilla_context_error(reference_context), "memory"));
    armilla_release(reference_context, block);
    REFERENCE_OK(armilla_take(reference_context, 0, sizeof *block, &block));
    assert_non_null(block);
    armilla_release(reference_context, block);
    armilla_release(reference_context, NULL);
    REFERENCE_OK(armilla_copy_text(reference_context, "abc", &copy));
    assert_string_equal(copy, "abc");
    armilla_release(reference_context, copy);
    REFERENCE_OK(armilla_copy_text(reference_context, NULL, &copy));
    assert_null(copy);
    armilla_context_free(NULL);
}

static char recorded[2][64];

static void record_message(void *user, armilla_log_level level, const char *message)
{
    assert_ptr_equal(user, recorded);
    snprintf(recorded[level], sizeof recorded[level], "%s", message);
}

static void test_errors_and_log(void **state)
{
    char long_text[3000];
    armilla_context *fresh = support_context();
    (void)state;
    assert_string_equal(armilla_context_error(fresh), "");
    assert_int_equal(armilla_fail(fresh, ARMILLA_BAD_DATA, "row %d", 3), ARMILLA_BAD_DATA);
    assert_string_equal(armilla_context_error(fresh), "row 3");
    armilla_fail(fresh, ARMILLA_BAD_DATA, "x.csv: %s", armilla_context_error(fresh));
    assert_string_equal(armilla_context_error(fresh), "x.csv: row 3");
    armilla_fail(fresh, ARMILLA_BAD_DATA, "a\nb\x1b[1m\x7f \xc3\xa9");
    assert_string_equal(armilla_context_error(fresh), "a?b?[1m? \xc3\xa9"); /* one line, and no terminal moves */
    memset(long_text, 'a', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    armilla_fail(fresh, ARMILLA_INTERNAL, "%s", long_text);
    assert_true(strlen(armilla_context_error(fresh)) == sizeof fresh->error - 1);
    armilla_log(fresh, ARMILLA_LOG_INFO, "nobody %s", "listens");
    armilla_context_set_log(fresh, record_message, recorded);
    armilla_log(fresh, ARMILLA_LOG_INFO, "one %d", 1);
    armilla_log(fresh, ARMILLA_LOG_WARNING, "two");
    assert_string_equal(recorded[ARMILLA_LOG_INFO], "one 1");
    assert_string_equal(recorded[ARMILLA_LOG_WARNING], "two");
    armilla_context_free(fresh);
}

static void test_thread_counts(void **state)
{
    (void)state;
    assert_true(armilla_threads_available() >= 1);
    assert_true(armilla_threads_choose(0) >= 1 && armilla_threads_choose(-5) == armilla_threads_choose(0));
    assert_int_equal(armilla_threads_choose(3), 3);
    assert_true(armilla_threads_choose(INT64_MAX) >= 1);
}

enum { MOST_MEMBERS = 8 };

/* Each thread touches its own place only, so that a job run twice or by the wrong thread shows. */
static void sign(void *self, int thread)
{
    int64_t *runs = self;
    if (thread >= 0 && thread < MOST_MEMBERS) runs[thread]++;
}

static void test_team(void **state)
{
    (void)state;
    for (int threads = 1; threads <= MOST_MEMBERS; threads++) {
        int64_t runs[MOST_MEMBERS] = {0}, few[MOST_MEMBERS] = {0};
        REFERENCE_OK(armilla_call_enter(reference_context, threads));
        assert_int_equal(armilla_call_threads(reference_context), threads);
        for (int64_t job = 1; job <= 100; job++) {
            const armilla_team two = armilla_team_of(reference_context, 2),
                               all = armilla_team_of(reference_context, 99);
            armilla_team_run(&two, sign, few);
            armilla_team_run(&all, sign, runs);
            for (int t = 0; t < MOST_MEMBERS; t++) {
                assert_int_equal(runs[t], t < threads ? job : 0);
                assert_int_equal(few[t], t < threads && t < 2 ? job : 0);
            }
        }
        armilla_call_leave(reference_context);
    }
    assert_int_equal(armilla_call_threads(reference_context), 1);
    assert_int_equal(armilla_team_of(reference_context, 4).threads, 1); /* outside a call */
}

typedef struct nesting {
    armilla_team team;
    int64_t covered, within[64];
} nesting;

static void cover(void *self, int64_t first, int64_t last)
{
    nesting *n = self;
    for (int64_t i = first; i < last; i++) __atomic_add_fetch(&n->within[i], 1, __ATOMIC_RELAXED);
}

typedef struct sharing {
    int64_t shares, parts[MOST_MEMBERS];
} sharing;

static void take_share(void *self, int64_t first, int64_t last)
{
    sharing *s = self;
    __atomic_add_fetch(&s->shares, 1, __ATOMIC_RELAXED);
    for (int64_t i = first; i < last; i++) __atomic_add_fetch(&s->parts[i], 1, __ATOMIC_RELAXED);
}

/* Each part is done once, and by no more threads than there are parts. */
static void test_shares(void **state)
{
    (void)state;
    REFERENCE_OK(armilla_call_enter(reference_context, 4));
    const armilla_team team = armilla_team_of(reference_context, 4);
    for (int64_t count = 0; count <= MOST_MEMBERS; count++) {
        sharing s = {.shares = 0};
        armilla_team_share(&team, count, take_share, &s);
        assert_int_equal(s.shares, count < 1 ? 1 : count < 4 ? count : 4);
        for (int64_t i = 0; i < MOST_MEMBERS; i++) assert_int_equal(s.parts[i], i < count);
    }
    armilla_call_leave(reference_context);
}

static void share_within(void *self, int thread)
{
    nesting *n = self;
    armilla_team_share(&n->team, 64, cover, n);
    (void)thread;
}

/* A job may ask for a team itself: it has the thread that it runs on, and everything is done. */
static void test_jobs_within_jobs(void **state)
{
    (void)state;
    REFERENCE_OK(armilla_call_enter(reference_context, 4));
    nesting n = {.team = armilla_team_of(reference_context, 4)};
    armilla_team_run(&n.team, share_within, &n);
    for (int i = 0; i < 64; i++) assert_int_equal(n.within[i], 4);
    armilla_call_leave(reference_context);
}

static void fail_all(void *self, int thread)
{
    (void)self;
    for (int i = 0; i < 200; i++) (void)armilla_fail(reference_context, ARMILLA_IO_ERROR, "thread %d, %d", thread, i);
}

/* Sentences of several threads do not mix: the first thread's last one is kept. */
static void test_errors_on_several_threads(void **state)
{
    (void)state;
    REFERENCE_OK(armilla_call_enter(reference_context, 6));
    const armilla_team team = armilla_team_of(reference_context, 6);
    for (int repeat = 0; repeat < 50; repeat++) {
        armilla_team_run(&team, fail_all, NULL);
        assert_string_equal(armilla_context_error(reference_context), "thread 0, 199");
    }
    armilla_call_leave(reference_context);
}

/* Within a call another one with the same context is refused, and changes nothing of it. */
static void test_calls_within_calls(void **state)
{
    (void)state;
    REFERENCE_OK(armilla_call_enter(reference_context, 3));
    REFERENCE_STATUS(armilla_call_enter(reference_context, 1), ARMILLA_BAD_ARGUMENT);
    assert_non_null(strstr(armilla_context_error(reference_context), "context of its own"));
    assert_int_equal(armilla_call_threads(reference_context), 3);
    armilla_call_leave(reference_context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox_known_answers),
        cmocka_unit_test(test_draws_have_their_own_counter),
        cmocka_unit_test(test_symmetric_numbers),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_errors_and_log),
        cmocka_unit_test(test_thread_counts),
        cmocka_unit_test(test_team),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_jobs_within_jobs),
        cmocka_unit_test(test_errors_on_several_threads),
        cmocka_unit_test(test_calls_within_calls),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
