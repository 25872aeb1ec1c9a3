#!/usr/bin/env python3
"""Pictures against the data that they were made from: what titles, tics, legends and colours say is recomputed by NumPy from
the model's arrays and the labels, and looked for in the script and the data that are left beside each picture.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy or gnuplot is missing."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done


def plain(text):
    """A gnuplot string as it is shown."""
    return re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), text.encode()).decode().replace("%%", "%")


class Picture:
    """The script and the blocks of data beside a picture."""

    def __init__(self, model, kind, *arguments):
        self.said = run("plot", model, "--kind", kind, "--force", "--out", "picture.svg", *arguments).stderr
        with open("picture.svg", encoding="utf-8") as file:
            assert not re.search(r">\s*-?NaN\s*<", file.read(), re.IGNORECASE), f"{kind}: a number that is none is shown"
        with open("picture.gp", encoding="utf-8") as file:
            self.script = file.read()
        with open("picture.dat", encoding="utf-8") as file:
            blocks = file.read().split("\n\n\n")
        self.blocks = [[line.split() for line in block.splitlines() if line.strip()] for block in blocks]
        title = re.search(r'^set label 1001 "((?:[^"\\]|\\.)*)"', self.script, re.MULTILINE)
        self.title = plain(title[1]) if title else ""

    def tics(self, axis):
        """Place to name."""
        found = re.findall(rf"^set {axis}tics \((.*?)\)(?: noenhanced)? font", self.script, re.MULTILINE)[-1]
        tics = re.findall(r'(?:"(\d+  )"\.)?["\']((?:[^"\\]|\\.)*?)["\'] (\d+)', found)
        return {int(place): plain(number + name) for number, name, place in tics}

    def legend(self):
        """(mark, colour) to name, and what stands above it."""
        found = re.findall(r'NaN with points pt (\d+) ps 0.8 lc rgb 0x(\w+) title "((?:[^"\\]|\\.)*)"', self.script)
        assert len({row[:2] for row in found}) == len(found), "two entries of the legend look alike"
        above = re.search(r"^set label 1003 '([^']*)'", self.script, re.MULTILINE)
        return {(int(mark), int(colour, 16)): plain(name) for mark, colour, name in found}, above[1] if above else None

    def points(self, block=0):
        """x, y, mark, colour of each."""
        return [(float(x), float(y), int(mark), int(colour) & 0xFFFFFF) for x, y, _, mark, colour in self.blocks[block]]


def contributions(path):
    """V times the lengths of the atoms, one row for each sample."""
    with np.load(path) as model:
        return (np.asarray(model["V"], float) * np.linalg.norm(np.asarray(model["U"], float), axis=0)[:, None]).T


def write_labels(path, labels):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{label}\n" for label in labels)


def make(name, samples, rank, *options, features=9, groups=None):
    """A model of rank atoms: samples around as many directions as there are groups, each with its own length."""
    random = np.random.default_rng(samples + rank)
    centres = random.gamma(0.4, 1.0, (groups or rank, features)) + 0.02
    rows = centres[np.arange(samples) % len(centres)] * random.uniform(0.5, 2, (samples, 1))
    np.save(name + ".npy", rows + random.uniform(0, 0.05, rows.shape))
    run("fit", name + ".npy", "--rank", rank, "--max-iter", 10, "--quiet", "--force", "--out", name + ".npz", *options)
    return name + ".npz"


def near(points, wanted):
    """The sample at each point, by its place: rounding to six digits keeps them apart."""
    found = [int(np.argmin(np.abs(wanted - np.array(point[:2])).sum(axis=1))) for point in points]
    assert len(set(found)) == len(found), "two points of one sample"
    for point, sample in zip(points, found):
        assert np.allclose(point[:2], wanted[sample], rtol=1e-5, atol=1e-5 * np.abs(wanted).max()), (point, wanted[sample])
    return found


def check_numbers_of_atoms():
    """Atoms, components and entries of codes count from 0, wherever they stand."""
    model = make("atoms", 80, 5, "--model", "pca")
    values = contributions(model)
    for a, b in ((0, 1), (4, 2), (3, 0)):
        picture = Picture(model, "scatter", "--components", f"{a},{b}")
        assert [f"set {axis}label 'component {k}'" in picture.script for axis, k in zip("xy", (a, b))] == [True, True]
        near(picture.points(), values[:, [a, b]])
    units = values / np.linalg.norm(values, axis=1)[:, None]
    with np.load(model) as arrays:
        codes = np.asarray(arrays["V"], float).T
    units = codes / np.linalg.norm(codes, axis=1)[:, None]
    picture = Picture(model, "sphere", "--components", "4,0")
    assert re.findall(r"set label \d '\{/:Italic v\}_\{(\d+)\}'", picture.script) == ["4", "0"], picture.script
    near(picture.points(), units[:, [4, 0]])
    for wrong in ("0,5", "1,1", "0", "-1,0", "0,1,2,3"):
        said = run("plot", model, "--kind", "sphere", "--components", wrong, "--out", "wrong.svg", status=64).stderr
        assert "from 0 to 4" in said and said.count("\n") == 1, said
    # The rows of the heat map: row k is what atom k contributes, and its tic says k.
    picture = Picture(model, "codes")
    rows = np.array(picture.blocks[0], float)
    assert picture.tics("y") == {k: str(k) for k in range(5)}, picture.tics("y")
    assert "($1+0.5)" in picture.script and ":($2):3" in picture.script, "row k does not stand at k"
    order = np.lexsort((-values.max(axis=1), values.argmax(axis=1)))
    assert np.allclose(rows, values[order].T, rtol=1e-3, atol=1e-4), "a row is another atom's"
    # Tables of codes, and the atoms of a summary.
    run("transform", model, "atoms.npy", "--out", "codes.csv", "--force", "--quiet")
    with open("codes.csv", encoding="utf-8") as file:
        head, first = file.readline().strip().split(","), file.readline().strip().split(",")
    assert head[-5:] == [f"code{k}" for k in range(5)], head
    assert np.allclose(np.array(first[-5:], float), codes[0], rtol=1e-4, atol=1e-6), (first, codes[0])
    shown = run("top", model, "--count", 1).stdout
    assert re.findall(r"^atom (\d+):", shown, re.MULTILINE) == [str(k) for k in range(5)], shown
    # Many components: still numbers, of some rows.
    many = make("many", 150, 70, "--model", "nmf", features=80)
    tics = Picture(many, "codes").tics("y")
    assert tics and all(name == str(place) for place, name in tics.items()) and min(tics) == 0 and max(tics) >= 60, tics


MISSING = ("", "nan", "NaN", "NA", "<NA>", "None", "null", "N/A")
SHOWN = 60  # characters of a name


def is_number(text):
    """Decimal, and not beyond what a double holds."""
    return bool(re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text, re.ASCII)) and np.isfinite(float(text))


def in_order(labels):
    """Labels that differ, as the library orders them: Python's own sort, by number or by character; missing ones last."""
    there = {label for label in labels if label not in MISSING}
    key = (lambda text: (float(text), text)) if all(map(is_number, there)) else (lambda text: text)
    return sorted(there, key=key) + ["(missing)"] * any(label in MISSING for label in labels)


def called(labels):
    return ["(missing)" if label in MISSING else label for label in labels]


def shown(text):
    return text if len(text) <= SHOWN else text[:SHOWN - 1] + "…"


def expect_tics(tics, names):
    """Each tic is the name of its place; all are there where there is space, otherwise some from the first on."""
    for place, name in tics.items():
        assert name in (shown(names[place]), f"{place}  {shown(names[place])}"), (place, name, names[place])
    if len(names) <= 60:
        assert len(tics) == len(names), (len(tics), "of", len(names), "are named")
    else:
        assert 0 in tics and 20 <= len(tics) <= 66 and max(tics) >= len(names) - (len(names) // 10), sorted(tics)


def expect_clusters(picture, names, labels, V):
    """Bars and angles of the classes that the tics name."""
    expect_tics(picture.tics("y"), names)
    for place, name in picture.tics("x").items():
        assert name in (names[place], str(place)), (place, name)
    labels = np.array(labels)
    sizes = [int((labels == name).sum()) for name in names]
    assert [(int(place), int(size)) for place, size, _ in picture.blocks[0]] == list(enumerate(sizes)), "sizes"
    means = np.array([V[labels == name].sum(axis=0) for name in names])
    unit = lambda rows: rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-300)[:, None]
    between = np.degrees(np.arccos(np.clip(unit(means) @ unit(means).T, -1, 1)))
    nowhere = np.linalg.norm(means, axis=1) == 0
    between[nowhere] = between[:, nowhere] = np.nan
    for at, name in enumerate(names):
        own = unit(V[labels == name]) @ unit(means)[at]
        there = np.linalg.norm(V[labels == name], axis=1) > 0
        between[at, at] = np.degrees(np.arccos(np.clip(own[there], -1, 1))).mean() if there.any() else np.nan
    drawn = np.full((len(names), len(names)), np.inf)
    for column, row, angle in picture.blocks[1]:
        drawn[int(row), int(column)] = float(angle)
    assert np.allclose(drawn, between, rtol=1e-3, atol=0.02, equal_nan=True), np.abs(drawn - between).max()


def expect_confusion(picture, rows, columns, truth, found):
    few = len(columns) <= 60
    expect_tics(picture.tics("y"), rows)
    tics = picture.tics("x")
    assert sorted(set(tics.values()) - set(columns)) == [] and (not few or sorted(tics.values()) == sorted(columns)), tics
    truth, found = np.array(truth), np.array(found)
    drawn = {(int(row), int(column)): int(count) for column, row, count, _ in picture.blocks[0]}
    assert len(drawn) == len(rows) * len(columns)
    for at, name in enumerate(rows):
        inside = found[truth == name]
        got = sorted(drawn[at, column] for column in range(len(columns)))
        assert got == sorted(int((inside == column).sum()) for column in columns), (name, "has other counts")
        for place, column in tics.items():
            assert drawn[at, place] == (inside == column).sum(), (name, column)


def expect_points(picture, names, labels, places, word, block=0):
    """Each point looks as the legend says of its sample's label, and the legend has the names that there are."""
    legend, above = picture.legend()
    points = picture.points(block)
    assert len(points) == len(labels)
    if len(names) > 24:
        assert not legend and f"{len(names)} {word}s" in picture.script, "many classes are not said"
    elif len(names) > 1:
        assert list(legend.values()) == [shown(name) for name in names] and above == word, (legend, names, above)
        for point, sample in zip(points, near(points, places)):
            assert legend[point[2:]] == shown(labels[sample]), (labels[sample], legend[point[2:]])


def labels_of(kind, classes):
    """That many labels, in no order."""
    random = np.random.default_rng(classes)
    names = {"numbers": [str(3 * k - 7) for k in range(classes)],
             "words": [f"kind {k} of {classes}" for k in range(classes)],
             "hostile": [f"`{k}` {{/=9}} %s '<&>\"\\é" for k in range(classes)]}[kind]
    return [names[k] for k in random.permutation(classes)]


def cells_of(path="picture.svg"):
    """Middle and colour of the rectangles of an SVG, from left to right and from the top down, without its colour box."""
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"<polygon fill = 'rgb\(([^)]*)\)' points = '([^']*)'", file.read())
    made = []
    for colour, points in found:
        corners = np.array([point.split(",") for point in points.split()], float)
        made.append((*corners.mean(axis=0), *np.ptp(corners, axis=0), *map(int, colour.split(","))))
    made = np.array(made)
    return made[np.lexsort((made[:, 0].round(), made[:, 1].round()))]


def diverging(value):
    """The colour of a value from -1 to 1."""
    stops = np.array([[0x05, 0x30, 0x61], [0x43, 0x93, 0xC3], [0xF7, 0xF7, 0xF7], [0xD6, 0x60, 0x4D], [0x67, 0x00, 0x1F]])
    return [np.interp(value, np.linspace(-1, 1, 5), stops[:, k]) for k in range(3)]


def check_single_rows():
    """gnuplot draws no image of one row or column: what has that shape is drawn all the same, in the colours of its values."""
    random = np.random.default_rng(11)
    np.save("signed.npy", random.normal(size=(60, 4)) * [3, 1, 1, 1])
    run("fit", "signed.npy", "--rank", 1, "--model", "pca", "--out", "signed.npz", "--force", "--quiet")
    picture, values = Picture("signed.npz", "codes"), np.sort(contributions("signed.npz")[:, 0])[::-1]
    assert np.allclose(np.array(picture.blocks[0], float)[0], values, rtol=1e-3, atol=1e-4), "not in the order of the entries"
    assert "ordered by its entry" in picture.script
    cells = cells_of()
    cells = cells[cells[:, 3] > 100]  # the colour box has slices, which are flat
    assert len(cells) == 60, len(cells)
    for cell, value in zip(cells, values / np.abs(values).max()):
        assert np.allclose(cell[4:], diverging(value), atol=8), (cell, value)
    # Atoms that are images of one row, or of one column.
    with np.load("signed.npz") as model:
        atom = np.asarray(model["U"], float)[:, 0]
    for size in ("1x4", "4x1"):
        Picture("signed.npz", "atoms", "--images", size)
        cells = cells_of()
        cells = cells[np.minimum(cells[:, 2], cells[:, 3]) > 12]
        assert len(cells) == 4, (size, len(cells))
        for cell, value in zip(cells, atom / np.abs(atom).max()):
            assert np.allclose(cell[4:], diverging(value), atol=8), (size, cell, value)
    # One sample, one class, one atom, one cluster.
    one = make("one", 1, 1, "--model", "nmf")
    write_labels("same.txt", ["a"] * 60)
    write_labels("two.txt", ["a", "b"] * 30)
    for model, kind, *options, count in (
        (one, "codes", 1), ("signed.npz", "confusion", "--truth", "same.txt", 1), ("signed.npz", "clusters", 2),
        ("signed.npz", "confusion", "--truth", "same.txt", "--labels", "two.txt", 2),
        ("signed.npz", "confusion", "--truth", "two.txt", "--labels", "same.txt", 2),
    ):
        Picture(model, kind, *options)
        cells = cells_of()
        assert (np.minimum(cells[:, 2], cells[:, 3]) > 20).sum() == count, (model, kind, options, cells)
    run("compare", "signed.npz", "signed.npz", "--plot", "picture.svg", "--force")
    cells = cells_of()
    assert (np.minimum(cells[:, 2], cells[:, 3]) > 20).sum() == 1, "one atom beside one"


def check_classes():
    """Few classes and many, numbers and words: tics, bars, angles and counts are those of the labels."""
    for classes, kind in ((1, "words"), (3, "numbers"), (9, "hostile"), (25, "words"), (60, "words"), (61, "words"),
                          (61, "numbers"), (130, "hostile"), (500, "words")):
        samples = max(2 * classes, 60)
        model = make("classes", samples, 3, "--model", "pca")
        with np.load(model) as arrays:
            V = np.asarray(arrays["V"], float).T
        names = labels_of(kind, classes)
        labels = [names[(j * j + j // 3) % classes] if j >= classes else names[j] for j in range(samples)]
        truth = [f"{j % 4}" for j in range(samples)]
        write_labels("labels.txt", labels)
        write_labels("truth.txt", truth)
        names = in_order(labels)
        picture = Picture(model, "clusters", "--labels", "labels.txt")
        assert picture.title == f"{samples} samples with {classes} label{'s' * (classes > 1)}", picture.title
        expect_clusters(picture, names, labels, V)
        picture = Picture(model, "confusion", "--labels", "labels.txt", "--truth", "truth.txt")
        expect_confusion(picture, in_order(truth), names, truth, labels)
        picture = Picture(model, "confusion", "--labels", "truth.txt", "--truth", "labels.txt")
        expect_confusion(picture, names, in_order(truth), labels, truth)
        picture = Picture(model, "scatter", "--components", "2,0", "--labels", "labels.txt")
        expect_points(picture, names, labels, contributions(model)[:, [2, 0]], "label")
    write_labels("labels.txt", range(501))
    model = make("classes", 501, 2, "--model", "pca")
    for kind in (("clusters", "--labels", "labels.txt"), ("confusion", "--labels", "labels.txt", "--truth", "labels.txt"),
                 ("confusion", "--truth", "labels.txt")):
        said = run("plot", model, "--kind", *kind, "--out", "wrong.svg", status=65).stderr
        assert "501" in said and "500" in said and said.count("\n") == 1, said


def check_given_and_found():
    """A model with classes and clusters: pictures of clusters draw the clusters, and each says which it draws."""
    samples = 240
    random = np.random.default_rng(4)
    given = [("ham", "spam", "9 lives", "10 lives")[k] for k in random.integers(0, 4, samples)]
    make("given", samples, 3, "--model", "pca", groups=70)
    write_labels("given.txt", given)
    for k in (5, 66):
        run("fit", "given.npy", "--labels", "given.txt", "--rank", 3, "--model", "pca", "--quiet", "--force", "--out", "given.npz")
        run("cluster", "given.npz", "--k", k, "--method", "kmeans", "--model-out", "both.npz", "--out", "found.txt", "--quiet", "--force")
        with open("found.txt", encoding="ascii") as file:
            found = file.read().split()
        with np.load("both.npz") as arrays:
            V = np.asarray(arrays["V"], float).T
        numbers = [str(c) for c in range(k)]
        picture = Picture("both.npz", "clusters")
        assert picture.title == f"{samples} samples in {k} clusters" and "set label 2 'cluster' " in picture.script, picture.title
        expect_clusters(picture, numbers, found, V)
        picture = Picture("both.npz", "clusters", "--labels", "given.txt")
        assert picture.title == f"{samples} samples with 4 labels" and "set label 2 'label' " in picture.script
        expect_clusters(picture, in_order(given), given, V)
        picture = Picture("given.npz", "clusters")
        assert picture.title == f"{samples} samples with 4 labels", picture.title
        expect_clusters(picture, in_order(given), given, V)
        picture = Picture("both.npz", "confusion")
        assert re.search(r"set label 1 'cluster( \(every \d+\w\w is named\))?' ", picture.script)
        expect_confusion(picture, in_order(given), numbers, given, found)
        assert "set label 1 'label' " in Picture("both.npz", "confusion", "--labels", "given.txt").script
        assert "set label 1 'largest atom' " in Picture("given.npz", "confusion").script
        for kind in ("scatter", "sphere"):
            picture = Picture("both.npz", kind, "--components", "0,1")
            assert picture.legend()[1] == "label" and list(picture.legend()[0].values()) == in_order(given)
    make("plain", 60, 3, "--model", "pca")
    picture = Picture("plain.npz", "clusters")
    assert picture.title == "60 samples by the largest of 3 atoms" and "set label 2 'largest atom' " in picture.script
    values = contributions("plain.npz")
    with np.load("plain.npz") as arrays:
        expect_clusters(picture, ["0", "1", "2"], [str(k) for k in values.argmax(axis=1)], np.asarray(arrays["V"], float).T)


def check_zeros():
    """Samples of zeros have no direction: none of their angles counts, and a class of them has none."""
    X = np.random.default_rng(8).random((40, 5)) + 0.1
    labels = np.array(["ab"[j % 2] for j in range(40)])
    X[10:13], X[30:33], labels[30:33] = 0, 0, "c"
    np.save("zeros.npy", X)
    write_labels("labels.txt", labels)
    run("fit", "zeros.npy", "--rank", 3, "--model", "spherical-nmf", "--out", "zeros.npz", "--force", "--quiet")
    with np.load("zeros.npz") as arrays:
        V = np.where(np.linalg.norm(X, axis=1)[:, None] > 0, np.asarray(arrays["V"], float).T, 0)
    expect_clusters(Picture("zeros.npz", "clusters", "--labels", "labels.txt"), ["a", "b", "c"], labels, V)


def purity(clusters, classes):
    return sum(np.bincount(classes[clusters == c]).max() for c in set(clusters)) / len(classes)


def check_largest_atom():
    """The atom that contributes most has the largest v_k ||u_k||, with its sign; of equals the lowest: in pictures, cluster,
    top and compare."""
    random = np.random.default_rng(23)
    X = random.normal(size=(90, 5)) @ random.normal(size=(5, 9))
    X[17] = 0
    np.save("signed.npy", X)
    models = {"first.npz": ["--model", "pca"], "second.npz": ["--basis", "free", "--codes", "sphere"],
              "third.npz": ["--model", "spherical-pca"]}
    labels = {}
    for model, options in models.items():
        run("fit", "signed.npy", "--rank", 4, "--quiet", "--force", "--out", model, *options)
        values = contributions(model)
        atoms = values.argmax(axis=1)
        assert not np.array_equal(atoms, np.abs(values).argmax(axis=1)), "the signs say nothing"
        run("cluster", model, "--method", "argmax", "--out", "atoms.txt", "--force", "--quiet")
        labels[model] = np.loadtxt("atoms.txt", dtype=int)
        there = np.arange(90) != 17
        assert np.array_equal(labels[model][there], atoms[there])
        sizes = [atom["size"] for atom in json.loads(run("top", model, "--json").stdout)["atoms"]]
        assert sizes == np.bincount(atoms[there], minlength=4).tolist(), "a sample of zeros has none"
        drawn = [int(size) for _, size, _ in Picture(model, "clusters").blocks[0]]
        assert drawn == np.bincount(labels[model], minlength=4).tolist(), "sizes of the picture"
        order = np.lexsort((-values[np.arange(90), labels[model]], labels[model]))
        rows = np.array(Picture(model, "codes").blocks[0], float)
        assert np.allclose(rows, values[order].T, rtol=1e-3, atol=1e-4), "order of the codes"
    for a, b in (("first.npz", "second.npz"), ("first.npz", "third.npz"), ("second.npz", "third.npz")):
        found = json.loads(run("compare", a, b, "--json").stdout)["clusters"]
        assert abs(found["purity"] - purity(labels[b], labels[a])) < 1e-12 and found["samples"] == 90


def check_order_of_labels():
    """Labels that are partly numbers, equal as numbers, or missing: every sample has its own label's colour, the legend has
    each label once, in the order of `armilla top`."""
    model = make("order", 60, 3, "--model", "pca")
    places = contributions(model)[:, [0, 2]]
    with np.load(model) as arrays:
        V = np.asarray(arrays["V"], float).T
    for names in (("2", "1e3", "1f"), ("1.2", "1.10", "1.9", "1.9rc1", "1.3b"), ("0", "1", "nan", "2"), ("b", "nan", "a", "NA"),
                  ("10", "9", "1e1", "-0", "0", "+0"), ("0x10", "16", "1", "٣"), ("", "3", "None", "20"), ("nan", "NaN"),
                  ("1", "01", "1.0"), ("zä", "za", "zz", "Z"), ("1e400", "2", "10")):
        labels = [names[k] for k in np.random.default_rng(len(names)).permutation(np.arange(60) % len(names))]
        with open("labels.csv", "w", encoding="utf-8") as file:
            file.write("sample,cluster\n" + "".join(f"{j},{label}\n" for j, label in enumerate(labels)))
        wanted, missing = in_order(labels), sum(label in MISSING for label in labels)
        picture = Picture(model, "scatter", "--components", "0,2", "--labels", "labels.csv")
        expect_points(picture, wanted, called(labels), places, "label")
        assert (f"labels    {missing} of 60 are missing" in picture.said) == (missing > 0), picture.said
        expect_clusters(Picture(model, "clusters", "--labels", "labels.csv"), wanted, called(labels), V)
        done = run("top", model, "--clusters", "labels.csv", "--atoms", "none", "--count", 1)
        heads = re.findall(r"^cluster (.*): (\d+) samples", done.stdout, re.MULTILINE)
        assert heads == [(name, str(called(labels).count(name))) for name in wanted], (heads, wanted)
        assert ("are missing" in done.stderr) == (missing > 0), done.stderr
        listed = json.loads(run("top", model, "--clusters", "labels.csv", "--atoms", "none", "--count", 1, "--json").stdout)
        assert ["(missing)" if c["cluster"] is None else str(c["cluster"]) for c in listed["clusters"]] == wanted
        scores = run("score", "labels.csv", "labels.csv", "--json")
        assert json.loads(scores.stdout)["classes"] == len(wanted), (scores.stdout, wanted)
        assert ("are missing" in scores.stderr) == (missing > 0), scores.stderr


def main():
    if not shutil.which("gnuplot"):
        print("no gnuplot: nothing was drawn")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, check in sorted(globals().items()):
            if name.startswith("check_"):
                check()
        os.chdir("/")


main()
