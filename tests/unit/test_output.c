/* Outputs: whole or not at all, whatever fails. */
#include "outputs.h"

#include "base/context.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void writes_every_size(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 262143, 262144, 262145, 1000000};
    const size_t pieces[] = {1000, 262144, 999999, 4000000};
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 4; j++) {
            char *bytes = pattern(sizes[i]);
            support_ok(context, write_pattern(context, target, true, sizes[i], pieces[j]));
            assert_content(target, bytes, sizes[i]);
            assert_int_equal(support_entries(), 1);
            free(bytes);
        }
}

static void keeps_the_umask(void **state)
{
    (void)state;
    struct stat facts;
    const mode_t before = umask(027);
    support_ok(context, write_pattern(context, target, false, 10, 10));
    umask(before);
    assert_int_equal(stat(target, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0640);
}

static void prints_short_and_long(void **state)
{
    (void)state;
    armilla_output *output = NULL;
    size_t count = 0;
    char *text = malloc(5001);
    memset(text, 'x', 5000);
    text[5000] = '\0';
    support_ok(context, armilla_output_new(context, target, false, &output));
    support_ok(context, armilla_output_print(output, "%d,%.17g\n", 42, 0.5));
    support_ok(context, armilla_output_print(output, "%s|%d", text, 7));
    support_ok(context, armilla_output_commit(output));
    support_fails(context, armilla_output_write(output, "x", 1), ARMILLA_BAD_ARGUMENT, "after the commit");
    support_ok(context, armilla_output_commit(output));
    armilla_output_free(output);
    char *bytes = support_read_file(target, &count);
    assert_int_equal(count, 7 + 5000 + 2);
    assert_memory_equal(bytes, "42,0.5\nxxx", 10);
    assert_string_equal(bytes + count - 4, "xx|7");
    free(bytes);
    free(text);
}

static void prints_points_in_any_locale(void **state)
{
    (void)state;
    armilla_output *output = NULL;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE")) skip();
    support_ok(context, armilla_output_new(context, target, false, &output));
    support_ok(context, armilla_output_print(output, "%g", 0.5));
    support_ok(context, armilla_output_commit(output));
    armilla_output_free(output);
    assert_string_equal(localeconv()->decimal_point, ",");
    setlocale(LC_ALL, "C");
    assert_content(target, "0.5", 3);
}

static void leaves_nothing_without_a_commit(void **state)
{
    (void)state;
    armilla_output *output = NULL;
    support_ok(context, armilla_output_new(context, target, false, &output));
    assert_int_equal(support_entries(), 1);
    support_ok(context, armilla_output_write(output, "abc", 3));
    armilla_output_free(output);
    assert_int_equal(support_entries(), 0);
    armilla_output_free(NULL);
}

static void refuses_to_overwrite(void **state)
{
    (void)state;
    armilla_output *output = NULL;
    support_write_file(target, OLD, strlen(OLD));
    support_fails(context, armilla_output_new(context, target, false, &output), ARMILLA_CANNOT_CREATE,
                  "target.bin: exists already");
    assert_null(output);
    assert_content(target, OLD, strlen(OLD));
    assert_int_equal(support_entries(), 1);
    support_ok(context, write_pattern(context, target, true, 3, 3));
    assert_content(target, "\0\7\16", 3);
}

static void refuses_what_appears_meanwhile(void **state)
{
    (void)state;
    armilla_output *output = NULL;
    support_ok(context, armilla_output_new(context, target, false, &output));
    support_ok(context, armilla_output_write(output, "new", 3));
    support_write_file(target, OLD, strlen(OLD));
    support_fails(context, armilla_output_commit(output), ARMILLA_CANNOT_CREATE, "exists already");
    armilla_output_free(output);
    assert_content(target, OLD, strlen(OLD));
    assert_int_equal(support_entries(), 1);
}

static void says_why_it_cannot_create(void **state)
{
    (void)state;
    armilla_output *output = NULL;
    char path[512];
    support_path(path, sizeof path, "");
    support_fails(context, armilla_output_new(context, path, true, &output), ARMILLA_CANNOT_CREATE, "is a directory");
    support_path(path, sizeof path, "none/file");
    support_fails(context, armilla_output_new(context, path, true, &output), ARMILLA_CANNOT_CREATE,
                  "its directory does not exist");
    support_path(path, sizeof path, "none/");
    support_fails(context, armilla_output_new(context, path, true, &output), ARMILLA_CANNOT_CREATE,
                  "its directory does not exist");
    support_fails(context, armilla_output_new(context, "", true, &output), ARMILLA_CANNOT_CREATE, "has no name");
    support_write_file(target, OLD, strlen(OLD));
    snprintf(path, sizeof path, "%s/file", target);
    support_fails(context, armilla_output_new(context, path, true, &output), ARMILLA_CANNOT_CREATE, "not a directory");
    memset(path, 'n', 300);
    path[300] = '\0';
    support_fails(context, armilla_output_new(context, path, true, &output), ARMILLA_CANNOT_CREATE, "too long");
    assert_null(output);
}

/* The look before the work says what the work would have met at its end, and makes nothing. */
static void foresees_a_refusal(void **state)
{
    const char *const names[] = {"", "none/file", "none/", "target.bin", "target.bin/file", "fine.bin"};
    (void)state;
    support_write_file(target, OLD, strlen(OLD));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int overwrite = 0; overwrite < 2; overwrite++) {
            armilla_output *output = NULL;
            char path[512], foreseen[1024];
            support_path(path, sizeof path, names[i]);
            const armilla_status status = armilla_output_check(context, path, overwrite);
            snprintf(foreseen, sizeof foreseen, "%s", armilla_context_error(context));
            assert_int_equal(support_entries(), 1);
            assert_int_equal(armilla_output_new(context, path, overwrite, &output), status);
            if (status != ARMILLA_OK) assert_string_equal(armilla_context_error(context), foreseen);
            if (status != ARMILLA_OK) assert_non_null(strstr(foreseen, "; "));
            armilla_output_free(output);
        }
    support_fails(context, armilla_output_check(context, target, false), ARMILLA_CANNOT_CREATE, "exists already");
    support_ok(context, armilla_output_check(context, target, true));
}

/* Numbers are written from where they lie: in a mapped file, which may have become shorter. */
static void tells_a_lost_input_from_a_full_disk(void **state)
{
    const size_t size = 1 << 20;
    armilla_output *output = NULL;
    (void)state;
    void *lost = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(lost != MAP_FAILED);
    support_ok(context, armilla_output_new(context, target, false, &output));
    support_fails(context, armilla_output_write(output, lost, size), ARMILLA_IO_ERROR, "became shorter");
    armilla_output_free(output);
    assert_int_equal(munmap(lost, size), 0);
    assert_int_equal(support_entries(), 0);
}

static void takes_the_longest_name(void **state)
{
    (void)state;
    char name[256], path[512];
    memset(name, 'n', 255);
    name[255] = '\0';
    support_path(path, sizeof path, name);
    support_ok(context, write_pattern(context, path, false, 100, 100));
    assert_int_equal(support_entries(), 1);
}

enum { NOBODY = 65534 };

static void obeys_permissions(void **state)
{
    (void)state;
    armilla_output *output = NULL;
    char path[256];
    const uid_t own = geteuid();
    support_path(path, sizeof path, "");
    assert_int_equal(chmod(path, 0755), 0);
    support_path(path, sizeof path, "locked");
    assert_int_equal(mkdir(path, 0555), 0);
    support_path(path, sizeof path, "locked/file");
    if (own == 0 && setresuid(NOBODY, NOBODY, 0) != 0) skip(); /* root may write everywhere */
    support_fails(context, armilla_output_new(context, path, true, &output), ARMILLA_CANNOT_CREATE, "not permitted");
    support_fails(context, armilla_output_check(context, path, true), ARMILLA_CANNOT_CREATE, "not permitted");
    if (own == 0) assert_int_equal(setresuid(0, 0, 0), 0);
}

static void reports_a_full_device(void **state)
{
    (void)state;
    support_fails(context, write_pattern(context, "/dev/full", false, 10, 10), ARMILLA_IO_ERROR,
                  armilla_error_text(ENOSPC));
    support_fails(context, write_pattern(context, "/dev/full", true, 1000000, 1000), ARMILLA_IO_ERROR,
                  "/dev/full: writing failed");
    support_ok(context, write_pattern(context, "/dev/null", false, 1000000, 1000));
    struct stat facts;
    assert_int_equal(stat("/dev/null", &facts), 0);
    assert_true(S_ISCHR(facts.st_mode));
}

static void repeats_the_first_failure(void **state)
{
    (void)state;
    armilla_output *output = NULL;
    char *bytes = pattern(300000);
    support_ok(context, armilla_output_new(context, "/dev/full", false, &output));
    assert_int_equal(armilla_output_write(output, bytes, 300000), ARMILLA_IO_ERROR);
    assert_int_equal(armilla_output_write(output, "x", 1), ARMILLA_IO_ERROR);
    support_fails(context, armilla_output_commit(output), ARMILLA_IO_ERROR, armilla_error_text(ENOSPC));
    armilla_output_free(output);
    free(bytes);
}

static void writes_into_pipes_and_open_files(void **state)
{
    (void)state;
    char path[64], got[8] = "";
    assert_int_equal(mkfifo(target, 0600), 0);
    const int pipe = open(target, O_RDWR);
    assert_true(pipe >= 0);
    support_ok(context, write_pattern(context, target, false, 4, 4));
    assert_int_equal(read(pipe, got, sizeof got), 4);
    assert_memory_equal(got, "\0\7\16\25", 4);
    close(pipe);
    assert_int_equal(unlink(target), 0);
    support_write_file(target, OLD, strlen(OLD));
    const int file = open(target, O_RDWR);
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    support_ok(context, write_pattern(context, path, false, 4, 4));
    close(file);
    assert_content(target, OLD "\0\7\16\25", strlen(OLD) + 4);
    assert_int_equal(support_entries(), 1);
}

/* What is open is written to as it is, and not opened again: a socket could not be. */
static void writes_to_what_is_open(void **state)
{
    (void)state;
    char path[64], got[8] = "";
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", pair[0]);
    support_ok(context, armilla_output_check(context, path, false));
    support_ok(context, write_pattern(context, path, false, 4, 4));
    assert_int_equal(read(pair[1], got, sizeof got), 4);
    assert_memory_equal(got, "\0\7\16\25", 4);
    close(pair[0]);
    close(pair[1]);
    assert_int_equal(write_pattern(context, path, false, 4, 4), ARMILLA_CANNOT_CREATE);
    support_write_file(target, OLD, strlen(OLD));
    const int file = open(target, O_RDONLY);
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    assert_int_equal(write_pattern(context, path, true, 4, 4), ARMILLA_CANNOT_CREATE);
    close(file);
    assert_content(target, OLD, strlen(OLD));
}

static void steps_over_a_leftover(void **state)
{
    (void)state;
    char name[64], path[256];
    snprintf(name, sizeof name, ".target.bin.armilla.%ld-0.tmp", (long)getpid());
    support_path(path, sizeof path, name);
    support_write_file(path, OLD, strlen(OLD));
    support_ok(context, write_pattern(context, target, false, 3, 3));
    assert_content(path, OLD, strlen(OLD));
    assert_content(target, "\0\7\16", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(writes_every_size),
        TEST(keeps_the_umask),
        TEST(prints_short_and_long),
        TEST(prints_points_in_any_locale),
        TEST(leaves_nothing_without_a_commit),
        TEST(refuses_to_overwrite),
        TEST(refuses_what_appears_meanwhile),
        TEST(says_why_it_cannot_create),
        TEST(foresees_a_refusal),
        TEST(tells_a_lost_input_from_a_full_disk),
        TEST(takes_the_longest_name),
        TEST(obeys_permissions),
        TEST(reports_a_full_device),
        TEST(repeats_the_first_failure),
        TEST(writes_into_pipes_and_open_files),
        TEST(writes_to_what_is_open),
        TEST(steps_over_a_leftover),
    };
    return cmocka_run_group_tests_name("output", tests, name_target, NULL);
}
