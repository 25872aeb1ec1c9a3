#!/usr/bin/env bash
# BLAS and LAPACK are loaded by the commands that compute, when they do, and by no others: under a limit of the address
# space that OpenBLAS does not fit in, reading goes on, and a fit ends with 71 rather than never.
. "$(dirname "$0")/lib.sh"
numbers 40 5 >data.csv
numbers 100 80 >wide.csv
printf '1\n2\n1\n' >labels.txt
expect 0 fit data.csv --rank 2 --out model.npz --quiet

if ldd "$ARMILLA" | grep -q 'lib[a-z]*blas\|liblapack'; then
    grep -q 'ARMILLA_LINK_BLAS:BOOL=ON' "${ARMILLA_BUILD:-.}/CMakeCache.txt" || die 'the command is linked with BLAS'
    exit 77
fi
case "$(ldd "$ARMILLA")" in *libc.so.6*) ;; *) exit 77 ;; esac

# loaded ARGUMENT...: the command succeeds; prints which of BLAS and LAPACK the run-time linker was asked for.
loaded() {
    rm -f "$top"/linker*
    ran="armilla $*"
    LD_DEBUG=libs LD_DEBUG_OUTPUT="$top/linker" "$ARMILLA" "$@" >"$top/stdout" 2>"$top/stderr" || die "exit status $?"
    asked_for
}

# asked_for: of the last command.
asked_for() {
    sed -n 's/.*find library=\(lib[a-z]*blas[^ ]*\|liblapack[^ ]*\|libmkl[^ ]*\) .*/\1/p' "$top"/linker* | sort -u
}

# without_blas ARGUMENT...: does it without, and within 100 MB of address space; a sanitizer takes terabytes.
without_blas() {
    equal "$(loaded "$@")" '' 'loaded'
    [ -n "${ASAN_OPTIONS:-}" ] || (ulimit -v 100000 && expect 0 "$@")
}
without_blas --version
without_blas --help
without_blas help fit
without_blas list models
without_blas info data.csv
without_blas info model.npz
without_blas convert data.csv data.npy --force
without_blas score labels.txt labels.txt
without_blas reconstruct model.npz --out rebuilt.npy --force --quiet
[ -n "$(loaded fit wide.csv --rank 2 --out other.npz --quiet)" ] || die 'a fit without BLAS: this test sees nothing'
# Few features need none, nor do few atoms from a start that does not.
without_blas transform model.npz data.csv --out codes.npy --force --quiet
for model in nmf pca spherical-nmf; do
    without_blas fit data.csv --model $model --rank 5 --out other.npz --force --quiet
done
without_blas fit data.csv --rank 20 --basis nonnegative --out other.npz --force --quiet
without_blas fit wide.csv --rank 2 --start random --out other.npz --force --quiet
expect 0 fit wide.csv --rank 20 --basis nonnegative --start random --out many.npz --quiet
[ -n "$(loaded transform many.npz wide.csv --out codes.npy --force --quiet)" ] || die 'codes without BLAS'

# Their Fortran names are enough: whoever has NumPy has those, and no C interface of LAPACK.
twenty='fit wide.csv --rank 20 --basis nonnegative --quiet'
loaded $twenty | grep -q . || die 'a fit of 20 atoms without BLAS'
if loaded $twenty | grep lapacke; then die 'LAPACKE was asked for'; fi

# Where a library is missing, or broken, the next one serves, and where all are, the first is named, with the package to
# install. Those that are asked for are broken one after the other until nothing is left to ask for.
mkdir "$top/broken"
first=$(loaded $twenty | grep -m 1 lapack)
(
    LD_LIBRARY_PATH=$top/broken${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    tries=0
    while tries=$((tries + 1)) && [ $tries -le 20 ]; do
        rm -f "$top"/linker*
        got=0
        LD_DEBUG=libs LD_DEBUG_OUTPUT="$top/linker" "$ARMILLA" $twenty --out none.npz --force >"$top/stdout" 2>"$top/stderr" || got=$?
        [ $got = 0 ] || break
        for name in $(asked_for); do
            : >"$top/broken/$name"
        done
        rm none.npz
    done
    ran='armilla fit without BLAS'
    equal "$got" 69 'exit status'
    says "$first: "
    says 'install the package libopenblas0'
    refuse 69 "$first" transform many.npz wide.csv --out none.npy --quiet
)
[ ! -e none.npz ] || die 'a model was written'

# Whatever the limit, a fit is done or ends with 71, soon; OpenBLAS waits for memory for ever.
[ -z "${ASAN_OPTIONS:-}" ] || exit 0
for limit in 60000 100000 150000 250000 400000 600000; do
    for threads in 1 2; do
        ran="armilla fit --threads $threads with ulimit -v $limit"
        got=0
        (ulimit -v "$limit" && OPENBLAS_NUM_THREADS=$threads timeout 60 "$ARMILLA" fit wide.csv --rank 2 \
            --threads "$threads" --out none.npz --force --quiet >"$top/stdout" 2>"$top/stderr") || got=$?
        case $got in
        0) silent ;;
        71) says 'ulimit -v' ;;
        *) die "exit status $got" ;;
        esac
        [ "$limit" != 100000 ] || equal "$got" 71 'within 100 MB'
    done
done
equal "$got" 0 'within 600 MB'
