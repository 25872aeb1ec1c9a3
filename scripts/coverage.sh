#!/usr/bin/env bash
# Branch coverage of src/ by the tests: scripts/coverage.sh. Leaves a page for each file in build/coverage/pages, and
# fails below 95 %. Two kinds of branches do not count:
#   lines that take memory or hand on a status: tests/fault makes every allocation fail in turn and looks at the result
#   src/linalg/kernels: one source compiled for many constants, most of whose branches the compiler decides; tests/unit
#   compares each variant with plain loops
set -euo pipefail
cd "$(dirname "$0")/.."
tree=${BUILD:-build}/coverage
jobs=${JOBS:-$(nproc)}
least=95
handed_on='.*(\b(armilla_take|armilla_grow|armilla_copy_text)\(|\bstatus [!=]= ARMILLA_OK\b).*'
if [[ -z $(command -v gcovr) ]]; then
    echo "make coverage needs gcovr; install it (Debian: apt-get install gcovr)" >&2
    exit 69
fi

# page ARGUMENT ...: gcovr on what the last run of the tests left.
page() {
    gcovr -j "$jobs" --root . --object-directory "$tree" --filter src/ --exclude src/linalg/kernels/ \
        --exclude-unreachable-branches --branches "$@" "$tree" 2>"$tree/gcovr.log" || { cat "$tree/gcovr.log" >&2; exit 1; }
}

# Threads count at the same time. Little optimisation, so that branches stay those of the source.
scripts/build.sh "$tree" -DCMAKE_BUILD_TYPE=None -DARMILLA_TESTS=ON \
    -DCMAKE_C_FLAGS='--coverage -g -Og -fprofile-update=prefer-atomic'
find "$tree" -name '*.gcda' -delete
# cli_inject_check knows every call to the system, and the counters make some of their own. armilla-convert is locked in
# and cannot write counters, which it says at every end: cli_external_check looks at what it says.
ctest --test-dir "$tree" --parallel "$jobs" --output-on-failure --no-label-summary --timeout 1800 -L 'unit|cli' \
    -E 'cli_inject_check|cli_external_check' >"$tree/tests.log" ||
    { grep -A40 -e 'tests passed' "$tree/tests.log" >&2; exit 1; }
rm -rf "$tree/pages"
mkdir -p "$tree/pages"
page --txt "$tree/pages/all.txt"
page --exclude-branches-by-pattern "$handed_on" --txt "$tree/pages/branches.txt" --json "$tree/pages/branches.json" \
    --html-details "$tree/pages/index.html"
sed -n '/^File/,$p' "$tree/pages/branches.txt"
awk '$1 == "TOTAL" { printf "with lines that hand on a status: %s of %s branches, %s\n", $3, $2, $4 }' "$tree/pages/all.txt"
percent=$(awk '$1 == "TOTAL" { printf "%.1f", 100 * $3 / $2 }' "$tree/pages/branches.txt")
echo "branches of src/ that the tests take: $percent % ($least % wanted); pages: $tree/pages/index.html"
awk -v percent="$percent" -v least="$least" 'BEGIN { exit percent < least }'
