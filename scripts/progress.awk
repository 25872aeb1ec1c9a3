# The output of a build, as it goes by: of the progress of compiling and linking a line for every tenth, or on a terminal
# (-v terminal=1) one line that moves; of the rest what is not routine, on standard output.
function tell(part)
{
    if (terminal)
        printf "\r\033[Kbuilding  %d %%", part >"/dev/stderr"
    else if (part >= next_told)
        printf "building  %d %%\n", part >"/dev/stderr"
    while (next_told <= part) next_told += 10
    fflush("/dev/stderr")
    told = 1
}
/^\[ *[0-9]+%\] (Building|Linking|Generating)/ { tell(substr($0, 2) + 0); next }
/^\[[0-9]+\/[0-9]+\]/ { split(substr($0, 2), numbers, /[\/\]]/); tell(int(100 * numbers[1] / numbers[2])); next }
/^\[ *[0-9]/ || /^Consolidate/ || /^gmake/ || /^ninja/ || /^-- / { next }
{ if (terminal && told) printf "\r\033[K" >"/dev/stderr"; print; fflush() }
END { if (terminal && told) printf "\r\033[K" >"/dev/stderr" }
