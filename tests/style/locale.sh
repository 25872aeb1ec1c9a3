#!/usr/bin/env bash
# Numbers and keywords never depend on the locale. What does depend on it is called by src/base/number.c alone, and by
# nothing else in the library: neither strtod, strerror and the comparisons of letters, nor printf of fractions. Programs
# never call setlocale, so that theirs is the C locale, and compare letters as the library does.
set -euo pipefail
cd "$(dirname "$0")/../.."
bad=0

# find_calls FORBIDDEN FILE...: "file:line: call" of names that are called, outside of comments and strings.
find_calls() {
    perl -0ne 'BEGIN { $names = shift }
        s{/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27}{my $s = $&; $s =~ s/[^\n]//g; $s || q("")}gse;
        while (/(?<![\w.>])($names)\s*\(/g) {
            my $line = 1 + (substr($_, 0, $-[0]) =~ tr/\n//);
            print "$ARGV:$line: $1\n";
        }' "$@"
}

# find_fractions FILE...: calls of the printf family whose format has %e, %f or %g.
find_fractions() {
    perl -0ne 's{/\*.*?\*/}{my $s = $&; $s =~ s/[^\n]//g; $s}gse;
        while (/(?<![\w.>])(v?[fsn]{0,2}printf)\s*\(((?:"(?:\\.|[^"\\])*"|[^";])*);/g) {
            my ($call, $line, $text) = ($1, 1 + (substr($_, 0, $-[0]) =~ tr/\n//), $2);
            $text =~ s/%%//g;
            print "$ARGV:$line: $call of a fraction\n" if $text =~ /%[-+ #0-9.*]*l?[aefgAEFG]/;
        }' "$@"
}

letters='strcasecmp|strncasecmp|strcasestr|strcoll|strxfrm|strftime|tolower|toupper|is(?:alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit)|tow(?:lower|upper)|isw[a-z]+|wc[a-z]+|mb[a-z]+cs|mbrtowc|setlocale'
numbers='strto(?:d|f|ld)|atof|strerror|localeconv|uselocale|vs?n?printf'
mapfile -t library < <(find src -name '*.[ch]' ! -path 'src/base/number.[ch]')
mapfile -t programs < <(find cli convert mpi -name '*.[ch]')
(( ${#library[@]} > 200 && ${#programs[@]} > 50 )) || { echo "no sources were found"; exit 1; }

complain() {
    [[ -z $1 ]] || { printf '%s; %s\n' "$1" "$2"; bad=1; }
}
complain "$(find_calls "$letters|$numbers" "${library[@]}")" "the locale decides it: src/base/number.h and src/base/ascii.h have what does not depend on it"
complain "$(find_fractions "${library[@]}")" "the locale decides its point: armilla_plain_print, armilla_fail, armilla_log and armilla_output_print do not depend on it"
complain "$(find_calls "$letters" "${programs[@]}")" "the locale decides it"

# The rules see what they are for.
sample=$(mktemp --suffix=.c)
trap 'rm -f "$sample"' EXIT
printf '%s\n' 'int a = strcasecmp(x, y);' '/* strtod(x) */' 'puts("isalpha(");' 'snprintf(t, 9, "%d"' '"%.3g", 1, 2.0);' \
    'my_tolower(c);' 'double d = strtod(x, 0);' 'fprintf(f, "%%g %d", 1);' >"$sample"
[[ $(find_calls "$letters|$numbers" "$sample" | sed 's/.*://' | tr -d '\n') == ' strcasecmp strtod' ]] || { echo "calls are not found"; bad=1; }
[[ $(find_fractions "$sample" | wc -l) == 1 ]] || { echo "fractions are not found"; bad=1; }
exit $bad
