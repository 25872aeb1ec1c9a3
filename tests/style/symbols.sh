#!/usr/bin/env bash
# The shared library exports every function that include/ declares and nothing else, each under the version that
# cmake/exports.map has it in.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
library=${ARMILLA_LIBRARY:-$root/build/libarmilla.so}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$library" | awk '{ print $NF }' | sort -u >"$work/symbols"
if grep -q '^__asan\|^__odr_asan\|^__tsan' "$work/symbols"; then
    echo "a sanitized library has symbols of the sanitizer: not looked at"
    exit 77
fi
# "name@@VERSION"; the versions themselves are symbols too.
grep '@@' "$work/symbols" | sed 's/@@/ /' | sort -u >"$work/exported"
if grep -v -e '@@' -e '^ARMILLA_' "$work/symbols"; then
    echo "these have no version"
    exit 1
fi
# A declaration begins with ARMILLA_API and ends with a semicolon; its name stands before the first parenthesis.
cat "$root"/include/armilla/*.h | tr '\n' ' ' | grep -o 'ARMILLA_API [^;(]*(' | grep -o 'armilla_[a-z0-9_]*($' |
    tr -d '(' | sort -u >"$work/declared"
awk '/^ARMILLA_[0-9.]* *{/ { node = $1 } /^ *armilla_[a-z0-9_]*;/ { sub(";", "", $1); print $1, node }' \
    "$root/cmake/exports.map" | sort -u >"$work/mapped"
[[ $(wc -l <"$work/declared") -gt 50 ]] || { echo "no declarations were found"; exit 1; }

bad=0
compare() {
    diff "$work/$1" "$work/$2" >"$work/difference" && return
    sed -n -e "s|^< \(.*\)|$3: \1|p" -e "s|^> \(.*\)|$4: \1|p" "$work/difference"
    bad=1
}
cut -d' ' -f1 "$work/mapped" | sort >"$work/names"
compare declared names "declared, but not in cmake/exports.map" "in cmake/exports.map, but not declared"
compare mapped exported "in cmake/exports.map, but not exported so" "exported, but not so in cmake/exports.map"
exit $bad
