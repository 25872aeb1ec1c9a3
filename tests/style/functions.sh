#!/usr/bin/env bash
# Every public function has a manual page of section 3 with a description, and formatters read it without a complaint.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -v version=0 -v folder="$work" -f "$root/cmake/functions.awk" "$root"/include/armilla/*.h

bad=0
for name in $(cat "$root"/include/armilla/*.h | tr '\n' ' ' | grep -o 'ARMILLA_API [^;(]*(' |
    grep -o 'armilla_[a-z0-9_]*($' | tr -d '('); do
    page=$work/${name%_sized}.3
    [[ -s $page ]] || { echo "$name has no page"; bad=1; continue; }
    ! grep -q 'See the header' "$page" || { echo "${name%_sized} has no comment in its header"; bad=1; }
done
[[ $(find "$work" -name '*.3' | wc -l) -gt 50 ]] || { echo "there are no pages"; exit 1; }
if command -v mandoc >/dev/null; then
    mandoc -Tlint -Wwarning "$work"/*.3 | grep -v 'missing date' >"$work/complaints" || true
    [[ ! -s $work/complaints ]] || { head "$work/complaints"; bad=1; }
else
    echo 'skipped: mandoc, which is not installed'
fi
if command -v man >/dev/null && man --warnings -l -Tutf8 -Z /dev/null >/dev/null 2>&1; then
    for page in armilla_fit armilla_model_check armilla_data_wrap_sparse; do
        man --warnings -E UTF-8 -l -Tutf8 -Z "$work/$page.3" 2>"$work/complaints" >/dev/null || bad=1
        [[ ! -s $work/complaints ]] || { head "$work/complaints"; bad=1; }
    done
else
    echo 'skipped: man, which is not installed'
fi
exit $bad
