/* Children that do not outlive the command: the kernel kills them when it is gone, also where it was killed itself. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_STREAMS = 4 };

/* In the child, where only what may be called between fork and exec is: the streams are first moved above their places,
 * so that none is lost under another. */
static void become(const char *program, const char *const *arguments, const int *streams, int count)
{
    int above[MOST_STREAMS];
    for (int i = 0; i < count; i++) {
        above[i] = fcntl(streams[i], F_DUPFD_CLOEXEC, count);
        if (above[i] < 0) _exit(CHILD_UNFIT);
    }
    for (int i = 0; i < count; i++)
        if (dup2(above[i], i) != i) _exit(CHILD_UNFIT);
    (void)syscall(SYS_close_range, count, ~0u, 0); /* what the command opens is closed by exec; what it was given not */
    signal(SIGPIPE, SIG_DFL);                      /* what is ignored stays so in a program, unlike what is handled */
    signal(SIGXFSZ, SIG_DFL);
    /* The arguments are not changed: the prototype is older than const. */
    execvp(program, (char *const *)(uintptr_t)arguments);
    _exit(errno == ENOENT || errno == EACCES || errno == ENOTDIR ? CHILD_MISSING : CHILD_UNFIT);
}

pid_t child_start(const char *program, const char *const *arguments, const int *streams, int count)
{
    const pid_t parent = getpid(), child = fork();
    if (child != 0) return child;
    /* Who has ended before the request has another process in its place. */
    if (count > MOST_STREAMS || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(CHILD_UNFIT);
    become(program, arguments, streams, count);
    return -1;
}
