#!/bin/sh
# Models of every format version that was ever written open and hold; files of version 1 were made by 0.1.0 with
#   armilla fit data.csv --rank 2 --model spherical-nmf --solver palm --normalize l2 --seed 5 --max-iter 9 --tol 0
# and --precision f32 or f64.
golden=$(cd "$(dirname "$0")/../golden" && pwd)
. "$(dirname "$0")/lib.sh"
for precision in f32 f64; do
    expect 0 check "$golden/model-1-$precision.npz" "$golden/data.csv"
    expect 0 info "$golden/model-1-$precision.npz" --json
    equal "$(member precision)" "$precision"
    equal "$(member iterations)" 9
    equal "$(member basis)" nonnegative
    equal "$(member m)" 4
    equal "$(member n)" 12
    expect 0 transform "$golden/model-1-$precision.npz" "$golden/data.csv" --out "codes-$precision.npy"
done
