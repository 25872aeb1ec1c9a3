/* Replays inputs without libFuzzer:
 *   fuzz_replay FILE...                   each named TARGET-WHAT
 *   fuzz_replay --accepted TARGET FILE... prints those in which something was refused, and fails if there are any
 *   fuzz_replay --list                    prints the targets
 *   fuzz_replay --states DIRECTORY        writes seeds of the target `checkpoint` there */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };

static const fuzz_target *target_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return fuzz_targets_find(name, strcspn(name, "-"));
}

static bool replay(const fuzz_target *target, const char *path)
{
    static unsigned char bytes[MOST];
    FILE *file = fopen(path, "rb");
    if (!target || !file) {
        fprintf(stderr, "%s: %s\n", path, target ? "cannot be opened" : "its name does not begin with a target");
        if (file) fclose(file);
        return false;
    }
    const size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    fuzz_one(target, bytes, count);
    return true;
}

static bool replay_named(const char *path)
{
    fprintf(stderr, "%s\n", path);
    return replay(target_of(path), path);
}

static bool accepted(const fuzz_target *target, const char *path)
{
    if (!replay(target, path)) return false;
    if (*fuzz_refusal()) fprintf(stderr, "%s is refused: %s\n", path, fuzz_refusal());
    return !*fuzz_refusal();
}

int main(int count, char **arguments)
{
    bool good = true;
    if (count == 2 && strcmp(arguments[1], "--list") == 0) {
        for (size_t i = 0; fuzz_targets_row(i); i++) puts(fuzz_targets_row(i)->name);
    } else if (count == 3 && strcmp(arguments[1], "--states") == 0) {
        good = fuzz_print_states(arguments[2]);
    } else if (count > 3 && strcmp(arguments[1], "--accepted") == 0) {
        const fuzz_target *target = fuzz_targets_find(arguments[2], strlen(arguments[2]));
        for (int i = 3; i < count; i++) good = accepted(target, arguments[i]) && good;
    } else if (count > 1) {
        for (int i = 1; i < count; i++) good = replay_named(arguments[i]) && good;
    } else {
        fprintf(stderr, "usage: fuzz_replay FILE... | --accepted TARGET FILE... | --list | --states DIRECTORY\n");
        return 64;
    }
    return good ? 0 : 1;
}
