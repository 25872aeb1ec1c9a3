#!/usr/bin/env bash
# A test that is skipped, whole or in part, fails where CI is set, unless it is on the list with a reason: scripts/suite.sh
# on a tree of its own, with a skip of each kind.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(skips NONE)
enable_testing()
add_test(NAME runs COMMAND sh -c "echo well")
add_test(NAME whole COMMAND sh -c "echo no seccomp; exit 77")
set_tests_properties(whole PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME part COMMAND sh -c "echo 'skipped: pictures, for want of gnuplot'")
add_test(NAME within_c COMMAND sh -c "echo '[ RUN      ] a_test'; echo '[  SKIPPED ] a_test'; echo '[  SKIPPED ] 1 test(s), listed below:'")
add_test(NAME within_python COMMAND sh -c "echo 'SKIPPED [2] tests/python/test_a.py:7: there is no mpi4py'")
END
cmake -S "$work" -B "$work/tree" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

# counted CI LIST: "passed failed skipped" of a run, whose output and failures are in $work/output.
counted() (
    export CI=$1 SKIPS=$work/list
    printf '%b' "$2" >"$SKIPS"
    . scripts/suite.sh
    jobs=2 tier=${3:-}
    suite skips "$work/tree" >"$work/output"
    echo "$failures" >>"$work/output"
    echo "$passed $failed $skipped"
)

expect() {
    local got
    got=$(counted "${@:2}")
    [[ $got == "$1" ]] || { echo "CI=$2 with the list '$3': passed, failed, skipped: $got, not $1"; cat "$work/output"; exit 1; }
}

all='whole | all of it | no kernel has it\npart | pictures, * | it is small\nwithin_c | a_test | root may\nwithin_python | there is no mpi4py | one has\n'
expect '4 0 1' true "# none but these\n\n$all"
expect '4 4 1' true ''
for name in whole part within_c within_python; do
    expect '4 1 1' true "$(printf '%b' "$all" | grep -v "^$name ")\n"
    grep -q "^failed: .*skipped: $name: " "$work/output" || { echo "$name is not named"; cat "$work/output"; exit 1; }
done
expect '4 1 1' true "${all/root may/}" # without a reason
# Elsewhere it is said, and no failure.
expect '4 0 1' '' ''
expect '4 0 1' false ''
[[ $(grep -c 'left out, and not on tests/skips.txt: ' "$work/output") == 4 ]] || { cat "$work/output"; exit 1; }
# A list is for its tier.
expect '4 4 1' true "$all" sanitizers
expect '4 0 1' true "$(printf '%b' "$all" | sed 's|^|sanitizers/|')\n" sanitizers
expect '4 0 1' true "$all" tests

# The project's own list is one, and names tests that there are.
tests=$(ctest --test-dir "${ARMILLA_BUILD:-build}" -N | sed -n 's/^ *Test *#[0-9]*: //p')
while IFS='|' read -r name _ why; do
    [[ $name != \#* ]] || continue
    name=${name%% *} name=${name##*/} # a tier may come before it
    grep -qxF "$name" <<<"$tests" && [[ -n ${why// /} ]] || { echo "tests/skips.txt: no test, or no reason: $name"; exit 1; }
done <tests/skips.txt
