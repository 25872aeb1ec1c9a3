#!/bin/sh
# Inputs that are not what they seem, or change while they are read: one sentence, nothing left behind.
. "$(dirname "$0")/lib.sh"
numbers 40 6 >data.csv
expect 0 fit data.csv --rank 2 --max-iter 5 --out model.npz
cp model.npz before.npz

# Not a file with data.
: >empty.csv
mkdir folder
for name in empty.csv:65 folder:66 nosuch.csv:66; do
    refuse "${name#*:}" "${name%:*}: " fit "${name%:*}" --rank 1
    refuse "${name#*:}" "${name%:*}: " convert "${name%:*}" out.npy
    refuse "${name#*:}" "${name%:*}: " transform model.npz "${name%:*}" --out out.npy
    refuse "${name#*:}" "${name%:*}: " cluster "${name%:*}" --k 2 --out out.txt
    refuse "${name#*:}" "${name%:*}: " check model.npz "${name%:*}"
    refuse "${name#*:}" "${name%:*}: " info "${name%:*}"
    refuse "${name#*:}" "${name%:*}: " fit data.csv --rank 1 --labels "${name%:*}"
    refuse "${name#*:}" "${name%:*}: " score "${name%:*}" "${name%:*}"
    refuse "${name#*:}" "${name%:*}: " plot model.npz --kind codes --labels "${name%:*}" --out out.svg
done
for name in empty.csv folder nosuch.csv data.csv; do
    got=0
    "$ARMILLA" transform $name data.csv --out out.npy >"$top/stdout" 2>"$top/stderr" || got=$?
    ran="armilla transform $name data.csv"
    case $got in 65 | 66) ;; *) die "exit status $got" ;; esac
    equal "$(wc -l <"$top/stderr" | tr -d ' ')" 1
done
if [ "$(id -u)" -ne 0 ]; then
    cp data.csv locked.csv
    chmod 0 locked.csv
    for arguments in 'fit locked.csv --rank 1' 'convert locked.csv out.npy' 'cluster locked.csv --k 2' \
        'transform model.npz locked.csv --out out.npy' 'transform locked.csv data.csv --out out.npy' 'info locked.csv' \
        'fit data.csv --rank 1 --labels locked.csv' 'fit data.csv --rank 1 --keep-samples locked.csv' \
        'fit data.csv --rank 1 --start locked.csv' 'reconstruct locked.csv --out out.npy'; do
        # shellcheck disable=SC2086 # several words
        refuse 66 'locked.csv: cannot be opened: Permission denied; check the name and the permissions' $arguments
    done
    rm -f locked.csv
fi

# A pipe is read to its end, as a file is.
mkfifo pipe
cat data.csv >pipe &
expect 0 convert pipe piped.npy --format csv
wait
expect 0 convert data.csv plain.npy
cmp -s piped.npy plain.npy || die 'a pipe gives other data than the file'
: >pipe &
refuse 65 'pipe: is empty' info pipe --format csv
wait
rm -f pipe piped.npy plain.npy

# A device that takes nothing.
refuse 73 '/dev/full: ' fit data.csv --rank 2 --out /dev/full --force
files before.npz data.csv empty.csv folder model.npz

# The file shrinks while it is mapped: a fit is stopped, the file cut, and the fit continued.
numbers 2000 40 >large.csv
expect 0 convert large.csv large.npy
rm large.csv
cp large.npy whole.npy
cut_while() {
    for wait in 1 3 9; do
        cp whole.npy large.npy
        ran="armilla $* while its data are cut"
        got=0
        "$ARMILLA" "$@" >"$top/stdout" 2>"$top/stderr" &
        process=$!
        sleep $wait
        kill -s STOP $process
        : >large.npy
        kill -s CONT $process
        wait $process || got=$?
        # The data were not mapped yet.
        [ "$got" = 74 ] && break
        [ "$got" = 65 ] || die "exit status $got"
    done
    equal "$got" 74 'exit status'
    equal "$(cat "$top/stderr")" \
        'armilla: large.npy: became shorter while it was read; let it be finished, and start again'
}
if [ -d /proc/self/fd ]; then
    cut_while fit large.npy --rank 8 --basis nonnegative --tol 0 --max-iter 1000000 --quiet --out model.npz --force
    cmp -s model.npz before.npz || die 'an output was changed'
    files before.npz data.csv empty.csv folder large.npy model.npz whole.npy
fi
