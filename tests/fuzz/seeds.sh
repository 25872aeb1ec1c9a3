#!/usr/bin/env bash
# seeds.sh REPLAY DIRECTORY: makes the seeds of the fuzz targets, and fails where a target would begin without a seed: each needs a
# seed that is read to its end, and a model that does not open shows nothing of what is done with models.
set -euo pipefail
replay=$1 seeds=$2 bad=0
/usr/bin/python3 "$(dirname "$0")/seeds.py" "$seeds"
mkdir -p "$seeds/checkpoint"
"$replay" --states "$seeds/checkpoint"
for target in $("$replay" --list); do
    refused=$("$replay" --accepted "$target" "$seeds/$target"/* 2>&1) && continue
    if [[ $target == model || $(wc -l <<<"$refused") == $(find "$seeds/$target" -type f | wc -l) ]]; then
        printf '%s\n' "$refused"
        bad=1
    fi
done
exit $bad
