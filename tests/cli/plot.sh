#!/bin/sh
# Pictures of models: every kind and format, names that try to be commands, and manners towards files that exist.
. "$(dirname "$0")/lib.sh"
numbers 60 9 >data.csv
awk 'BEGIN { for (i = 0; i < 60; i++) print "class " i % 3 }' >labels.txt
expect 0 fit data.csv --rank 2 --model spherical-nmf --out two.npz
expect 0 fit data.csv --rank 3 --center --out three.npz
expect 0 fit data.csv --rank 5 --out five.npz
expect 0 fit data.csv --rank 1 --out one.npz
expect 0 fit data.csv --rank 2 --max-iter 0 --out start.npz

# Refused before anything is drawn.
refuse 64 '--out' plot two.npz
refuse 64 '.svg, .png or .pdf' plot two.npz --out picture
refuse 64 '.svg, .png or .pdf' plot two.npz --out picture.jpg
refuse 64 "did you mean 'sphere'" plot two.npz --kind spheer --out p.svg
refuse 66 'nosuch.npz' plot nosuch.npz --out p.svg
refuse 65 'data.csv' plot data.csv --out p.svg
refuse 64 '3x3' plot two.npz --kind atoms --out p.svg
refuse 64 '--images' plot two.npz --kind atoms --images 3x --out p.svg
refuse 65 '9 features' plot two.npz --kind atoms --images 4x3 --out p.svg
refuse 64 '--components' plot five.npz --kind sphere --components 1,5 --out p.svg
refuse 64 '--components' plot five.npz --kind sphere --components 1,1 --out p.svg
refuse 64 '--components' plot five.npz --kind sphere --components 1 --out p.svg
refuse 64 '--components' plot five.npz --kind sphere --components '1,2;3' --out p.svg
refuse 65 'rank 2' plot one.npz --kind sphere --out p.svg
refuse 65 'rank 2' plot one.npz --kind scatter --out p.svg
refuse 64 '--components' plot five.npz --kind scatter --components 1,2,3 --out p.svg
refuse 64 '--truth' plot two.npz --kind confusion --out p.svg
refuse 66 'nosuch.txt' plot two.npz --kind confusion --truth nosuch.txt --out p.svg
head -n 5 labels.txt >few.txt
refuse 65 '5 labels' plot two.npz --kind clusters --labels few.txt --out p.svg
refuse 66 'nosuch.txt' plot two.npz --kind clusters --labels nosuch.txt --out p.svg
refuse 73 'nosuch' plot two.npz --out nosuch/p.svg

# Without gnuplot: what to install, and nothing left.
mkdir empty
got=0
PATH=$PWD/empty "$ARMILLA" plot two.npz --out p.svg >"$top/stdout" 2>"$top/stderr" || got=$?
equal "$got" 69 'without gnuplot'
says gnuplot-nox
rmdir empty
[ ! -e p.svg ] && [ ! -e p.gp ] && [ ! -e p.dat ] || die 'a refused picture left a file'
command -v gnuplot >/dev/null || { echo 'no gnuplot: nothing was drawn'; exit 77; }

kinds='convergence sphere scatter graph atoms features codes clusters confusion'

# drawn FILE KIND-OF-FILE: it is there with its script and data, and the script draws the same again.
drawn() {
    [ -s "$1" ] && [ -s "${1%.*}.gp" ] && [ -s "${1%.*}.dat" ] || die "$1, its script or its data are missing"
    case $1 in
    *.svg) grep -q '</svg>' "$1" || die "$1 is not a whole SVG" ;;
    *.png) equal "$(head -c 4 "$1" | tr -d '\211')" PNG ;;
    *.pdf) equal "$(head -c 5 "$1")" %PDF- ;;
    esac
}

for kind in $kinds; do
    for model in two three five start; do
        expect 0 plot $model.npz --kind $kind --images 3x3 --truth labels.txt --out $model-$kind.svg
        [ ! -s "$top/stdout" ] || die 'something on standard output'
        drawn $model-$kind.svg
        cp $model-$kind.svg first
        gnuplot -d $model-$kind.gp 2>"$top/stderr" || die "$model-$kind.gp cannot be drawn again"
        cmp -s first $model-$kind.svg || die "$model-$kind.gp draws another picture"
    done
    expect 0 plot five.npz --kind $kind --images 3x3 --labels labels.txt --truth labels.txt --quiet --out $kind.png
    silent
    drawn $kind.png
    expect 0 plot five.npz --kind $kind --images 3x3 --labels labels.txt --truth labels.txt --out $kind.pdf --force
    drawn $kind.pdf
done
# Readers of SVG refuse a transformation that cannot be undone, and smooth images: there are none of either.
expect 0 fit data.csv --rank 3 --model spherical-nmf --max-iter 100 --tol 0 --out long.npz
expect 0 plot long.npz --kind convergence --out long.svg
grep -qF 'scale(0.00)' ./*.svg && die 'marks of size 0'
grep -l '<image' ./*.svg && die 'an image that viewers smooth'
expect 0 plot one.npz --kind codes --out one-codes.svg
expect 0 plot one.npz --kind clusters --out one-clusters.svg
expect 0 plot five.npz --kind sphere --components 4,2 --out chosen.svg
expect 0 plot five.npz --kind scatter --components 4,2 --out entries.svg
grep -q '>component 4<' entries.svg && grep -q '>component 2<' entries.svg || die 'the axes are not the chosen entries'
# A model without a radius has no sphere, and the picture says none.
expect 0 fit data.csv --rank 3 --model nmf --out free.npz
expect 0 plot free.npz --kind sphere --out free.svg
grep -qi 'sphere\|radius' free.svg && die 'a sphere in the picture of a model without one'
grep -q 'Directions of 60 codes' free.svg || die 'the title does not say directions'
# One font, whatever the format.
equal "$(sed -n "s/.*terminal.* font '\([^']*\)'.*/\1/p" sphere.gp three-sphere.gp | sort -u)" 'sans-serif,12'
expect 0 plot five.npz --kind clusters --labels labels.txt --out named.svg
grep -q '>class 2<' named.svg || die 'the label is not in the picture'
grep -qF 60 five-clusters.svg || die 'the number of samples is not in the picture'

# Labels as other commands write and read them: clusters, IDX and .npy vectors, in the order of their numbers.
expect 0 cluster five.npz --k 3 --out clusters.txt --quiet
expect 0 plot five.npz --kind clusters --labels clusters.txt --out found.svg
awk 'BEGIN { for (i = 0; i < 60; i++) print i % 11 }' >eleven.labels
expect 0 plot five.npz --kind clusters --labels eleven.labels --out text.svg
if [ -x /usr/bin/python3 ]; then
    /usr/bin/python3 -c 'import struct
open("idx-labels", "wb").write(struct.pack(">II", 0x801, 60) + bytes(i % 11 for i in range(60)))'
    expect 0 plot five.npz --kind clusters --labels idx-labels --out idx.svg
    cmp -s text.dat idx.dat || die 'labels of IDX are drawn differently from text'
    sed 's/idx\.dat/text.dat/; s/idx\.svg/text.svg/' idx.gp | cmp -s - text.gp || die 'names of IDX labels differ'
    head -c 40 idx-labels >cut-labels
    refuse 65 'cut-labels' plot five.npz --kind clusters --labels cut-labels --out p.svg
fi

# What exists stays, whichever of the three files it is.
for ending in svg gp dat; do
    echo mine >kept.$ending
    refuse 73 "kept.$ending" plot two.npz --out kept.svg
    equal "$(ls kept.*) $(cat kept.$ending)" "kept.$ending mine"
    rm kept.$ending
done
echo mine >kept.svg
expect 0 plot two.npz --out kept.svg --force
drawn kept.svg
refuse 73 '/dev/full' plot two.npz --out /dev/full.svg/x.svg
ln -s /dev/full full.svg
refuse 73 'full.svg' plot two.npz --out full.svg --force

# Names are text: not commands of the shell or of gnuplot, and the picture stays a picture.
cat >hostile.txt <<'END'
`touch pwned`
'; system("touch pwned"); print '
$(touch pwned) "; !touch pwned
<b>&amp; {/=90 big} _{x}^{y} \n @data %s %n
END
{ printf 'bad \377\376 bytes \001 \033[31m\n'; } >>hostile.txt
for i in $(seq 55); do sed -n "$((i % 5 + 1))p" hostile.txt; done >>hostile.txt
name="<touch pwned;'\`touch pwned\`"
turn=0
for kind in $kinds; do
    turn=$((turn % 5 + 1))
    [ $kind = clusters ] && lines='1 2 3 4 5' || lines=$turn
    for line in $lines; do
        expect 0 plot two.npz --kind $kind --images 3x3 --labels hostile.txt --truth hostile.txt --force --out "$name.svg" \
            --title "$(sed -n ${line}p hostile.txt; echo 'set output "pwned"')"
        drawn "$name.svg"
        gnuplot -d "$name.gp" 2>"$top/stderr" || die 'the script cannot be drawn again'
        [ -z "$(find . -name 'pwned*')" ] || die "$kind: a name was run as a command (line $line)"
        if [ -x /usr/bin/python3 ]; then
            /usr/bin/python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "./$name.svg" 2>"$top/stderr" ||
                die "$kind: the SVG is not well formed (line $line)"
        fi
    done
done
grep -qF '{/=90 big} _{x}^{y}' "$name.svg" || die 'a label was not shown as it is'
