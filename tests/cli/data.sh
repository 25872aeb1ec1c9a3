#!/bin/sh
# Bad input is refused with the file's name and what is wrong; exit statuses 65 and 66; nothing is written.
. "$(dirname "$0")/lib.sh"
numbers 20 4 >data.csv

# bad NAME TEXT: fitting it fails with 65.
bad() {
    refuse 65 "$2" fit "$1" --rank 1 --out model.npz --trace trace.csv
    says "$1"
    [ ! -e model.npz ] || die 'a model was written'
    [ ! -e trace.csv ] || die 'a trace was written'
}

printf '1,2,3\n4,5\n7,8,9\n' >ragged.csv
bad ragged.csv 2
printf '1,2,3\n4,pear,6\n' >text.csv
bad text.csv pear
# A mistake in the first line is no header: it must not cost a sample.
printf '1,x2,3\n4,5,6\n7,8,1\n' >first.csv
bad first.csv 'line 1, column 2'
printf '1.5.2,2,3\n4,5,6\n' >point.csv
bad point.csv 'line 1, column 1'
printf 'id,2019,2020\n4,5,6\n7,8,1\n' >years.csv
expect 0 info years.csv --json
equal "$(member n)" 2
printf '1,2\n3,nan\n5,6\n' >nan.csv
bad nan.csv ''
printf '1,2\n3,4\ninf,6\n' >inf.csv
bad inf.csv ''
printf '1,2\n3,\n5,6\n' >hole.csv
bad hole.csv 2
: >empty.csv
bad empty.csv ''
printf 'x,y\n' >header.csv
bad header.csv ''
printf '\223NUMPY\001\000v\000{' >broken.npy
bad broken.npy ''
head -c 100 /dev/zero >zero.npy
bad zero.npy ''

refuse 66 'nosuch.csv: ' fit nosuch.csv --rank 1 --out model.npz
refuse 66 'nosuch/data.csv: ' info nosuch/data.csv
mkdir folder
refuse 66 'folder: ' fit folder --rank 1
if [ "$(id -u)" -ne 0 ]; then
    cp data.csv secret.csv
    chmod 000 secret.csv
    refuse 66 'secret.csv: ' fit secret.csv --rank 1
fi

# Options that do not fit the data.
refuse 65 'data.csv: --rank 5' fit data.csv --rank 5 --out model.npz
expect 0 fit data.csv --rank 5 --basis nonnegative --max-iter 2 --quiet
awk -F, -v OFS=, '{ for (i = 1; i <= NF; i++) $i = -$i; print }' data.csv >negative.csv
refuse 65 'negative.csv: ' fit negative.csv --rank 2 --basis nonnegative --codes nonneg-sphere --quiet --out model.npz
printf '0,0\n0,0\n0,0\n' >zeros.csv
refuse 65 'zeros.csv: ' fit zeros.csv --rank 1 --quiet --out model.npz

# A start that does not fit.
numbers 4 3 >start.csv
refuse 65 '4 x 3' fit data.csv --rank 2 --start start.csv
expect 0 fit data.csv --rank 3 --start start.csv --quiet --out good.npz
refuse 65 'good.npz' fit data.csv --rank 2 --start good.npz
expect 0 fit data.csv --rank 3 --start good.npz --quiet
printf '1,2\n3,4\n5,nan\n1,1\n' >bad-start.csv
refuse 65 'bad-start.csv' fit data.csv --rank 2 --start bad-start.csv

# Models that are none, or are broken, and data of another shape.
refuse 65 'data.csv' check data.csv data.csv
refuse 66 'nosuch.npz' check nosuch.npz data.csv
refuse 66 'nosuch.npz' reconstruct nosuch.npz --out x.npy
head -c 300 good.npz >cut.npz
refuse 65 'cut.npz' info cut.npz
refuse 65 'start.csv: ' transform good.npz start.csv --out codes.npy
refuse 65 'start.csv: ' check good.npz start.csv

# What info says about data.
expect 0 info data.csv --json
equal "$(member kind)" data
equal "$(member m)" 4
equal "$(member n)" 20
equal "$(member negatives)" 0
equal "$(member bad_sample)" null
prints '--model nmf --normalize l2'
expect 0 info negative.csv
prints '--model spherical-pca'
printf '1,2\n100,200\n0,0\n' >uneven.csv
expect 0 info uneven.csv --samples rows
prints '--normalize l2'
expect 0 info uneven.csv --samples columns --json
equal "$(member m)" 3
equal "$(member zero_features)" 1

# check tells a model from another's data.
numbers 21 4 | tail -n 20 >other.csv
expect 1 check good.npz other.csv
says 'armilla: good.npz: '
prints 'objective stated'
expect 1 check good.npz other.csv --json
equal "$(member passed)" false
