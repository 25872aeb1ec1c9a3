#!/usr/bin/env bash
# Makes a wheel of the Python package with the library and what it is linked to inside: scripts/wheel.sh BUILD. The result
# is in BUILD/wheel. BLAS and LAPACK are not inside: the library loads those that NumPy and SciPy use when it first needs
# them (src/linalg/blas_open.c).
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
stage=$build/wheel-stage
out=$build/wheel

# What every Linux has, by the rules of manylinux, and need not be carried.
everywhere='^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libgcc_s|libz)\.so'

# copyright LIBRARY: the file that says under which terms it may be copied, where the system is Debian.
copyright() {
    local path package
    for path in "$1" "$(realpath "$1")" "${1#/usr}"; do
        package=$(dpkg-query -S "$path" 2>/dev/null | head -n 1 | cut -d: -f1) || true
        if [[ -n $package && -e /usr/share/doc/$package/copyright ]]; then
            echo "/usr/share/doc/$package/copyright"
            return
        fi
    done
}

echo "making a wheel in $out" >&2
rm -rf "$stage" "$out"
mkdir -p "$stage/armilla/lib" "$stage/armilla/licenses" "$out"
cp python/setup.py python/pyproject.toml python/binding.py python/declarations.py python/README.md LICENSE "$stage"
cp python/armilla/*.py python/armilla/*.pyi python/armilla/py.typed "$stage/armilla"
cp LICENSE "$stage/armilla/licenses/armilla"

cp -L "$build/libarmilla.so.1" "$stage/armilla/lib/libarmilla.so.1"
while read -r name path; do
    [[ ! $name =~ $everywhere && -e $path ]] || continue
    cp -L "$path" "$stage/armilla/lib/$name"
    licence=$(copyright "$path")
    [[ -z $licence ]] || cp -L "$licence" "$stage/armilla/licenses/$name"
done < <(ldd "$build/libarmilla.so.1" | awk '$2 == "=>" { print $1, $3 }')
for file in "$stage"/armilla/lib/*; do
    chmod u+w "$file"
    patchelf --set-rpath '$ORIGIN' "$file"
    strip --strip-unneeded "$file"
done

ln -s libarmilla.so.1 "$stage/armilla/lib/libarmilla.so"
export ARMILLA_INCLUDE=$PWD/include ARMILLA_LIBRARY=$stage/armilla/lib ARMILLA_RPATH='$ORIGIN/lib'

# The oldest C library that has every version of a symbol that a file inside asks for: the platform of the wheel.
platform() {
    local version
    version=$(find build/lib* -type f -name '*.so*' -exec objdump -p {} + |
        sed -n 's/.* GLIBC_ABI_DT_RELR$/2.36/p; s/.* GLIBC_\([0-9.]*\)$/\1/p' | sort -V | tail -n 1)
    [[ $version == 2.* ]] || { echo "no version of the C library in what was built" >&2; return 1; }
    version=${version#2.}
    echo "manylinux_2_${version%%.*}_$(uname -m)"
}

make_wheel() {
    local tag
    cd "$stage" &&
        /usr/bin/python3 setup.py -q build &&
        rm build/lib*/armilla/lib/libarmilla.so &&
        tag=$(platform) &&
        /usr/bin/python3 setup.py -q bdist_wheel --skip-build --dist-dir "$out" --plat-name "$tag"
}
(make_wheel) >"$build/wheel.log" 2>&1 || { cat "$build/wheel.log" >&2; exit 1; }
ls "$out"/*.whl
