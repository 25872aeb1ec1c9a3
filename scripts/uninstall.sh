#!/usr/bin/env bash
# Removes an installation: scripts/uninstall.sh BUILD PREFIX. What belongs to it is found by installing once more, into a
# temporary folder, so that it does not matter when and from where it was installed; DESTDIR counts as there.
set -euo pipefail
build=$1 prefix=$2 staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
[[ $prefix == /* ]] || prefix=$PWD/$prefix
if [[ ! -e $build/cmake_install.cmake ]]; then
    echo "uninstall: $build was not built; run make first, or say where by BUILD" >&2
    exit 1
fi
DESTDIR=$staging cmake --install "$build" --prefix "$prefix" >/dev/null
removed=0
while IFS= read -r -d '' file; do
    file=${DESTDIR:-}/${file#./}
    [[ -e $file || -L $file ]] || continue
    rm -f "$file"
    removed=$((removed + 1))
done < <(cd "$staging" && find . ! -type d -print0)
# Folders that nothing else is in, the innermost first; never the prefix itself.
while IFS= read -r -d '' folder; do
    folder=${DESTDIR:-}/${folder#./}
    [[ $folder == "${DESTDIR:-}$prefix"/?* && -d $folder && $folder == *armilla* ]] && rmdir "$folder" 2>/dev/null || true
done < <(cd "$staging" && find . -depth -type d -print0)
if [[ -z ${DESTDIR:-} && -w /etc/ld.so.cache && $prefix == /usr* ]]; then
    /sbin/ldconfig 2>/dev/null || true
fi
echo "removed $removed files of armilla under ${DESTDIR:-}$prefix" >&2
