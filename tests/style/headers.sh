#!/usr/bin/env bash
# Each public header compiles alone, without a warning, as C99, C11 and C++11.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cc=${CC:-cc}
cxx=${CXX:-c++}
flags=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$root/include")

# The typedef: a unit may not be empty, and version.h holds macros only.
unit() {
    printf '#include <%s>\ntypedef int unit;\n' "$name"
}

bad=0
for header in "$root"/include/armilla/*.h; do
    name=armilla/$(basename "$header")
    [[ $name != armilla/mpi.h ]] || continue # needs an MPI, whose compiler the tests of armilla-mpi compile it by
    for standard in c99 c11; do
        unit | "$cc" -x c -std=$standard "${flags[@]}" - || { echo "$name: not $standard"; bad=1; }
    done
    if command -v "$cxx" >/dev/null; then
        unit | "$cxx" -x c++ -std=c++11 "${flags[@]}" - || { echo "$name: not C++11"; bad=1; }
    else
        echo 'skipped: C++, for want of a compiler'
    fi
done
exit $bad
