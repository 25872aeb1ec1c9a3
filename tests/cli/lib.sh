# shellcheck shell=sh
# Sourced by the scripts of this folder. $ARMILLA is the command; each script works in a directory of its own, which is
# removed at the end, and stops at the first mismatch with what was run and what came.
set -eu
: "${ARMILLA:?set ARMILLA to the armilla command}"
case $ARMILLA in /*) ;; *) ARMILLA=$PWD/$ARMILLA ;; esac
unset NO_COLOR
top=$(mktemp -d)
tidy() { rm -rf "$top"; }
trap tidy EXIT
mkdir "$top/work"
cd "$top/work"
: >"$top/stdout"
: >"$top/stderr"
ran=nothing

die() {
    printf 'FAILED: %s\n  after: %s\n' "$1" "$ran" >&2
    sed 's/^/  stdout: /' "$top/stdout" | head -n 40 >&2
    sed 's/^/  stderr: /' "$top/stderr" | head -n 40 >&2
    exit 1
}

# expect STATUS ARGUMENT...: runs the command and compares its exit status.
expect() {
    wanted=$1
    shift
    ran="armilla $*"
    got=0
    "$ARMILLA" "$@" >"$top/stdout" 2>"$top/stderr" || got=$?
    [ "$got" = "$wanted" ] || die "exit status $got instead of $wanted"
}

# refuse STATUS TEXT ARGUMENT...: an error is one line on standard error that says TEXT, and nothing else.
refuse() {
    text=$2
    wanted=$1
    shift 2
    expect "$wanted" "$@"
    [ "$(wc -l <"$top/stderr")" -eq 1 ] || die "the error is not one line"
    grep -q '^armilla: .' "$top/stderr" || die "the error does not begin with 'armilla: '"
    [ ! -s "$top/stdout" ] || die "an error left something on standard output"
    says "$text"
}

# says, prints TEXT: standard error, standard output contain it.
says() {
    grep -qF -e "$1" "$top/stderr" || die "standard error does not say '$1'"
}

prints() {
    grep -qF -e "$1" "$top/stdout" || die "standard output does not say '$1'"
}

silent() {
    [ ! -s "$top/stderr" ] || die "standard error is not empty"
}

# member NAME: its value in the JSON object on standard output (a member per line, those of inner objects further in).
member() {
    sed -n "s/^  \"$1\": \(.*[^,]\),*\$/\1/p" "$top/stdout" | tr -d '"'
}

equal() {
    [ "$1" = "$2" ] || die "'$1' instead of '$2'${3:+ ($3)}"
}

# within A B BOUND: |A - B| <= BOUND * |B|
within() {
    awk -v a="$1" -v b="$2" -v bound="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; if (b < 0) b = -b; exit !(d <= bound * b) }' ||
        die "$1 is not within $3 of $2"
}

# files NAME...: these and no others are in the working directory.
files() {
    equal "$(find . -mindepth 1 | LC_ALL=C sort | tr '\n' ' ')" \
        "$(for name in "$@"; do echo "./$name"; done | LC_ALL=C sort | tr '\n' ' ')" 'files'
}

# numbers SAMPLES FEATURES: a CSV of positive numbers, the same each time.
numbers() {
    awk -v n="$1" -v m="$2" 'BEGIN {
        for (i = 0; i < n; i++)
            for (j = 0; j < m; j++) {
                seed = (seed * 16807 + 11) % 2147483647
                printf "%.6f%s", 0.1 + seed / 2147483647 + (i % 3 == j % 3), j + 1 < m ? "," : "\n"
            }
    }'
}
