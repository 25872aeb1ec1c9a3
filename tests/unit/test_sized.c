/* Structs that carry their size: what is copied in and out, and that their ends leave no place where a later member
 * could not be seen. */
#include "unit/support.h"

#include "base/sized.h"

#include <armilla/armilla.h>

#include <string.h>

/* The last member ends where the struct does. */
#define ENDS_WITH(type, member)                                                                                        \
    _Static_assert(offsetof(type, member) + sizeof(((type *)0)->member) == sizeof(type), #type " ends with padding")
ENDS_WITH(armilla_allocator, user);
ENDS_WITH(armilla_progress, latest);
ENDS_WITH(armilla_workload, code_seconds);
ENDS_WITH(armilla_read_options, found);
ENDS_WITH(armilla_write_options, format);
ENDS_WITH(armilla_selection, features);
ENDS_WITH(armilla_data_facts, cancellation);
ENDS_WITH(armilla_trace_entry, seconds);
ENDS_WITH(armilla_options, top_features);
ENDS_WITH(armilla_model_summary, top_features);
ENDS_WITH(armilla_model_arrays, top_features);
ENDS_WITH(armilla_check, finding);
ENDS_WITH(armilla_cluster_options, threads);
ENDS_WITH(armilla_cluster_summary, neighbor_distance);
ENDS_WITH(armilla_cluster_choice, method_reason);
ENDS_WITH(armilla_cluster_number, score);
ENDS_WITH(armilla_labels, missing);
ENDS_WITH(armilla_scores, purity);
ENDS_WITH(armilla_comparison_summary, kept);
ENDS_WITH(armilla_atom_match, angle);
ENDS_WITH(armilla_cluster_quality, silhouette);
ENDS_WITH(armilla_table_row, sign);
ENDS_WITH(armilla_top_group, zeros);
ENDS_WITH(armilla_top_entry, angle);
ENDS_WITH(armilla_option, group);
ENDS_WITH(armilla_data_source, close);
ENDS_WITH(armilla_ranks, local);

typedef struct whole {
    size_t size;
    int64_t a, b, c;
} whole;

/* A program's struct of any size from the first member on, and what the library makes of it. */
static void test_read(void **state)
{
    armilla_context *context = support_context();
    (void)state;
    for (size_t size = 2 * sizeof(int64_t); size <= 8 * sizeof(int64_t); size += sizeof(int64_t)) {
        const whole defaults = {sizeof defaults, -1, -2, -3};
        int64_t given[8] = {0, 1, 2, 3};
        whole made = defaults;
        memcpy(given, &size, sizeof size);
        support_ok(context, armilla_sized_read(context, "whole", given, &made, sizeof made));
        assert_int_equal(made.size, sizeof made);
        assert_int_equal(made.a, 1);
        assert_int_equal(made.b, size > 2 * sizeof(int64_t) ? 2 : -2);
        assert_int_equal(made.c, size > 3 * sizeof(int64_t) ? 3 : -3);
        if (size <= sizeof made) continue;
        ((unsigned char *)given)[size - 1] = 1;
        support_fails(context, armilla_sized_read(context, "whole", given, &made, sizeof made), ARMILLA_NOT_BUILT,
                      "whole: sets a member that this library");
    }
    armilla_context_free(context);
}

static void test_sizes_that_cannot_be(void **state)
{
    static const size_t sizes[] = {0, 1, sizeof(size_t), 9, 12, 20, 31, (1 << 16) + 1, (1 << 16) + 8, SIZE_MAX};
    armilla_context *context = support_context();
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        whole given = {sizes[i], 1, 2, 3}, made = {sizeof made, 0, 0, 0};
        support_fails(context, armilla_sized_read(context, "whole", &given, &made, sizeof made), ARMILLA_BAD_ARGUMENT,
                      "fill it by whole_default");
        assert_int_equal(made.a, 0);
    }
    armilla_context_free(context);
}

static void test_write(void **state)
{
    const whole found = {sizeof found, 1, 2, 3};
    (void)state;
    for (size_t size = 0; size <= 64; size++) {
        unsigned char given[80];
        size_t filled = 0;
        memset(given, 0xa5, sizeof given);
        armilla_sized_write(&found, sizeof found, given, size);
        for (size_t i = size < sizeof filled ? 0 : size; i < sizeof given; i++) assert_int_equal(given[i], 0xa5);
        if (size < sizeof filled) continue;
        memcpy(&filled, given, sizeof filled);
        assert_int_equal(filled, size < sizeof found ? size : sizeof found);
        assert_memory_equal(given + sizeof filled, (const char *)&found + sizeof filled, filled - sizeof filled);
        for (size_t i = sizeof found; i < size; i++) assert_int_equal(given[i], 0);
    }
    armilla_sized_write(&found, sizeof found, NULL, 64);
}

static void test_write_back(void **state)
{
    whole found = {sizeof found, 7, 8, 9};
    int64_t given[6] = {3 * sizeof(int64_t), 1, 2, 3, 4, 5};
    (void)state;
    armilla_sized_write_back(&found, sizeof found, given);
    assert_int_equal(given[0], 3 * sizeof(int64_t));
    assert_int_equal(given[1], 7);
    assert_int_equal(given[2], 8);
    assert_int_equal(given[3], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_sizes_that_cannot_be),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_write_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
