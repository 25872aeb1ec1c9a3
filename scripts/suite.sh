# Running and counting tests, for scripts/test.sh, which sets jobs and tier; from the top of the tree.
# shellcheck shell=bash disable=SC2034 # what is counted is for whoever reads this
passed=0 failed=0 skipped=0 failures='' tier=''

title() {
    printf '\n== %s\n' "$1"
}

count() {
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# blame NAME: is among the failures at the end.
blame() {
    failures+="failed: $tier: $1"$'\n'
}

# unlisted_skips TITLE REPORT: tests, and parts of them, that were left out without a reason on the list.
unlisted_skips() {
    local line
    while read -r line; do
        if [[ ${CI:-false} == false ]]; then
            echo "left out, and not on tests/skips.txt: $line"
            continue
        fi
        echo "SKIPPED, and not on tests/skips.txt: $line"
        blame "skipped: $line ($1)"
        count 0 1 0
    done < <(/usr/bin/python3 scripts/skips.py "$2" "${SKIPS:-tests/skips.txt}" "${tier/#tests/}" 2>&1 || true)
}

# suite TITLE TREE [ctest argument ...]
suite() {
    local report tests bad left name
    title "$1"
    report=$(realpath "$2")/report.xml
    rm -f "$report"
    ctest --test-dir "$2" --parallel "$jobs" --output-on-failure --no-tests=error --no-label-summary \
        --test-output-size-passed 1000000 --output-junit "$report" "${@:3}" 2>&1 |
        grep -v -e '^Internal ctest' -e '^Test project' -e '^ *Start *[0-9]' -e '^Errors while' || true
    if [[ ! -s $report ]]; then
        blame "$1"
        count 0 1 0
        return
    fi
    tests=$(sed -n 's/^\s*tests="\([0-9]*\)".*/\1/p' "$report")
    bad=$(sed -n 's/^\s*failures="\([0-9]*\)".*/\1/p' "$report")
    left=$(($(sed -n 's/^\s*skipped="\([0-9]*\)".*/\1/p' "$report") + $(sed -n 's/^\s*disabled="\([0-9]*\)".*/\1/p' "$report")))
    count $((tests - bad - left)) "$bad" "$left"
    while read -r name; do
        blame "$name ($1)"
    done < <(sed -n 's/.*<testcase name="\([^"]*\)".* status="fail".*/\1/p' "$report")
    unlisted_skips "$1" "$report"
}

# step TITLE COMMAND ...: one check that passes or fails as a whole.
step() {
    title "$1"
    if "${@:2}" 2>&1; then
        echo passed
        count 1 0 0
    else
        echo FAILED
        blame "$1"
        count 0 1 0
    fi
}

skip() {
    title "$1"
    echo "skipped: $2"
    count 0 0 1
    [[ ${CI:-false} != false ]] || return 0
    blame "skipped: $1"
    count 0 1 0
}
