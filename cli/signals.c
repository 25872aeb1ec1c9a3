/* A first signal only sets a flag, where what is done can still be saved or taken back: everything else happens in the
 * callback of the fit. The process ends at once, without outputs that are not whole, where there is nothing to save,
 * with a second signal, and where a mapped input has become shorter, so that its numbers are gone. */
#include "signals.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILES = 256, IO_ERROR = 74 };

static volatile sig_atomic_t caught, deferred, terminal, reports, settled, status_of_all;
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

/* The end, with a line that says why, by what may be called at any moment alone. A line of progress is erased. */
static void end_with(int status, const char *what, const char *message)
{
    const char *const pieces[] = {terminal ? "\r\033[K" : "", "armilla: ", what, message};
    remove_unfinished();
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        (void)!write(STDERR_FILENO, pieces[i], strlen(pieces[i]));
    _exit(status);
}

/* The hexadecimal number at text, which goes behind it. */
static uintptr_t scan_address(const char **text)
{
    static const char digits[] = "0123456789abcdef";
    uintptr_t value = 0;
    for (const char *digit; **text && (digit = strchr(digits, **text)); ++*text)
        value = 16 * value + (uintptr_t)(digit - digits);
    return value;
}

/* The file in a line of /proc/self/maps, "FIRST-BEHIND rights offset device inode   PATH"; NULL where the line is not of
 * the address. */
static char *mapped_path(char *line, uintptr_t address)
{
    const char *at = line;
    const uintptr_t first = scan_address(&at);
    if (*at++ != '-' || address < first || address >= scan_address(&at)) return NULL;
    char *deleted = strstr(line, " (deleted)");
    if (deleted) *deleted = '\0';
    return strchr(at, '/');
}

/* path = the file that is mapped at the address; false where that cannot be found. Lines longer than the buffer have
 * names that would not fit into the message either. */
static bool find_mapped(const void *address, char *path, size_t size)
{
    char part[4096 + 512];
    size_t used = 0;
    const char *found = NULL;
    const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    for (ssize_t got = maps < 0 ? 0 : 1; got > 0 && !found;) {
        got = read(maps, part + used, sizeof part - 1 - used);
        used += got > 0 ? (size_t)got : 0;
        part[used] = '\0';
        char *line = part;
        for (char *end; !found && (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            found = mapped_path(line, (uintptr_t)address);
        }
        if (!found) used = line > part ? strlen(line) : 0;
        if (!found) memmove(part, line, used);
    }
    if (maps >= 0) (void)close(maps);
    if (found && strlen(found) < size) strcpy(path, found);
    return found && strlen(found) < size;
}

/* Whether the path ends as the shorter one, which may be relative to the working directory. */
static bool ends_with(const char *path, const char *relative)
{
    while (strncmp(relative, "./", 2) == 0) relative += 2;
    const size_t length = strlen(path), part = strlen(relative);
    return part <= length && strcmp(path + length - part, relative) == 0;
}

/* Several threads may meet the lost page at once: the first says so, the others wait for the end. The file is called as
 * it was given, where it is the data. */
static void on_lost_input(int number, siginfo_t *facts, void *machine)
{
    char path[4096];
    (void)number;
    (void)machine;
    while (atomic_flag_test_and_set(&lost)) (void)pause();
    const char *name = input ? input : "an input";
    if (find_mapped(facts->si_addr, path, sizeof path) && !(input && ends_with(path, input))) name = path;
    end_with(IO_ERROR, name, ": became shorter while it was read; let it be finished, and start again\n");
}

void signals_reading(const char *path)
{
    input = path;
}

static void on_signal(int number)
{
    if (settled) _exit((int)status_of_all);
    if (deferred && !caught) {
        caught = number;
        return;
    }
    if (!reports) {
        remove_unfinished();
        _exit(128 + number);
    }
    end_with(128 + number, caught ? "ended by a second signal" : "stopped before there was a result",
             "; unfinished output is removed\n");
}

/* Also where the shell started us with INT ignored, as it does for background jobs of scripts: a fit that is asked
 * to stop should save what it has. */
void signals_install(void)
{
    terminal = isatty(STDERR_FILENO);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL); /* a lost terminal asks for no less */
    struct sigaction losing = {.sa_sigaction = on_lost_input, .sa_flags = SA_SIGINFO};
    sigemptyset(&losing.sa_mask);
    sigaction(SIGBUS, &losing, NULL); /* the library maps files; a page behind their end is no more */
    /* Writing then fails with an error that can be reported. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void signals_report(void)
{
    reports = 1;
}

void signals_defer(void)
{
    deferred = 1;
}

void signals_settle(int status)
{
    status_of_all = status;
    settled = 1;
}

int signals_exit(void)
{
    return caught ? 128 + (int)caught : 0;
}
