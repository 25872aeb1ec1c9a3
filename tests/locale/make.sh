#!/usr/bin/env bash
# make.sh DIRECTORY: makes there the locales that tests run in: German has a decimal comma, and in Turkish I is no capital
# i. LOCPATH=DIRECTORY finds them. The package locales has what they are made from.
set -euo pipefail
mkdir -p "$1"
for name in de_DE tr_TR; do
    [[ -e $1/$name.UTF-8/LC_NUMERIC ]] && continue
    scratch=$(mktemp -d "$1/.making.XXXXXX")
    # localedef ends with 1 where it only warned.
    localedef --no-archive -i "$name" -f UTF-8 "$scratch/$name.UTF-8" >/dev/null 2>&1 || true
    if [[ ! -e $scratch/$name.UTF-8/LC_NUMERIC ]]; then
        echo "localedef cannot make the locale $name; install the package locales (make deps)" >&2
        rm -rf "$scratch"
        exit 1
    fi
    mv -T "$scratch/$name.UTF-8" "$1/$name.UTF-8"
    rmdir "$scratch"
done
