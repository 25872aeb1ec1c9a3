#!/bin/sh
# INT and TERM stop a fit cleanly: 130 and 143 after saving what there is.
. "$(dirname "$0")/lib.sh"
numbers 1500 40 >data.csv

# launch ARGUMENT...: the command in the background; its number becomes $process. There is no trap meanwhile: a signal
# between fork and exec meets a shell, which would run it and take the directory away.
launch() {
    trap - EXIT
    "$ARMILLA" "$@" >"$top/stdout" 2>"$top/stderr" &
    process=$!
    trap tidy EXIT
}

# stop SIGNAL STATUS SECONDS ARGUMENT...: runs the command, sends the signal after so many seconds.
stop() {
    signal=$1
    status=$2
    seconds=$3
    shift 3
    ran="armilla $* and $signal after $seconds s"
    got=0
    launch "$@"
    sleep "$seconds"
    kill -s "$signal" "$process"
    wait "$process" || got=$?
    equal "$got" "$status" 'exit status'
}

# stop_fit SIGNAL STATUS OPTION...: stops a long fit; a machine that has not begun to fit by then is given more time.
stop_fit() {
    first=$1
    second=$2
    shift 2
    for wait in 1 3 9 27; do
        rm -f model.npz trace.csv
        stop "$first" "$second" $wait fit data.csv --rank 8 --basis nonnegative --tol 0 --max-iter 1000000 \
            --out model.npz "$@"
        [ ! -e model.npz ] || return 0
    done
    die 'no model was saved'
}

for pair in INT:130 TERM:143; do
    stop_fit "${pair%:*}" "${pair#*:}" --trace trace.csv --json
    files data.csv model.npz trace.csv
    says 'interrupted'
    equal "$(member stop)" interrupted
    equal "$(member iterations)" "$(tail -n 1 trace.csv | cut -d, -f1)"
    # Sealing may lower the objective by any amount, and raise it by rounding.
    awk -v model="$(member objective)" -v last="$(tail -n 1 trace.csv | cut -d, -f2)" \
        'BEGIN { exit !(model <= last * (1 + 1e-6)) }' || die 'the objective is above the last entry of the trace'
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

# The best of several starts: the signal ends them all.
stop_fit TERM 143 --restarts 5 --quiet
expect 0 check model.npz data.csv

# cluster, too, ends at once while it waits for its data.
rm -f model.npz
stop INT 130 1 cluster pipe.csv --k 2 --out labels.txt
stop TERM 143 1 cluster pipe.csv --k 2 --out labels.txt
files data.csv pipe.csv

# At any moment: outputs are absent or whole, nothing else is left, and the status is that of the signal unless it comes
# when all is done, or INT before it is minded (a script's background jobs ignore it). The data are large
# enough for a signal to fall into reading, computing and writing.
expect 0 fit data.csv --rank 8 --max-iter 5 --quiet --out model.npz
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat data.csv data.csv; done >many.csv
at_any_moment() {
    output=$1
    shift
    expect 0 "$@" --quiet
    mv "$output" "$top/whole"
    signal=INT status=130
    for seconds in 0 0.02 0.04 0.07 0.1 0.15 0.2 0.25 0.3 0.4 0.6 0.9; do
        ran="armilla $* and $signal after $seconds s"
        got=0
        launch "$@" --quiet
        sleep $seconds
        kill -s $signal $process 2>"$top/killed" || true
        wait $process || got=$?
        case $got in 0 | "$status") ;; *) die "exit status $got" ;; esac
        [ "$got" != 0 ] || [ -e "$output" ] || die 'done, and no output'
        [ ! -s "$top/stderr" ] || die 'something on standard error'
        [ ! -e "$output" ] || same_kind "$output" || die "$output is not whole"
        rm -f "$output"
        files data.csv many.csv model.npz pipe.csv
        if [ $signal = INT ]; then signal=TERM status=143; else signal=INT status=130; fi
    done
}
# An interrupted clustering may give other labels, but one for each sample; all else has the same bytes or is not there.
same_kind() {
    case $1 in
    *.txt) [ "$(wc -l <"$1")" -eq "$(wc -l <"$top/whole")" ] ;;
    *) cmp -s "$1" "$top/whole" ;;
    esac
}
at_any_moment out.csv convert many.csv out.csv
at_any_moment out.npy transform model.npz many.csv --out out.npy
at_any_moment out.txt cluster many.csv --k 8 --tries 3 --max-iter 50 --out out.txt
rm many.csv

# While data are read there is nothing to save: that is said in one line, and under --quiet not at all.
said_while_reading() {
    lines=$1
    shift
    mkfifo endless.csv
    ran="armilla fit endless.csv --rank 2 $* and TERM"
    got=0
    launch fit endless.csv --rank 2 "$@"
    exec 5>endless.csv
    sleep 1
    kill -s TERM $process
    wait $process || got=$?
    exec 5>&-
    rm endless.csv
    equal "$got" 143 'exit status'
    equal "$(wc -l <"$top/stderr")" "$lines" 'lines on standard error'
}
said_while_reading 1
said_while_reading 0 --quiet

# A second signal does not wait: stopped and continued, so that both are there before the fit can answer the first.
rm -f model.npz
launch fit data.csv --rank 8 --basis nonnegative --tol 0 --max-iter 1000000 --quiet --out model.npz
sleep 2
kill -s STOP $process
kill -s INT $process
kill -s TERM $process
kill -s CONT $process
got=0
wait $process || got=$?
ran='armilla fit and two signals at once'
case $got in 130 | 143) ;; *) die "exit status $got" ;; esac
