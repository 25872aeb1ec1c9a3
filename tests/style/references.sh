#!/usr/bin/env bash
# References hold, in comments and documents: a section is cited by the name of its heading (docs/algorithm.md#the-sweep),
# never by a number; an equation (A3) is printed once in docs/algorithm.md, and every one that is cited is printed there;
# every file that a comment or a document names is in the tree.
set -euo pipefail
cd "$(dirname "$0")/../.."

bad=0
complain() {
    echo "$1"
    bad=1
}

folders=(src cli include mpi convert python tests bench docs experiments cmake scripts)
mapfile -t files < <(find "${folders[@]}" -type f \( -name '*.[ch]' -o -name '*.py' -o -name '*.sh' -o -name '*.awk' -o \
    -name '*.cmake' -o -name '*.md' -o -name CMakeLists.txt \) -not -path 'tests/abi/armilla-*' -not -path '*/build/*' |
    LC_ALL=C sort)
# CHANGELOG.md is left out: it tells of files as they were.
files+=(README.md CONTRIBUTING.md CMakeLists.txt Makefile)

# What is written for readers, "FILE:TEXT": comments of C, comments and docstrings of scripts, all of a document.
prose() {
    perl -CSD -0777 -ne '
        my @parts;
        if ($ARGV =~ /\.[ch]$/) { push @parts, $1 while m{/\*(.*?)\*/}gs; s/\n\s*\*/ /g for @parts }
        elsif ($ARGV =~ /\.md$/) { push @parts, $_ }
        else {
            push @parts, $1 while /"""(.*?)"""/gs;
            push @parts, $1 while /(?:^|\s)#+ (.*)$/gm;
        }
        for my $part (@parts) { print "$ARGV:$_\n" for split /\n/, $part }
    ' "$@"
}
text=$(mktemp)
trap 'rm -f "$text"' EXIT
prose "${files[@]}" >"$text"
[[ $(wc -l <"$text") -gt 5000 ]] || complain "no comments were found"

# Headings as links name them (tests/style/documents.sh).
anchors() {
    grep -E '^#+ ' "$1" | sed -E 's/^#+ //' | tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}

# Sections: those of docs/algorithm.md differ in name, and what is cited is there.
if twice=$(anchors docs/algorithm.md | sort | uniq -d | grep .); then complain "docs/algorithm.md has two sections $twice"; fi
cited=0
while IFS= read -r citation; do
    cited=$((cited + 1))
    name=${citation##*:} file=${citation%:*}
    document=${name%%#*} anchor=${name#*#}
    if [[ ! -e $document ]]; then
        complain "$file: there is no $document"
    elif ! anchors "$document" | grep -qxF "$anchor"; then
        complain "$file: $document has no section $anchor"
    fi
done < <(grep -v '\.md:' "$text" | perl -CSD -ne 'my ($f) = /^(.*?):/; print "$f:$1\n" while /\b(docs\/[a-z-]+\.md#[a-z0-9-]+)/g' | sort -u)
((cited > 20)) || complain "only $cited citations of sections were found"

# A number of a section moves with the next one that is written; manual pages have sections of their own.
if numbered=$(grep -E 'ALGORITHM\b|§|\b[Ss]ections? [0-9]' "$text" | grep -vE '[Mm]anual pages? of section'); then
    complain "cite a section by its name, docs/algorithm.md#NAME:"
    echo "$numbered"
fi

# Equations: numbered from 1 without a gap, each printed once.
printed=$(grep -oE '^    \(A[0-9]+\)' docs/algorithm.md | tr -d ' ()')
wanted=$(seq -f 'A%.0f' "$(wc -l <<<"$printed")")
[[ $printed == "$wanted" ]] || complain "docs/algorithm.md prints equations $(tr '\n' ' ' <<<"$printed")"
equations=0
while IFS= read -r citation; do
    equations=$((equations + 1))
    grep -qxF "${citation##*:}" <<<"$printed" || complain "${citation%:*}: docs/algorithm.md has no equation (${citation##*:})"
done < <(perl -CSD -ne 'my ($f) = /^(.*?):/; while (/\((A\d+(?:(?:, | and |-)A\d+)*)\)/g) { print "$f:$_\n" for $1 =~ /A\d+/g }' \
    "$text" | sort -u)
((equations > 30)) || complain "only $equations citations of equations were found"
if numbered=$(grep -E '\b([Ee]quations?|[Ee]qs?\.) \(?[0-9]+' "$text"); then
    complain "cite an equation by its number in docs/algorithm.md, (A3):"
    echo "$numbered"
fi

# Files: by their path from the top of the tree, or by their name alone. A name with capitals in it (src/sets/NAME.c) stands
# for many, and what users, tests and the build make is no part of the tree.
mapfile -t names < <(find . -path ./build -prune -o -path ./.git -prune -o -type f -printf '%f\n' | sort -u)
declare -A known=()
for name in "${names[@]}"; do known[$name]=1; done
found=0
while IFS= read -r citation; do
    file=${citation%:*} path=${citation##*:}
    [[ $path =~ [A-Z]{3} && $path != *README* && $path != *CMakeLists* ]] && continue
    found=$((found + 1))
    if [[ $path == */* ]]; then
        compgen -G "$path" >/dev/null || compgen -G "src/$path" >/dev/null || complain "$file: there is no $path"
    elif [[ ! ${known[$path]:-} ]]; then
        complain "$file: there is no file $path"
    fi
done < <(perl -CSD -ne '
    my ($f, $t) = /^(.*?):(.*)/s;
    print "$f:$1\n" while $t =~ m{(?:^|[\s`("\x27])((?:src|include|cli|convert|tests|cmake|scripts|docs|experiments|bench|python|mpi)/[\w./*-]*[\w*])}g;
    print "$f:$1\n" while $f !~ /\.md$/ && $t =~ m{(?:^|[\s`(])((?:(?:base|linalg|data|sets|start|solve|model|cluster|files|graph|kernels)/)?[a-z][a-z0-9_]*\.(?:[ch]|py|sh))\b(?!>)}g;
' "$text" | sort -u)
((found > 200)) || complain "only $found names of files were found"
exit $bad
