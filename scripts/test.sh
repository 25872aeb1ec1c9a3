#!/usr/bin/env bash
# Runs the tests and ends with the line "N passed, N failed[, N skipped]": scripts/test.sh [all].
#   always: everything in the ordinary build, then the unit tests under AddressSanitizer and UBSan
#   all:    the command's tests sanitized too, valgrind, every BLAS that is installed, clang, threads, analysis
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
jobs=${JOBS:-$(nproc)}
passed=0 failed=0 skipped=0
# Programs in which several threads run at once: the reducer and its team, sweeps, readers, fits.
threaded='unit_(reduce|sweep|mtx|csv|tables|svmlight|tenx|nearest|cluster)|conformance_(threads|fit|transform|sparse|prepare|select)'

title() {
    printf '\n== %s\n' "$1"
}

count() {
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# suite TITLE TREE [ctest argument ...]
suite() {
    local report tests bad left
    title "$1"
    report=$(realpath "$2")/report.xml
    rm -f "$report"
    ctest --test-dir "$2" --parallel "$jobs" --output-on-failure --no-tests=error --no-label-summary \
        --output-junit "$report" "${@:3}" 2>&1 |
        grep -v -e '^Internal ctest' -e '^Test project' -e '^ *Start *[0-9]' -e '^Errors while' || true
    if [[ ! -s $report ]]; then
        count 0 1 0
        return
    fi
    tests=$(sed -n 's/^\s*tests="\([0-9]*\)".*/\1/p' "$report")
    bad=$(sed -n 's/^\s*failures="\([0-9]*\)".*/\1/p' "$report")
    left=$(($(sed -n 's/^\s*skipped="\([0-9]*\)".*/\1/p' "$report") + $(sed -n 's/^\s*disabled="\([0-9]*\)".*/\1/p' "$report")))
    count $((tests - bad - left)) "$bad" "$left"
}

# step TITLE COMMAND ...: one check that passes or fails as a whole.
step() {
    title "$1"
    if "${@:2}" 2>&1; then
        echo passed
        count 1 0 0
    else
        echo FAILED
        count 0 1 0
    fi
}

skip() {
    title "$1"
    echo "skipped: $2"
    count 0 0 1
}

# tree DIRECTORY [-D...]: builds it, with tests; a tree that does not build is a failure.
tree() {
    scripts/build.sh "$@" -DARMILLA_TESTS=ON && return
    echo "$1 does not build"
    count 0 1 0
    return 1
}

every_blas() {
    local libraries name
    libraries=/usr/lib/$(${CC:-cc} -dumpmachine)
    for name in openblas-pthread blis-openmp blas; do
        if [[ -e $libraries/$name/libblas.so.3 ]]; then
            # LAPACK beside it where it has one of its own, else the reference.
            LD_LIBRARY_PATH=$libraries/$name:$libraries/lapack suite "with $name" "$build" -L 'unit|cli'
        else
            skip "with $name" "not installed"
        fi
    done
}

memcheck() {
    local program logs=$build/valgrind
    if [[ -z $(command -v valgrind) ]]; then
        skip valgrind "not installed"
        return
    fi
    rm -rf "$logs"
    mkdir -p "$logs"
    # Unit tests alone: the conformance suites are long, and the sanitizers see them.
    find "$build/tests/bin" -type f -name 'unit_*' -print0 |
        OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=1 ARMILLA_VALGRIND=1 xargs -0 -P "$jobs" -I{} bash -c '
            valgrind -q --error-exitcode=99 --num-callers=20 --leak-check=full --errors-for-leak-kinds=definite "$1" \
                >"$2/$(basename "$1")" 2>&1 || mv "$2/$(basename "$1")" "$2/$(basename "$1").failed"' - {} "$logs"
    for program in "$logs"/*; do
        step "valgrind $(basename "$program" .failed)" show_unless_passed "$program"
    done
}

show_unless_passed() {
    [[ $1 != *.failed ]] || { cat "$1"; return 1; }
}

analysis() {
    if [[ -n $(command -v cppcheck) ]]; then
        step cppcheck cppcheck -q --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
            -j "$jobs" -I include -I src -DARMILLA_HAVE_AVX2=1 src cli
    else
        skip cppcheck "not installed"
    fi
    if [[ -n $(command -v clang-tidy) && -e $build/clang/compile_commands.json ]]; then
        step clang-tidy tidy
    else
        skip clang-tidy "not installed"
    fi
}

tidy() {
    local bad=0
    find src -name '*.c' ! -path src/base/context.c -print0 |
        xargs -0 -n 4 -P "$jobs" clang-tidy --quiet -p "$build/clang" --extra-arg=-include"$PWD/scripts/analysis.h" || bad=1
    find cli -name '*.c' ! -path cli/main.c -print0 |
        xargs -0 -n 4 -P "$jobs" clang-tidy --quiet -p "$build/clang" --extra-arg=-include"$PWD/scripts/analysis_cli.h" ||
        bad=1
    clang-tidy --quiet -p "$build/clang" cli/main.c || bad=1
    # The files that define armilla_fail and fail are looked at as they are.
    clang-tidy --quiet -p "$build/clang" --checks=-clang-analyzer-core.NonNullParamChecker src/base/context.c || bad=1
    return $bad
}

if tree "$build"; then
    suite "all tests" "$build"
fi
if tree "$build/sanitize" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DARMILLA_SANITIZE=address,undefined; then
    labels=unit
    [[ ${1:-} != all ]] || labels='unit|cli'
    suite "sanitizers" "$build/sanitize" -L "$labels"
fi
if [[ ${1:-} == all ]]; then
    every_blas
    if [[ -n $(command -v clang) ]]; then
        if tree "$build/clang" -DCMAKE_C_COMPILER=clang; then suite "clang" "$build/clang" -L 'unit|cli'; fi
    else
        skip clang "not installed"
    fi
    if tree "$build/threads" -DARMILLA_SANITIZE=thread; then
        suite "thread sanitizer" "$build/threads" -R "$threaded"
    fi
    analysis
    memcheck
fi

printf '\n%d passed, %d failed' "$passed" "$failed"
((skipped == 0)) || printf ', %d skipped' "$skipped"
printf '\n'
((failed == 0))
