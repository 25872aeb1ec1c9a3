/* What is left to a process after limits_set: hostile calls, each in a process of its own, so that one that is killed for
 * it counts as refused too. Nothing may have an effect that is not reported in the tables. */
#include "sandbox.h"

#include "../../convert/convert.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { LOCKED_OUT = 42, GOT_THROUGH = 43, NO_LOCK = 44 };

char sandbox_folder[] = "/tmp/armilla-sandbox-XXXXXX", sandbox_victim[64], sandbox_other[64];
int sandbox_opened = -1, sandbox_directory = -1;
pid_t sandbox_tester;

static const sandbox_attack *const tables[] = {sandbox_file_attacks, sandbox_system_attacks};
enum { TABLES = sizeof tables / sizeof *tables };

/* How a locked process ends that does this; the standard output is its only way out. */
static int run_locked(long (*what)(void), int output)
{
    int ended = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) {
        assert_int_equal(waitpid(child, &ended, 0), child);
        return ended;
    }
    conversion c = {.path = "x"};
    if (output >= 0) (void)dup2(output, SANDBOX_OUTPUT);
    if (limits_set(&c, 64 << 20) != ARMILLA_OK) _exit(NO_LOCK);
    _exit(what() < 0 ? LOCKED_OUT : GOT_THROUGH);
}

static long nothing(void)
{
    return 0;
}

static bool is_refused(int ended)
{
    return (WIFEXITED(ended) && WEXITSTATUS(ended) == LOCKED_OUT) || (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGSYS);
}

static int count_entries(void)
{
    int count = 0;
    char command[128];
    snprintf(command, sizeof command, "ls -A %s | wc -l", sandbox_folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    return count;
}

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
    (void)number;
    signalled = 1;
}

static void refuses_attacks(void **state)
{
    int through = 0;
    (void)state;
    for (size_t t = 0; t < TABLES; t++)
        for (const sandbox_attack *a = tables[t]; a->name; a++) {
            const int ended = run_locked(a->attack, -1);
            if (is_refused(ended)) continue;
            print_error("%s: is not refused (%x)\n", a->name, (unsigned)ended);
            through++;
        }
    assert_int_equal(through, 0);
    assert_int_equal(signalled, 0);
    assert_int_equal(count_entries(), 1);
}

static bool is_among(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0) return true;
    return false;
}

/* How a process ends that is not locked; what it has made is removed. */
static int run_unlocked(const sandbox_attack *attack)
{
    int ended = 0;
    const pid_t child = fork();
    if (child == 0) _exit(attack->attack() < 0 ? LOCKED_OUT : GOT_THROUGH);
    assert_int_equal(waitpid(child, &ended, 0), child);
    (void)unlink(sandbox_other);
    (void)rmdir(sandbox_other);
    (void)unlinkat(sandbox_directory, "new", 0);
    return ended;
}

/* Attacks that are refused without a lock too say nothing: only those that need rights, or a kernel that has the call,
 * may be. */
static void attacks_work_unlocked(void **state)
{
    static const char *const rare[] = {"open_handle",
                                       "copy_range",
                                       "change_owner",
                                       "change_root",
                                       "change_user",
                                       "load_bpf",
                                       "add_key",
                                       "catch_faults",
                                       "use_x32",
                                       "use_old_calls",
                                       "make_ring",
                                       "make_namespace",
                                       "open_self",
                                       "signal_by_descriptor",
                                       "make_executable_by_key",
                                       "make_child_by_clone3",
                                       "attach_segment"};
    /* These would hurt the tests themselves, or others. */
    static const char *const cruel[] = {"signal_parent",     "signal_thread",  "signal_queued",    "signal_all",
                                        "remove_file",       "remove_at",      "cut_file",         "cut_descriptor",
                                        "set_clock",         "mount_folder",   "rename_file",      "trace_parent",
                                        "run_program",       "run_at",         "raise_limit",      "write_to_parent",
                                        "change_descriptor", "own_descriptor", "control_terminal", "sleep_on_futex",
                                        "sleep_on_signal"};
    (void)state;
    for (size_t t = 0; t < TABLES; t++)
        for (const sandbox_attack *a = tables[t]; a->name; a++) {
            if (is_among(cruel, sizeof cruel / sizeof *cruel, a->name)) continue;
            if (is_refused(run_unlocked(a)) && !is_among(rare, sizeof rare / sizeof *rare, a->name))
                fail_msg("%s is refused to anyone", a->name);
        }
}

/* What the converter does: memory of all kinds, given back; output; time; the end. */
static long work(void)
{
    char *large = malloc(20 << 20), *small[100];
    if (!large) return -1;
    memset(large, 1, 20 << 20);
    for (int i = 0; i < 100; i++)
        if (!(small[i] = calloc(1, 1000 + 100 * (size_t)i))) return -1;
    if (!(large = realloc(large, 30 << 20))) return -1;
    for (int i = 0; i < 100; i++) free(small[i]);
    free(large);
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0 || time(NULL) <= 0) return -1;
    const int copy = fcntl(SANDBOX_OUTPUT, F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || write(copy, "right", 5) != 5 || close(copy) != 0) return -1;
    return fprintf(stderr, "%s", "");
}

static long take_too_much(void)
{
    void *volatile block = malloc((size_t)200 << 20); /* volatile: a compiler may leave out what nobody looks at */
    return block ? 0 : -1;
}

static long use_time(void)
{
    struct rlimit most;
    /* getrlimit is refused, and so is asking for more: the limit was set before. */
    return getrlimit(RLIMIT_CPU, &most);
}

static void lets_work_be_done(void **state)
{
    char got[8] = "";
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    const int ended = run_locked(work, ends[1]);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), GOT_THROUGH);
    assert_int_equal(read(ends[0], got, sizeof got), 5);
    assert_string_equal(got, "right");
    close(ends[0]);
    close(ends[1]);
    assert_true(is_refused(run_locked(take_too_much, -1)));
    assert_true(is_refused(run_locked(use_time, -1)));
}

static int set_up(void **state)
{
    (void)state;
    sandbox_tester = getpid();
    signal(SIGUSR1, on_signal);
    if (!mkdtemp(sandbox_folder)) return -1;
    snprintf(sandbox_victim, sizeof sandbox_victim, "%s/victim", sandbox_folder);
    snprintf(sandbox_other, sizeof sandbox_other, "%s/other", sandbox_folder);
    sandbox_opened = open(sandbox_victim, O_RDWR | O_CREAT, 0600);
    sandbox_directory = open(sandbox_folder, O_RDONLY | O_DIRECTORY);
    return sandbox_opened >= 0 && sandbox_directory >= 0 && write(sandbox_opened, "secret", 6) == 6 ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    (void)unlink(sandbox_victim);
    return rmdir(sandbox_folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lets_work_be_done),
        cmocka_unit_test(refuses_attacks),
        cmocka_unit_test(attacks_work_unlocked),
    };
    const int ended = run_locked(nothing, -1);
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == NO_LOCK) return 77; /* no seccomp here */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 77;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
    return 77;
#endif
#endif
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
