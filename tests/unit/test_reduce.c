/* The tree sum over slots: every slot once, elements of every kind, the same bits for any number of threads and of kept
 * vectors, again and again, and after a failure as well. */
#include "reference/reference.h"

#include "base/reduce.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLES = 300, FLOATS = 130, MOST_SLOTS = 150 };

/* A slot's vector, and where floats are read at 8 bytes the result. */
typedef struct vector {
    double sums[DOUBLES], least, most;
    uint64_t wrapping;
    int64_t first;
    float floats[FLOATS];
} vector;

typedef struct result {
    double sums[DOUBLES], least, most;
    uint64_t wrapping;
    int64_t first;
    double floats[FLOATS];
} result;

typedef struct work {
    int64_t fail_at; /* slots from this one on fail, each in its own way; -1: none */
    int64_t visits[MOST_SLOTS];
    int64_t every; /* > 0: only slots that are multiples of it, and the last, contribute */
    int64_t slots;
    bool floats; /* every slot is kept: a segment of floats too */
} work;

static int64_t lowest(int64_t slot)
{
    return 1000 - slot * 37 % 101;
}

/* Numbers of very different size, so that another order of adding would show. */
static double number(int64_t slot, int64_t i)
{
    return (slot % 3 ? 1 : -1) * pow(10, (double)((slot * 7 + i * 5) % 17)) / (double)(slot + i + 3);
}

static bool is_neutral(const vector *v)
{
    bool right = isinf(v->least) && v->least > 0 && isinf(v->most) && v->most < 0;
    right &= v->wrapping == 0 && v->first == INT64_MAX;
    for (int64_t i = 0; i < DOUBLES; i++) right &= v->sums[i] == 0;
    return right;
}

static armilla_status add(void *self, int64_t slot, int thread, void *place)
{
    work *w = self;
    vector *v = place;
    volatile double delay = 0;
    for (int64_t spin = 0; spin < slot * 37 % 11 * 200; spin++) delay += 1; /* slots finish out of order */
    (void)delay;
    __atomic_add_fetch(&w->visits[slot], 1, __ATOMIC_RELAXED);
    if (w->fail_at >= 0 && slot >= w->fail_at)
        return armilla_fail(reference_context, slot == w->fail_at ? ARMILLA_IO_ERROR : ARMILLA_BAD_DATA,
                            "slot %d has failed", (int)slot);
    const bool right = thread >= 0 && thread < 8 && is_neutral(v);
    for (int64_t i = 0; i < DOUBLES; i++) v->sums[i] += number(slot, i);
    for (int64_t i = 0; i < FLOATS; i++) v->floats[i] = (float)number(slot, i);
    v->least = fmin(v->least, number(slot, 1));
    v->most = fmax(v->most, number(slot, 2));
    v->wrapping += (uint64_t)slot * 0x9e3779b97f4a7c15u;
    v->first = lowest(slot);
    return right ? ARMILLA_OK : ARMILLA_INTERNAL; /* cmocka's checks belong to the main thread */
}

static bool contributes(const void *self, int64_t slot)
{
    const work *w = self;
    return w->every == 0 || slot % w->every == 0 || slot == w->slots - 1;
}

/* The fixed tree: neighbours are added, left to right, level by level; an odd one goes up as it is. */
static double tree_sum(int64_t slots, int64_t i, bool narrow)
{
    double values[MOST_SLOTS];
    for (int64_t s = 0; s < slots; s++) values[s] = narrow ? (double)(float)number(s, i) : number(s, i);
    for (; slots > 1; slots = (slots + 1) / 2)
        for (int64_t s = 0; s < slots; s += 2) values[s / 2] = s + 1 < slots ? values[s] + values[s + 1] : values[s];
    return values[0];
}

/* The same over the slots that contribute: where one child is absent the other goes up as it is. */
static double sparse_tree_sum(const work *w, int64_t i, bool narrow)
{
    double values[MOST_SLOTS];
    bool there[MOST_SLOTS];
    int64_t slots = w->slots;
    for (int64_t s = 0; s < slots; s++) values[s] = narrow ? (double)(float)number(s, i) : number(s, i);
    for (int64_t s = 0; s < slots; s++) there[s] = contributes(w, s);
    for (; slots > 1; slots = (slots + 1) / 2)
        for (int64_t s = 0; s < slots; s += 2) {
            const bool right = s + 1 < slots && there[s + 1];
            values[s / 2] = there[s] && right ? values[s] + values[s + 1] : values[s + !there[s]];
            there[s / 2] = there[s] || right;
        }
    return values[0];
}

enum { SUMS, LEAST, MOST, WRAP, FIRST, FLOAT, SEGMENTS };

static armilla_status reduce(armilla_reducer *reducer, work *w, result *got)
{
    const armilla_segment segments[SEGMENTS] = {
        [SUMS] = {.kind = ARMILLA_SUM, .count = DOUBLES, .result = got->sums},
        [LEAST] = {.kind = ARMILLA_LEAST, .count = 1, .result = &got->least},
        [MOST] = {.kind = ARMILLA_MOST, .count = 1, .result = &got->most},
        [WRAP] = {.kind = ARMILLA_WRAP, .count = 1, .result = &got->wrapping},
        [FIRST] = {.kind = ARMILLA_FIRST, .count = 1, .result = &got->first},
        [FLOAT] = {.kind = ARMILLA_SUM_F32, .count = FLOATS, .written = true, .result = got->floats},
    };
    const int count = w->floats ? SEGMENTS : FLOAT;
    return armilla_reduce(
        reducer,
        &(armilla_reduction){
            .segments = segments, .count = count, .body = add, .self = w, .has = w->every ? contributes : NULL});
}

/* Windows of any shape are those of the whole. */
static void check_windows(const armilla_reducer *reducer, const result *got)
{
    static const armilla_window windows[] = {
        {0, 128, 1, 128}, {172, 128, 1, 128}, {5, 1, 1, 1}, {3, 4, 32, 9}, {10, 8, 16, 8}};
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        double buffer[ARMILLA_WINDOW_BUFFER];
        const armilla_window *at = &windows[w];
        armilla_reduced(reducer, SUMS, at, buffer);
        for (int64_t k = 0; k < at->runs * at->run; k++)
            REFERENCE_HOLDS(buffer[k] == got->sums[at->first + k / at->run * at->stride + k % at->run]);
    }
}

static void run_once(armilla_reducer *reducer, int64_t slots, bool floats)
{
    work w = {.fail_at = -1, .floats = floats};
    result got;
    double least = INFINITY, most = -INFINITY;
    uint64_t wrapping = 0;
    int64_t first = INT64_MAX;
    REFERENCE_OK(reduce(reducer, &w, &got));
    for (int64_t i = 0; i < DOUBLES; i++) REFERENCE_HOLDS(got.sums[i] == tree_sum(slots, i, false));
    for (int64_t i = 0; i < FLOATS && floats; i++) REFERENCE_HOLDS(got.floats[i] == tree_sum(slots, i, true));
    for (int64_t s = 0; s < slots; s++) {
        REFERENCE_HOLDS(w.visits[s] == 1);
        least = fmin(least, number(s, 1));
        most = fmax(most, number(s, 2));
        wrapping += (uint64_t)s * 0x9e3779b97f4a7c15u;
        first = lowest(s) < first ? lowest(s) : first;
    }
    REFERENCE_HOLDS(got.least == least && got.most == most && got.wrapping == wrapping && got.first == first);
    check_windows(reducer, &got);
}

static void run_with_failure(armilla_reducer *reducer, int64_t slots, bool floats)
{
    work w = {.fail_at = slots / 2, .floats = floats};
    result got = {.sums = {42}};
    char message[64];
    snprintf(message, sizeof message, "slot %d has failed", (int)w.fail_at);
    REFERENCE_STATUS(reduce(reducer, &w, &got), ARMILLA_IO_ERROR);
    REFERENCE_HOLDS(got.sums[0] == 42);
    assert_string_equal(armilla_context_error(reference_context), message);
}

static armilla_reducer *make(int64_t slots, int64_t keep, int threads)
{
    armilla_reducer *reducer = NULL;
    const armilla_reducer_plan plan = {slots, keep, sizeof(vector), sizeof(result), threads};
    REFERENCE_OK(armilla_reducer_new(reference_context, &plan, &reducer));
    return reducer;
}

static void test_sums_are_those_of_the_tree(void **state)
{
    static const int threads[] = {1, 2, 3, 8};
    static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 64, MOST_SLOTS},
                         keeps[] = {1, 5, ARMILLA_MOST_KEPT};
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (size_t t = 0; t < 4; t++)
            for (size_t k = 0; k < sizeof keeps / sizeof *keeps; k++) {
                const int64_t slots = counts[c];
                reference_scene("%d slots, %d threads, %d kept", (int)slots, threads[t], (int)keeps[k]);
                REFERENCE_OK(armilla_call_enter(reference_context, threads[t]));
                armilla_reducer *reducer = make(slots, keeps[k], threads[t]);
                REFERENCE_HOLDS(armilla_reducer_team(reducer)->threads == (threads[t] < slots ? threads[t] : slots));
                const bool floats = slots <= keeps[k];
                for (int repeat = 0; repeat < (threads[t] < 8 ? 5 : 2); repeat++) run_once(reducer, slots, floats);
                run_with_failure(reducer, slots, floats);
                for (int repeat = 0; repeat < 2; repeat++) run_once(reducer, slots, floats);
                armilla_reducer_free(reducer);
                armilla_call_leave(reference_context);
            }
    armilla_reducer_free(NULL);
}

/* A reduction over some slots: absent ones are not visited, and cost no rounding. */
static void test_some_slots(void **state)
{
    static const int64_t sizes[] = {1, 2, 7, 24, 64, 149}, steps[] = {1, 2, 3, 10, 1000}, kept[] = {1, 4, 24};
    (void)state;
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 5 * 3; k++)
            for (int threads = 1; threads <= 3; threads++) {
                const armilla_reducer_plan plan = {.slots = sizes[i],
                                                   .keep = kept[k % 3],
                                                   .bytes = sizeof(vector),
                                                   .exchange_bytes = sizeof(result),
                                                   .threads = threads};
                work w = {.fail_at = -1, .every = steps[k / 3], .slots = sizes[i], .floats = sizes[i] <= kept[k % 3]};
                result got;
                armilla_reducer *reducer = NULL;
                reference_scene("%d slots, every %d, %d kept", (int)sizes[i], (int)w.every, (int)kept[k % 3]);
                REFERENCE_OK(armilla_reducer_new(reference_context, &plan, &reducer));
                REFERENCE_OK(reduce(reducer, &w, &got));
                for (int64_t e = 0; e < DOUBLES; e++) REFERENCE_HOLDS(got.sums[e] == sparse_tree_sum(&w, e, false));
                for (int64_t e = 0; e < FLOATS && w.floats; e++)
                    REFERENCE_HOLDS(got.floats[e] == sparse_tree_sum(&w, e, true));
                for (int64_t s = 0; s < w.slots; s++) REFERENCE_HOLDS(w.visits[s] == contributes(&w, s));
                armilla_reducer_free(reducer);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_those_of_the_tree),
        cmocka_unit_test(test_some_slots),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
