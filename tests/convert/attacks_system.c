/* Hostile calls on all but files: processes, memory, devices, rights and time. */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

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
    char *const arguments[] = {sandbox_victim, NULL};
    return execve("/bin/true", arguments, arguments + 1);
}

static long run_at(void)
{
    char *const arguments[] = {sandbox_victim, NULL};
    return syscall(SYS_execveat, AT_FDCWD, "/bin/true", arguments, arguments + 1, 0);
}

static long signal_parent(void)
{
    return kill(sandbox_tester, SIGUSR1);
}

static long signal_thread(void)
{
    return syscall(SYS_tgkill, sandbox_tester, sandbox_tester, SIGUSR1);
}

static long signal_queued(void)
{
    siginfo_t facts;
    memset(&facts, 0, sizeof facts);
    facts.si_code = SI_QUEUE;
    return syscall(SYS_rt_sigqueueinfo, sandbox_tester, SIGUSR1, &facts);
}

static long signal_all(void)
{
    return kill(0, SIGUSR1);
}

static long signal_by_descriptor(void)
{
    return syscall(SYS_pidfd_open, sandbox_tester, 0);
}

static long trace_parent(void)
{
    return ptrace(PTRACE_ATTACH, sandbox_tester, NULL, NULL);
}

static long write_to_parent(void)
{
    int value = 7;
    const struct iovec from = {&value, sizeof value}, to = {&sandbox_opened, sizeof sandbox_opened};
    return process_vm_writev(sandbox_tester, &from, 1, &to, 1, 0);
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
    return fcntl(SANDBOX_OUTPUT, F_SETFL, O_APPEND | O_NONBLOCK);
}

static long own_descriptor(void)
{
    return fcntl(SANDBOX_OUTPUT, F_SETOWN, sandbox_tester);
}

static long control_terminal(void)
{
    return syscall(SYS_ioctl, SANDBOX_OUTPUT, 0x5412 /* TIOCSTI */, "x");
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
    return syscall(SYS_mount, "none", sandbox_folder, "tmpfs", 0, NULL);
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

const sandbox_attack sandbox_system_attacks[] = {
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
    {NULL, NULL},
};
