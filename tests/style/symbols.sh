#!/usr/bin/env bash
# The shared library exports every function that include/ declares and nothing else.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
library=${ARMILLA_LIBRARY:-$root/build/libarmilla.so}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$library" | awk '{ print $NF }' | sort -u >"$work/exported"
if grep -q '^__asan\|^__odr_asan' "$work/exported"; then
    echo "a sanitized library has symbols of the sanitizer: not looked at"
    exit 77
fi
# A declaration begins with ARMILLA_API and ends with a semicolon; its name stands before the first parenthesis.
cat "$root"/include/armilla/*.h | tr '\n' ' ' | grep -o 'ARMILLA_API [^;(]*(' | grep -o 'armilla_[a-z0-9_]*($' |
    tr -d '(' | sort -u >"$work/declared"

if ! diff "$work/declared" "$work/exported" >"$work/difference"; then
    sed -n -e 's/^< \(.*\)/declared but not exported: \1/p' -e 's/^> \(.*\)/exported but not declared: \1/p' \
        "$work/difference"
    exit 1
fi
