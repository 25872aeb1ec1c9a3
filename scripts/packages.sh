#!/usr/bin/env bash
# Builds the Debian packages in a copy of the tree and leaves them in a folder: scripts/packages.sh BUILD. lintian, where
# it is installed, has to find no errors.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
build=$(realpath "$1")
out=$build/packages
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null || {
    echo "packages: dpkg-buildpackage and debhelper are needed; on Debian and Ubuntu: apt-get install dpkg-dev debhelper" >&2
    exit 69
}
mkdir "$copy/armilla" "$copy/log"
tar -c --exclude="./${build##*/}" --exclude=./.git . | tar -x -C "$copy/armilla"
(cd "$copy/armilla" && DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)}" dpkg-buildpackage -us -uc -b) \
    >"$copy/log/build" 2>&1 || { tail -n 60 "$copy/log/build" >&2; exit 1; }
rm -rf "$out"
mkdir -p "$out"
mv "$copy"/*.deb "$copy"/*.changes "$copy"/*.buildinfo "$out"
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error "$out"/*.changes
else
    echo "packages: lintian is not installed; nothing was checked" >&2
fi
ls "$out"/*.deb
