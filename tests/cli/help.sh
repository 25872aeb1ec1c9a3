#!/bin/sh
# Help is complete, on standard output, and the same by every way of asking.
. "$(dirname "$0")/lib.sh"

expect 0 --version
silent
grep -qE '^armilla [0-9]+\.[0-9]+\.[0-9]+$' "$top/stdout" || die 'the version is not one'

expect 0 --help
silent
cp "$top/stdout" all
for command in fit transform reconstruct check info list demo convert plot; do prints "  $command "; done
for way in -h help; do
    expect 0 $way
    cmp -s "$top/stdout" all || die "not the same as --help"
done

# names COMMAND OPTION...
names() {
    command=$1
    shift
    expect 0 "$command" --help
    silent
    prints "usage: armilla $command "
    for option in "$@" help; do
        grep -qE "^  --${option}[ ,]" "$top/stdout" || die "--$option is not explained"
    done
    awk 'length($0) > 110 { exit 1 }' "$top/stdout" || die 'a line is too long'
    cp "$top/stdout" one
    expect 0 help "$command"
    cmp -s "$top/stdout" one || die "not the same as $command --help"
    expect 0 "$command" --nonsense x y z -h
    cmp -s "$top/stdout" one || die "not the same as $command --help"
}

names fit rank basis codes sparsity model radius solver lambda mu start seed restarts max-iter tol time-limit precision \
    threads normalize center tfidf log1p scale out trace json quiet force dry-run format samples
names transform out samples format keep-label keep-samples keep-features memory threads quiet force
names reconstruct out samples quiet force
names check samples format array labels json
names convert to to-samples samples format array labels threads quiet force
names info samples format json
names list
names demo out force seed seeds no-pictures quiet
names plot kind out title images components labels quiet force

# Defaults, ranges and choices come from the tables.
expect 0 fit --help
for text in 'orthonormal, nonnegative' 'nonneg-sparse-sphere' 'default 500' 'default auto' 'or a file' \
    'default rows' 'npy'; do
    tr -s '\n ' ' ' <"$top/stdout" | grep -qF -e "$text" || die "fit --help does not say '$text'"
done

# has TABLE NAME ALIAS
has() {
    expect 0 list "$1"
    silent
    grep -qE "^$2 +$3 +[^ ]" "$top/stdout" || die "list $1 does not have $2 $3 with a meaning"
}
has basis orthonormal u1
has basis nonnegative u2
has codes sphere v1
has codes nonneg-sphere v2
has codes sparse-sphere v3
has codes nonneg-sparse-sphere v4
has solvers palm ''
has starts random ''
has formats npy .npy
has formats csv .csv
has formats idx .idx
has models spherical-pca ''
expect 0 list
for table in basis codes solvers starts formats models; do
    grep -qx "$table" "$top/stdout" || die "list does not have the table $table"
done
