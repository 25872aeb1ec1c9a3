/* What this process can have of the machine's memory: the least of what the system has available, what the control
 * groups above it have left, and what its own limits leave. What cannot be found out does not count. */
#include "base/context.h"

#include "base/size.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_TEXT = 3072 }; /* of which a function and what is inlined into it have four */

/* The beginning of a file of the system's, "" where there is none. */
static const char *read_text(const armilla_io *io, const char *path, char text[MOST_TEXT])
{
    size_t used = 0;
    const int file = armilla_io_open(io, path, O_RDONLY | O_CLOEXEC, 0);
    for (ssize_t got = 1; file >= 0 && got > 0 && used + 1 < MOST_TEXT; used += got > 0 ? (size_t)got : 0)
        got = armilla_io_read(io, file, text + used, MOST_TEXT - 1 - used);
    if (file >= 0) (void)armilla_io_close(io, file);
    text[used] = '\0';
    return text;
}

/* The number behind the word, times the unit; INT64_MAX where it is missing. */
static int64_t number_behind(const char *text, const char *word, int64_t unit)
{
    const char *found = strstr(text, word);
    char *end = NULL;
    const long long value = found ? strtoll(found + strlen(word), &end, 10) : 0;
    return found && end != found + strlen(word) && value >= 0 && value < INT64_MAX / unit ? value * unit : INT64_MAX;
}

static int64_t machine_free(const armilla_io *io)
{
    char text[MOST_TEXT];
    return number_behind(read_text(io, "/proc/meminfo", text), "MemAvailable:", 1024);
}

/* The first version has one tree per controller, the second one tree; "max" is no number. What is used includes files
 * that the system keeps in memory as long as nobody else wants it: these are free. */
static const struct group {
    const char *marker, *root, *limit, *usage;
    const char *cached[2]; /* lines of memory.stat */
} groups[] = {
    {"0::", "/sys/fs/cgroup", "memory.max", "memory.current", {"\ninactive_file ", "\nactive_file "}},
    {":memory:",
     "/sys/fs/cgroup/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"\ntotal_inactive_file ", "\ntotal_active_file "}},
};

/* What the group at that path has left; INT64_MAX where it has no limit. */
static int64_t own_free(const armilla_io *io, const struct group *group, const char *path)
{
    char name[MOST_TEXT + 128], text[MOST_TEXT];
    snprintf(name, sizeof name, "%s%s/%s", group->root, path, group->limit);
    const int64_t limit = number_behind(read_text(io, name, text), "", 1);
    snprintf(name, sizeof name, "%s%s/%s", group->root, path, group->usage);
    int64_t used = number_behind(read_text(io, name, text), "", 1);
    if (limit == INT64_MAX || used == INT64_MAX) return INT64_MAX;
    snprintf(name, sizeof name, "%s%s/memory.stat", group->root, path);
    (void)read_text(io, name, text);
    for (int i = 0; i < 2; i++) {
        const int64_t cached = number_behind(text, group->cached[i], 1);
        if (cached < INT64_MAX) used = armilla_max64(used - cached, 0);
    }
    return armilla_max64(limit - used, 0);
}

/* What is left in the group of that path and in all above it. */
static int64_t group_free(const armilla_io *io, const struct group *group, char *path)
{
    int64_t least = INT64_MAX;
    for (bool more = true; more;) {
        least = armilla_min64(least, own_free(io, group, path));
        char *slash = strrchr(path, '/');
        more = slash != NULL;
        if (slash) *slash = '\0';
    }
    return least;
}

static int64_t groups_free(const armilla_io *io)
{
    char text[MOST_TEXT], path[MOST_TEXT];
    int64_t least = INT64_MAX;
    (void)read_text(io, "/proc/self/cgroup", text);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        const char *found = strstr(text, groups[i].marker);
        if (!found) continue;
        snprintf(path, sizeof path, "%s", found + strlen(groups[i].marker));
        path[strcspn(path, "\n")] = '\0';
        if (strcmp(path, "/") == 0) path[0] = '\0';
        least = armilla_min64(least, group_free(io, &groups[i], path));
    }
    return least;
}

static int64_t left_of(const struct rlimit *limit, int64_t used)
{
    return limit->rlim_cur < INT64_MAX ? armilla_max64((int64_t)limit->rlim_cur - used, 0) : INT64_MAX;
}

/* Pages that the process has: all, then those of data. */
static int64_t limits_free(const armilla_io *io)
{
    struct rlimit space, heap;
    long long all = 0, data = 0;
    const int64_t page = sysconf(_SC_PAGESIZE);
    char text[MOST_TEXT];
    if (sscanf(read_text(io, "/proc/self/statm", text), "%lld %*d %*d %*d %*d %lld", &all, &data) != 2 || page <= 0)
        return INT64_MAX;
    if (getrlimit(RLIMIT_AS, &space) != 0 || getrlimit(RLIMIT_DATA, &heap) != 0) return INT64_MAX;
    return armilla_min64(left_of(&space, all * page), left_of(&heap, data * page));
}

int64_t armilla_memory_free(const armilla_io *io)
{
    return armilla_min64(machine_free(io), armilla_min64(groups_free(io), limits_free(io)));
}
