#!/usr/bin/env bash
# `make deps` waits for another apt, and offers what the build can go without; `make` says what it was built without. The
# apt-get here is a script of the test.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
die() {
    echo "$1"
    cat "$work/output"
    exit 1
}

# apt-get is locked for the first $LOCKED calls, by the lock of the lists and by dpkg's.
cat >"$work/bin/apt-get" <<'END'
#!/bin/sh
echo "$*" >>"$CALLS"
if [ "$(wc -l <"$CALLS")" -le "$LOCKED" ]; then
    echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)' >&2
    exit 100
fi
[ "$BROKEN" = no ] || { echo 'E: no network' >&2; exit 100; }
END
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
printf '#!/bin/sh\nexit 0\n' >"$work/bin/sleep"
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
chmod +x "$work"/bin/*

# deps LOCKED BROKEN ARGUMENT...: of a group that has a package which is never there.
deps() {
    export CALLS=$work/calls LOCKED=$1 BROKEN=$2
    : >"$CALLS"
    PATH=$work/bin:$PATH DEPS=yes "$root/scripts/deps.sh" "${@:3}" </dev/null >"$work/output" 2>&1
}
deps 0 no experiments || die 'a free apt fails'
grep -q 'DPkg::Lock::Timeout=[1-9]' "$work/calls" || die "dpkg's lock is not waited for"
grep -q 'install .*dataset-fashion-mnist' "$work/calls" || die 'nothing was installed'
deps 3 no experiments || die 'a locked apt is not waited for'
grep -q 'waiting for another apt' "$work/output" || die 'the waiting is not announced'
[[ $(wc -l <"$work/calls") == 5 ]] || die 'it was not called again'
if deps 0 yes experiments; then die 'a failure is not reported'; fi
grep -q 'no network' "$work/output" && [[ $(wc -l <"$work/calls") == 1 ]] || die 'a failure was tried again'
if APT_PATIENCE=10 deps 1000 no experiments; then die 'it waits for ever'; fi

unset OPTIONAL
deps 0 no --offer experiments || die 'an offer fails'
grep -q 'OPTIONAL=yes' "$work/output" && grep -q fashion "$work/output" || die 'nothing is offered'
[[ ! -s $work/calls ]] || die 'an offer that nobody accepted was installed'
OPTIONAL=yes deps 0 no --offer experiments || die 'an accepted offer fails'
grep -q fashion "$work/calls" || die 'an accepted offer was not installed'

cmake -S "$root" -B "$work/tree" -DARMILLA_MPI=OFF >"$work/output" 2>&1 || die 'cannot be configured'
grep -q '^-- built without: .*armilla-mpi' "$work/output" || die 'what is left out is not said'
echo 'ok: deps'
