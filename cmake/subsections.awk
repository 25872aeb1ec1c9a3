# The manual page of a command as a section of another page: without its title and name, and one level deeper.
/^\.TH / { next }
/^\.SH / { inside = $2 != "NAME" && $2 != "SEE" }
!inside { next }
/^\.SH / { sub(/^\.SH /, ".SS "); print; next }
/^\.SS / { sub(/^\.SS /, ""); print ".PP\n\\fI" $0 "\\fR"; next }
{ print }
