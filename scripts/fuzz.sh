#!/usr/bin/env bash
# Fuzzes the readers, FUZZ_SECONDS each, one after the other; TARGETS names some of them. Fails where one finds something.
set -euo pipefail
cd "$(dirname "$0")/.."
tree=${BUILD:-build}/fuzz
seconds=${FUZZ_SECONDS:-60}
if [[ -z $(command -v clang) ]]; then
    echo "make fuzz needs clang, whose libFuzzer it uses; install it (Debian: apt-get install clang)" >&2
    exit 69
fi
scripts/build.sh "$tree" -DCMAKE_C_COMPILER=clang -DARMILLA_FUZZ=ON
rm -rf "$tree/seeds"
programs=$tree/tests/fuzz
tests/fuzz/seeds.sh "$programs/fuzz_replay" "$tree/seeds"
targets=${TARGETS:-$("$programs/fuzz_replay" --list)}
# Leaks of our own are seen after every input; the stacks of allocations are short, since that is most of the time.
export ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=2:allocator_may_return_null=1
bad=0
for target in $targets; do
    # Longer than the longest seed: libFuzzer cuts off what is beyond, and a model without its end is none.
    longest=$(find "$tree/seeds/$target" -type f -printf '%s\n' | sort -n | tail -n 1)
    longest=$((longest * 3 / 2 > 600 ? longest * 3 / 2 : 600))
    mkdir -p "$tree/corpus/$target" "$tree/found"
    log=$tree/$target.log
    words=()
    [[ ! -e tests/fuzz/$target.dict ]] || words=(-dict="tests/fuzz/$target.dict")
    if ARMILLA_FUZZ_TARGET=$target "$programs/fuzz_reader" "${words[@]}" -max_len="$longest" -max_total_time="$seconds" \
        -print_final_stats=1 -artifact_prefix="$tree/found/$target-" "$tree/corpus/$target" "$tree/seeds/$target" \
        >"$log" 2>&1; then
        printf '%-10s %12s executions\n' "$target" "$(sed -n 's/.*number_of_executed_units: *//p' "$log")"
    else
        bad=1
        printf '%-10s FOUND something: %s, input in %s/found\n' "$target" \
            "$(grep -a -m 1 -E 'SUMMARY|^broken' "$log" || echo "see $log")" "$tree"
    fi
done
exit $bad
