/* What is left to a process after limits_set: hostile calls, each in a process of its own, so that one that is killed for
 * it counts as refused too. Nothing may have an effect that is not told in the table. */
#include "../../convert/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* What limits_set says in the converter. */
armilla_status refuse(conversion *c, armilla_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->error, sizeof c->error, format, arguments);
    va_end(arguments);
    return status;
}

enum { LOCKED_OUT = 42, GOT_THROUGH = 43, NO_LOCK = 44, OUTPUT = 1 };

static char folder[] = "/tmp/armilla-sandbox-XXXXXX", victim[64], other[64];
static int opened = -1, directory = -1; /* before: as a descriptor that was forgotten */
static pid_t tester;

/* All attacks return a negative number where they are refused. */
static long open_to_read(void)
{
    return open(victim, O_RDONLY);
}

static long open_to_create(void)
{
    return open(other, O_WRONLY | O_CREAT, 0600);
}

static long open_beside(void)
{
    return openat(directory, "new", O_WRONLY | O_CREAT, 0600);
}

static long open_by_openat2(void)
{
    const struct {
        uint64_t flags, mode, resolve;
    } how = {O_RDONLY, 0, 0};
    return syscall(SYS_openat2, AT_FDCWD, victim, &how, sizeof how);
}

static long create_by_creat(void)
{
    return creat(other, 0600);
}

static long open_self(void)
{
    return open("/proc/self/mem", O_RDWR);
}

static long open_handle(void)
{
    return syscall(SYS_open_by_handle_at, AT_FDCWD, NULL, O_RDONLY);
}

static long read_input(void)
{
    char byte;
    return pread(opened, &byte, 1, 0);
}

static long write_by_offset(void)
{
    return pwrite(opened, "x", 1, 0);
}

static long send_file(void)
{
    return syscall(SYS_sendfile, OUTPUT, opened, NULL, (size_t)1);
}

static long copy_range(void)
{
    return syscall(SYS_copy_file_range, opened, NULL, OUTPUT, NULL, (size_t)1, 0);
}

static long cut_file(void)
{
    return truncate(victim, 0);
}

static long cut_descriptor(void)
{
    return ftruncate(opened, 0);
}

static long remove_file(void)
{
    return unlink(victim);
}

static long remove_at(void)
{
    return unlinkat(directory, "victim", 0);
}

static long rename_file(void)
{
    return rename(victim, other);
}

static long link_file(void)
{
    return link(victim, other);
}

static long link_soft(void)
{
    return symlink("/etc/passwd", other);
}

static long make_folder(void)
{
    return mkdir(other, 0700);
}

static long make_node(void)
{
    return mknod(other, S_IFIFO | 0600, 0);
}

static long change_mode(void)
{
    return chmod(victim, 0777);
}

static long change_owner(void)
{
    return chown(victim, 1, 1);
}

static long change_times(void)
{
    return utimensat(AT_FDCWD, victim, NULL, 0);
}

static long change_folder(void)
{
    return chdir("/");
}

static long change_root(void)
{
    return chroot("/tmp");
}

static long look_at_file(void)
{
    struct stat facts;
    return stat(victim, &facts);
}

static long look_into_folder(void)
{
    char entries[1024];
    return syscall(SYS_getdents64, directory, entries, sizeof entries);
}

static long make_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0);
}

static long make_local_socket(void)
{
    return socket(AF_UNIX, SOCK_DGRAM, 0);
}

static long make_pair(void)
{
    int pair[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

static long make_ring(void)
{
    struct io_uring_params parameters;
    memset(&parameters, 0, sizeof parameters);
    return syscall(SYS_io_uring_setup, 4, &parameters);
}

static long make_pipe(void)
{
    int ends[2];
    return pipe(ends);
}

static long make_memory_file(void)
{
    return memfd_create("x", 0);
}

static long make_child(void)
{
    const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) _exit(0);
    return child;
}

static long make_child_by_fork(void)
{
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return child;
}

static long make_child_by_clone3(void)
{
    uint64_t arguments[11] = {0};
    arguments[4] = SIGCHLD;
    const long child = syscall(SYS_clone3, arguments, sizeof arguments);
    if (child == 0) _exit(0);
    return child;
}

static long run_program(void)
{
    char *const arguments[] = {victim, NULL};
    return execve("/bin/true", arguments, arguments + 1);
}

static long run_at(void)
{
    char *const arguments[] = {victim, NULL};
    return syscall(SYS_execveat, AT_FDCWD, "/bin/true", arguments, arguments + 1, 0);
}

static long signal_parent(void)
{
    return kill(tester, SIGUSR1);
}

static long signal_thread(void)
{
    return syscall(SYS_tgkill, tester, tester, SIGUSR1);
}

static long signal_queued(void)
{
    siginfo_t facts;
    memset(&facts, 0, sizeof facts);
    facts.si_code = SI_QUEUE;
    return syscall(SYS_rt_sigqueueinfo, tester, SIGUSR1, &facts);
}

static long signal_all(void)
{
    return kill(0, SIGUSR1);
}

static long signal_by_descriptor(void)
{
    return syscall(SYS_pidfd_open, tester, 0);
}

static long trace_parent(void)
{
    return ptrace(PTRACE_ATTACH, tester, NULL, NULL);
}

static long write_to_parent(void)
{
    int value = 7;
    const struct iovec from = {&value, sizeof value}, to = {&opened, sizeof opened};
    return process_vm_writev(tester, &from, 1, &to, 1, 0);
}

static long map_executable(void)
{
    void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return made == MAP_FAILED ? -1 : 0;
}

static long map_code(void)
{
    void *made = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return made == MAP_FAILED ? -1 : 0;
}

static long map_file(void)
{
    void *made = mmap(NULL, 4096, PROT_READ, MAP_SHARED, opened, 0);
    return made == MAP_FAILED ? -1 : 0;
}

static long make_executable(void)
{
    void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(made, 4096, PROT_READ | PROT_EXEC);
}

static long make_executable_by_key(void)
{
    void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return syscall(SYS_pkey_mprotect, made, (size_t)4096, PROT_READ | PROT_EXEC, -1);
}

static long attach_segment(void)
{
    return syscall(SYS_shmget, 0, (size_t)4096, 0600 | 01000);
}

static long unlock_itself(void)
{
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static long outlive_parent(void)
{
    return prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
}

static long raise_limit(void)
{
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    return setrlimit(RLIMIT_CPU, &none);
}

static long change_descriptor(void)
{
    return fcntl(OUTPUT, F_SETFL, O_APPEND | O_NONBLOCK);
}

static long own_descriptor(void)
{
    return fcntl(OUTPUT, F_SETOWN, tester);
}

static long control_terminal(void)
{
    return syscall(SYS_ioctl, OUTPUT, 0x5412 /* TIOCSTI */, "x");
}

static long change_user(void)
{
    return (long)syscall(SYS_setuid, 0);
}

static long make_namespace(void)
{
    return unshare(CLONE_NEWUSER);
}

static long mount_folder(void)
{
    return syscall(SYS_mount, "none", folder, "tmpfs", 0, NULL);
}

static long load_bpf(void)
{
    return syscall(SYS_bpf, 0, NULL, 0);
}

static long add_key(void)
{
    return syscall(SYS_add_key, "user", "x", "y", (size_t)1, -4);
}

static long catch_faults(void)
{
    return syscall(SYS_userfaultfd, 0);
}

static long watch_files(void)
{
    return syscall(SYS_inotify_init1, 0);
}

static long set_clock(void)
{
    const struct timespec now = {1, 0};
    return clock_settime(CLOCK_REALTIME, &now);
}

/* A process that sleeps uses no time, and would keep the command waiting. */
static long sleep_on_futex(void)
{
    static int word;
    return syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static long sleep_on_signal(void)
{
    sigset_t none;
    sigemptyset(&none);
    return sigsuspend(&none) < 0 && errno == EINTR ? 0 : -1;
}

static long sleep_on_clock(void)
{
    const struct timespec while_ = {0, 1000};
    return nanosleep(&while_, NULL);
}

static long sleep_on_nothing(void)
{
    return poll(NULL, 0, 1);
}

#ifdef __x86_64__
static long use_x32(void)
{
    return syscall(0x40000000 | SYS_getpid);
}

static long use_old_calls(void)
{
    long result = -1;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20 /* getpid */) : "memory");
    return result;
}
#endif

#define ATTACK(name)                                                                                                   \
    {                                                                                                                  \
#name, name                                                                                                    \
    }
static const struct attack {
    const char *name;
    long (*attack)(void);
} attacks[] = {
    ATTACK(open_to_read),
    ATTACK(open_to_create),
    ATTACK(open_beside),
    ATTACK(open_by_openat2),
    ATTACK(create_by_creat),
    ATTACK(open_self),
    ATTACK(open_handle),
    ATTACK(read_input),
    ATTACK(write_by_offset),
    ATTACK(send_file),
    ATTACK(copy_range),
    ATTACK(cut_file),
    ATTACK(cut_descriptor),
    ATTACK(remove_file),
    ATTACK(remove_at),
    ATTACK(rename_file),
    ATTACK(link_file),
    ATTACK(link_soft),
    ATTACK(make_folder),
    ATTACK(make_node),
    ATTACK(change_mode),
    ATTACK(change_owner),
    ATTACK(change_times),
    ATTACK(change_folder),
    ATTACK(change_root),
    ATTACK(look_at_file),
    ATTACK(look_into_folder),
    ATTACK(make_socket),
    ATTACK(make_local_socket),
    ATTACK(make_pair),
    ATTACK(make_ring),
    ATTACK(make_pipe),
    ATTACK(make_memory_file),
    ATTACK(make_child),
    ATTACK(make_child_by_fork),
    ATTACK(make_child_by_clone3),
    ATTACK(run_program),
    ATTACK(run_at),
    ATTACK(signal_parent),
    ATTACK(signal_thread),
    ATTACK(signal_queued),
    ATTACK(signal_all),
    ATTACK(signal_by_descriptor),
    ATTACK(trace_parent),
    ATTACK(write_to_parent),
    ATTACK(map_executable),
    ATTACK(map_code),
    ATTACK(map_file),
    ATTACK(make_executable),
    ATTACK(make_executable_by_key),
    ATTACK(attach_segment),
    ATTACK(unlock_itself),
    ATTACK(outlive_parent),
    ATTACK(raise_limit),
    ATTACK(change_descriptor),
    ATTACK(own_descriptor),
    ATTACK(control_terminal),
    ATTACK(change_user),
    ATTACK(make_namespace),
    ATTACK(mount_folder),
    ATTACK(load_bpf),
    ATTACK(add_key),
    ATTACK(catch_faults),
    ATTACK(watch_files),
    ATTACK(set_clock),
    ATTACK(sleep_on_futex),
    ATTACK(sleep_on_signal),
    ATTACK(sleep_on_clock),
    ATTACK(sleep_on_nothing),
#ifdef __x86_64__
    ATTACK(use_x32),
    ATTACK(use_old_calls),
#endif
};

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
    if (output >= 0) (void)dup2(output, OUTPUT);
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
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
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
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        const int ended = run_locked(attacks[i].attack, -1);
        if (is_refused(ended)) continue;
        print_error("%s: is not refused (%x)\n", attacks[i].name, (unsigned)ended);
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
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        const char *name = attacks[i].name;
        int ended = 0;
        if (is_among(cruel, sizeof cruel / sizeof *cruel, name)) continue;
        const pid_t child = fork();
        if (child == 0) _exit(attacks[i].attack() < 0 ? LOCKED_OUT : GOT_THROUGH);
        assert_int_equal(waitpid(child, &ended, 0), child);
        if (is_refused(ended) && !is_among(rare, sizeof rare / sizeof *rare, name))
            fail_msg("%s is refused to anyone", name);
        (void)unlink(other);
        (void)rmdir(other);
        (void)unlinkat(directory, "new", 0);
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
    const int copy = fcntl(OUTPUT, F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || write(copy, "right", 5) != 5 || close(copy) != 0) return -1;
    return fprintf(stderr, "%s", "");
}

static long take_too_much(void)
{
    return malloc((size_t)200 << 20) ? 0 : -1;
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
    tester = getpid();
    signal(SIGUSR1, on_signal);
    if (!mkdtemp(folder)) return -1;
    snprintf(victim, sizeof victim, "%s/victim", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    opened = open(victim, O_RDWR | O_CREAT, 0600);
    directory = open(folder, O_RDONLY | O_DIRECTORY);
    return opened >= 0 && directory >= 0 && write(opened, "secret", 6) == 6 ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    (void)unlink(victim);
    return rmdir(folder);
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
