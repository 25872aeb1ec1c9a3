#!/usr/bin/env bash
# The binary interface of libarmilla, compared with the kept one by libabigail (docs/c-api.md):
#   scripts/abi.sh          fails where a program that was compiled for the kept library could not run with this one
#   scripts/abi.sh renew    keeps this one; for releases
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}/abi
kept=tests/abi/libarmilla.abixml
case ${1:-check} in check | renew) ;; *) echo "scripts/abi.sh: '$1' is neither check nor renew" >&2; exit 64 ;; esac

# Types are read from debugging information; nothing but the library is built.
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O0 -g" >/dev/null
cmake --build "$build" --parallel "${JOBS:-2}" --target armilla_shared >/dev/null
library=$build/libarmilla.so

if [[ ${1:-check} == renew ]]; then
    abidw --headers-dir include/armilla --drop-private-types --no-show-locs --no-comp-dir-path --no-corpus-path \
        --no-write-default-sizes --out-file "$kept" "$library"
    exit
fi
# Members at the end of a struct that carries its size are no change for whoever does not know them, nor are functions.
abidiff --headers-dir2 include/armilla --drop-private-types --no-added-syms --suppressions tests/abi/suppressions.ini \
    "$kept" "$library"
