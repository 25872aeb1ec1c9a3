#!/usr/bin/env bash
# Words that must not come back: private names of things for which the field has a word (CONTRIBUTING.md#words), in code,
# comments, messages, tests, Python and documents, in letters of either case; and comments of the sources that begin with
# "Of" or "Where" instead of their subject. CHANGELOG.md tells of what was, tests/abi keeps the headers of a release.
set -euo pipefail
cd "$(dirname "$0")/../.."

mapfile -t files < <(find src cli include mpi convert python tests bench experiments docs cmake scripts -type f \( \
    -name '*.[ch]' -o -name '*.py' -o -name '*.sh' -o -name '*.awk' -o -name '*.cmake' -o -name '*.md' -o -name '*.in' -o \
    -name CMakeLists.txt \) -not -path 'tests/abi/armilla-*' -not -path 'tests/style/words.sh' -not -path '*/build/*' |
    LC_ALL=C sort)
files+=(README.md CMakeLists.txt Makefile)
((${#files[@]} > 700)) || { echo "only ${#files[@]} files were found"; exit 1; }

# A regular expression, and after two blanks or more what to say instead. It matches whole words, and parts of names
# between underscores.
perl -CSD -e '
    my $bad = 0;
    my @rows = map { my ($re, $say) = /^\s*(\S.*?)\s{2,}(\S.*)$/ or die "no row: $_"; [qr/(?<![a-z])(?:$re)(?![a-z])/i, $say] }
        grep { /\S/ } <STDIN>;
    local $/;
    for my $file (@ARGV) {
        open(my $in, "<", $file) or die "$file: $!";
        my $text = <$in>;
        my $line = 0;
        for my $words (split /\n/, $text) {
            $line++;
            for my $row (@rows) {
                next unless $words =~ $row->[0];
                print "$file:$line: \"$&\"; say: $row->[1]\n";
                $bad = 1;
            }
        }
        next unless $file =~ /\.[ch]$/ && $file !~ /^tests/;
        while ($text =~ m{/\*(.*?)\*/}gs) {
            my $place = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
            my $comment = $1 =~ s/\n\s*\*/ /gr =~ s/\s+/ /gr;
            next unless $comment =~ /(?:^ ?|[.:;!?] )((?:Of|Where)\b.{0,40})/;
            print "$file:$place: begin with the subject: $1\n";
            $bad = 1;
        }
    }
    exit $bad;
' "${files[@]}" <<'WORDS'
partings?                                        partition
cluster_ways?|(->|\.)ways?|ways\[                method
armilla_shape|cluster/shape\.[ch]                k-NN graph
(->|\.|\*)reach|shape_reach                      neighbor distance
evening|evened|shape_even                        standardize, standardized
celled                                           in cells, cell list
nobody names|names? (an?|the nearest) (atom|centre)  assignment, assigned to
trusting|trusts_descent|\.sure                           descent_suffices, descends
torn                                             unfinished, interrupted, damaged
drafts?                                          trial, basis_only
blind(ly)?                                       what it does not read
heed(s|ed|ing)?                                  accept
call_(hold|keep|inner)|hold_plan                 defer_stop, uninterrupted, nested, plan_enter
communities_(turn|cut)                           control, cancel_later
breath                                           check interval
foretell|foretold|foretelling                    predict, estimate
fall_silent                                      mute_output
affairs?                                         who does it
hears?                                           is called, records
look_twice                                       try_both
usual_clusters                                   ARMILLA_ASSUMED_CLUSTERS
cannot be: give                                  what is out of range; then what to give
(?-i:\[P\])                                         recall
WORDS
