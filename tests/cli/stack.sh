#!/bin/sh
# Every command on a stack of 64 KiB, which threads get from the system too where they are not given one.
# shellcheck disable=SC2086 # $data and $model are several words
. "$(dirname "$0")/lib.sh"
if grep -q -e __asan_init -e __tsan_init "$ARMILLA"; then exit 77; fi # a sanitizer's frames are larger

numbers 400 90 >dense.csv
awk 'BEGIN {
    for (i = 0; i < 1500; i++) {
        line = i % 3
        for (j = 1 + i % 7; j <= 300; j += 5 + (i * j) % 23) line = line " " j ":" 1 + (i * j) % 9
        print line
    }
}' >sparse.svm
cat >"$top/small" <<END
#!/bin/sh
ulimit -s 64
exec '$ARMILLA' "\$@"
END
chmod +x "$top/small"
ARMILLA=$top/small

expect 0 --version
for data in dense.csv sparse.svm; do
    expect 0 info $data
    for model in '--model spherical-pca --rank 60' '--model spherical-nmf --rank 3 --precision f32' \
        '--model sparse-spherical-nmf --rank 70 --sparsity 3 --normalize l2' '--model nmf --rank 5 --solver mu' \
        '--rank 40 --solver palm --center --scale' '--model semi-nmf --rank 8 --tfidf --log1p'; do
        expect 0 fit $data $model --max-iter 4 --threads 4 --out model.npz --force
        expect 0 check model.npz $data
        expect 0 transform model.npz $data --threads 4 --out codes.npy --force
    done
    expect 0 cluster $data --k 3 --threads 4 --out labels.txt --force
    expect 0 cluster model.npz --k 3 --threads 4 --out other.txt --force
    expect 0 score labels.txt other.txt
    expect 0 compare model.npz model.npz --data $data --threads 4
    expect 0 reconstruct model.npz --out x.npy --force
    expect 0 convert $data copy.npz --force
    expect 0 convert copy.npz copy.mtx --force
    if command -v gnuplot >"$top/stdout"; then
        for kind in convergence codes; do expect 0 plot model.npz --kind $kind --out plot.svg --force; done
    else
        echo 'skipped: plot, for want of gnuplot'
    fi
done
expect 0 demo cones --out cones --no-pictures
refuse 66 'nosuch.csv: ' fit nosuch.csv --rank 2
