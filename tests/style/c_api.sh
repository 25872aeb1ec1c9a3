#!/usr/bin/env bash
# The C of docs/c-api.md compiles without a warning as C99 and runs: every block is the body of a function, those marked
# "helper" stand in front of them.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
library=${ARMILLA_LIBRARY:-$root/build/libarmilla.so}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if nm -D "$library" | grep -q '__asan_init\|__tsan_init'; then
    echo "a sanitized library needs a sanitized program: not run"
    exit 77
fi

{
    printf '#define _POSIX_C_SOURCE 200809L\n#include <armilla/armilla.h>\n#include <stdio.h>\n#include <stdlib.h>\n'
    printf '#include <sys/socket.h>\n#include <sys/wait.h>\n#include <unistd.h>\n'
    printf 'static void ok(armilla_context *context, armilla_status status, int line)\n{\n'
    printf '    if (status == ARMILLA_OK) return;\n'
    printf '    fprintf(stderr, "line %%d: %%s\\n", line, armilla_context_error(context));\n    exit(1);\n}\n'
    printf '#define OK(call) ok(context, call, __LINE__)\n'
    awk '/^```c helper$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$root/docs/c-api.md"
    awk '/^```c$/ { printf "static void example_%d(armilla_context *context, const armilla_data *X)\n{\n(void)X;\n", ++n; inside = 1; next }
        /^```$/ && inside { print "}"; inside = 0 } inside' "$root/docs/c-api.md"
    printf 'int main(void)\n{\n    double values[240];\n    armilla_context *context = NULL;\n    armilla_data *X = NULL;\n    int i;\n'
    printf '    for (i = 0; i < 240; i++) values[i] = 1 + (i * i) %% 11 + (i / 6 %% 2) * (i %% 6) * 3;\n'
    printf '    if (armilla_context_new(NULL, &context) != ARMILLA_OK) return 1;\n'
    printf '    OK(armilla_data_wrap_dense(context, ARMILLA_F64, values, 6, 40, 6, &X));\n'
    count=$(grep -c '^```c$' "$root/docs/c-api.md")
    [[ $count -ge 12 ]] || { echo "docs/c-api.md has only $count examples" >&2; exit 1; }
    for ((i = 1; i <= count; i++)); do
        printf '    example_%d(context, X);\n' "$i"
    done
    printf '    if (armilla_context_memory_live(context) <= 0) return 1;\n    armilla_data_free(X);\n'
    printf '    if (armilla_context_memory_live(context) != 0) return fprintf(stderr, "memory is left\\n"), 1;\n'
    printf '    armilla_context_free(context);\n    return 0;\n}\n'
} >"$work/examples.c"
"${CC:-cc}" -std=c99 -Wall -Wextra -Wpedantic -Werror -I "$root/include" "$work/examples.c" "$library" -o "$work/examples"
cd "$work"
LD_LIBRARY_PATH=$(dirname "$library") ./examples >output
for said in 'rank 100 is more than' "codes='sparse-sphere' needs sparsity" 'interrupted after' 'rank = 3' 'negative entries' \
    'dense f32 of 6 numbers, sparse f64 of 4' 'start: [1-9]' 'iterations: [1-9]' 'final codes: [1-9]' \
    'two ranks: the same bits'; do
    grep -q "$said" output || { echo "the examples do not say: $said"; cat output; exit 1; }
done
# What programs that embed the library look for has an example, not only a sentence.
for called in data_wrap_dense data_wrap_sparse data_from_source model_from_arrays model_save_memory model_open_memory \
    model_reconstruct_codes context_set_watch context_set_wording context_set_ranks option_next; do
    grep -q "armilla_$called(" "$work/examples.c" || { echo "docs/c-api.md has no example of armilla_$called"; exit 1; }
done
