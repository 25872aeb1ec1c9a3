#!/bin/sh
# Outputs: never replaced without --force, whole or not at all, and failures leave what was there.
# shellcheck disable=SC2086 # $fit and $arguments are several words
. "$(dirname "$0")/lib.sh"
numbers 40 6 >data.csv
fit="fit data.csv --rank 2 --max-iter 5"

expect 0 $fit --out model.npz --trace trace.csv
files data.csv model.npz trace.csv
says 'model.npz'
cp model.npz before.npz

# They exist.
refuse 73 'model.npz: ' $fit --out model.npz
says '--force'
refuse 73 'trace.csv: ' $fit --out new.npz --trace trace.csv
refuse 73 'model.npz: ' fit nosuch.csv --rank 2 --out model.npz
cmp -s model.npz before.npz || die 'a refused output was changed'
expect 0 $fit --seed 7 --out model.npz --trace trace.csv --force
cmp -s model.npz before.npz && die '--force did not replace the model'
expect 0 transform model.npz data.csv --out codes.npy
refuse 73 'codes.npy: ' transform model.npz data.csv --out codes.npy
expect 0 transform model.npz data.csv --out codes.npy --force
expect 0 reconstruct model.npz --out x.npy
refuse 73 'x.npy: ' reconstruct model.npz --out x.npy
expect 0 reconstruct model.npz --out x.npy --force
files before.npz codes.npy data.csv model.npz trace.csv x.npy

# They cannot be made.
mkdir folder
refuse 73 'folder: ' $fit --out folder --force
refuse 73 'nosuch/model.npz: cannot be created: its directory does not exist; create it first' \
    $fit --out nosuch/model.npz
refuse 73 'data.csv/model.npz: cannot be created: a part of its path is not a directory; ' \
    $fit --out data.csv/model.npz
refuse 73 'folder/: ' $fit --trace folder/
refuse 73 'nosuch/codes.npy: ' transform model.npz data.csv --out nosuch/codes.npy
refuse 73 'nosuch/x.npy: ' reconstruct model.npz --out nosuch/x.npy
refuse 73 'nosuch/data.npy: ' convert data.csv nosuch/data.npy
refuse 73 'nosuch/labels.txt: ' cluster data.csv --k 2 --out nosuch/labels.txt
refuse 73 'nosuch/p.svg: ' plot model.npz --out nosuch/p.svg
refuse 73 'nosuch/demo: cannot be created: ' demo --out nosuch/demo
refuse 73 '/dev/full: ' $fit --out /dev/full --force
refuse 73 '/dev/full: ' transform model.npz data.csv --out /dev/full --force
refuse 73 '/dev/full: ' reconstruct model.npz --out /dev/full --force
refuse 73 '/dev/full: ' convert data.csv /dev/full --to npy --force
refuse 73 '/dev/full: ' cluster data.csv --k 2 --out /dev/full --force

# What goes to /dev/null is lost as it should be, for any number of outputs.
for force in '' --force; do
    expect 0 $fit --out /dev/null --trace /dev/null $force
    expect 0 transform model.npz data.csv --out /dev/null $force
    expect 0 reconstruct model.npz --out /dev/null $force
    expect 0 convert data.csv /dev/null --to npy $force
    expect 0 cluster data.csv --k 2 --out /dev/null --model-out /dev/null $force
    expect 0 neighbors data.csv --count 2 --out /dev/null $force
    expect 0 top model.npz --out /dev/null $force
done
[ -c /dev/null ] || die '/dev/null was replaced'

# Endings that name another kind of file are refused, for every format that the library knows.
"$ARMILLA" list formats >"$top/formats"
endings=$(tr ' ' '\n' <"$top/formats" | grep -x '\.[a-z0-9-]*')
[ "$(echo "$endings" | wc -l)" -gt 20 ] || die 'the formats have hardly any endings'
for ending in $endings .json .svg .csv.gz .H5AD; do
    case $ending in .npz) ;; *)
        refuse 64 "x$ending will be " $fit --out x$ending
        refuse 64 "x$ending will be " neighbors data.csv --count 2 --out x$ending
        refuse 64 "x$ending will be " cluster data.csv --k 2 --out labels.txt --model-out x$ending ;;
    esac
    case $ending in .txt | .csv) ;; *)
        refuse 64 "x$ending will be text; give it the ending .txt" cluster data.csv --k 2 --out x$ending
        refuse 64 "x$ending will be text; give it the ending .csv" $fit --trace x$ending
        refuse 64 "x$ending will be text; give it the ending .csv" top model.npz --out x$ending ;;
    esac
    refuse 64 "x$ending will be a checkpoint" $fit --checkpoint x$ending
done
refuse 64 'x.h5ad will be ' transform model.npz data.csv --out x.h5ad
refuse 64 'x.h5ad will be ' reconstruct model.npz --out x.h5ad
files before.npz codes.npy data.csv folder model.npz trace.csv x.npy
expect 0 cluster data.csv --k 2 --out x.labels
expect 0 cluster data.csv --k 2 --out x.CSV
[ "$(head -n 1 x.CSV)" = sample,cluster ] || die '.CSV is not a table'
rm x.labels x.CSV

# One stream carries one thing.
refuse 64 'would both go to standard output' cluster data.csv --k 2 --model-out -
refuse 64 'would both go to standard output' cluster data.csv --k 2 --model-out /dev/fd/1
refuse 64 'would both go to standard output' $fit --json --out /dev/stdout
refuse 64 'is also given by' $fit --out - --trace -
expect 0 cluster data.csv --k 2 --out labels.txt --model-out -
mv "$top/stdout" streamed.npz
: >"$top/stdout"
expect 0 info streamed.npz
rm streamed.npz labels.txt
if [ "$(id -u)" -ne 0 ]; then
    chmod 500 folder
    refuse 73 'folder/model.npz: cannot be created: writing is not permitted there; ' $fit --out folder/model.npz
    refuse 73 'folder/demo: cannot be created: ' demo --out folder/demo
fi

# A failed fit leaves outputs as they were.
cp model.npz before.npz
printf '1,2\n3,nan\n' >nan.csv
refuse 65 'nan.csv' fit nan.csv --rank 1 --out model.npz --trace trace.csv --force
cmp -s model.npz before.npz || die 'a failed fit changed its output'

# The disk is full: no part of a file is left. (The limit is in blocks of 512 or 1024 bytes.)
numbers 500 40 >large.csv
(
    ulimit -f 8
    refuse 74 'model.npz' fit large.csv --rank 8 --max-iter 2 --quiet --out model.npz --force
) || exit 1
cmp -s model.npz before.npz || die 'a failed write changed the output'
files before.npz codes.npy data.csv folder large.csv model.npz nan.csv trace.csv x.npy

# Standard output that takes nothing.
for arguments in "$fit --json --quiet" '--version' '--help' 'list' 'info data.csv' 'check model.npz data.csv'; do
    ran="armilla $arguments >/dev/full"
    got=0
    "$ARMILLA" $arguments >/dev/full 2>"$top/stderr" || got=$?
    equal "$got" 74
    says 'armilla: standard output: '
    equal "$(wc -l <"$top/stderr" | tr -d ' ')" 1
done
ran='armilla list >&-'
got=0
"$ARMILLA" list >&- 2>"$top/stderr" || got=$?
equal "$got" 74

# A closed standard output does not let data into a file that is opened in its place.
got=0
"$ARMILLA" $fit --json --quiet --out closed.npz >&- 2>"$top/stderr" || got=$?
equal "$got" 74
expect 0 info closed.npz
