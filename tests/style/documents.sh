#!/usr/bin/env bash
# What the documents name exists: every path and link, every function, type and macro of the library, and the heading
# that a link points at; and they, and the sources, use the field's words. A name with capitals in it (src/sets/NAME.c) stands for many
# and is not looked for.
set -euo pipefail
cd "$(dirname "$0")/../.."

bad=0
complain() {
    echo "$1"
    bad=1
}

documents=(README.md CONTRIBUTING.md docs/*.md docs/tutorials/*.md)
identifiers=$(mktemp)
trap 'rm -f "$identifiers"' EXIT
grep -rhoE --include='*.[ch]' '\b(armilla|ARMILLA|support|reference)_[A-Za-z0-9_]+' src include tests cli | sort -u >"$identifiers"
# Settings of the build and of the environment.
grep -rhoE '\bARMILLA_[A-Z0-9_]+' CMakeLists.txt cmake tests scripts Makefile | sort -u >>"$identifiers"
[[ $(wc -l <"$identifiers") -gt 1000 ]] || { echo "no identifiers were found"; exit 1; }

# Headings as links name them: lower case, blanks become hyphens, all else but letters, digits and hyphens goes.
anchors() {
    grep -E '^#+ ' "$1" | sed -E 's/^#+ //' | tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}

found=0
for document in "${documents[@]}"; do
    folder=$(dirname "$document")
    # Links: [text](target#anchor), and the images of the README.
    while IFS= read -r link; do
        [[ $link == *://* ]] && continue
        file=${link%%#*} anchor=""
        [[ $link == *#* ]] && anchor=${link#*#}
        file=${file:+$folder/$file}
        file=${file:-$document}
        if [[ ! -e $file ]]; then
            complain "$document: no $link to link to"
        elif [[ -n $anchor ]] && ! anchors "$file" | grep -qxF "$anchor"; then
            complain "$document: $file has no heading for #$anchor"
        fi
    done < <(grep -oE '\]\([^) ]+\)|src="[^"]+"' "$document" | sed -E 's/^\]\((.*)\)$/\1/; s/^src="(.*)"$/\1/')

    # Paths of sources. Whoever writes one writes all of it, from the top of the tree.
    while IFS= read -r path; do
        [[ $path =~ [A-Z]{3} ]] && continue
        found=$((found + 1))
        compgen -G "$path" >/dev/null || complain "$document: there is no $path"
    done < <(grep -oE '(^|[ `("])(src|include|cli|convert|tests|cmake|scripts|docs|examples|experiments|bench)/[A-Za-z0-9_./*-]*[A-Za-z0-9_*/]' \
        "$document" | sed -E 's/^[ `("]//' | sort -u)
    # "base/reduce.h" would escape the line above.
    while IFS= read -r path; do
        complain "$document: write src/$path"
    done < <(grep -oE '(^|[ `(])(base|linalg|data|sets|start|solve|model|cluster|files)/[a-z0-9_*]+\.[ch]\b' "$document" |
        sed -E 's/^[ `(]//' | sort -u)

    # Functions, types and constants.
    while IFS= read -r name; do
        [[ $name =~ ^[a-z].*[A-Z]{3} ]] && continue
        found=$((found + 1))
        grep -qxF "$name" "$identifiers" || complain "$document: the sources have no $name"
    done < <(grep -oE '\b(armilla|ARMILLA|support|reference)_[A-Za-z0-9_]*[A-Za-z0-9]' "$document" | sort -u)
done
# The field's words: workspace, message, local minima, separated by.
if words=$(grep -nwE 'told|spoken|lends?|lottery|apart by|under way' "${documents[@]}"); then
    complain "these are a private English:"
    echo "$words"
fi
if words=$(grep -rnwE --include='*.[ch]' 'told|spoken|lends?|lent|lottery|bench(es)?|rooms?|crew|apart by|under way' \
    src cli convert include); then
    complain "these are a private English, in the sources:"
    echo "$words"
fi
((found > 150)) || complain "only $found names were found"
exit $bad
