/* What killed processes left is removed by the next output beside it, and nothing else ever is. */
#include "base/context.h"
#include "files/leftovers.h"
#include "unit/fixture.h"

#include <armilla/files.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool exists(const char *name)
{
    char path[512];
    struct stat facts;
    return lstat(support_path(path, sizeof path, name), &facts) == 0;
}

static void age(const char *name, long seconds)
{
    char path[512];
    struct timespec now, times[2];
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds;
    times[0] = times[1] = now;
    assert_int_equal(utimensat(AT_FDCWD, support_path(path, sizeof path, name), times, AT_SYMLINK_NOFOLLOW), 0);
}

static void put(const char *name, long seconds)
{
    char path[512];
    support_write_file(support_path(path, sizeof path, name), "x", 1);
    age(name, seconds);
}

/* An output beside whatever there is. */
static void write_beside(void)
{
    char path[512];
    armilla_output *output = NULL;
    support_ok(context, armilla_output_new(context, support_path(path, sizeof path, "target"), true, &output));
    support_ok(context, armilla_output_write(output, "new", 3));
    support_ok(context, armilla_output_commit(output));
    armilla_output_free(output);
    assert_true(exists("target"));
}

static const char *const ours[] = {
    ".model.npz.armilla.123-0.tmp",
    ".x.armilla.1-9999.tmp",
    ".a.armilla.b.armilla.4194304-17.tmp",
    "..armilla.7-0.tmp",
};
static const char *const others[] = {
    ".model.npz.123-0.tmp",    "model.npz.armilla.123-0.tmp", ".x.armilla.123-0.tmp~",
    ".x.armilla.123-0.tmp.gz", ".x.armilla.-0.tmp",           ".x.armilla.123-.tmp",
    ".x.armilla.123.tmp",      ".x.armilla.12a-0.tmp",        ".x.armilla.123-0.armilla.tmp",
    ".x.Armilla.123-0.tmp",    ".x.armilla.123-0 .tmp",       "armilla.123-0.tmp",
};

static void old_ones_go(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) put(ours[i], 3700);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) put(others[i], 1000000);
    put(".young.armilla.5-0.tmp", 3000);
    put(".future.armilla.5-0.tmp", -100000);
    write_beside();
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (exists(ours[i])) fail_msg("%s is still there", ours[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!exists(others[i])) fail_msg("%s is gone", others[i]);
    assert_true(exists(".young.armilla.5-0.tmp") && exists(".future.armilla.5-0.tmp"));
}

/* Of such names only regular files: no directory, link, what it points to, or pipe. */
static void only_regular_files_go(void **state)
{
    (void)state;
    char path[512];
    put("kept", 100000);
    assert_int_equal(mkdir(support_path(path, sizeof path, ".d.armilla.1-0.tmp"), 0777), 0);
    assert_int_equal(mkfifo(support_path(path, sizeof path, ".f.armilla.1-0.tmp"), 0666), 0);
    assert_int_equal(symlink("kept", support_path(path, sizeof path, ".l.armilla.1-0.tmp")), 0);
    age(".d.armilla.1-0.tmp", 100000);
    age(".f.armilla.1-0.tmp", 100000);
    age(".l.armilla.1-0.tmp", 100000);
    write_beside();
    assert_true(exists("kept") && exists(".d.armilla.1-0.tmp") && exists(".f.armilla.1-0.tmp"));
    assert_true(exists(".l.armilla.1-0.tmp"));
}

static void what_is_locked_stays(void **state)
{
    (void)state;
    char path[512];
    put(".x.armilla.1-0.tmp", 100000);
    const int file = open(support_path(path, sizeof path, ".x.armilla.1-0.tmp"), O_RDONLY);
    assert_int_equal(flock(file, LOCK_EX), 0);
    write_beside();
    assert_true(exists(".x.armilla.1-0.tmp"));
    close(file);
    write_beside();
    assert_false(exists(".x.armilla.1-0.tmp"));
}

/* A process that has begun an output, and waits for its end: *temporary is what it has made. */
static pid_t begin_output(char *temporary, size_t size)
{
    char path[512];
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        armilla_output *output = NULL;
        const bool fine = armilla_output_new(context, support_path(path, sizeof path, "other"), true, &output) == 0;
        (void)!write(pipes[1], fine ? "y" : "n", 1);
        for (;;) pause();
    }
    assert_int_equal(read(pipes[0], path, 1), 1);
    assert_int_equal(path[0], 'y');
    close(pipes[0]);
    close(pipes[1]);
    snprintf(temporary, size, ".other.armilla.%ld-0.tmp", (long)child);
    return child;
}

static void a_slow_process_keeps_its_own(void **state)
{
    (void)state;
    char temporary[64];
    const pid_t child = begin_output(temporary, sizeof temporary);
    assert_true(exists(temporary));
    age(temporary, 1000000);
    write_beside();
    assert_true(exists(temporary));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(exists(temporary));
    write_beside();
    assert_false(exists(temporary));
}

/* A system without locks, and one in which the name has become another file's since. */
static int no_lock(int file)
{
    (void)file;
    errno = ENOLCK;
    return -1;
}

static int replacing_lock(int file)
{
    char path[512];
    const int result = armilla_io_system.lock(file);
    if (exists(".x.armilla.1-0.tmp")) {
        assert_int_equal(unlink(support_path(path, sizeof path, ".x.armilla.1-0.tmp")), 0);
        put(".x.armilla.1-0.tmp", 100000);
    }
    return result;
}

static void in_doubt_it_stays(void **state)
{
    (void)state;
    int (*const locks[])(int file) = {no_lock, replacing_lock};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        armilla_io io = armilla_io_system;
        io.lock = locks[i];
        put(".x.armilla.1-0.tmp", 100000);
        context->io = &io;
        write_beside();
        context->io = &armilla_io_system;
        assert_true(exists(".x.armilla.1-0.tmp"));
    }
    write_beside();
    assert_false(exists(".x.armilla.1-0.tmp"));
}

static void names_fit_the_pattern(void **state)
{
    (void)state;
    char name[256], other[300];
    memset(other, 'n', sizeof other - 1);
    other[sizeof other - 1] = '\0';
    const char *const names[] = {"model.npz", other, ".tmp", "a b", "x.armilla.3-4.tmp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        armilla_temporary_name(name, sizeof name, names[i], (int)i);
        put(name, 4000);
        write_beside();
        assert_false(exists(name));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(old_ones_go),          TEST(only_regular_files_go),
        TEST(what_is_locked_stays), TEST(a_slow_process_keeps_its_own),
        TEST(in_doubt_it_stays),    TEST(names_fit_the_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
