/* Preloaded into the real command by tests/cli/inject_check.py: one of its calls to the system on the files of the
 * working directory is disturbed. Counted are calls whose path is relative, and calls on descriptors that came from
 * these, or that have no name at all (memfd_create); so the driver gives relative paths, and what the C library, BLAS
 * and the loader open for themselves is left alone.
 *
 *   ARMILLA_FAULT_LOG   a file that gets a line "call path" for each counted call
 *   ARMILLA_FAULT_AT    which counted call is disturbed, from 0
 *   ARMILLA_FAULT       how: a number makes it fail with that errno; "short" halves the transfer; "signal N" sends the
 *                       signal to the process first, "twice N" two of them; "cut FILE" makes the file empty first
 *   ARMILLA_FAULT_NO_MAP  set: no file can be mapped, so that all are read */
#undef _FILE_OFFSET_BITS /* the names with 64 are defined here, as the command imports them */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 256, MOST_NAME = 512 };

typedef enum outcome { UNCHANGED, FAILS, SHORT } outcome;

static struct {
    int log;
    long calls, at;
    const char *how, *argument;
    bool no_map;
    char names[MOST_FILES][MOST_NAME]; /* of open descriptors; "" where they are not counted */
} state = {.log = -1, .at = -1};

/* The children of the command are left alone. */
__attribute__((constructor)) static void begin(void)
{
    const char *log = getenv("ARMILLA_FAULT_LOG"), *at = getenv("ARMILLA_FAULT_AT");
    state.how = getenv("ARMILLA_FAULT");
    state.argument = state.how && strchr(state.how, ' ') ? strchr(state.how, ' ') + 1 : "";
    state.no_map = getenv("ARMILLA_FAULT_NO_MAP") != NULL;
    if (log) state.log = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (at) state.at = strtol(at, NULL, 10);
    unsetenv("LD_PRELOAD");
}

/* The system's own function, which dlsym gives as an object pointer. */
#define NEXT(name)                                                                                                     \
    __typeof__(&name) next = NULL;                                                                                     \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

static const char *name_of(int file)
{
    return file >= 0 && file < MOST_FILES && *state.names[file] ? state.names[file] : NULL;
}

static int remember(int file, const char *path)
{
    if (file >= 0 && file < MOST_FILES) snprintf(state.names[file], MOST_NAME, "%s", path && *path != '/' ? path : "");
    return file;
}

static bool is_how(const char *word)
{
    return strncmp(state.how, word, strlen(word)) == 0;
}

static outcome disturb(void)
{
    const int number = atoi(state.argument);
    if (is_how("short")) return SHORT;
    if (is_how("signal") || is_how("twice")) (void)kill(getpid(), number);
    if (is_how("twice")) (void)kill(getpid(), number);
    if (is_how("cut")) (void)syscall(SYS_truncate, state.argument, 0);
    if (*state.how < '0' || *state.how > '9') return UNCHANGED;
    errno = atoi(state.how);
    return FAILS;
}

/* Counts the call and says what becomes of it. */
static outcome judge(const char *call, const char *path)
{
    char line[MOST_NAME + 32];
    if (!path || *path == '/') return UNCHANGED;
    const int length = snprintf(line, sizeof line, "%s %s\n", call, path);
    const int before = errno;
    if (state.log >= 0) (void)syscall(SYS_write, state.log, line, (size_t)length);
    errno = before;
    return state.calls++ == state.at && state.how ? disturb() : UNCHANGED;
}

/* Time stands still, so that two runs write the same bytes. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){.tv_sec = 1};
    return 0;
}

int open64(const char *path, int flags, ...)
{
    NEXT(open64);
    va_list arguments;
    va_start(arguments, flags);
    const bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    const mode_t mode = flags & O_CREAT || unnamed ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    const char *name = unnamed ? "unnamed" : path;
    if (judge(unnamed ? "unnamed" : flags & O_CREAT ? "create" : "open", name) == FAILS) return -1;
    return remember(next(path, flags, mode), name);
}

int memfd_create(const char *name, unsigned flags)
{
    NEXT(memfd_create);
    return judge("memfd", name) == FAILS ? -1 : remember(next(name, flags), name);
}

ssize_t read(int file, void *bytes, size_t count)
{
    NEXT(read);
    const outcome now = judge("read", name_of(file));
    return now == FAILS ? -1 : next(file, bytes, now == SHORT && count > 1 ? count / 2 : count);
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset)
{
    NEXT(pread64);
    const outcome now = judge("pread", name_of(file));
    return now == FAILS ? -1 : next(file, bytes, now == SHORT && count > 1 ? count / 2 : count, offset);
}

ssize_t write(int file, const void *bytes, size_t count)
{
    NEXT(write);
    const outcome now = judge("write", name_of(file));
    return now == FAILS ? -1 : next(file, bytes, now == SHORT && count > 1 ? count / 2 : count);
}

int fsync(int file)
{
    NEXT(fsync);
    return judge("fsync", name_of(file)) == FAILS ? -1 : next(file);
}

/* As the system's, it closes even where it fails. */
int close(int file)
{
    NEXT(close);
    const outcome now = judge("close", name_of(file));
    const int failure = errno, result = next(remember(file, NULL));
    if (now != FAILS) return result;
    errno = failure;
    return -1;
}

int rename(const char *from, const char *to)
{
    NEXT(rename);
    return judge("rename", to) == FAILS ? -1 : next(from, to);
}

int link(const char *from, const char *to)
{
    NEXT(link);
    return judge("link", to) == FAILS ? -1 : next(from, to);
}

int unlink(const char *path)
{
    NEXT(unlink);
    return judge("unlink", path) == FAILS ? -1 : next(path);
}

/* Returns the error instead of setting it. */
int posix_fallocate64(int file, off64_t start, off64_t count)
{
    NEXT(posix_fallocate64);
    return judge("allocate", name_of(file)) == FAILS ? errno : next(file, start, count);
}

int flock(int file, int operation)
{
    NEXT(flock);
    return judge("lock", name_of(file)) == FAILS ? -1 : next(file, operation);
}

int stat64(const char *path, struct stat64 *facts)
{
    NEXT(stat64);
    return judge("stat", path) == FAILS ? -1 : next(path, facts);
}

int fstat64(int file, struct stat64 *facts)
{
    NEXT(fstat64);
    return judge("fstat", name_of(file)) == FAILS ? -1 : next(file, facts);
}

int access(const char *path, int mode)
{
    NEXT(access);
    return judge("access", path) == FAILS ? -1 : next(path, mode);
}

int mkdir(const char *path, mode_t mode)
{
    NEXT(mkdir);
    return judge("mkdir", path) == FAILS ? -1 : next(path, mode);
}

DIR *opendir(const char *path)
{
    NEXT(opendir);
    if (judge("opendir", path) == FAILS) return NULL;
    DIR *directory = next(path);
    if (directory) (void)remember(dirfd(directory), path);
    return directory;
}

struct dirent64 *readdir64(DIR *directory)
{
    NEXT(readdir64);
    return judge("readdir", name_of(dirfd(directory))) == FAILS ? NULL : next(directory);
}

int closedir(DIR *directory)
{
    NEXT(closedir);
    (void)judge("closedir", name_of(dirfd(directory)));
    (void)remember(dirfd(directory), NULL);
    return next(directory);
}

void *mmap64(void *address, size_t count, int protection, int flags, int file, off64_t offset)
{
    NEXT(mmap64);
    const char *name = name_of(file);
    if (judge("mmap", name) == FAILS) return MAP_FAILED;
    if (name && state.no_map) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return next(address, count, protection, flags, file, offset);
}

pid_t waitpid(pid_t child, int *ended, int options)
{
    NEXT(waitpid);
    return judge("waitpid", "child") == FAILS ? -1 : next(child, ended, options);
}

pid_t fork(void)
{
    NEXT(fork);
    return judge("spawn", "child") == FAILS ? -1 : next();
}
