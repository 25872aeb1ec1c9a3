/* The calls to the system that remain after limits_set: what a program needs to compute, to take and give back memory
 * that is never executed, to write to what is open, and to end. None of them sleeps, so that the limit on CPU time bounds
 * how long the process lasts. Everything else returns EPERM and has no effect, rather
 * than killing: which calls a C library tries first differs between its versions, and it has a way without them. Calls
 * of another architecture's table (32 bit) kill; those of x32 have other numbers, and so are refused. */
#include "convert.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The argument's low word, of which the masked bits must be these; the flags below all lie there. */
typedef struct condition {
    unsigned argument;
    uint32_t mask, wanted;
} condition;

enum { MOST_CONDITIONS = 2, MOST_STEPS = 256 };

typedef struct rule {
    long call;
    condition conditions[MOST_CONDITIONS]; /* mask 0: none */
} rule;

#define ALL_BITS 0xffffffffu

static const rule allowed[] = {
    {__NR_brk, {{0, 0, 0}}},
    {__NR_mmap, {{2, PROT_EXEC, 0}, {3, MAP_ANONYMOUS, MAP_ANONYMOUS}}},
    {__NR_mprotect, {{2, PROT_EXEC, 0}}},
    {__NR_munmap, {{0, 0, 0}}},
    {__NR_mremap, {{0, 0, 0}}},
    {__NR_madvise, {{0, 0, 0}}},
    {__NR_write, {{0, 0, 0}}},
    {__NR_writev, {{0, 0, 0}}},
    {__NR_lseek, {{0, 0, 0}}},
    {__NR_close, {{0, 0, 0}}},
    {__NR_fcntl, {{1, ALL_BITS, F_GETFL}}},
    {__NR_fcntl, {{1, ALL_BITS, F_DUPFD_CLOEXEC}}},
    {__NR_futex, {{1, ~(uint32_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME), FUTEX_WAKE}}},
    {__NR_sched_yield, {{0, 0, 0}}},
    {__NR_rt_sigaction, {{0, 0, 0}}},
    {__NR_rt_sigprocmask, {{0, 0, 0}}},
    {__NR_rt_sigreturn, {{0, 0, 0}}},
    {__NR_restart_syscall, {{0, 0, 0}}},
    {__NR_getpid, {{0, 0, 0}}},
    {__NR_gettid, {{0, 0, 0}}},
    {__NR_clock_gettime, {{0, 0, 0}}},
    {__NR_gettimeofday, {{0, 0, 0}}},
    {__NR_getrandom, {{0, 0, 0}}},
    {__NR_sysinfo, {{0, 0, 0}}}, /* qsort asks for the machine's memory */
    {__NR_exit, {{0, 0, 0}}},
    {__NR_exit_group, {{0, 0, 0}}},
};

#if defined(__x86_64__) && !defined(__ILP32__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && !defined(__ILP32__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0
#endif

typedef struct program {
    struct sock_filter steps[MOST_STEPS];
    unsigned short count;
} program;

static void put(program *p, unsigned code, uint32_t value)
{
    if (p->count < MOST_STEPS) p->steps[p->count++] = (struct sock_filter)BPF_STMT((unsigned short)code, value);
}

static void load(program *p, size_t offset)
{
    put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* Goes `over` steps further where the loaded word is not the wanted one. */
static void require(program *p, uint32_t wanted, unsigned over)
{
    put(p, BPF_JMP | BPF_JEQ | BPF_K, wanted);
    p->steps[p->count - 1].jf = (unsigned char)over;
}

/* The call's number is loaded before and after. */
static void put_rule(program *p, const rule *row)
{
    unsigned conditions = 0;
    while (conditions < MOST_CONDITIONS && row->conditions[conditions].mask) conditions++;
    require(p, (uint32_t)row->call, conditions ? 3 * conditions + 2 : 1);
    for (unsigned i = 0; i < conditions; i++) {
        load(p, offsetof(struct seccomp_data, args) + row->conditions[i].argument * sizeof(uint64_t));
        put(p, BPF_ALU | BPF_AND | BPF_K, row->conditions[i].mask);
        require(p, row->conditions[i].wanted, 3 * (conditions - 1 - i) + 1);
    }
    put(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    if (conditions) load(p, offsetof(struct seccomp_data, nr));
}

/* All threads of the process at once, if a library has started some. */
bool filter_calls(void)
{
    program p = {.count = 0};
    load(&p, offsetof(struct seccomp_data, arch));
    require(&p, ARCHITECTURE, 1);
    put(&p, BPF_JMP | BPF_JA, 1);
    put(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    load(&p, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) put_rule(&p, &allowed[i]);
    put(&p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    const struct sock_fprog filter = {p.count, p.steps};
    return ARCHITECTURE != 0 && p.count < MOST_STEPS &&
           syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}
