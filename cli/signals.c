/* Signal handlers touch nothing but two flags: everything else happens in the callback of the fit. The exception is the
 * one for a mapped input that has become shorter: its numbers are gone, so nothing can go on. */
#include "signals.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILES = 256, IO_ERROR = 74 };

static volatile sig_atomic_t caught, deferred;
static const char *volatile input;
static atomic_flag lost = ATOMIC_FLAG_INIT;

/* text = the number in decimal; returns its end. */
static char *print_number(char *text, long number)
{
    char digits[24];
    int count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0) *text++ = digits[--count];
    *text = '\0';
    return text;
}

/* Whether the path is DIRECTORY/.NAME.PID-COUNTER.tmp with the number of this process, as outputs are called until they
 * are whole. */
static bool is_temporary(const char *path)
{
    char own[32] = ".";
    strcpy(print_number(own + 1, (long)getpid()), "-");
    const size_t length = strlen(path);
    const char *slash = strrchr(path, '/'), *found = slash && slash[1] == '.' ? strstr(slash + 2, own) : NULL;
    if (!found || length < 4 || strcmp(path + length - 4, ".tmp") != 0) return false;
    found += strlen(own);
    return *found != '.' && found + strspn(found, "0123456789") == path + length - 4;
}

/* Outputs that are open for writing: they will never be whole. What others have made is not open here. */
static void remove_unfinished(void)
{
    char place[48] = "/proc/self/fd/", path[4096];
    for (int file = STDERR_FILENO + 1; file < MOST_FILES; file++) {
        const int flags = fcntl(file, F_GETFL);
        if (flags < 0 || (flags & O_ACCMODE) != O_WRONLY) continue;
        print_number(place + strlen("/proc/self/fd/"), file);
        const ssize_t length = readlink(place, path, sizeof path - 1);
        if (length <= 0) continue;
        path[length] = '\0';
        if (is_temporary(path)) (void)unlink(path);
    }
}

/* Only what may be called at any moment: the sentence in pieces, and the end. Several threads may meet the lost page at
 * once: the first tells it, the others wait for the end. */
static void on_lost_input(int number)
{
    const char *const pieces[] = {"armilla: ", input ? input : "an input",
                                  ": became shorter while it was read; let it be finished, and start again\n"};
    (void)number;
    while (atomic_flag_test_and_set(&lost)) (void)pause();
    remove_unfinished();
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        (void)!write(STDERR_FILENO, pieces[i], strlen(pieces[i]));
    _exit(IO_ERROR);
}

void signals_reading(const char *path)
{
    input = path;
}

static void on_signal(int number)
{
    if (!deferred) _exit(128 + number);
    caught = number;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
}

/* Also where the shell started us with INT ignored, as it does for background jobs of scripts: a fit that is asked
 * to stop should save what it has. */
void signals_install(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL); /* a lost terminal asks for no less */
    action.sa_handler = on_lost_input;
    sigaction(SIGBUS, &action, NULL); /* the library maps files; a page behind their end is no more */
    /* Writing then fails with an error that can be told. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void signals_defer(void)
{
    deferred = 1;
}

int signals_exit(void)
{
    return caught ? 128 + (int)caught : 0;
}
