#!/bin/sh
# Whatever is wrong with a command line is shown in one line before anything is read or written: exit status 64.
. "$(dirname "$0")/lib.sh"
numbers 30 5 >data.csv

expect 64
says 'usage: armilla COMMAND'
[ ! -s "$top/stdout" ] || die 'usage on standard output'

# Commands and options.
refuse 64 "did you mean 'fit'?" fti data.csv
refuse 64 "did you mean 'reconstruct'?" reconstrcut
refuse 64 "unknown command 'zzzzzz'" zzzzzz
refuse 64 "did you mean '--version'?" --verison
refuse 64 "did you mean 'info'?" help inof
refuse 64 'one argument too many' help fit fit
refuse 64 'one argument too many' --version fit
refuse 64 "did you mean '--rank'?" fit data.csv --rnak 2
refuse 64 "did you mean '--rank'?" fit data.csv --rnak=2
refuse 64 "did you mean '--max-iter'?" fit data.csv --rank 2 --maxiter 3
refuse 64 "unknown option '--zzzzzzzz'" fit data.csv --zzzzzzzz
refuse 64 "unknown option '-x'" fit data.csv -x
refuse 64 "did you mean '--samples'?" check model.npz data.csv --sample rows
refuse 64 "unknown option '--rank'" info data.csv --rank 2
refuse 64 "did you mean 'basis'?" list bases
refuse 64 "did you mean 'cones'?" demo cone
refuse 64 'choices: cones' demo nosuch
refuse 64 "unknown option '--data'" demo --data .
refuse 64 'choices: basis, codes, solvers, starts, formats, models' list nosuch
refuse 64 "did you mean '--k'?" cluster data.csv -k 3
refuse 64 "did you mean '--k'?" cluster data.csv -K 3
refuse 64 "did you mean '--rank'?" fit data.csv -r 3
expect 0 fit --help
tr -s ' \n' ' ' <"$top/stdout" >"$top/help"
grep -qF 'before everything else; one of none, median or a number' "$top/help" || die "--total's help"
grep -qF 'one of random, kmeans++, svd, nndsvd, samples or a file' "$top/help" || die "--start's help"

# Operands.
refuse 64 'DATA is missing' fit --rank 2
refuse 64 'DATA is missing' transform model.npz --out codes.npy
refuse 64 'MODEL is missing' reconstruct
refuse 64 "'other.csv' is one argument too many" fit data.csv other.csv --rank 2
refuse 64 "'b' is one argument too many" list basis b
refuse 64 'DATA is missing' fit --rank 2 --

# Values: missing, and given to a flag.
for option in rank basis codes sparsity model radius solver lambda mu start seed restarts max-iter tol time-limit \
    precision threads normalize out trace format samples; do
    refuse 64 "--$option needs a value" fit data.csv "--$option"
    refuse 64 "--$option needs a value" fit data.csv "--$option" --rank 2
done
for flag in center tfidf json quiet force dry-run; do
    refuse 64 "--$flag is a flag" fit data.csv "--$flag=yes"
done

# Values: wrong, for every kind of option.
for value in two 1.5 '' 1e3 ' ' 99999999999999999999; do
    refuse 64 '--rank: ' fit data.csv "--rank=$value"
done
refuse 64 '--rank: 0 is out of range' fit data.csv --rank 0
refuse 64 '--rank: -3 is out of range' fit data.csv --rank -3
refuse 64 '--restarts: 0 is out of range' fit data.csv --rank 2 --restarts 0
refuse 64 '--max-iter: -1 is out of range' fit data.csv --rank 2 --max-iter -1
refuse 64 '--threads: -1 is out of range' fit data.csv --rank 2 --threads -1
for value in small nan inf '' -1 1e-6x; do
    refuse 64 '--tol: ' fit data.csv --rank 2 "--tol=$value"
done
for value in 0 -1 big nan ''; do
    refuse 64 '--radius: ' fit data.csv --rank 2 "--radius=$value"
done
refuse 64 '--time-limit: ' fit data.csv --rank 2 --time-limit -5
for value in x 0 0x -1x 1y ''; do
    refuse 64 '--lambda: ' fit data.csv --rank 2 "--lambda=$value"
    refuse 64 '--mu: ' fit data.csv --rank 2 "--mu=$value"
done
refuse 64 "did you mean 'orthonormal'?" fit data.csv --rank 2 --basis orthonromal
refuse 64 "did you mean 'nonneg-sphere'?" fit data.csv --rank 2 --codes nonneg-spere
refuse 64 "did you mean 'palm'?" fit data.csv --rank 2 --solver plam
refuse 64 "did you mean 'spherical-pca'?" fit data.csv --rank 2 --model sperical-pca
refuse 64 '--precision: ' fit data.csv --rank 2 --precision f16
refuse 64 '--normalize: ' fit data.csv --rank 2 --normalize l3
refuse 64 "did you mean 'columns'?" fit data.csv --rank 2 --samples column
refuse 64 "did you mean 'npy'?" fit data.csv --rank 2 --format nyp
refuse 64 "did you mean 'kmeans++'?" fit data.csv --rank 2 --start kmean
refuse 64 "stands for --normalize l2, not none" fit data.csv --rank 2 --model spherical-kmeans --normalize none
refuse 66 'nosuch/start.npy: ' fit data.csv --rank 2 --start nosuch/start.npy

# Options that do not go together, found before the data are touched.
refuse 64 'rank' fit data.csv
refuse 64 'sparsity' fit nosuch.csv --rank 2 --sparsity 2
refuse 64 'sparsity' fit nosuch.csv --rank 2 --codes sparse-sphere
refuse 64 'sparsity' fit nosuch.csv --rank 2 --codes nonneg-sparse-sphere
refuse 64 'sparsity' fit nosuch.csv --rank 2 --codes v3 --sparsity 3
refuse 64 'without --checkpoint' fit nosuch.csv --rank 2 --checkpoint-every 5
refuse 64 'trace' fit nosuch.csv --rank 2 --out same --trace same
refuse 64 'trace' fit nosuch.csv --rank 2 --out same --trace ./same
refuse 64 '--out: the name of a file is missing' fit nosuch.csv --rank 2 --out=
refuse 64 'data.csv is an input' fit data.csv --rank 2 --force --out ./data.csv
refuse 64 '--out CODES.npy' transform model.npz data.csv
refuse 64 '--out X.npy' reconstruct model.npz
files data.csv

# Options and operands in any order; the last of repeated options wins; -- ends the options.
cp data.csv ./-data.csv
expect 0 fit --rank=4 data.csv --max-iter 1 --rank 2 --json --quiet
equal "$(member rank)" 2
expect 0 fit --rank 2 --max-iter 1 --quiet -- -data.csv
refuse 64 'one argument too many' fit --rank 2 -- -data.csv --quiet

# Operands that are something else, or the other way round.
expect 0 fit data.csv --rank 2 --max-iter 3 --quiet --out model.npz
expect 0 convert data.csv data.npz
for data in data.csv data.npz; do
    swapped="$data: is not a model, and model.npz is: the model comes first, armilla"
    refuse 65 "$swapped transform model.npz $data" transform $data model.npz --out never.npy
    refuse 65 "$swapped check model.npz $data" check $data model.npz
    refuse 65 "$swapped predict model.npz $data" predict $data model.npz
done
for command in 'plot data.csv --out never.svg' 'top data.csv' 'reconstruct data.csv --out never.npy' \
    'transform data.csv data.csv --out never.npy'; do
    # shellcheck disable=SC2086 # several words
    refuse 65 'data.csv: is not a model; armilla fit data.csv --rank R --out MODEL.npz makes one' $command
done
refuse 65 'data.csv: is not a model; armilla compare takes two models, and data behind --data' compare model.npz data.csv
refuse 65 'data.csv: is not a model; armilla compare takes two models, and data behind --data' compare data.csv model.npz
ran='armilla transform - model.npz'
"$ARMILLA" transform - model.npz --out never.npy <data.csv 2>"$top/stderr" && die 'swapped operands were taken'
says 'the model comes first, armilla transform model.npz -'
head -c 300 model.npz >cut.npz
refuse 65 'cut.npz: is not a whole .npz archive' transform cut.npz data.csv --out never.npy
[ ! -e never.npy ] && [ ! -e never.svg ] || die "a refused command left something"
