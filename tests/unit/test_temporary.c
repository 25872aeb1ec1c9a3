/* Arrays with a column for each sample that are larger than the memory limit. */
#include "base/samples.h"
#include "unit/fixture.h"

enum { PATH = 300 };

/* Arrays that do not fit are in a file, and what becomes of one that cannot be made. */
static void test_temporary_files(void **state)
{
    const armilla_samples all = armilla_samples_whole(1 << 18);
    char folder[PATH];
    int64_t *numbers = NULL;
    (void)state;
    support_path(folder, sizeof folder, "");
    armilla_context_set_memory(context, 1 << 20);
    support_fails(context, armilla_samples_take(context, &all, 1, sizeof *numbers, &numbers), ARMILLA_NO_MEMORY,
                  "limit");
    support_ok(context, armilla_context_set_temporary(context, folder));
    support_ok(context, armilla_samples_take(context, &all, 1, sizeof *numbers, &numbers));
    assert_true(armilla_context_memory_live(context) < 1000);
    for (int64_t i = 0; i < 1 << 18; i++) numbers[i] = i * i;
    armilla_samples_passed(context, 1 << 18, 0, 1 << 17);
    armilla_samples_passed(context, 1 << 18, 1 << 17, 1 << 18);
    armilla_samples_passed(context, 17, 0, 17);
    for (int64_t i = 0; i < 1 << 18; i++) assert_int_equal(numbers[i], i * i);
    assert_int_equal(support_entries(), 0);
    armilla_release(context, numbers);
    numbers = NULL;
    support_ok(context, armilla_context_set_temporary(context, "/nowhere"));
    support_fails(context, armilla_samples_take(context, &all, 1, sizeof *numbers, &numbers), ARMILLA_CANNOT_CREATE,
                  "/nowhere: a temporary file");
    assert_null(numbers);
    support_ok(context, armilla_context_set_temporary(context, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_temporary_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
