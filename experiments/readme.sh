#!/usr/bin/env bash
# Makes the README's pictures, docs/images, from the experiments: experiments/readme.sh [BUILD].
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
/usr/bin/python3 experiments/run.py "$build" cones mnist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/armilla" fit "$build/mnist/t10k-images-idx3-ubyte" --labels "$build/mnist/t10k-labels-idx1-ubyte" \
    --keep-label 0,1,6 --keep-samples 1-3000 --rank 3 --center --normalize l2 --out "$work/model.npz" --quiet
"$build/armilla" plot "$work/model.npz" --kind sphere --title '' --out "$work/globe.png" --quiet
cp "$work/globe.png" docs/images/globe.png
cp "$build/experiments/cones/cones.svg" docs/images/cones.svg
cp "$build/experiments/mnist/triples.png" docs/images/threes.png
