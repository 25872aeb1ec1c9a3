#!/bin/sh
# The embedded experiment: its files, its claims, and its manners towards files that exist.
. "$(dirname "$0")/lib.sh"

# percent TEXT: the figure behind it on standard error.
percent() {
    sed -n "s/.*$1 *finds *\([0-9.]*\) %.*/\1/p" "$top/stderr"
}

expect 0 demo
[ ! -s "$top/stdout" ] || die 'something on standard output'
files armilla-demo armilla-demo/data.csv armilla-demo/labels.txt armilla-demo/model.npz armilla-demo/trace.csv
equal "$(head -n 1 armilla-demo/data.csv)" x,y,z
equal "$(wc -l <armilla-demo/data.csv | tr -d ' ')" 201
equal "$(sort armilla-demo/labels.txt | uniq -c | tr -s ' \n' ' ')" ' 100 0 100 1 '

# What it suggests works.
says 'armilla check armilla-demo/model.npz armilla-demo/data.csv'
expect 0 check armilla-demo/model.npz armilla-demo/data.csv
expect 0 info armilla-demo/model.npz --json
equal "$(member rank) $(member basis) $(member codes) $(member n)" '2 orthonormal nonneg-sphere 200'
expect 0 fit armilla-demo/data.csv --rank 2 --codes nonneg-sphere --normalize l2

# Direction tells the groups apart, distance does not, whatever the seed.
for seed in 0 1 2 3 4 5 6 7; do
    expect 0 demo cones --seed $seed --out seed-$seed
    awk -v codes="$(percent 'on the codes')" -v points="$(percent 'on the points')" \
        'BEGIN { exit !(codes >= 95 && points > 0 && points < 75) }' || die "seed $seed: accuracies"
done
cmp -s seed-0/data.csv armilla-demo/data.csv || die 'the default seed is not 0'
cmp -s seed-1/data.csv armilla-demo/data.csv && die 'the seed makes no difference'

# Every point lies where the paper says: between the Z axis and X = Z or Y = Z.
tail -n +2 armilla-demo/data.csv | paste -d, - armilla-demo/labels.txt |
    awk -F, '{ along = $4 ? $2 : $1 } along <= 0 || along >= $3 { exit 1 }' || die 'a point is out of its region'

# Only a file that would be replaced is refused.
refuse 73 'armilla-demo/data.csv' demo
rm armilla-demo/data.csv armilla-demo/labels.txt armilla-demo/trace.csv
refuse 73 'armilla-demo/model.npz' demo
[ ! -e armilla-demo/data.csv ] || die 'a refused demo wrote data'
expect 0 demo --force --quiet
silent
echo mine >armilla-demo/other
expect 0 demo --force
equal "$(cat armilla-demo/other)" mine
echo file >plain
refuse 73 'plain' demo --out plain
refuse 73 'nosuch/demo' demo --out nosuch/demo
mkdir "with space"
expect 0 demo --out 'with space'
says "'with space/model.npz'"
