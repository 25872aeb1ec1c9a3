# Manual pages of section 3 from the comments of the public headers:
#   awk -v version=0.1.0 -v folder=share/man/man3 -f functions.awk include/armilla/*.h
# A comment belongs to the functions that follow it without an empty line between. Functions that end in _sized are what
# the inline functions beside them call, and have no page.
function escape(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text
}

# Lines of a comment without its marks.
function plain(text,    lines, count, i, made) {
    count = split(text, lines, "\n")
    for (i = 1; i <= count; i++) {
        sub(/^[ ]*\/?\*+\/?[ ]?/, "", lines[i])
        sub(/[ ]*\*\/$/, "", lines[i])
        made = made (made == "" ? "" : "\n") lines[i]
    }
    return made
}

function page(declaration, comment,    name, file, text, lines, count, i, brief) {
    name = declaration
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    if (name ~ /_sized$/) return
    file = folder "/" name ".3"
    text = comment == "" ? "See the header." : plain(comment)
    brief = text
    gsub(/\n/, " ", brief)
    sub(/[.;:] .*/, "", brief)
    sub(/\.$/, "", brief)
    if (length(brief) > 100) brief = substr(brief, 1, 97) "..."
    printf ".TH %s 3 \"\" \"Armilla %s\" \"Library functions\"\n", toupper(name), version >file
    printf ".SH NAME\n%s \\- %s\n", escape(name), escape(brief) >file
    printf ".SH SYNOPSIS\n.nf\n.B #include <armilla/armilla.h>\n.PP\n" >file
    gsub(/[ \n]+/, " ", declaration)
    sub(/ *__attribute__.*/, "", declaration)
    wrap(declaration, file)
    printf ".fi\n.SH DESCRIPTION\n" >file
    count = split(text, lines, "\n")
    for (i = 1; i <= count; i++) {
        if (lines[i] == "") printf ".PP\n" >file
        else printf "%s%s\n", (lines[i] ~ /^[.']/ ? "\\&" : ""), escape(lines[i]) >file
    }
    if (declaration ~ /^armilla_status /)
        printf ".SH RETURN VALUE\n.B ARMILLA_OK\nor why the call failed; armilla_context_error(3) then has a sentence about it, and the outputs\nare as they were. A pointer that is needed and NULL is\n.BR ARMILLA_BAD_ARGUMENT .\n" >file
    printf ".SH SEE ALSO\n.BR armilla (1),\n.BR armilla_context_new (3),\n.BR armilla_fit (3)\n.PP\nThe header\n.I <armilla/%s>\nand docs/c\\-api.md of the sources.\n", header >file
    close(file)
}

# The declaration, one argument per line where it is long.
function wrap(declaration, file,    parts, count, i) {
    if (length(declaration) < 70) {
        printf ".B %s;\n", escape(declaration) >file
        return
    }
    count = split(declaration, parts, ", ")
    for (i = 1; i <= count; i++)
        printf ".B \"%s%s%s\"\n", (i > 1 ? "    " : ""), escape(parts[i]), (i < count ? "," : ";") >file
}

FNR == 1 {
    header = FILENAME
    sub(/.*\//, "", header)
    comment = ""
    open = inside = 0
}
inside { # a struct, an enumeration or the body of a function, until the line that closes it
    if ($0 ~ /^}/) inside = 0
    next
}
open { # a comment that goes on
    comment = comment "\n" $0
    if ($0 ~ /\*\//) open = 0
    next
}
declaring {
    declaration = declaration " " $0
}
/^\/\*/ && !declaring {
    comment = $0
    open = $0 !~ /\*\//
    next
}
/^(ARMILLA_API|static inline) / && !declaring {
    declaration = $0
    declaring = 1
}
declaring {
    if (declaration ~ /;/ || $0 ~ /^{/) {
        body = $0 ~ /^{/
        gsub(/;.*|\/\*.*|{.*/, "", declaration)
        sub(/^(ARMILLA_API|static inline) /, "", declaration)
        sub(/ +$/, "", declaration)
        page(declaration, comment)
        declaring = 0
        inside = body
    }
    next
}
/^$/ { comment = "" }
/^typedef (struct|enum) .*{$/ { inside = 1; comment = "" }
/^typedef/ { comment = "" }
