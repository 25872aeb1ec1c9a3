#!/bin/bash
# Manual pages and completion: every command and option is in each of them, man and the shells read them without a
# complaint, and bash offers what the tables hold.
. "$(dirname "$0")/lib.sh"

expect 0 --help
commands=$(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$top/stdout" | grep -vx help)
[ "$(echo "$commands" | wc -l)" -ge 7 ] || die 'the commands are not listed'

command -v mandoc >/dev/null || echo 'skipped: mandoc, which is not installed'
man --warnings -l -Tutf8 -Z /dev/null >/dev/null 2>&1 || echo 'skipped: man, which is not installed'

# readable FILE: no complaint of a formatter about the page.
readable() {
    if command -v man >/dev/null && man --warnings -l -Tutf8 -Z /dev/null >/dev/null 2>&1; then
        man --warnings -E UTF-8 -l -Tutf8 -Z "$1" 2>complaints >/dev/null || die "man does not read $1"
        [ ! -s complaints ] || die "man: $(head -n 1 complaints)"
    fi
    if command -v mandoc >/dev/null; then
        mandoc -Tlint -Wwarning "$1" | grep -v 'missing date' >complaints || true
        [ ! -s complaints ] || die "mandoc: $(head -n 1 complaints)"
    fi
}

expect 0 help --man
silent
cp "$top/stdout" armilla.1
readable armilla.1
for code in 0 1 64 65 66 69 70 71 73 74; do grep -qx "$code" armilla.1 || die "exit status $code is not explained"; done
for shell in bash zsh fish; do
    expect 0 help --completion $shell
    silent
    cp "$top/stdout" completion.$shell
done

sed 's/@PROJECT_VERSION@/0/' "$(dirname "$0")/../../mpi/armilla-mpi.1.in" >armilla-mpi.1
readable armilla-mpi.1
{
    sed 's/@PROJECT_VERSION@/0/' "$(dirname "$0")/../../convert/armilla-convert.1.in"
    echo '.SH THE COMMAND ARMILLA CONVERT'
    "$ARMILLA" help --man convert | awk -f "$(dirname "$0")/../../cmake/subsections.awk"
} >armilla-convert.1
readable armilla-convert.1
grep -q 'to\\-samples' armilla-convert.1 || die 'the page of the program lacks the command'

for command in $commands; do
    grep -qF "armilla $command" armilla.1 || die "armilla.1 does not have $command"
    expect 0 "$command" --help
    options=$(sed -n 's/^  --\([a-z0-9-]*\)[ ,].*/\1/p' "$top/stdout")
    expect 0 help --man "$command"
    silent
    cp "$top/stdout" page.1
    readable page.1
    # shellcheck disable=SC1091
    offered=$(bash -c 'source ./completion.bash; COMP_WORDS=(armilla "$1" --); COMP_CWORD=2; _armilla
        printf "%s\n" "${COMPREPLY[@]}"' bash "$command")
    for option in $options; do
        grep -q "^\\\\fB\\\\-\\\\-$(echo "$option" | sed 's/-/\\\\-/g')\\\\fR" page.1 || die "the page of $command lacks --$option"
        echo "$offered" | grep -qxe "--$option" || die "bash does not offer $command --$option"
        [ "$option" = help ] || grep -q "seen_subcommand_from $command' -l $option\b" completion.fish ||
            die "fish does not offer $command --$option"
        awk -v name="($command)" '$1 == name { in_it = 1 } in_it { print } in_it && $1 == ";;" { exit }' completion.zsh |
            grep -qF -e "'--$option[" || die "zsh does not offer $command --$option"
    done
done

# candidates WORD...: what bash offers for the last word.
candidates() {
    # shellcheck disable=SC1091,SC2016
    bash -c 'source ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _armilla; echo "${COMPREPLY[*]}"' \
        bash "$@"
}
: >'a file.csv'
equal "$(candidates armilla rec)" reconstruct
equal "$(candidates armilla fit x.csv --basis '')" 'orthonormal nonnegative free unit orthonormal-nonneg'
equal "$(candidates armilla fit --codes nonneg-sp)" 'nonneg-sphere nonneg-sparse-sphere'
equal "$(candidates armilla fit x.csv --ra)" '--rank --radius'
equal "$(candidates armilla fit --rank '')" ''
equal "$(candidates armilla fit 'a f')" 'a file.csv'
equal "$(candidates armilla fit x.csv --keep-features 'a f')" 'a file.csv'
equal "$(candidates armilla list f)" formats
equal "$(candidates armilla help ch)" check
for shell in zsh fish; do
    command -v $shell >/dev/null || { echo "skipped: $shell, which is not installed" && continue; }
    $shell -n completion.$shell || die "$shell does not read its completion"
done
if command -v fish >/dev/null; then
    fish --no-config -c 'source completion.fish; complete -C "armilla fit --basis "' >offered 2>/dev/null
    grep -q '^nonnegative' offered || die 'fish does not offer the bases'
fi

refuse 64 'bash, zsh, fish' help --completion tcsh
refuse 64 'bash, zsh, fish' help --completion
refuse 64 "unknown command 'nonsense'" help --man nonsense
