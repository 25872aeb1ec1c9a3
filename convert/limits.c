/* What the process may use. A file that takes over the libraries that read it gets a process that owns nothing: no file
 * can be opened (none is needed: the input is mapped, the output is open), no process, program, socket or signal be
 * made, and no memory be executed (filter.c). Landlock and the resource limits stand behind the filter. */
#include "convert.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LEAST_SECONDS = 20,
    SECONDS_PER_MEGABYTE = 20, /* deflate makes a thousand of one */
    OWN_MEMORY = 16 << 20,     /* stack, buffers and what libraries keep, whatever the data */
    LEAST_MEMORY = 256 << 20,
    MEMORY_PER_BYTE = 4 * 1032, /* what a byte of deflate can become, and copies of that */
    MOST_FILES = 16,
};

/* Sanitizers map far more than they use, and trace their own process at the end. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||               \
    __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static void limit(int resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) != 0) return;
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most) most = now.rlim_max;
    const struct rlimit wanted = {most, most};
    (void)setrlimit((__rlimit_resource_t)resource, &wanted);
}

/* Bytes that are mapped already: the program, its libraries, the input. */
static int64_t mapped(void)
{
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%lld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static int64_t machine_memory(void)
{
    const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? pages * page : INT64_MAX / 8;
}

static int64_t most_memory(int64_t size, int64_t asked)
{
    const int64_t machine = machine_memory();
    if (asked > 0) return asked;
    return size < (machine - LEAST_MEMORY) / MEMORY_PER_BYTE ? LEAST_MEMORY + MEMORY_PER_BYTE * size : machine;
}

/* Landlock, by number, as headers may be older than the kernel: nothing of the file system, and as the version of its
 * interface allows, no network and nobody outside to be signalled. The ruleset has no rules: all that it handles is
 * refused. */
static void forbid_files(void)
{
    enum { CREATE_RULESET = 444, RESTRICT_SELF = 446, ASK_VERSION = 1 };
    static const struct {
        int version;
        uint64_t handled[3]; /* files, network, scope: what came with that version */
    } versions[] = {
        {1, {0x1fff, 0, 0}}, {2, {1 << 13, 0, 0}}, {3, {1 << 14, 0, 0}},
        {4, {0, 3, 0}},      {5, {1 << 15, 0, 0}}, {6, {0, 0, 3}},
    };
    uint64_t handled[3] = {0, 0, 0};
    const long version = syscall(CREATE_RULESET, NULL, (size_t)0, ASK_VERSION);
    for (size_t i = 0; i < sizeof versions / sizeof *versions && versions[i].version <= version; i++)
        for (size_t k = 0; k < 3; k++) handled[k] |= versions[i].handled[k];
    const size_t size = (version >= 6 ? 3 : version >= 4 ? 2 : 1) * sizeof *handled;
    const int rules = version < 1 ? -1 : (int)syscall(CREATE_RULESET, handled, size, 0);
    if (rules < 0) return;
    (void)syscall(RESTRICT_SELF, rules, 0);
    close(rules);
}

armilla_status limits_set(conversion *c, int64_t memory)
{
    const int64_t size = (int64_t)c->size, most = most_memory(size, memory), used = mapped();
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    signal(SIGXFSZ, SIG_IGN); /* writing then fails, and says so */
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, (rlim_t)(LEAST_SECONDS + SECONDS_PER_MEGABYTE * (size >> 20)));
    limit(RLIMIT_NOFILE, MOST_FILES);
    limit(RLIMIT_FSIZE, (rlim_t)(most < INT64_MAX / 4 ? 4 * most : most));
    if (SANITIZED) return ARMILLA_OK;
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (most < INT64_MAX - used - OWN_MEMORY) limit(RLIMIT_AS, (rlim_t)(most + used + OWN_MEMORY));
    forbid_files();
    if (filter_calls()) return ARMILLA_OK;
    return refuse(c, ARMILLA_NOT_BUILT,
                  "%s: is not read, as this system cannot lock the process in (seccomp); convert it elsewhere",
                  c->path);
}
