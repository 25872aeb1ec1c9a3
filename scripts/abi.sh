#!/usr/bin/env bash
# The binary interface of libarmilla, compared with the kept one by libabigail (docs/c-api.md):
#   scripts/abi.sh          fails where functions are gone, or what they take and give has changed
#   scripts/abi.sh renew    keeps this one: on a release, and with a commit that only adds members
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}/abi
kept=tests/abi/libarmilla.abixml
case ${1:-check} in check | renew) ;; *) echo "scripts/abi.sh: '$1' is neither check nor renew" >&2; exit 64 ;; esac

# Types are read from debugging information; nothing but the library is built.
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g" >/dev/null
cmake --build "$build" --parallel "${JOBS:-2}" --target armilla_shared >/dev/null
library=$build/libarmilla.so

# Types that the public headers name and do not define.
opaque=$(comm -23 <(sed -nE 's/^typedef struct (\w+) \1;.*/\1/p' include/armilla/*.h | sort -u) \
    <(sed -nE 's/^(typedef )?struct (\w+) \{.*/\2/p' include/armilla/*.h | sort -u) | paste -sd '|')

# What the public headers define; other types are opaque. abidw goes by the names of header files without their folders,
# and src has some of the same name: what these define is left out afterwards.
describe() {
    abidw --headers-dir include/armilla --drop-private-types --no-show-locs --no-comp-dir-path --no-corpus-path \
        --no-write-default-sizes "$library" |
        awk -v begin="^    <class-decl name='($opaque)' .*[^/]>\$" '
            $0 ~ begin {
                sub(/ size-in-bits=\047[0-9]+\047/, "")
                sub(/>$/, " is-declaration-only=\047yes\047/>")
                print
                inside = 1
            }
            !inside { print }
            /^    <\/class-decl>/ { inside = 0 }' >"$1"
}
if [[ ${1:-check} == renew ]]; then
    describe "$kept"
    exit
fi
# New functions pass. New members at the end of a struct are shown as a change too: abidiff 2.2 cannot tell them from
# members that were exchanged. Where that is all, renew in the same commit.
describe "$build/libarmilla.abixml"
abidiff --no-added-syms "$kept" "$build/libarmilla.abixml"
