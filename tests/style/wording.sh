#!/usr/bin/env bash
# The library names fields (ARMILLA_FIELD): the command decides what a flag is called.
set -euo pipefail
cd "$(dirname "$0")/../.."
# Strings of the sources without comments: "file:string".
strings() {
    perl -0ne 's{/\*.*?\*/}{}gs; while (/"(?:\\.|[^"\\\n])*"/g) { print "$ARGV:$&\n" }' "$@"
}
mapfile -t sources < <(find src -name '*.[ch]')
[[ $(strings "${sources[@]}" | wc -l) -gt 1000 ]] || { echo "no strings were found"; exit 1; }
if found=$(strings "${sources[@]}" | grep -E ':.*--[a-z%]'); then
    echo "these say a flag; write ARMILLA_FIELD(\"field value\"):"
    echo "$found"
    exit 1
fi
# Marks by hand would not be found when they change.
if found=$(strings "${sources[@]}" | grep -F -e '\001' -e '\002' | grep -v 'src/base/wording.h'); then
    echo "these hold the marks of a field by hand:"
    echo "$found"
    exit 1
fi
