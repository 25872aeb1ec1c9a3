#!/usr/bin/env bash
# Runs odd problems for SOAK_SECONDS, as many at once as there are JOBS, from seed SEED on; each finding is printed with
# the command that repeats it. Ends with the line "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
seconds=${SOAK_SECONDS:-3600}
jobs=${JOBS:-$(nproc)}
# A run of its own: seeds begin where the clock says, unless one is given.
first=${SEED:-$(date +%s)000}
scripts/build.sh "$build" -DARMILLA_TESTS=ON
logs=$build/soak
rm -rf "$logs"
mkdir -p "$logs"
echo "from seed $first, $jobs at once, $seconds seconds" >&2
for ((i = 0; i < jobs; i++)); do
    "$build/tests/bin/odd_problems" --seconds "$seconds" $((first + i * 1000000)) >"$logs/$i" 2>&1 &
done
wait
cat "$logs"/*
awk '/ passed, .* failed$/ { passed += $1; failed += $3 } END { printf "%d passed, %d failed\n", passed, failed
    exit failed > 0 || passed == 0 }' "$logs"/*
