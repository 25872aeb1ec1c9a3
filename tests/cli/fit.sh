#!/bin/sh
# Fits: all pairs, what --json and the trace say, and every way for a fit to end.
. "$(dirname "$0")/lib.sh"
numbers 60 6 >data.csv

keys='model basis codes sparsity rank m n nnz solver start seed precision threads ranks iterations sweeps passes passes_before streamed bytes_read stop objective
    relative_error radius seconds seconds_per_iteration seconds_reading peak_rss_bytes zero_samples out'
sorted_keys=$(for key in $keys; do echo "$key"; done | LC_ALL=C sort | tr '\n' ' ')

# The eight pairs, by name and by the paper's alias; every model passes its check.
for basis in orthonormal:u1 nonnegative:u2; do
    for codes in sphere:v1 nonneg-sphere:v2 sparse-sphere:v3 nonneg-sparse-sphere:v4; do
        case $codes in *sparse*) sparsity='--sparsity 2' ;; *) sparsity= ;; esac
        # shellcheck disable=SC2086
        expect 0 fit data.csv --rank 3 --basis ${basis%:*} --codes ${codes%:*} $sparsity --json --force --out model.npz
        equal "$(member basis)" ${basis%:*}
        equal "$(member codes)" ${codes%:*}
        objective=$(member objective)
        # shellcheck disable=SC2086
        expect 0 fit data.csv --rank 3 --basis ${basis#*:} --codes ${codes#*:} $sparsity --json --quiet
        equal "$(member objective)" "$objective" 'the alias means the same'
        expect 0 check model.npz data.csv
        prints 'passed'
    done
done

# --json: exactly these members.
expect 0 fit data.csv --rank 3 --codes sparse-sphere --sparsity 2 --seed 5 --json --quiet --out json.npz
silent
equal "$(sed -n 's/^  "\([a-z_]*\)": .*/\1/p' "$top/stdout" | LC_ALL=C sort | tr '\n' ' ')" "$sorted_keys" 'members'
equal "$(member sparsity) $(member rank) $(member m) $(member n) $(member seed) $(member ranks)" '2 3 6 60 5 1'
equal "$(member precision) $(member zero_samples) $(member out)" 'f64 0 json.npz'
expect 0 fit data.csv --rank 3 --model spherical-pca --json --quiet
equal "$(member model) $(member basis) $(member codes)" 'spherical-pca orthonormal sphere'
equal "$(member sparsity) $(member out)" 'null null'
expect 0 fit data.csv --rank 3 --json
says 'radius'

# What the summary says.
expect 0 fit data.csv --rank 3 --trace trace.csv
for text in 'orthonormal x sphere' 'rank 3' '6 features x 60 samples' 'relative' 'radius' 'trace.csv'; do says "$text"; done
[ ! -s "$top/stdout" ] || die 'a summary on standard output'
grep -q "$(printf '[\033\r]')" "$top/stderr" && die 'colour or progress in a file'
expect 0 fit data.csv --rank 3 --quiet
silent

# A fit that --tol 1e-6 would go on with says by how much the last fifth of its iterations lowered the error.
expect 0 fit data.csv --rank 4 --model nmf --trace ease.csv
says 'about as much is left: --tol 1e-6 goes on'
iterations=$(sed -n 's/.* converged after \([0-9]*\) iterations.*/\1/p' "$top/stderr")
says "the last $((iterations / 5)) lowered the error by"
awk -F, -v said="$(sed -n 's/.*lowered the error by \([^ ]*\) %.*/\1/p' "$top/stderr")" -v back=$((iterations / 5)) '
    NR > 1 { h[++count] = $2 }
    END { is = 100 * (1 - sqrt(h[count] / h[count - back])); exit !(is > 0 && said > .9 * is && said < 1.1 * is) }
' ease.csv || die 'the fall of the error is not that of the trace'
expect 0 fit data.csv --rank 4 --model nmf --tol 1e-6
if grep -q 'is left' "$top/stderr"; then die 'a given tolerance leaves something'; fi

# --max-iter K --tol 0 is exactly K iterations; the trace has the start too.
for k in 0 1 17; do
    expect 0 fit data.csv --rank 3 --basis nonnegative --max-iter $k --tol 0 --json --out k$k.npz --trace k$k.csv
    equal "$(member iterations) $(member stop)" "$k max-iter"
    equal "$(wc -l <k$k.csv | tr -d ' ')" $((k + 2))
    equal "$(head -n 1 k$k.csv)" 'iter,objective,relative_error,dU,dV,radius,seconds'
    equal "$(tail -n 1 k$k.csv | cut -d, -f1)" $k
    # A sealed model is a little above the last entry at most, or below it; with palm it is the last entry.
    awk -v last="$(tail -n 1 k$k.csv | cut -d, -f2)" -v h="$(member objective)" 'BEGIN { exit !(h <= last * (1 + 1e-5)) }' ||
        die 'the model is worse than the last entry of its trace'
    expect 0 fit data.csv --rank 3 --basis nonnegative --solver palm --max-iter $k --tol 0 --json --trace k$k.csv --force
    within "$(tail -n 1 k$k.csv | cut -d, -f2)" "$(member objective)" 1e-12
    expect 0 check k$k.npz data.csv
done
awk -F, 'NR > 2 && $2 > last * (1 + 1e-12) { exit 1 } { last = $2 }' k17.csv || die 'the objective rose'
expect 0 fit data.csv --rank 3 --max-iter 0 --json
equal "$(member seconds_per_iteration)" null

# The other ends.
expect 0 fit data.csv --rank 3 --tol 0.5 --json
equal "$(member stop)" converged
expect 0 fit data.csv --rank 3 --basis nonnegative --tol 0 --max-iter 1000000 --time-limit 0.3 --json --out limit.npz
equal "$(member stop)" time-limit
expect 0 check limit.npz data.csv

# A given radius stays; otherwise one is found.
for basis in orthonormal nonnegative; do
    expect 0 fit data.csv --rank 3 --basis $basis --radius 2.5 --json --force --out model.npz
    within "$(member radius)" 2.5 1e-12
    expect 0 check model.npz data.csv
done

# Restarts keep the best; the same seed gives the same numbers, another seed others.
expect 0 fit data.csv --rank 3 --basis nonnegative --max-iter 8 --json
one=$(member objective)
expect 0 fit data.csv --rank 3 --basis nonnegative --max-iter 8 --json
equal "$(member objective)" "$one" 'the same seed'
expect 0 fit data.csv --rank 3 --basis nonnegative --max-iter 8 --json --restarts 6 --out best.npz --force
awk -v best="$(member objective)" -v one="$one" 'BEGIN { exit !(best <= one) }' || die 'restarts made it worse'
expect 0 check best.npz data.csv
expect 0 fit data.csv --rank 3 --basis nonnegative --max-iter 8 --json --threads 1
equal "$(member threads)" 1
equal "$(member objective)" "$one" 'one thread'

# Going on from a model continues it.
expect 0 fit data.csv --rank 3 --basis nonnegative --solver palm --max-iter 20 --tol 0 --quiet --out twenty.npz --json
twenty=$(member objective)
expect 0 fit data.csv --rank 3 --basis nonnegative --solver palm --max-iter 17 --tol 0 --quiet --out seventeen.npz --json
expect 0 fit data.csv --rank 3 --basis nonnegative --solver palm --max-iter 3 --tol 0 --quiet --start seventeen.npz --json
within "$(member objective)" "$twenty" 1e-9

# Preparation.
for option in '--normalize l2' --center --tfidf '--center --normalize l2'; do
    # shellcheck disable=SC2086
    expect 0 fit data.csv --rank 3 $option --quiet --force --out model.npz
    expect 0 check model.npz data.csv
done
expect 0 info model.npz --json
equal "$(member kind) $(member normalize) $(member center) $(member tfidf)" 'model l2 true false'
expect 0 info model.npz
prints 'relative error'

# A plan writes nothing.
mkdir plan
expect 0 fit data.csv --rank 3 --dry-run --out plan/model.npz --trace plan/trace.csv
for text in '6 features x 60 samples' 'f64' 'threads' 'plan/model.npz' 'plan/trace.csv'; do says "$text"; done
[ -z "$(ls plan)" ] || die 'a dry run wrote something'
refuse 65 'rank' fit data.csv --rank 7 --dry-run

# On a terminal: progress that is erased, colour unless NO_COLOR; --quiet shows nothing.
if command -v script >/dev/null; then
    numbers 2000 30 >slow.csv
    slow="'$ARMILLA' fit slow.csv --rank 8 --basis nonnegative --tol 0 --max-iter 1000000"
    for seconds in 1 5 25 125; do # a busy machine may have no iteration within the first
        TERM=xterm script -qec "$slow --time-limit $seconds" /dev/null >"$top/stdout" 2>&1 </dev/null
        grep -q 'it/s' "$top/stdout" && break
    done
    prints 'it/s'
    prints 'left'
    prints "$(printf '\r\033[K')"
    TERM=xterm script -qec "$slow --time-limit 1 --quiet" /dev/null >"$top/stdout" 2>&1 </dev/null
    [ ! -s "$top/stdout" ] || die '--quiet is not quiet on a terminal'
    TERM=xterm script -qec "'$ARMILLA' fit" /dev/null >"$top/stdout" 2>&1 </dev/null || true
    prints "$(printf '\033[1;31m')"
    NO_COLOR=1 TERM=xterm script -qec "'$ARMILLA' fit" /dev/null >"$top/stdout" 2>&1 </dev/null || true
    grep -q "$(printf '\033')" "$top/stdout" && die 'colour in spite of NO_COLOR'
else
    echo 'skipped: terminals, for want of script'
fi
exit 0
