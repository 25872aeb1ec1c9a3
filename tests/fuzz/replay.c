/* Replays inputs without libFuzzer: fuzz_replay FILE..., each named TARGET-WHAT; --list prints the targets. */
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

static int replay(const char *path)
{
    static unsigned char bytes[MOST];
    const fuzz_target *target = target_of(path);
    FILE *file = fopen(path, "rb");
    if (!target || !file) {
        fprintf(stderr, "%s: %s\n", path, target ? "cannot be opened" : "its name does not begin with a target");
        return 1;
    }
    const size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    fprintf(stderr, "%s\n", path);
    fuzz_one(target, bytes, count);
    return 0;
}

int main(int count, char **arguments)
{
    int bad = 0;
    if (count == 2 && strcmp(arguments[1], "--list") == 0) {
        for (size_t i = 0; fuzz_targets_row(i); i++) puts(fuzz_targets_row(i)->name);
        return 0;
    }
    if (count < 2) {
        fprintf(stderr, "usage: fuzz_replay FILE... | --list\n");
        return 64;
    }
    for (int i = 1; i < count; i++) bad |= replay(arguments[i]);
    return bad;
}
