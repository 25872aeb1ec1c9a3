/* Outputs: whole or not at all, whichever call to the system fails. */
#include "outputs.h"

#include "faults.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ssize_t short_write(int file, const void *bytes, size_t count)
{
    return write(file, bytes, count < 777 ? count : 777);
}

static ssize_t zero_write(int file, const void *bytes, size_t count)
{
    (void)file;
    (void)bytes;
    (void)count;
    return 0;
}

/* One run with call k failing: the old content or all of the new one, a status that fits, nothing beside it. */
static bool survives_fault(int k, int error, bool overwrite)
{
    const size_t size = 600000;
    char *bytes = pattern(size);
    support_clean();
    if (overwrite) support_write_file(target, OLD, strlen(OLD));
    fault_set(k, error);
    const armilla_status status = write_pattern(context, target, overwrite, size, 100000);
    const bool placed = status == ARMILLA_OK || strstr(armilla_context_error(context), "is written whole") != NULL;
    if (placed)
        assert_content(target, bytes, size);
    else if (overwrite)
        assert_content(target, OLD, strlen(OLD));
    assert_int_equal(support_entries(), placed || overwrite);
    if (status != ARMILLA_OK) {
        assert_true(fault.hit);
        assert_true(status == ARMILLA_IO_ERROR || status == ARMILLA_CANNOT_CREATE);
        assert_non_null(strstr(armilla_context_error(context), "target.bin: "));
    }
    context->error[0] = '\0';
    free(bytes);
    return fault.hit && status != ARMILLA_OK;
}

static void survives_every_fault(void **state)
{
    (void)state;
    const int errors[] = {ENOSPC, EIO, EACCES, EPERM}, before = fault_next_descriptor();
    context->io = &fault_io;
    fault.only_interruptible = false;
    for (int overwrite = 0; overwrite < 2; overwrite++)
        for (size_t i = 0; i < 4; i++) {
            int failed = 0, k = 0;
            do failed += survives_fault(k++, errors[i], overwrite);
            while (fault.hit);
            assert_true(k > 9); /* stat, open, 3 writes, fsync, close, open, link or rename, fsync, close */
            assert_true(failed >= 6);
        }
    assert_int_equal(fault_next_descriptor(), before);
}

static void goes_on_after_interruptions(void **state)
{
    (void)state;
    int k = 0;
    context->io = &fault_io;
    fault.only_interruptible = true;
    do assert_false(survives_fault(k++, EINTR, true));
    while (fault.hit);
    assert_true(k > 7);
}

static void completes_short_writes(void **state)
{
    (void)state;
    armilla_io io = armilla_io_system;
    char *bytes = pattern(600000);
    io.write = short_write;
    context->io = &io;
    support_ok(context, write_pattern(context, target, false, 600000, 100000));
    assert_content(target, bytes, 600000);
    free(bytes);
    io.write = zero_write;
    support_fails(context, write_pattern(context, target, true, 10, 10), ARMILLA_IO_ERROR, "writing failed");
}

static void survives_every_refused_allocation(void **state)
{
    (void)state;
    bool refused = true;
    for (int64_t k = 0; refused; k++) {
        support_allocator failing = SUPPORT_ALLOCATOR;
        armilla_context *own = support_context_with(&failing);
        armilla_output *output = NULL;
        char path[256], text[2000];
        memset(text, 't', sizeof text - 1);
        text[sizeof text - 1] = '\0';
        support_clean();
        support_path(path, sizeof path, "a.txt");
        failing.countdown = failing.taken + k;
        armilla_status status = armilla_output_new(own, path, false, &output);
        if (status == ARMILLA_OK) (void)armilla_output_print(output, "%s", text); /* commit must remember */
        if (status == ARMILLA_OK) status = armilla_output_commit(output);
        armilla_output_free(output);
        refused = status != ARMILLA_OK;
        if (refused) support_fails(own, status, ARMILLA_NO_MEMORY, "out of memory");
        assert_int_equal(support_entries(), refused ? 0 : 1);
        armilla_context_free(own);
        assert_int_equal(failing.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(survives_every_fault),
        TEST(goes_on_after_interruptions),
        TEST(completes_short_writes),
        TEST(survives_every_refused_allocation),
    };
    return cmocka_run_group_tests_name("output faults", tests, name_target, NULL);
}
