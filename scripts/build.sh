#!/usr/bin/env bash
# Configures and builds a tree: scripts/build.sh DIRECTORY [-DNAME=VALUE ...]. Says only what is not routine.
set -euo pipefail
cd "$(dirname "$0")/.."
tree=$1
shift
mkdir -p "$tree"

cmake -S . -B "$tree" -DARMILLA_WERROR="${WERROR:-OFF}" "$@" >"$tree/configure.log" 2>&1 || {
    cat "$tree/configure.log" >&2
    exit 1
}
# The lines left out are the progress of compiling and linking.
MAKEFLAGS='' cmake --build "$tree" --parallel "${JOBS:-$(nproc)}" |
    { grep -v -e '^\[ *[0-9]' -e '^Consolidate' -e '^gmake' -e '^ninja' -e '^-- ' || true; }
echo "built $tree" >&2
