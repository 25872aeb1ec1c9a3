/* libFuzzer's entry: the environment's ARMILLA_FUZZ_TARGET says which row of the targets it runs. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t count);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t count)
{
    static const fuzz_target *target;
    if (!target) {
        const char *name = getenv("ARMILLA_FUZZ_TARGET");
        target = name ? fuzz_targets_find(name, strlen(name)) : NULL;
        fuzz_holds(target != NULL, "ARMILLA_FUZZ_TARGET names a target (fuzz_replay --list)");
    }
    fuzz_one(target, bytes, count);
    return 0;
}
