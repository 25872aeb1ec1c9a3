#!/usr/bin/env bash
# What the documents show is true: the README's C program is examples/fit.c, its commands run as they stand, and so
# does the Python of docs/model-file.md, on the model that they leave.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
armilla=${ARMILLA:-$root/build/armilla}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed '1d;$d' | diff - "$root/examples/fit.c" ||
    { echo "README.md does not show examples/fit.c as it is"; exit 1; }

# Two kinds of samples with 12 features, header first.
cd "$work"
mkdir build
ln -s "$armilla" build/armilla
for file in data new; do
    awk -v seed=${#file} 'BEGIN {
        srand(seed)
        for (i = 1; i <= 12; i++) printf "gene%d%s", i, i < 12 ? "," : "\n"
        for (j = 0; j < 60; j++) for (i = 1; i <= 12; i++)
            printf "%.4f%s", rand() + 5 * (i % 2 == j % 2) * (1 + j % 3), i < 12 ? "," : "\n"
    }' >$file.csv
done

commands=$(sed -n 's|^    \(build/armilla .*\)$|\1|p' "$root/README.md")
[[ $(wc -l <<<"$commands") -ge 5 ]] || { echo "README.md shows no commands"; exit 1; }
while read -r line; do
    if [[ $line == *' plot '* ]] && ! command -v gnuplot >/dev/null; then
        echo "skipped: $line, for want of gnuplot"
        continue
    fi
    echo "\$ $line"
    bash -euc "$line" </dev/null
done <<<"$commands"
[[ -s model.npz && -s codes.npy && -s clusters.txt ]]
! command -v gnuplot >/dev/null || [[ -s codes.svg ]]

python=$(PATH=/usr/bin:$PATH command -v python3 || true)
if [[ -z $python ]] || ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "skipped: no NumPy: the Python of docs/model-file.md was not run"
    exit 0
fi
sed -n '/^## From NumPy/,$p' "$root/docs/model-file.md" | sed -n 's/^    //p; s/^$//p' >example.py
cat >>example.py <<'END'
assert abs(objective - meta["objective"]) <= 1e-9 * meta["squared_norm"]
assert objective <= model["trace_objective"][-1] + 1e-6 * meta["squared_norm"]
assert np.load("codes.npy").shape == (60, meta["shape"]["r"])
END
"$python" example.py
