# The manual page of a command as a section of another page: without its title and name, and one level deeper.
/^\.TH / { next }
/^\.SH / { inside = $2 != "NAME" && $2 != "SEE" }
!inside { next }
/^\.SH / { sub(/^\.SH /, ".SS "); print; headed = 1; next }
/^\.SS / {
    sub(/^\.SS /, "")
    if (!headed) print ".PP"
    print "\\fI" $0 "\\fR"
    next
}
{ print; headed = 0 }
