#!/usr/bin/env bash
# Fuzzes whole commands of the sanitized build for FUZZ_SECONDS, with the seed SEED (otherwise the time: it is printed).
# Fails where something is found; what that was is kept in build/sanitize/found.
set -euo pipefail
cd "$(dirname "$0")/.."
tree=${BUILD:-build}/sanitize
scripts/build.sh "$tree" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DARMILLA_SANITIZE=address,undefined -DARMILLA_TESTS=ON
exec /usr/bin/python3 tests/fuzz/command.py "$tree/tests/fuzz/fuzz_command" --seed "${SEED:-$(date +%s)}" \
    --seconds "${FUZZ_SECONDS:-60}" --jobs "${JOBS:-$(nproc)}" --keep "$tree/found" ${CASES:+--cases "$CASES" -v}
