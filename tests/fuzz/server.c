/* The command without its start: fuzz_command reads cases from standard input and runs each in a child of its own, by
 * the command's main, so that nothing is loaded anew (an exec of a sanitized program takes longer than most cases) and
 * nothing that a case breaks outlives it. A case is a line with the number of bytes that follow: words that end with a
 * NUL, the directory, the file for standard error, and the command line. The answer is a line: how waitpid says that it
 * ended, -1 where it did not in time; the most memory in kB; seconds of the processor. `fuzz_command --tables` prints the
 * commands and their options instead. */
#include "tables.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int armilla_main(int count, char **arguments);

enum { MOST_BYTES = 1 << 16, MOST_WORDS = 128, CPU_SECONDS = 20, WALL_SECONDS = 120 };

/* words = the texts in the bytes, and a NULL behind them. */
static int split(char *bytes, size_t count, char *words[MOST_WORDS + 1])
{
    int found = 0;
    for (size_t at = 0; at < count && found < MOST_WORDS; at += strlen(bytes + at) + 1) words[found++] = bytes + at;
    words[found] = NULL;
    return found;
}

static void redirect(const char *path, int stream)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || dup2(file, stream) < 0) _exit(125);
    close(file);
}

/* In a group of its own, so that what it starts can be ended with it. */
static void run(int count, char **words)
{
    const struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS + 5}, core = {0, 0}, size = {1 << 28, 1 << 28};
    setpgid(0, 0);
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
    setrlimit(RLIMIT_FSIZE, &size);
    if (chdir(words[0]) != 0) _exit(125);
    redirect("/dev/null", STDOUT_FILENO);
    redirect(words[1], STDERR_FILENO);
    const int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0) _exit(125);
    close(null);
    exit(armilla_main(count - 2, words + 2));
}

/* Until the child ends or its time is over. */
static int await(pid_t child, struct rusage *used)
{
    const struct timespec second = {1, 0};
    sigset_t ended;
    int status = 0;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    for (int waited = 0; wait4(child, &status, WNOHANG, used) == 0;) {
        if (sigtimedwait(&ended, NULL, &second) >= 0 || ++waited < WALL_SECONDS) continue;
        kill(-child, SIGKILL);
        while (wait4(child, &status, 0, used) < 0 && errno == EINTR) continue;
        return -1;
    }
    return status;
}

int main(int argument_count, char **arguments)
{
    static char bytes[MOST_BYTES + 1];
    char *words[MOST_WORDS + 1];
    sigset_t blocked, before;
    size_t length = 0;
    if (argument_count > 1) return strcmp(arguments[1], "--tables") == 0 ? tables_print(stdout) : 1;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    while (scanf("%zu", &length) == 1 && getchar() == '\n' && length <= MOST_BYTES) {
        struct rusage used = {0};
        if (fread(bytes, 1, length, stdin) != length) return 1;
        const int count = split(bytes, length, words);
        if (count < 3) return 1;
        const pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            sigprocmask(SIG_SETMASK, &before, NULL);
            run(count, words);
        }
        const int status = await(child, &used);
        printf("%d %ld %ld\n", status, used.ru_maxrss, (long)(used.ru_utime.tv_sec + used.ru_stime.tv_sec));
        fflush(stdout);
    }
    return 0;
}
