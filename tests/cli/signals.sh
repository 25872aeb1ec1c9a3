#!/bin/sh
# INT and TERM stop a fit cleanly: 130 and 143 after saving what there is.
. "$(dirname "$0")/lib.sh"
numbers 1500 40 >data.csv

# stop SIGNAL STATUS SECONDS ARGUMENT...: runs the command, sends the signal after so many seconds.
stop() {
    signal=$1
    status=$2
    seconds=$3
    shift 3
    ran="armilla $* and $signal after $seconds s"
    got=0
    "$ARMILLA" "$@" >"$top/stdout" 2>"$top/stderr" &
    process=$!
    sleep "$seconds"
    kill -s "$signal" "$process"
    wait "$process" || got=$?
    equal "$got" "$status" 'exit status'
}

for pair in INT:130 TERM:143; do
    signal=${pair%:*}
    # A machine that has not begun to fit by then is given more time.
    for seconds in 1 3 9 27; do
        rm -f model.npz trace.csv
        stop "$signal" "${pair#*:}" "$seconds" fit data.csv --rank 8 --basis nonnegative --tol 0 --max-iter 1000000 \
            --out model.npz --trace trace.csv --json
        [ ! -e model.npz ] || break
    done
    files data.csv model.npz trace.csv
    says 'interrupted'
    equal "$(member stop)" interrupted
    equal "$(member iterations)" "$(tail -n 1 trace.csv | cut -d, -f1)"
    within "$(member objective)" "$(tail -n 1 trace.csv | cut -d, -f2)" 1e-6
    expect 0 check model.npz data.csv
    expect 0 info model.npz --json
    equal "$(member stop)" interrupted
done

# Before the fit there is nothing to save: a reader that waits for its data ends at once.
rm -f model.npz trace.csv
mkfifo pipe.csv
exec 3<>pipe.csv
stop INT 130 1 fit pipe.csv --rank 2 --out model.npz --trace trace.csv
[ ! -s "$top/stdout" ] || die 'something on standard output'
stop TERM 143 1 fit pipe.csv --rank 2 --out model.npz --trace trace.csv
files data.csv pipe.csv
