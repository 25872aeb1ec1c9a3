#!/usr/bin/env bash
# Configures and builds a tree: scripts/build.sh DIRECTORY [-DNAME=VALUE ...]. Says only what is not routine.
# ARMILLA_TARGET=NAME builds that alone.
set -euo pipefail
cd "$(dirname "$0")/.."
tree=$1
shift
mkdir -p "$tree"

# CMake does not take a tree that was made elsewhere, as it is where the sources were moved or copied.
if [[ -e $tree/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$tree/CMakeCache.txt"; then
    rm -rf "$tree/CMakeCache.txt" "$tree/CMakeFiles"
fi

cmake -S . -B "$tree" -DARMILLA_WERROR="${WERROR:-OFF}" "$@" >"$tree/configure.log" 2>&1 || {
    cat "$tree/configure.log" >&2
    exit 1
}
terminal=0
[[ -t 2 && ${TERM:-dumb} != dumb ]] && terminal=1
MAKEFLAGS='' cmake --build "$tree" --parallel "${JOBS:-$(nproc)}" ${ARMILLA_TARGET:+--target "$ARMILLA_TARGET"} |
    awk -v terminal="$terminal" -f scripts/progress.awk
without=$(sed -n 's/^-- built without: //p' "$tree/configure.log")
echo "built $tree${without:+, without $without; \`make deps\` offers them}" >&2
