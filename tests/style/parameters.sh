#!/usr/bin/env bash
# Functions, and pointers to them, have at most six parameters: what belongs together is passed as a struct. Exempt are
# src/linalg, whose kernels take sizes and arrays as BLAS does, and two public functions that programs are compiled for.
set -euo pipefail
cd "$(dirname "$0")/../.."
most=6

# "file:name count" for every function that is declared or defined at file scope and every pointer to a function.
count() {
    perl -0ne '
        s{/\*.*?\*/|//[^\n]*}{ }gs;
        s/^[ \t]*#(?:\\\n|[^\n])*//gm;          # directives and macros
        s/"(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27/0/g;
        s/extern\s+0\s*\{//g;                   # extern "C" is no block
        our $inner; $inner = qr/\((?:[^()]++|(??{$inner}))*\)/;
        my @found;
        while (/\(\s*\*\s*(?:const\s+)?(\w+)\s*(?:\[\w*\])?\s*\)\s*($inner)/g) { push @found, [$1, $2] }
        1 while s/\{[^{}]*\}/;/g;               # bodies, and what initializers hold
        while (/(\w+)\s*($inner)/g) { push @found, [$1, $2] if $1 ne "__attribute__" }
        for (@found) {
            my ($name, $list) = ($_->[0], substr($_->[1], 1, -1));
            1 while $list =~ s/\([^()]*\)//g;   # lists of parameters that are functions themselves
            $list =~ s/,\s*\.\.\.//;
            printf "%s:%s %d\n", $ARGV, $name, $list =~ /\S/ ? 1 + ($list =~ tr/,//) : 0;
        }' "$@"
}

too_many() {
    awk -v most=$most '$2 > most' | sort -u
}

# The count itself: seven of each kind are seen; six, variable ones, calls and pointers among parameters are none.
sample=$(mktemp)
trap 'rm -f "$sample"' EXIT
cat >"$sample" <<'END'
#define MACRO(a, b, c, d, e, f, g) call(a, b, c, d, e, f, g)
extern "C" {
int declared(int a, int b, int c, int d,
             int e, int f, int g); /* (1, 2) */
static int defined(int a, void (*b)(int, int, int), int c, int d, int e, int f, int g) { return six(1, 2, 3, 4, 5, 6, 7); }
struct table { int (*pointer)(int a, int b, int c, int d, int e, int f, int g); };
int six(int a, int b, void (*c)(int, int), int d, int e, int f);
int variable(int a, int b, int c, int d, int e, int f, ...) __attribute__((format(printf, 1, 2)));
static const int numbers[] = {SUM(1, 2, 3, 4, 5, 6, 7)};
}
END
seen=$(count "$sample" | too_many | sed 's/.*://' | tr '\n' ' ')
[[ $seen == "declared 7 defined 7 pointer 7 " ]] || { echo "the count is wrong: $seen"; exit 1; }

mapfile -t sources < <(find src cli convert include bench examples -name '*.[ch]' -not -path 'src/linalg/*')
count "${sources[@]}" >"$sample"
[[ $(wc -l <"$sample") -gt 2000 ]] || { echo "only $(wc -l <"$sample") functions were found"; exit 1; }
if found=$(too_many <"$sample" | grep -v -e ':armilla_data_wrap_dense 7$' -e ':armilla_data_wrap_sparse 9$'); then
    echo "these have more than $most parameters:"
    echo "$found"
    exit 1
fi
