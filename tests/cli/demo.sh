#!/bin/sh
# The cones: their files, their claims, and the manners of the demo towards files that exist.
. "$(dirname "$0")/lib.sh"

# percent TEXT: the figure behind it on standard error.
percent() {
    sed -n "s/.*$1 *finds *\([0-9.]*\) %.*/\1/p" "$top/stderr"
}

expect 0 demo
[ ! -s "$top/stdout" ] || die 'something on standard output'
pictures=
command -v gnuplot >/dev/null && pictures=$(printf 'armilla-demo/%s ' sphere.svg sphere.gp sphere.dat convergence.svg \
    convergence.gp convergence.dat)
[ -n "$pictures" ] || echo 'skipped: pictures, for want of gnuplot'
# shellcheck disable=SC2086 # no name has a blank
files armilla-demo armilla-demo/data.csv armilla-demo/labels.txt armilla-demo/clusters.csv armilla-demo/draws.csv \
    armilla-demo/model.npz armilla-demo/trace.csv $pictures
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
expect 0 demo cones --seeds 20 --out many
says 'draws     of 20'
equal "$(tail -n +2 many/draws.csv | awk -F, '$3 >= 95 && $2 > 0 && $2 < 75' | wc -l | tr -d ' ')" 20 'draws'
cmp -s many/data.csv armilla-demo/data.csv || die 'the default seed is not 0'
expect 0 demo cones --seed 1 --out one
cmp -s one/data.csv armilla-demo/data.csv && die 'the seed makes no difference'
equal "$(tail -n 1 one/draws.csv)" "$(sed -n 3p many/draws.csv)"
awk -v codes="$(percent 'on the codes')" -v points="$(percent 'on the points')" -v draw="$(tail -n 1 one/draws.csv)" \
    'BEGIN { split(draw, of, ","); exit !(codes == of[3] && points == of[2]) }' || die 'the summary says another share'
# What the table of clusters says, counted.
awk -F, 'NR > 1 { p += $1 == $2; c += $1 == $3 } END { print (p < 100 ? 200 - p : p) / 2, (c < 100 ? 200 - c : c) / 2 }' \
    one/clusters.csv >counted
equal "$(cat counted)" "$(tail -n 1 one/draws.csv | cut -d, -f2,3 | tr , ' ')" 'shares'

# Every point lies where the paper says: between the Z axis and X = Z or Y = Z.
tail -n +2 armilla-demo/data.csv | paste -d, - armilla-demo/labels.txt |
    awk -F, '{ along = $4 ? $2 : $1 } along <= 0 || along >= $3 { exit 1 }' || die 'a point is out of its region'

# Only a file that would be replaced is refused.
refuse 73 'armilla-demo/data.csv' demo
for name in data.csv labels.txt clusters.csv draws.csv trace.csv; do rm "armilla-demo/$name"; done
refuse 73 'armilla-demo/model.npz' demo
[ ! -e armilla-demo/data.csv ] || die 'a refused demo wrote data'
expect 0 demo --force --quiet
silent
echo mine >armilla-demo/other
expect 0 demo --force
equal "$(cat armilla-demo/other)" mine
echo file >plain
for name in convergence mnist clustering; do refuse 64 "make experiments ARGS=$name runs it" demo $name; done
refuse 73 'plain' demo --out plain
refuse 73 'nosuch/demo' demo --out nosuch/demo
mkdir "with space"
expect 0 demo --out 'with space'
says "'with space/model.npz'"
# A name means nothing but itself, to the commands inside as well.
expect 0 demo cones --out '@%1 %s' --quiet
equal "$(ls '@%1 %s' | grep -c '^[a-z]*\.npz$')" 1

# Without pictures, and without gnuplot, which is said once.
expect 0 demo --no-pictures --out undrawn
[ ! -e undrawn/sphere.gp ] && [ -e undrawn/model.npz ] || die '--no-pictures'
mkdir empty
path=$PATH
PATH=$PWD/empty
expect 0 demo --out bare
PATH=$path
equal "$(grep -c 'pictures  none.*gnuplot' "$top/stderr")" 1
[ ! -e bare/sphere.svg ] && [ -e bare/model.npz ] || die 'a demo without gnuplot'
