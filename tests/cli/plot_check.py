#!/usr/bin/env python3
"""Pictures with names that are anything: whatever bytes labels, titles and file names have, an SVG is well-formed XML
that shows them, PNG and PDF are whole, the script that is left draws the same again, and nothing is run."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree
import zlib

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
JOINER = "\u2060"  # invisible; parts ]]>, which gnuplot would write into the SVG as it is

# What is given, and what is to be seen of it; None: the same.
TEXTS = [
    (b"]]>", None), (b"a]]>b]]]>", None), (b"]]]]>>", None), (b"<![CDATA[x]]>", None), (b"]]&gt;", None),
    (b"<b>&amp;&lt;</b>", None), (b"\"double\" 'single'", None), (b"<!-- -->", None), (b"<?xml?>", None),
    (b"back\\slash \\n \\101 \\", None), (b"@data @a", None), (b"{/=90 big} _{x}^{y} ~a{.8-}", None),
    (b"&{space} {/:Bold x} {", None), (b"}", None), (b"x_1^2~3", None), (b"%s %n %% %d %", None),
    (b"`touch pwned`", None), (b"$(touch pwned) ${HOME}", None), (b"'; system('touch pwned')", None),
    (b'"; !touch pwned; print "', None), (b"# comment", None), (b"\\\\", None), (b"x,y;z:w", None),
    ("עברית العربية".encode(), None), ("\u202eoverride".encode(), None), ("🜨 👩‍🔬 é e\u0301 ﷽".encode(), None),
    ("日本語".encode() * 30, None), (b"x" * 3000, None), ("é".encode() * 61, None), (b"a" * 49 + "é".encode(), None),
    (b"\x01\x1b[31m\x08bell\x07", "  [31m bell "),
    (b"\xff\xfe bad", "?? bad"), (b"\xc0\xafoverlong", "??overlong"), (b"\xed\xa0\x80half", "???half"),
    (b"\xf4\x90\x80\x80past", "????past"), (b"\xef\xbf\xbe\xef\xbf\xbfnone", "??????none"), (b"\xc2\x85next", "??next"),
    (b"\x7fdelete", "?delete"), (b"cut \xe2\x82", "cut ??"), ("\ufdd0\U0001fffe".encode(), None),
]
KINDS = ("convergence", "sphere", "atoms", "codes", "clusters")
SAMPLES, FEATURES, KEY = 80, 9, 12
NAME, TITLE = 60, 160


def seen(given, shown, most):
    """What a picture shows of the text: of more than so many characters the last is an ellipsis."""
    text = given.decode() if shown is None else shown
    return squeezed(text if len(text) <= most else text[:most - 1] + "…")


def run(*arguments, **how):
    return subprocess.run([ARMILLA, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


def need(condition, *said):
    if not condition:
        print("FAILED:", *said, file=sys.stderr)
        sys.exit(1)


def texts_of(path):
    """All texts of an SVG, with white space as a reader of XML leaves it."""
    try:
        root = tree.parse(path).getroot()
    except tree.ParseError as error:
        need(False, path, "is not well-formed:", error)
    return ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("}text")]


def squeezed(text):
    return " ".join(text.split())


def check_png(content):
    at = 8
    need(content[:at] == b"\x89PNG\r\n\x1a\n", "no PNG")
    while at < len(content):
        length, = struct.unpack(">I", content[at:at + 4])
        check, = struct.unpack(">I", content[at + 8 + length:at + 12 + length])
        need(zlib.crc32(content[at + 4:at + 8 + length]) == check, "a PNG with a wrong checksum")
        kind, at = content[at + 4:at + 8], at + 12 + length
    need(kind == b"IEND", "a PNG that is cut short")


def check_pdf(content):
    need(content.startswith(b"%PDF-") and b"%%EOF" in content[-32:], "no whole PDF")


def load(path):
    with open(path, "rb") as file:
        return file.read()


def draw(out, *arguments):
    """The picture's bytes."""
    end = run("plot", "two.npz", "--images", "3x3", "--force", "--out", out, *arguments)
    need(end.returncode == 0 and end.stdout == b"", arguments, out, end.returncode, end.stderr)
    need(not [name for name in os.listdir(".") if name.startswith("pwned")], arguments, out, "a text was run")
    return load(out)


def check_labels():
    """Every text as a label: in the key of the sphere and at the bars of the clusters."""
    for at in range(0, len(TEXTS), KEY):
        part = TEXTS[at:at + KEY]
        with open("labels.txt", "wb") as file:
            file.write(b"".join(part[i % len(part)][0] + b"\n" for i in range(SAMPLES)))
        for kind in ("sphere", "clusters"):
            draw("labels.svg", "--kind", kind, "--labels", "labels.txt")
            shown = {squeezed(text.replace(JOINER, "")) for text in texts_of("labels.svg")}
            for text in (seen(*row, NAME) for row in part):
                need(text in shown, kind, "does not show", repr(text), "but", shown)
            check_png(draw("labels.png", "--kind", kind, "--labels", "labels.txt"))
            check_pdf(draw("labels.pdf", "--kind", kind, "--labels", "labels.txt"))


def check_titles():
    """Several texts at once, in every kind of picture; what stands before and behind a text is nothing special."""
    for i, kind in enumerate(KINDS):
        rows = TEXTS[i::len(KINDS)]
        draw("title.svg", "--kind", kind, b"--title=" + b" | ".join(given for given, _ in rows))
        shown = [squeezed(text.replace(JOINER, "")) for text in texts_of("title.svg")]
        wanted = seen(b"", " | ".join(given.decode() if shape is None else shape for given, shape in rows), TITLE)
        need(wanted in shown, kind, "does not show", wanted, "but", shown)


def check_names():
    """The bytes of a file's name are kept, whatever they are; a slash and a null byte are in none. The script that is
    left knows them: it draws the same again."""
    texts = [given for given, _ in TEXTS if len(given) <= 40 and b"/" not in given] + [b"two\nlines"]
    for i in range(0, len(texts), 5):
        out = b"".join(texts[i:i + 5]) + b".svg"
        first = draw(out, "--kind", KINDS[i // 5 % len(KINDS)])
        texts_of(out)
        os.remove(out)
        again = subprocess.run(["gnuplot", "-d", b"./" + out[:-4] + b".gp"], stderr=subprocess.PIPE)
        need(again.returncode == 0 and os.path.exists(out), "the script of", out, "does not draw:", again.stderr)
        need(first == load(out), "the script of", out, "draws another picture")


def main():
    if not shutil.which("gnuplot"):
        print("no gnuplot: nothing was drawn")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("data.csv", "w") as file:
            file.writelines(",".join(str((7 * i * i + 3 * i * j + j) % 23) for j in range(FEATURES)) + "\n"
                            for i in range(SAMPLES))
        end = run("fit", "data.csv", "--rank", "2", "--max-iter", "20", "--quiet", "--out", "two.npz")
        need(end.returncode == 0, end.stderr)
        check_labels()
        check_titles()
        check_names()
        os.chdir("/")


main()
