/* The tree sum over slots: every slot once, the same bits for any number of threads, again and again, and after a
 * failure as well. */
#include "reference/reference.h"

#include "base/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 7, MOST_SLOTS = 150 };

typedef struct work {
    int64_t fail_at; /* this slot fails; -1: none */
    int64_t visits[MOST_SLOTS];
} work;

/* Numbers of very different size, so that another order of adding would show. */
static double number(int64_t slot, int64_t i)
{
    return (slot % 3 ? 1 : -1) * pow(10, (double)((slot * 7 + i * 5) % 17)) / (double)(slot + i + 3);
}

static armilla_status add(void *self, int64_t slot, int thread, double *sums)
{
    work *w = self;
    volatile double delay = 0;
    for (int64_t spin = 0; spin < slot * 37 % 11 * 200; spin++) delay += 1; /* slots finish out of order */
    (void)delay;
    __atomic_add_fetch(&w->visits[slot], 1, __ATOMIC_RELAXED);
    if (slot == w->fail_at) return ARMILLA_IO_ERROR;
    bool right = thread >= 0 && thread < 8;
    for (int64_t i = 0; i < LENGTH; i++) {
        right &= sums[i] == 0;
        sums[i] += number(slot, i);
    }
    return right ? ARMILLA_OK : ARMILLA_INTERNAL; /* cmocka's checks belong to the main thread */
}

/* The fixed tree: neighbours are added, left to right, level by level; an odd one goes up as it is. */
static double tree_sum(int64_t slots, int64_t i)
{
    double values[MOST_SLOTS];
    for (int64_t s = 0; s < slots; s++) values[s] = number(s, i);
    for (; slots > 1; slots = (slots + 1) / 2)
        for (int64_t s = 0; s < slots; s += 2) values[s / 2] = s + 1 < slots ? values[s] + values[s + 1] : values[s];
    return values[0];
}

static void run_once(armilla_reducer *reducer, int64_t slots)
{
    work w = {.fail_at = -1};
    double sums[LENGTH];
    REFERENCE_OK(armilla_reduce(reducer, LENGTH, add, &w, sums));
    for (int64_t i = 0; i < LENGTH; i++) REFERENCE_HOLDS(sums[i] == tree_sum(slots, i));
    for (int64_t s = 0; s < slots; s++) REFERENCE_HOLDS(w.visits[s] == 1);
}

static void run_with_failure(armilla_reducer *reducer, int64_t slots)
{
    work w = {.fail_at = slots / 2};
    double sums[LENGTH] = {42};
    REFERENCE_STATUS(armilla_reduce(reducer, LENGTH, add, &w, sums), ARMILLA_IO_ERROR);
    REFERENCE_HOLDS(sums[0] == 42);
}

static void test_sums_are_those_of_the_tree(void **state)
{
    static const int threads[] = {1, 2, 3, 8};
    static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 64, MOST_SLOTS};
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (size_t t = 0; t < 4; t++) {
            const int64_t slots = counts[c];
            armilla_reducer *reducer = NULL;
            reference_scene("%d slots, %d threads", (int)slots, threads[t]);
            REFERENCE_OK(armilla_reducer_new(reference_context, slots, LENGTH, threads[t], &reducer));
            for (int repeat = 0; repeat < (threads[t] < 8 ? 25 : 3); repeat++) run_once(reducer, slots);
            run_with_failure(reducer, slots);
            for (int repeat = 0; repeat < 3; repeat++) run_once(reducer, slots);
            armilla_reducer_free(reducer);
        }
}

/* A shorter vector than the reducer was made for. */
static void test_shorter_vectors(void **state)
{
    armilla_reducer *reducer = NULL;
    work w = {.fail_at = -1};
    double sums[LENGTH];
    (void)state;
    reference_scene("shorter vectors");
    REFERENCE_OK(armilla_reducer_new(reference_context, 20, 3 * LENGTH, 4, &reducer));
    REFERENCE_OK(armilla_reduce(reducer, LENGTH, add, &w, sums));
    for (int64_t i = 0; i < LENGTH; i++) REFERENCE_HOLDS(sums[i] == tree_sum(20, i));
    armilla_reducer_free(reducer);
    armilla_reducer_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_those_of_the_tree),
        cmocka_unit_test(test_shorter_vectors),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
