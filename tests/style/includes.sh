#!/usr/bin/env bash
# Includes point down only (docs/architecture.md), BLAS stays in src/linalg, the library neither prints nor exits, and
# tests make contexts in one way.
set -euo pipefail
cd "$(dirname "$0")/../.."

# The folders of src, the lowest first. A file may include its own folder and those before it, so that no two folders
# include each other.
folders=(base linalg data graph files sets solve start model cluster)
declare -A level=()
for i in "${!folders[@]}"; do level[${folders[i]}]=$i; done

bad=0
complain() {
    echo "$1"
    bad=1
}

# Source without comments and strings: "line number:text".
plain() {
    perl -0pe 's{/\*.*?\*/|//[^\n]*|"(\\.|[^"\\\n])*"}{my $s = $&; $s =~ s/[^\n]//g; $s =~ /\n/ ? $s : q( )}gse' "$1" |
        grep -n ''
}

includes() {
    grep -onE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"][^>"]+[>"]' "$1" |
        sed -E 's/^([0-9]+):[^<"]*([<"][^>"]+[>"])$/\1 \2/'
}

# shellcheck disable=SC2044 # no name has a blank
for file in $(find src -name '*.[ch]'); do
    folder=${file#src/}
    folder=${folder%%/*}
    [[ -n ${level[$folder]:-} ]] || { complain "$file: src/$folder has no place in the order of $0"; continue; }
    while read -r line what; do
        name=${what:1:-1}
        case $what in
        '<armilla/'*) [[ -f include/$name ]] || complain "$file:$line: no public header $name" ;;
        '<'*cblas*.h'>' | '<'*lapack*.h'>')
            complain "$file:$line: BLAS and LAPACK are called by their Fortran names (src/linalg/fortran.h), without $name" ;;
        '"linalg/fortran.h"' | '"linalg/blas.h"')
            [[ $folder == linalg ]] || complain "$file:$line: only src/linalg may include $name" ;;
        '<mpi.h>') complain "$file:$line: the core is free of MPI" ;;
        '"'*)
            target=${name%%/*}
            if [[ $name != */* ]]; then
                [[ -f $(dirname "$file")/$name ]] || complain "$file:$line: $name is not beside it"
            elif [[ ! -f src/$name ]]; then
                complain "$file:$line: no src/$name"
            elif [[ -z ${level[$target]:-} ]] || ((level[$target] > level[$folder])); then
                complain "$file:$line: $folder may not include $target"
            fi ;;
        esac
    done < <(includes "$file")

    if printing=$(plain "$file" | grep -E \
        '\b(v?f?printf|puts|fputs|putchar|fputc|putc|perror|exit|_exit|_Exit|quick_exit|abort|assert|signal|sigaction)[[:space:]]*\(|\b(stdout|stderr)\b'); then
        complain "$file: the library does not print, exit or take signals:"
        echo "$printing"
    fi
done

# shellcheck disable=SC2044
for file in $(find cli convert -name '*.[ch]'); do
    while read -r line what; do
        name=${what:1:-1}
        case $what in
        '<armilla/'*) [[ -f include/$name ]] || complain "$file:$line: no public header $name" ;;
        '<'*cblas*.h'>' | '<'*lapack*.h'>' | '<mpi.h>') complain "$file:$line: the command does not use $name" ;;
        '"'*) [[ $name != */* && -f ${file%%/*}/$name ]] || complain "$file:$line: the command sees the public headers only" ;;
        esac
    done < <(includes "$file")
done

# Contexts of tests are support_context's, whose memory is NaN before and after use; programs of tests/abi see the public
# headers alone.
while read -r line; do
    complain "$line: tests make contexts by support_context or support_context_with"
done < <(grep -rn --exclude-dir=abi 'armilla_context_new(NULL' tests --include='*.c' | cut -d: -f1,2)

while read -r line what; do
    complain "include/$line: a public header includes only public and standard headers"
done < <(cd include && grep -nE '#[[:space:]]*include[[:space:]]*("|<(cblas|lapacke|mpi|zip|zlib|jansson|omp)\.h)' armilla/*.h | grep -v '^armilla/mpi.h:.*<mpi.h>' || true)
exit $bad
