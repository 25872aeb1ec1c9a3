/* What the process may use. Everything here is best effort: a system that lacks one of them still has the others. */
#include "convert.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_SECONDS 3600
#define MOST_FILES 64

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

static void limit(int resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) != 0) return;
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most) most = now.rlim_max;
    const struct rlimit wanted = {most, most};
    (void)setrlimit((__rlimit_resource_t)resource, &wanted);
}

static int64_t machine_memory(void)
{
    const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? pages * page : INT64_MAX / 8;
}

/* Reading a matrix needs no programs, no network and no other process: those calls are refused. */
static void filter_calls(void)
{
#ifdef ARCHITECTURE
#define REFUSE(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1)
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(__NR_execve),
        REFUSE(__NR_execveat),
        REFUSE(__NR_socket),
        REFUSE(__NR_connect),
        REFUSE(__NR_ptrace),
        REFUSE(__NR_kill),
        REFUSE(__NR_process_vm_writev),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#endif
}

/* Sanitizers map far more than they use, and trace their own process at the end. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

void limits_set(int64_t memory)
{
    const int64_t most = memory > 0 ? memory : machine_memory();
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, MOST_SECONDS);
    limit(RLIMIT_NOFILE, MOST_FILES);
    limit(RLIMIT_FSIZE, (rlim_t)(most < INT64_MAX / 4 ? 4 * most : most));
    if (SANITIZED) return;
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    limit(RLIMIT_AS, (rlim_t)most);
    filter_calls();
}
