#!/usr/bin/env python3
"""Pictures with names that are anything: whatever bytes labels, titles and file names have, an SVG is well-formed XML
that shows them, PNG and PDF are whole, the script that is left draws the same again, and nothing is run."""
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree
import zipfile
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
KINDS = ("convergence", "sphere", "scatter", "graph", "atoms", "features", "codes", "clusters", "confusion")
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


def places_of(path):
    """Each text of an SVG with where it begins and ends, in the picture's points: letters are at most 0.6 of their
    height wide on average, and texts are moved and turned by gnuplot's own groups."""
    root = tree.parse(path).getroot()
    for group in root.iter():
        move = re.match(r"translate\(([-0-9.]+),([-0-9.]+)\)( rotate\(([-0-9.]+)\))?", group.get("transform", ""))
        if not move or not group.tag.endswith("}g"):
            continue
        x, y, angle = float(move[1]), float(move[2]), float(move[4] or 0)
        for text in group.findall("{*}text"):
            shown = squeezed("".join(text.itertext()))
            length = 0.55 * float(re.search(r"font-size=\"?([0-9.]+)", tree.tostring(group).decode())[1]) * len(shown)
            anchor = group.get("text-anchor", "start")
            before = {"start": 0, "middle": 0.5, "end": 1}[anchor] * length
            along = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            if shown:
                yield shown, [(x + s * along[0], y + s * along[1]) for s in (-before, length - before)]


def inside(path, *said):
    """No text of the picture is cut off at its edge. (Of scripts whose letters gnuplot's font lacks nothing is known.)"""
    size = tree.parse(path).getroot().get("viewBox").split()
    for text, ends in places_of(path):
        if text.isascii():
            need(all(-3 <= x <= float(size[2]) + 3 and -3 <= y <= float(size[3]) + 3 for x, y in ends), *said,
                 "cuts off", repr(text), ends, size)


def named(path, *said):
    """The names of the axes that the script has are in the SVG: gnuplot leaves out what has no space."""
    with open(os.path.splitext(path)[0] + ".gp", encoding="utf-8") as file:
        names = re.findall(r"^set [xy]label '([^'{]+)'", file.read(), re.MULTILINE)
    missing = set(names) - {squeezed(text) for text in texts_of(path)}
    need(not missing, *said, "has lost the names", missing)


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


def draw(out, *arguments, model="two.npz"):
    """The picture's bytes."""
    end = run("plot", model, "--images", "3x3", "--force", "--out", out, *arguments)
    need(end.returncode == 0 and end.stdout == b"", arguments, out, end.returncode, end.stderr)
    need(not [name for name in os.listdir(".") if name.startswith("pwned")], arguments, out, "a text was run")
    return load(out)


def check_labels():
    """Every text as a label: in the key of the sphere and at the bars of the clusters."""
    for at in range(0, len(TEXTS), KEY):
        part = TEXTS[at:at + KEY]
        with open("labels.txt", "wb") as file:
            file.write(b"".join(part[i % len(part)][0] + b"\n" for i in range(SAMPLES)))
        for kind in ("sphere", "scatter", "graph", "clusters", "confusion"):
            draw("labels.svg", "--kind", kind, "--labels", "labels.txt", "--truth", "labels.txt")
            shown = {squeezed(text.replace(JOINER, "")) for text in texts_of("labels.svg")}
            # Beside the angles of clusters long names have their number before them.
            shown |= {text.partition(" ")[2] for text in shown if text.partition(" ")[0].isdigit()}
            for text in (seen(*row, NAME) for row in part):
                need(text in shown, kind, "does not show", repr(text), "but", shown)
            inside("labels.svg", kind)
            check_png(draw("labels.png", "--kind", kind, "--labels", "labels.txt", "--truth", "labels.txt"))
            check_pdf(draw("labels.pdf", "--kind", kind, "--labels", "labels.txt", "--truth", "labels.txt"))


def check_titles():
    """Several texts at once, in every kind of picture; what stands before and behind a text is nothing special."""
    for i, kind in enumerate(KINDS):
        rows = TEXTS[i::len(KINDS)]
        draw("title.svg", "--kind", kind, "--truth", "classes.txt", b"--title=" + b" | ".join(given for given, _ in rows))
        shown = [squeezed(text.replace(JOINER, "")) for text in texts_of("title.svg")]
        wanted = seen(b"", " | ".join(given.decode() if shape is None else shape for given, shape in rows), TITLE)
        need(wanted in shown, kind, "does not show", wanted, "but", shown)
        named("title.svg", kind)


def check_names():
    """The bytes of a file's name are kept, whatever they are; a slash and a null byte are in none. The script that is
    left knows them: it draws the same again."""
    texts = [given for given, _ in TEXTS if len(given) <= 40 and b"/" not in given] + [b"two\nlines"]
    for i in range(0, len(texts), 5):
        out = b"".join(texts[i:i + 5]) + b".svg"
        first = draw(out, "--kind", KINDS[i // 5 % len(KINDS)], "--truth", "classes.txt")
        texts_of(out)
        os.remove(out)
        again = subprocess.run(["gnuplot", "-d", b"./" + out[:-4] + b".gp"], stderr=subprocess.PIPE)
        need(again.returncode == 0 and os.path.exists(out), "the script of", out, "does not draw:", again.stderr)
        need(first == load(out), "the script of", out, "draws another picture")


def write_labels(path, labels):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{label}\n" for label in labels)


def fit(rows, out, *options, header=None):
    with open("made.csv", "w", encoding="utf-8") as file:
        file.write(header + "\n" if header else "")
        file.writelines(",".join(map(str, row)) + "\n" for row in rows)
    end = run("fit", "made.csv", "--quiet", "--force", "--out", out, "--header", "yes" if header else "no", *options)
    need(end.returncode == 0, options, end.stderr)


def check_odd():
    """One sample, one component, one class, two hundred classes, names of any length: a whole picture with nothing cut
    off, or one line that says why not."""
    names = ["", "one", "Umlaut äöü ß", "quote \" and ' and `", "x" * 300, "weiß 日本語 " * 9]
    for n, rank, classes in ((1, 1, 1), (1, 2, 1), (2, 1, 2), (60, 1, 3), (60, 2, 1), (60, 3, 24), (400, 5, 200),
                             (700, 70, 61), (90, 4, len(names))):
        fit([[1 + (7 * i * i + 3 * i * j + j) % 23 for j in range(80)] for i in range(n)], "odd.npz", "--rank", str(rank),
            "--max-iter", "3", "--codes", "nonneg", "--basis", "nonnegative")
        write_labels("odd.txt", [names[i % classes] or "-" if classes == len(names) else f"class {i % classes}"
                                 for i in range(n)])
        for kind in KINDS:
            flat = kind in ("sphere", "scatter") and rank == 1
            end = run("plot", "odd.npz", "--kind", kind, "--images", "8x10", "--labels", "odd.txt", "--truth", "odd.txt",
                      "--force", "--out", "odd.svg")
            need(end.returncode == (65 if flat else 0), n, rank, classes, kind, end.returncode, end.stderr)
            need(not flat or end.stderr.count(b"\n") == 1, end.stderr)
            if not flat:
                texts_of("odd.svg")
                inside("odd.svg", n, rank, classes, kind)


def check_scales():
    """Numbers of any size: tics stay short, and what is too large is refused in one line."""
    for power, status in ((-140, 0), (-9, 0), (9, 0), (100, 0), (151, 65)):
        rows = [[f"{1 + (7 * i * i + 3 * i * j + j) % 23}e{power}" for j in range(9)] for i in range(60)]
        fit(rows, "scaled.npz", "--rank", "3", "--model", "pca", "--max-iter", "5")
        for kind in ("scatter", "sphere", "convergence", "codes", "features"):
            end = run("plot", "scaled.npz", "--kind", kind, "--force", "--out", "scaled.svg")
            need(end.returncode == status and end.stderr.count(b"\n") <= 1, power, kind, end.returncode, end.stderr)
            if status == 0:
                inside("scaled.svg", power, kind)


def check_columns():
    """--images HxW,column-major draws what the transposed atoms are row by row."""
    fit([[(i * i + 5 * i * j + j) % 19 for j in range(12)] for i in range(40)], "tall.npz", "--rank", "3")
    pixels = {}
    for order in ("3x4", "3x4,column-major"):
        end = run("plot", "tall.npz", "--kind", "atoms", "--images", order, "--force", "--out", "tall.svg")
        need(end.returncode == 0, order, end.stderr)
        pixels[order] = [block.split("\n") for block in load("tall.dat").decode().split("\n\n\n") if block.strip()]
    for rows, columns in zip(*pixels.values()):
        need(len(rows) == len(columns) == 12, "pixels are missing")
        for place, (a, b) in enumerate(zip(rows, columns)):
            need(a.split() == [str(place % 4), str(place // 4)] + a.split()[2:], "row by row:", a)
            need(b.split() == [str(place // 3), str(place % 3)] + a.split()[2:], "column by column:", b)
    for wrong in ("3x4,", "3x4,row-major", "3x4column-major", "x4", "3x-4", "3x4,column-major,"):
        end = run("plot", "tall.npz", "--kind", "atoms", "--images", wrong, "--force", "--out", "tall.svg")
        need(end.returncode == 64 and b"--images" in end.stderr, wrong, end.stderr)


def check_confusion():
    """Every count, whatever the order of the columns; the scores are those of `armilla score`."""
    truth = [i % 3 for i in range(SAMPLES)]
    found = [(i * i + i // 7) % 4 for i in range(SAMPLES)]
    write_labels("found.txt", found)
    draw("confusion.svg", "--kind", "confusion", "--labels", "found.txt", "--truth", "classes.txt")
    script = load("confusion.gp").decode()
    order = [int(name) for name in re.findall(r'"(\d+)" \d', re.search(r"set xtics \((.*)\)", script)[1])]
    need(sorted(order) == [0, 1, 2, 3], "the clusters are", order)
    lines = [line.split() for line in load("confusion.dat").decode().splitlines()]
    need(len(lines) == 12, "cells are missing")
    for column, row, count, percent in lines:
        pairs = [(t, f) for t, f in zip(truth, found) if t == int(row)]
        wanted = sum(f == order[int(column)] for _, f in pairs)
        need(int(count) == wanted, row, column, count, "but", wanted)
        need(abs(float(percent) - 100 * wanted / len(pairs)) < 0.1, "percent", percent)
    scores = json.loads(run("score", "found.txt", "classes.txt", "--json").stdout)
    need(f"accuracy {scores['accuracy']:.3f}, NMI {scores['nmi']:.3f}" in script, "the scores are not in the title")
    end = run("plot", "two.npz", "--kind", "confusion", "--force", "--out", "confusion.svg")
    need(end.returncode == 64 and b"--truth" in end.stderr, end.stderr)
    write_labels("few.txt", truth[:-1])
    end = run("plot", "two.npz", "--kind", "confusion", "--truth", "few.txt", "--force", "--out", "confusion.svg")
    need(end.returncode == 65 and b"few.txt" in end.stderr, end.stderr)


def check_kept():
    """Without labels the clusters that the model keeps are drawn, called by their numbers."""
    end = run("cluster", "two.npz", "--k", "3", "--model-out", "kept.npz", "--out", "kept.txt", "--quiet")
    need(end.returncode == 0, end.stderr)
    draw_of = ("--force", "--out", "kept.svg")
    pictures = []
    for more in ((), ("--labels", "kept.txt")):
        end = run("plot", "kept.npz", "--kind", "confusion", "--truth", "classes.txt", *more, *draw_of)
        need(end.returncode == 0, end.stderr)
        pictures.append((load("kept.dat"), re.search(r"set xtics \((.*)\)", load("kept.gp").decode())[1]))
    need(pictures[0] == pictures[1], "kept clusters are drawn otherwise than their file:", pictures)
    need(len(pictures[0][0].splitlines()) == 9, "not three clusters against three classes")
    draw("kept.svg", "--kind", "confusion", "--truth", "classes.txt")
    order = re.findall(r'"(\d+)" \d', re.search(r"set xtics \((.*)\)", load("kept.gp").decode())[1])
    need(sorted(order) == ["0", "1"], "the two atoms are called", order)
    end = run("plot", "kept.npz", "--kind", "clusters", *draw_of)
    need(end.returncode == 0 and "'cluster'" in load("kept.gp").decode(), "kept clusters are not drawn", end.stderr)


def check_features():
    """The ten largest entries of each atom by size, with their names; without names, by their numbers."""
    count = 30
    rows = [[(i * i + 5 * i * j + j * j) % 37 - 9 for j in range(count)] for i in range(50)]
    fit(rows, "words.npz", "--rank", "2", header=",".join(f"word-{j}" for j in range(count)))
    fit(rows, "bare.npz", "--rank", "2")
    for model, name in (("words.npz", lambda j: f"word-{j}"), ("bare.npz", lambda j: f"feature {j + 1}")):
        draw("features.svg", "--kind", "features", model=model)
        shown = [squeezed(text) for text in texts_of("features.svg")]
        blocks = load("features.dat").decode().split("\n\n\n")
        numbers = re.findall(r"'atom (\d+)'", load("features.gp").decode())
        need(numbers == ["0", "1"], model, "atoms are not numbered as by armilla top:", numbers)
        with zipfile.ZipFile(model) as arrays:
            basis = arrays.read("U.npy")
        start = 10 + struct.unpack("<H", basis[8:10])[0]
        numbers = struct.unpack(f"<{2 * count}d", basis[start:])
        for a in range(2):
            atom = numbers[a * count:(a + 1) * count]
            top = sorted(range(count), key=lambda j: (-abs(atom[j]), j))[:10]
            weights = [float(line.split()[1]) for line in blocks[a].strip().splitlines()]
            need(all(abs(w - atom[j]) <= 1e-5 * abs(atom[j]) for w, j in zip(weights, top)) and len(weights) == 10,
                 model, "atom", a, weights)
            need(all(name(j) in shown for j in top), model, "atom", a, "names", shown)


def points_of(path):
    """Places and colours of the points that were drawn."""
    rows = [line.split() for line in load(path).decode().splitlines()]
    return [(float(row[0]), float(row[1]), int(row[4]) & 0xffffff) for row in rows if len(row) == 5]


def check_graph():
    """Three directions are three groups of the map: the nearest point has the same colour, edges are there in the plane of
    few samples, the globe's points are inside its circle, and few samples can be drawn too."""
    rows = [[10 * (j == i % 3) + (7 * i * i + 3 * i * j) % 5 / 5 for j in range(4)] for i in range(120)]
    write_labels("three.txt", [i % 3 for i in range(120)])
    fit(rows, "three.npz", "--rank", "3")
    for globe in ((), ("--globe",)):
        first = draw("map.svg", "--kind", "graph", "--labels", "three.txt", *globe, model="three.npz")
        again = draw("map.svg", "--kind", "graph", "--labels", "three.txt", *globe, model="three.npz")
        need(first == again, "the map differs when it is drawn again")
        inside("map.svg", "graph")
        points = points_of("map.dat")
        need(len(points) == 120 and "120 samples" in " ".join(texts_of("map.svg")), len(points), "points")
        need(all(math.hypot(x, y) < 1.5 for x, y, _ in points), "points outside")
        need(not globe or all(math.hypot(x, y) < 1 + 1e-6 for x, y, _ in points), "points beside the globe")
        if not globe:
            for x, y, colour in points:
                near = sorted(points, key=lambda p: math.hypot(p[0] - x, p[1] - y))[1]
                need(near[2] == colour, "the nearest is of another group")
            edges = [line.split() for line in load("map.dat").decode().splitlines() if len(line.split()) == 4]
            places = {(x, y) for x, y, _ in points}
            need(240 <= len(edges) <= 480, len(edges), "edges")
            need(all((float(x), float(y)) in places for x, y, _, _ in edges), "an edge from nowhere")
    fit(rows * 35, "thin.npz", "--rank", "2", "--max-iter", "2")
    draw("thin.svg", "--kind", "graph", model="thin.npz")
    need("4000 of 4200" in " ".join(texts_of("thin.svg")) and len(points_of("thin.dat")) == 4000, "not thinned")
    for count in (1, 2, 3):
        fit(rows[:count], "few.npz", "--rank", "1")
        for globe in ((), ("--globe",)):
            draw("few.svg", "--kind", "graph", *globe, model="few.npz")
            need(len(points_of("few.dat")) == count, count, globe, points_of("few.dat"))
    fit([[1, 2, 3]] * 30, "equal.npz", "--rank", "1")
    draw("equal.svg", "--kind", "graph", model="equal.npz")
    need(len(points_of("equal.dat")) == 30, "equal samples")


def check_numbers():
    """Stability, modularity and score over the numbers of clusters: the data are those of the JSON, in any format, from a
    pipe too; what has none is refused in one line."""
    rows = [[10 * (j == i % 3) + math.sin(i * i + 7 * i * j) ** 2 * 3 for j in range(4)] for i in range(120)]
    with open("rows.csv", "w", encoding="ascii") as file:
        file.writelines(",".join(map(str, row)) + "\n" for row in rows)
    end = run("cluster", "rows.csv", "--json", "--quiet")
    need(end.returncode == 0, end.stderr)
    with open("numbers.json", "wb") as file:
        file.write(end.stdout)
    found = json.loads(end.stdout)
    draw("numbers.svg", "--kind", "numbers", model="numbers.json")
    shown = texts_of("numbers.svg")
    need({"stability", "modularity", "score", "clusters"} <= set(shown), shown)
    need(any(f"{found['k']} taken" in text for text in shown), shown)
    inside("numbers.svg", "numbers")
    named("numbers.svg", "numbers")
    drawn = [[float(x) for x in line.split()] for line in load("numbers.dat").decode().splitlines() if line[0] != "#"]
    wanted = [[row[name] for name in ("k", "stability", "modularity", "score")] for row in found["numbers"]]
    need(len(drawn) == len(wanted) > 1, drawn, wanted)
    need(all(abs(a - b) < 1e-8 for x, y in zip(drawn, wanted) for a, b in zip(x, y)), drawn, wanted)
    check_png(draw("numbers.png", "--kind", "numbers", model="numbers.json"))
    check_pdf(draw("numbers.pdf", "--kind", "numbers", model="numbers.json"))
    with open("numbers.json", "rb") as file:
        end = run("plot", "-", "--kind", "numbers", "--out", "piped.svg", stdin=file)
    need(end.returncode == 0 and load("piped.svg") == draw("numbers.svg", "--kind", "numbers", model="numbers.json"),
         end.stderr)
    row = {"k": 3, "stability": 0.5, "modularity": 0.5, "score": 0.25}
    draw("one.svg", "--kind", "numbers", model=written({"k": 3, "numbers": [row]}))
    draw("many.svg", "--kind", "numbers",
         model=written({"k": 4, "numbers": [row | {"k": 2 ** i, "stability": -0.3} for i in range(1, 12)]}))
    for wrong in (None, [], {}, {"numbers": None}, {"numbers": []}, {"numbers": [1]}, {"numbers": [{}]},
                  {"numbers": [row | {"k": 0}]}, {"numbers": [row | {"k": 2.5}]}, {"numbers": [row, row]},
                  {"numbers": [row | {"score": 1e300}]}, {"numbers": [row | {"score": "x"}]}):
        end = run("plot", written(wrong), "--kind", "numbers", "--force", "--out", "wrong.svg")
        need(end.returncode == 65 and end.stderr.count(b"\n") == 1 and b"--json" in end.stderr, wrong, end.stderr)
        need(not os.path.exists("wrong.svg"), wrong, "left a picture")
    for path, status in (("rows.csv", 65), ("two.npz", 65), ("nosuch.json", 66)):
        end = run("plot", path, "--kind", "numbers", "--out", "wrong.svg")
        need(end.returncode == status and end.stderr.count(b"\n") == 1, path, end.returncode, end.stderr)


def written(what):
    """The name of a file with that as JSON."""
    with open("written.json", "w", encoding="ascii") as file:
        json.dump(what, file)
    return "written.json"


def check_many():
    """Of a million samples some are drawn, and the picture says how many of how many; classes that alternate all stay."""
    classes, n = 4, 1000000
    header = "%-117s\n" % f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({n}, 2), }}"
    with open("many.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(bytes((i * i + i // 3) % 97 + 1 for i in range(2 * 999)) * (n // 999) + bytes(2 * (n % 999)))
    end = run("fit", "many.npy", "--rank", "2", "--max-iter", "1", "--codes", "nonneg", "--basis", "nonnegative",
              "--quiet", "--out", "many.npz")
    need(end.returncode == 0, end.stderr)
    with open("many.txt", "w", encoding="ascii") as file:
        file.write("".join(f"{c}\n" for c in range(classes)) * (n // classes))
    for kind in ("sphere", "scatter"):
        draw("many.svg", "--kind", kind, "--labels", "many.txt", model="many.npz")
        shown = " ".join(texts_of("many.svg"))
        need("4000 of 1000000" in shown, kind, "does not say how many are drawn:", shown)
        lines = load("many.dat").decode().splitlines()
        colours = [int(line.split()[-1]) & 0xffffff for line in lines if len(line.split()) == 5]
        need(len(colours) == 4000, kind, len(colours), "points")
        need(all(abs(colours.count(c) - 1000) < 150 for c in set(colours)) and len(set(colours)) == classes, kind,
             "has lost classes")


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
        write_labels("classes.txt", [i % 3 for i in range(SAMPLES)])
        check_labels()
        check_titles()
        check_names()
        check_odd()
        check_scales()
        check_columns()
        check_confusion()
        check_kept()
        check_features()
        check_graph()
        check_numbers()
        check_many()
        os.chdir("/")


main()
