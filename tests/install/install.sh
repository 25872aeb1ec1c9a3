#!/usr/bin/env bash
# Installs into a temporary prefix, moves the tree elsewhere, and builds and runs examples/fit.c against it as C99, C11
# and C++, through pkg-config and through find_package; then runs the installed command, and removes it all again.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${ARMILLA_BUILD:-$root/build}
cc=${CC:-cc}
cxx=${CXX:-c++}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/prefix"
prefix=$work/prefix
pc=$(find "$prefix" -name armilla.pc)
lib=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH=${pc%/*}

# run PROGRAM: it must succeed and print a code for each of the six samples.
run() {
    LD_LIBRARY_PATH=$lib "$1" >"$work/output"
    [[ $(grep -c '^sample [0-5]: code (' "$work/output") == 6 ]] || { echo "$1 printed:"; cat "$work/output"; exit 1; }
    echo "ok: ${1##*/}"
}

read -ra flags < <(pkg-config --cflags --libs armilla)
for standard in c99 c11; do
    "$cc" -std=$standard -Wall -Wextra -Wpedantic -Werror "$root/examples/fit.c" "${flags[@]}" -o "$work/fit-$standard"
    run "$work/fit-$standard"
done
"$cxx" -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror "$root/examples/fit.c" -x none "${flags[@]}" -o "$work/fit-c++"
run "$work/fit-c++"

read -ra flags < <(pkg-config --static --cflags --libs armilla)
"$cc" "$root/examples/fit.c" "${flags[@]/-larmilla/$lib/libarmilla.a}" -o "$work/fit-static"
run "$work/fit-static"

version=$(pkg-config --modversion armilla)
mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(use LANGUAGES C CXX)
find_package(armilla $version REQUIRED)
configure_file("$root/examples/fit.c" fit.c COPYONLY)
configure_file("$root/examples/fit.c" fit.cpp COPYONLY)
add_executable(fit-cmake \${CMAKE_CURRENT_BINARY_DIR}/fit.c)
add_executable(fit-cmake-c++ \${CMAKE_CURRENT_BINARY_DIR}/fit.cpp)
target_link_libraries(fit-cmake armilla::armilla)
target_link_libraries(fit-cmake-c++ armilla::armilla)
END
cmake -S "$work/project" -B "$work/project/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
    MAKEFLAGS='' cmake --build "$work/project/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
run "$work/project/build/fit-cmake"
run "$work/project/build/fit-cmake-c++"

# BLAS is loaded, not linked, but for a build that asks for it; what pkg-config says of static programs follows.
if ! grep -q 'ARMILLA_LINK_BLAS:BOOL=ON' "$build/CMakeCache.txt"; then
    if pkg-config --static --libs armilla | grep -E 'blas|lapack'; then echo "armilla.pc names BLAS"; exit 1; fi
    if readelf -d "$lib/libarmilla.so" | grep -E 'NEEDED.*(blas|lapack)'; then echo "the library needs BLAS"; exit 1; fi
fi

# The command finds its library by itself, and only the public headers were installed.
"$prefix/bin/armilla" --version | grep -q "$version"
diff <(cd "$root/include" && find . -name '*.h' | sort) <(cd "$prefix/include" && find . -type f | sort)
for file in share/man/man1/armilla.1 share/man/man1/armilla-fit.1 share/man/man3/armilla_fit.3 share/bash-completion/completions/armilla \
    share/zsh/site-functions/_armilla share/fish/vendor_completions.d/armilla.fish; do
    [[ -s $prefix/$file ]] || { echo "$file was not installed"; exit 1; }
done
if [[ -e $build/armilla-mpi ]]; then
    for file in bin/armilla-mpi share/man/man1/armilla-mpi.1; do
        [[ -s $prefix/$file ]] || { echo "$file was not installed"; exit 1; }
    done
    grep -q "armilla $version" "$prefix/share/man/man1/armilla-mpi.1"
    # By one process, without a launcher.
    "$prefix/bin/armilla-mpi" --version >"$work/output" 2>&1 && grep -q "$version" "$work/output" || { cat "$work/output"; exit 1; }
fi

# What a reader wants to have: licence, documents and examples; the page of the program armilla-convert is about it.
for file in LICENSE README.md CHANGELOG.md docs/files.md docs/images/cones.svg examples/fit.c; do
    [[ -s $prefix/share/doc/armilla/$file ]] || { echo "share/doc/armilla/$file was not installed"; exit 1; }
done
if [[ -e $build/armilla-convert ]]; then
    page=$prefix/share/man/man1/armilla-convert.1
    grep -q 'armilla\\-convert.*IN' "$page" && grep -q MATLAB "$page" && grep -q -- 'to\\-samples' "$page" ||
        { echo "$page does not describe program and command"; exit 1; }
fi
grep -q '^Requires.private:.*libzip.*jansson' "$pc"
if grep -E '^Libs.private:.*-l(zip|png|z|jansson)\b' "$pc"; then echo "armilla.pc names a library twice"; exit 1; fi

# Programs know where their library is, but under the system's prefix the loader does.
programs=(armilla)
for name in armilla-convert armilla-mpi; do
    [[ ! -e $build/$name ]] || programs+=("$name")
done
DESTDIR=$work/stage cmake --install "$build" --prefix /usr >"$work/log" || { cat "$work/log"; exit 1; }
for name in "${programs[@]}"; do
    readelf -d "$prefix/bin/$name" | grep -q 'R.*PATH.*ORIGIN' || { echo "bin/$name has no search path"; exit 1; }
    if readelf -d "$work/stage/usr/bin/$name" | grep PATH; then echo "/usr/bin/$name has a search path"; exit 1; fi
done

# What make install has left is removed, and nothing else; a second time there is nothing to do.
mkdir -p "$work/mine/share/doc/other" "$work/mine/include/armilla"
touch "$work/mine/share/doc/other/file" "$work/mine/include/armilla/mine.h"
cmake --install "$build" --prefix "$work/mine" >"$work/log"
[[ -x $work/mine/bin/armilla ]]
make -s -C "$root" uninstall BUILD="$build" PREFIX="$work/mine" 2>"$work/log" || { cat "$work/log"; exit 1; }
left=$(cd "$work/mine" && find . ! -type d | sort)
[[ $left == $'./include/armilla/mine.h\n./share/doc/other/file' ]] || { echo "left: $left"; exit 1; }
[[ -z $(cd "$work/mine" && find . -name '*armilla*' ! -path './include/*') ]] || { echo "folders of armilla are left"; exit 1; }
make -s -C "$root" uninstall BUILD="$build" PREFIX="$work/mine" 2>"$work/log"
grep -q '^removed 0 files' "$work/log" || { cat "$work/log"; exit 1; }

# The packages are those of this version and of the library's name.
soname=$(readelf -d "$lib/libarmilla.so" | sed -n 's/.*SONAME.*\[libarmilla\.so\.\([0-9]*\)\]/\1/p')
grep -qx "Package: libarmilla$soname" "$root/debian/control" && [[ -e $root/debian/libarmilla$soname.install ]] ||
    { echo "debian/ has no package libarmilla$soname"; exit 1; }
sed -n '1s/^armilla (\([0-9.]*\)-.*/\1/p' "$root/debian/changelog" | grep -qxF "$version" ||
    { echo "debian/changelog is not of version $version"; exit 1; }
for node in $(sed -n 's/^\(ARMILLA_[0-9.]*\) {.*/\1/p' "$root/cmake/exports.map"); do
    grep -q "(symver)$node " "$root/debian/libarmilla$soname.symbols" || { echo "debian/ does not know $node"; exit 1; }
done
echo "ok: armilla $version"
