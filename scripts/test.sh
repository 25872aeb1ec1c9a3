#!/usr/bin/env bash
# Runs the tests, prints a table of tiers, and ends with the line "N passed, N failed[, N skipped]":
#   scripts/test.sh               everything in the ordinary build, then the unit tests under AddressSanitizer and UBSan
#   scripts/test.sh all           every tier of the list below, the tests of the command and of Python sanitized too
#   scripts/test.sh all TIER ...  these alone
# Where CI is set, a skip that is not on the list tests/skips.txt is a failure (scripts/suite.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/suite.sh
build=${BUILD:-build}
jobs=${JOBS:-$(nproc)}
kills=25 table=''
every_tier='tests sanitizers blas locales clang threads analysis valgrind packages'
# Programs in which several threads run at once: the reducer and its team, sweeps, readers, fits.
threaded='unit_(reduce|sweep|mtx|csv|tables|svmlight|tenx|nearest|neighbors|graph_weights|leiden|cluster)|conformance_(threads|fit|transform|sparse|prepare|select|stream|online|ranks)'

# tree DIRECTORY [-D...]: builds it, with tests; a tree that does not build is a failure.
tree() {
    scripts/build.sh "$@" -DARMILLA_TESTS=ON && return
    echo "$1 does not build"
    blame "$1 does not build"
    count 0 1 0
    return 1
}

tier_tests() {
    tree "$build" || return 0
    # Of fits that are resumed (tests/cli/checkpoint_check.py); the other tiers kill as few as make test.
    ARMILLA_KILLS=${ARMILLA_KILLS:-$kills} suite "all tests" "$build"
    [[ $effort == few ]] || step "odd problems, more seeds" "$build/tests/bin/odd_problems" tests/odd/found 101-600
}

tier_sanitizers() {
    local target=''
    [[ $1 != unit ]] || target=unit_tests
    ARMILLA_TARGET=$target tree "$build/sanitize" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DARMILLA_SANITIZE=address,undefined || return 0
    ARMILLA_EFFORT=$effort suite "sanitizers" "$build/sanitize" -L "$1"
}

# Programs and scripts that never come near BLAS; whatever is not in this list runs with every one.
without_blas='unit_(base|csv|files|gzip|idx|images|kernels|logarithm|mtx|names|npy|npz|npz_data|options|output|policy|reduce)'
without_blas+='|unit_(scipy|score|sparse_kernels|svmlight|tables|tenx|write)|fault_read|fuzz_kept'
without_blas+='|cli_(data|help|manual|usage|outputs|faults|plot|mnist|signals)|cli_(convert|external|images|inject|scipy|text)_check'

# Long ones whose subject is stopping, memory, faults and damaged files: neither BLAS nor the compiler matters to that, and
# the tiers of all tests and of the sanitizers have them.
of_the_system='fault_alloc|conformance_stopping|cli_(signals|outputs|faults|mnist)'
of_the_system+='|cli_(memory|model|fuzz|stopping|inject|doors|leftovers)_check'

tier_blas() {
    local libraries name usual
    tree "$build" || return 0
    libraries=/usr/lib/$(${CC:-cc} -dumpmachine)
    usual=$(dirname "$(realpath -q "$libraries/libblas.so.3" || true)")
    for name in openblas-pthread blis-openmp blas; do
        if [[ ! -e $libraries/$name/libblas.so.3 ]]; then
            skip "with $name" "not installed"
        elif [[ $(realpath "$libraries/$name") == "$usual" && " $tiers " == *' tests '* ]]; then
            title "with $name"
            echo "it is what the ordinary build has used above"
        else
            # LAPACK beside it where it has one of its own, else the reference.
            LD_LIBRARY_PATH=$libraries/$name:$libraries/lapack suite "with $name" "$build" -L 'unit|cli' \
                -E "^($without_blas|$of_the_system)\$"
        fi
    done
}

# All tests of the library, in C and Python, inside programs that have called setlocale.
tier_locales() {
    local locale
    tree "$build" || return 0
    if ! tests/locale/make.sh "$build/tests/locales"; then
        blame "the locales"
        count 0 1 0
        return
    fi
    for locale in de_DE tr_TR; do
        LOCPATH=$(realpath "$build/tests/locales") LC_ALL=$locale.UTF-8 LD_PRELOAD=$(realpath "$build/tests/libtest_locale.so") \
            suite "in $locale" "$build" -L 'unit|python' -E "^($of_the_system)\$"
    done
}

tier_clang() {
    if [[ -z $(command -v clang) ]]; then
        skip clang "not installed"
    elif tree "$build/clang" -DCMAKE_C_COMPILER=clang; then
        suite clang "$build/clang" -L 'unit|cli' -E "^($of_the_system)\$"
    fi
}

tier_threads() {
    ARMILLA_TARGET=unit_tests tree "$build/threads" -DARMILLA_SANITIZE=thread || return 0
    TSAN_OPTIONS=suppressions=$PWD/tests/threads.supp ARMILLA_EFFORT=few \
        suite "thread sanitizer" "$build/threads" -R "$threaded"
}

# Unit tests, and of the conformance suites that of shapes with many slots: the others are long, and the sanitizers see
# them. Those that take longest begin. BLAS on one thread, because valgrind runs one at a time and others would spin.
memory_checked() {
    local first='unit_polar unit_column unit_sets unit_cluster conformance_slots unit_csv unit_column_promises' name
    for name in $first; do
        echo "$build/tests/bin/$name"
    done
    find "$build/tests/bin" -type f -name 'unit_*' | sort | grep -vE "/(${first// /|})\$"
}

tier_valgrind() {
    local program logs=$build/valgrind
    tree "$build" || return 0
    if [[ -z $(command -v valgrind) ]]; then
        skip valgrind "not installed"
        return
    fi
    rm -rf "$logs"
    mkdir -p "$logs"
    memory_checked | tr '\n' '\0' |
        OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 ARMILLA_VALGRIND=1 xargs -0 -P "$jobs" -I{} bash -c '
            valgrind -q --suppressions=tests/valgrind.supp --error-exitcode=99 --num-callers=30 --leak-check=full \
                --show-leak-kinds=definite --errors-for-leak-kinds=definite "$1" \
                >"$2/$(basename "$1")" 2>&1 || mv "$2/$(basename "$1")" "$2/$(basename "$1").failed"' - {} "$logs"
    for program in "$logs"/*; do
        step "valgrind $(basename "$program" .failed)" show_unless_passed "$program"
    done
}

# The wheel by pip in a Debian that debootstrap has made, which is kept, with scikit-learn alone.
bare_debian() {
    scripts/wheel.sh "$build" && /usr/bin/python3 tests/wheel/bare.py "$build"/wheel/armilla-*.whl "$build/bare-root"
}

tier_packages() {
    if [[ -z $(command -v debootstrap) || $(id -u) != 0 ]]; then
        skip "the wheel on a bare Debian" "debootstrap is not installed, or this is not root, whom it needs"
    elif tree "$build"; then
        step "the wheel on a bare Debian" bare_debian
    fi
    if [[ -z $(command -v dpkg-buildpackage) || -z $(command -v dh) || -z $(command -v lintian) ]]; then
        skip packages "debhelper or lintian is not installed"
    else
        step packages scripts/packages.sh "$build"
    fi
}

show_unless_passed() {
    [[ $1 != *.failed ]] || { cat "$1"; return 1; }
}

tier_analysis() {
    if [[ -z $(command -v abidiff) ]]; then
        skip "binary interface" "abidiff is not installed"
    elif [[ ! -e tests/abi/libarmilla.abixml ]]; then
        skip "binary interface" "none is kept yet (scripts/abi.sh renew, on a release)"
    else
        step "binary interface" scripts/abi.sh
    fi
    if [[ -n $(command -v cppcheck) ]]; then
        step cppcheck cppcheck -q --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
            -j "$jobs" -I include -I src -DARMILLA_HAVE_AVX2=1 src cli
    else
        skip cppcheck "not installed"
    fi
    if [[ -z $(command -v clang-tidy) || -z $(command -v clang) ]]; then
        skip clang-tidy "not installed"
    elif [[ -e $build/clang/compile_commands.json ]] || cmake -S . -B "$build/clang" -DCMAKE_C_COMPILER=clang >/dev/null; then
        step clang-tidy tidy
    fi
}

tidy() {
    local bad=0
    find src -name '*.c' ! -path src/base/context.c ! -path src/base/ranks.c -print0 |
        xargs -0 -n 4 -P "$jobs" clang-tidy --quiet -p "$build/clang" --extra-arg=-include"$PWD/scripts/analysis.h" || bad=1
    find cli -name '*.c' ! -path cli/main.c -print0 |
        xargs -0 -n 4 -P "$jobs" clang-tidy --quiet -p "$build/clang" --extra-arg=-include"$PWD/scripts/analysis_cli.h" ||
        bad=1
    clang-tidy --quiet -p "$build/clang" cli/main.c || bad=1
    # The files that define armilla_fail, armilla_ranks_gather, armilla_ranks_agree and fail are looked at as they are.
    clang-tidy --quiet -p "$build/clang" --checks=-clang-analyzer-core.NonNullParamChecker src/base/context.c \
        src/base/ranks.c || bad=1
    return $bad
}

# run TIER [argument]: adds its row to the table.
run() {
    local before=("$passed" "$failed" "$skipped") started=$SECONDS
    tier=$1
    "tier_$1" "${@:2}"
    table+=$(printf '%-12s %8d %8d %8d %8d' "$1" $((passed - before[0])) $((failed - before[1])) \
        $((skipped - before[2])) $((SECONDS - started)))$'\n'
}

tiers='tests sanitizers' sanitized=unit effort=few
if [[ ${1:-} == all ]]; then
    tiers=${*:2}
    tiers=${tiers:-$every_tier} sanitized='unit|cli|python'
    kills=300 effort=all
elif (($#)); then
    echo "scripts/test.sh: '$1' is not 'all'" >&2
    exit 64
fi
for name in $tiers; do
    [[ " $every_tier " == *" $name "* ]] || { echo "scripts/test.sh: '$name' is none of: $every_tier" >&2; exit 64; }
done
for name in $tiers; do
    run "$name" "$sanitized"
done

printf '\n%-12s %8s %8s %8s %8s\n%s\n%s' tier passed failed skipped seconds "$table" "$failures"
printf '\n%d passed, %d failed' "$passed" "$failed"
((skipped == 0)) || printf ', %d skipped' "$skipped"
printf '\n'
((failed == 0))
