"""What the public headers declare, as cffi reads it.

The compiler's own preprocessor expands the headers; of its output only what stands in ``armilla/*.h`` is kept, inline
functions become declarations, and attributes go. Nothing is copied by hand: a function or member that a header gains is
in the binding after the next build, and the compiler checks every declaration against the header again when it compiles
the module that cffi writes.
"""

import re
import subprocess

_MARKER = re.compile(r'^# \d+ "([^"]*)"')
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
_INLINE = re.compile(r"\bstatic\s+inline\s+([^{};]*\))\s*\{")
_FORMATTED = re.compile(r"[^;{}]*\.\.\.[^;{}]*;")


def preprocessed(compiler, include):
    """The text of ``armilla/armilla.h`` with macros expanded and line markers in it."""
    command = [*compiler, "-E", "-x", "c", "-I", include, "-include", "armilla/armilla.h", "/dev/null"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def own_lines(text):
    """The lines that come from a header of ours, not from one of the system's."""
    ours = False
    for line in text.splitlines():
        marker = _MARKER.match(line)
        if marker:
            ours = "/armilla/" in marker.group(1)
        elif ours:
            yield line


def without_bodies(text):
    """Inline functions as declarations: the compiler has the bodies."""
    found = _INLINE.search(text)
    while found:
        depth, end = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        text = text[: found.start()] + found.group(1) + ";" + text[end:]
        found = _INLINE.search(text)
    return text


def declarations(compiler, include):
    """Everything that the headers in ``include`` declare, in C that cffi's parser takes."""
    text = "\n".join(own_lines(preprocessed(compiler, include)))
    text = without_bodies(_ATTRIBUTE.sub("", text))
    # Functions with a printf format are for C alone.
    return _FORMATTED.sub("", text)
