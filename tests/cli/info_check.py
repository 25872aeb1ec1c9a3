#!/usr/bin/env python3
"""The commands that `info` gives for data are whole, for every format and option of reading, and the same as in the documents.

$ARMILLA is the command, $ARMILLA_SOURCE the source tree. Exit status 77 (skipped) where NumPy or SciPy is missing."""

import csv
import gzip
import json
import math
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.sparse as sparse
    from scipy.io import mmwrite, savemat
except ImportError:
    sys.exit(77)
try:
    import h5py
except ImportError:
    h5py = None

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
random = np.random.default_rng(11)


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout, done.stderr


def commands(data, *options):
    """Runs the two commands that info prints; the second one. They work on the data that info has looked at."""
    facts = json.loads(run("info", data, *options, "--json")[0])
    hints = facts["hints"]
    assert hints[-2].startswith("clusters:  armilla cluster "), hints
    for line, output in ((hints[-2], "clusters.txt"), (hints[-1], "model.npz")):
        words = shlex.split(line)[2:]
        given = list(map(str, options))
        assert words[2 : 2 + len(given)] == given, (words, given)
        assert ("--k" in words) == (facts["n"] < 30 and words[0] == "cluster"), words
        run(*words, "--quiet", "--force")
    assert len(open("clusters.txt").read().split()) == facts["n"]
    model = json.loads(run("info", "model.npz", "--json")[0])
    assert [model[key] for key in ("m", "n", "fingerprint")] == [facts[key] for key in ("m", "n", "fingerprint")], data
    return hints[-1]


def counts(samples, features, random_state=1):
    made = sparse.random(samples, features, 0.1, random_state=random_state, format="csr")
    made.data[:] = random.integers(1, 4, made.nnz)
    return made


def check_commands():
    sparse.save_npz("my counts.npz", counts(60, 40))
    line = commands("my counts.npz")
    assert line.startswith("topics: ") and line.endswith("--model nmf --log1p --tfidf --normalize l2 --out model.npz"), line
    np.save("images.npy", random.integers(0, 255, (50, 30)).astype(np.uint8))
    line = commands("images.npy", "--samples", "columns")
    assert line.endswith("--model spherical-nmf --normalize l2 --out model.npz"), line
    np.save("signed.npy", random.normal(size=(50, 30)))
    assert commands("signed.npy").endswith("--model spherical-pca --center --normalize l2 --out model.npz")
    np.save("units.npy", np.abs(random.normal(size=(50, 5))) * [1, 2, 1, 900, 1])
    assert commands("units.npy").endswith("--model spherical-pca --scale --center --normalize l2 --out model.npz")
    os.rename("units.npy", "-units of 'mine'.npy")
    commands("./-units of 'mine'.npy")


def ten_x(folder, matrix, genes):
    os.makedirs(folder)
    with open(f"{folder}/matrix.mtx", "wb") as file:
        mmwrite(file, matrix.T.tocoo(), field="integer")
    with open(f"{folder}/features.tsv", "w") as file:
        file.writelines(f"ENSG{i:011d}\t{name}\n" for i, name in enumerate(genes))
    with open(f"{folder}/barcodes.tsv", "w") as file:
        file.writelines(f"cell{i}\n" for i in range(matrix.shape[0]))


def preparation(line):
    """Of a command: the model and what data become, without what depends on their size."""
    words = shlex.split(line.split(", then")[0].strip("`"))
    kept, skip = [], False
    for word, value in zip(words, words[1:] + [""]):
        if word in ("--model", "--total", "--normalize"):
            kept.append(f"{word} {value}")
        elif word in ("--log1p", "--tfidf", "--scale", "--center"):
            kept.append(word)
    return sorted(kept)


def check_advice():
    """One piece of advice for a kind of data: in info, README, the tutorials and docs/clustering.md."""
    source = os.environ["ARMILLA_SOURCE"]
    many = counts(80, 2500, 2)
    ten_x("cells", many, [f"g{i}" for i in range(2500)])
    cells = commands("cells")
    assert cells.startswith("programs: ") and "--top-features 2000" in cells, cells
    # Genes' names tell cells from texts in any format.
    for names, kind in (([f"ENSG{i:011d}" for i in range(2500)], "programs:"), ([f"w{i}" for i in range(2500)], "topics:"),
                        (["MT-CO1", "MT-ND1", "MT-CYB"] + [f"G{i}" for i in range(2497)], "programs:")):
        sparse.save_npz("named.npz", many)
        with open("names.txt", "w") as file:
            file.writelines(name + "\n" for name in names)
        assert commands("named.npz", "--feature-names", "names.txt").startswith(kind)
    np.save("images.npy", random.integers(0, 255, (50, 30)).astype(np.uint8))
    np.save("units.npy", np.abs(random.normal(size=(50, 5))) * [1, 2, 1, 900, 1])
    found = {
        "cells": preparation(cells),
        "texts": preparation(commands("my counts.npz")),
        "images": preparation(commands("images.npy")),
        "measurements": preparation(commands("units.npy")),
    }
    for page in ("README.md", "docs/clustering.md"):
        text = open(f"{source}/{page}", encoding="utf-8").read()
        for kind, wanted in found.items():
            rows = re.findall(rf"^\| [^|\n]*{kind}[^|\n]* \| (`(?:armilla )?fit [^|\n]*) \|$", text, re.M)
            assert rows and all(preparation(row) == wanted for row in rows), (page, kind, rows, wanted)
    for kind in ("cells", "texts", "images"):
        text = open(f"{source}/docs/tutorials/{kind}.md", encoding="utf-8").read().replace("\\\n", " ")
        lines = re.findall(r"armilla fit [^`\n]*", text)
        assert any(preparation(line) == found[kind] for line in lines), (kind, lines)


def formats():
    """A small file of every format that is read."""
    X = random.integers(0, 9, (24, 6)).astype(np.uint8)
    np.save("x.npy", X.astype(float))
    for name in ("x.npz", "x.mtx", "x.csv", "x.svm", "x.idx3-ubyte", "x.fvecs", "x.fbin"):
        kind = {"svm": "svmlight", "idx3-ubyte": "idx"}.get(name[2:], name[2:])
        run("convert", "x.npy", name, "--to", kind, "--quiet", "--force")
        yield kind, name
    yield "npy", "x.npy"
    ten_x("ten", counts(30, 12), [f"g{i}" for i in range(12)])
    yield "10x", "ten"
    os.makedirs("pictures")
    for i in range(12):
        with open(f"pictures/{i}.pgm", "wb") as file:
            file.write(b"P5\n4 3\n255\n" + random.bytes(12))
    yield "images", "pictures"
    for kind, dtype in (("bvecs", np.uint8), ("ivecs", np.int32)):
        with open(f"x.{kind}", "wb") as file:
            for row in X:
                file.write(struct.pack("<i", 6) + row.astype(dtype).tobytes())
        yield kind, f"x.{kind}"
    for kind, dtype in (("u8bin", np.uint8), ("i8bin", np.int8)):
        with open(f"x.{kind}", "wb") as file:
            file.write(struct.pack("<ii", *X.shape) + X.astype(dtype).tobytes())
        yield kind, f"x.{kind}"
    header = json.dumps({"w": {"dtype": "U8", "shape": list(X.shape), "data_offsets": [0, X.size]}}).encode()
    with open("x.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + X.tobytes())
    yield "safetensors", "x.safetensors"
    vectors = random.normal(size=(30, 30)).astype(np.float32)
    lines = [f"w{i} " + " ".join(f"{v:.4f}" for v in row) + "\n" for i, row in enumerate(vectors)]
    for kind, head in (("word2vec", "30 30\n"), ("glove", "")):
        with open(f"x.{kind}.txt", "w") as file:
            file.write(head + "".join(lines))
        yield kind, f"x.{kind}.txt"
    savemat("x.mat", {"X": X.astype(float)})
    yield "mat", "x.mat"
    if h5py:
        with h5py.File("x.h5ad", "w") as file:
            file.attrs["encoding-type"] = "anndata"
            file["X"] = X.astype(float)
            for axis, count in (("obs", 24), ("var", 6)):
                file[f"{axis}/_index"] = [f"{axis}{i}".encode() for i in range(count)]
                file[axis].attrs["_index"] = "_index"
        yield "hdf5", "x.h5ad"


def check_formats():
    listed = {line.split()[0] for line in run("list", "formats")[0].splitlines() if line.split()[1:]}
    seen = set()
    for kind, name in formats():
        commands(name)
        seen.add(kind)
    assert h5py is None or len(seen) >= 19, seen
    assert seen <= listed, seen - listed


def check_options():
    """Every row of the table of reading options is carried over."""
    X = random.normal(size=(30, 4)).round(3) + 3
    with open("t.csv", "w") as file:
        file.write("who;a;b;c;d;city;kind\n")
        for i, row in enumerate(X):
            numbers = ";".join(f"{v:.3f}".replace(".", ",") for v in row)
            file.write(f"p{i};{numbers};{'xy'[i % 2]};{'uvw'[i % 3]}\n")
    np.save("x.npy", X)
    np.savez("several.npz", a=X, b=X + 1, y=np.arange(30) % 3)
    for name, count in (("labels.txt", 30), ("samples.txt", 30), ("features.txt", 4)):
        with open(name, "w") as file:
            file.writelines(f"{name[0]}{i % 3 if name == 'labels.txt' else i}\n" for i in range(count))
    text = ("--ignore-columns", "city,kind")
    cases = {
        "format": ("x.npy", "npy"),
        "samples": ("x.npy", "columns"),
        "label-column": ("t.csv", "kind", "--ignore-columns", "city"),
        "name-column": ("t.csv", "who", *text),
        "separator": ("t.csv", ";", *text),
        "header": ("t.csv", "yes", *text),
        "decimal": ("t.csv", "comma", *text),
        "ignore-columns": ("t.csv", "who,city,kind"),
        "array": ("several.npz", "b"),
        "labels": ("x.npy", "labels.txt"),
        "label-array": ("several.npz", "y", "--array", "a"),
        "feature-names": ("x.npy", "features.txt"),
        "sample-names": ("x.npy", "samples.txt"),
        "keep-label": ("x.npy", "l0,l2", "--labels", "labels.txt"),
        "keep-samples": ("x.npy", "1-20"),
        "keep-features": ("x.npy", "1,2,4"),
    }
    section = re.search(r"\nreading options:\n(.*?)\n\n", run("help", "info")[0], re.S).group(1)
    rows = re.findall(r"^  --(\S+)", section, re.M)
    assert set(rows) - {"memory"} == set(cases), set(rows) ^ set(cases)
    for name, (path, value, *more) in cases.items():
        given = dict(zip([f"--{name}", *more[::2]], [value, *more[1::2]]))
        ordered = sorted(given, key=lambda option: rows.index(option[2:]))
        commands(path, *[word for option in ordered for word in (option, given[option])])


def check_words():
    """People read features and samples; a table has its columns."""
    shown = run("info", "x.npy")[0]
    assert re.search(r"^features +4$", shown, re.M) and re.search(r"^samples +30$", shown, re.M), shown
    assert not re.search(r"^[mn] ", shown, re.M), shown
    with open("t.csv", "w") as file:
        file.write("who,size,count,gone,city,kind\n")
        file.writelines(f"p{i},{i / 4},{i % 5},{'' if i % 2 else 'NA'},c{i},{'uv'[i % 2]}\n" for i in range(20))
    options = ("--label-column", "kind", "--ignore-columns", "city")
    found = {row.pop("column"): row for row in json.loads(run("info", "t.csv", *options, "--json")[0])["columns"]}
    wanted = {
        "who": ("names", "text", 0, 20),
        "size": ("feature", "number", 0, 20),
        "count": ("feature", "integer", 0, 5),
        "gone": ("feature", "empty", 20, 0),
        "kind": ("labels", "text", 0, 2),
        "city": ("left out", "text", 0, 20),
    }
    assert {name: tuple(row.values()) for name, row in found.items()} == wanted, found
    shown = run("info", "t.csv", *options)[0]
    assert re.search(r"^  count +feature +integer +0 missing +5 distinct$", shown, re.M), shown


MISSING = ("", "NA", "nan", "NaN", "null", "None", "inf", "-inf", "#N/A")
MOST = 10000  # distinct values that are counted


def number(field, mark="."):
    """The field as a number, or None."""
    text = field.strip(" \t").replace(mark, ".") if mark == "." or "." not in field else "x"
    return float(text) if re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", text) else None


def column_facts(fields, mark, as_text):
    """Type, missing and distinct values of a column, by plain loops."""
    there = [field for field in fields if field.strip(" \t").lower() not in [word.lower() for word in MISSING]]
    values = [number(field, mark) for field in there]
    kind = "empty" if not there else "text" if None in values else "integer" if all(v == math.floor(v) for v in values) else "number"
    distinct = len({field if as_text or value is None else value + 0.0 for field, value in zip(there, values)})
    return kind, len(fields) - len(there), distinct if distinct <= MOST else None


def check_table(path, uses, *options, mark=".", delimiter=",", header=True, status=True):
    """Every column is listed as Python's csv module has it, and the commands run. uses: of each column."""
    opened = gzip.open(path, "rt", newline="") if path.endswith(".gz") else open(path, newline="")
    with opened as file:
        rows = list(csv.reader(file, delimiter=delimiter, skipinitialspace=True))
    names = rows.pop(0) if header else [str(i + 1) for i in range(len(rows[0]))]
    facts = json.loads(run("info", path, *options, "--json")[0])
    assert len(facts["columns"]) == len(names) == len(uses), (path, facts["columns"])
    for i, (row, use) in enumerate(zip(facts["columns"], uses)):
        wanted = column_facts([fields[i] for fields in rows], mark, use in ("names", "labels"))
        found = (row["type"], row["missing"], row["distinct"])
        assert (row["column"], row["use"], *found) == (names[i] or str(i + 1), use, *wanted), (path, i, row, wanted)
        assert (row["distinct"] is None) == ("distinct_more_than" in row) and row.get("distinct_more_than", MOST) == MOST
    shown = run("info", path, *options)[0]
    assert shown.count(" missing ") >= min(len(names), 40), shown
    lines = [hint for hint in facts["hints"] if " armilla " in hint]
    if status and not facts["missing"]:
        assert len(lines) == 2, facts["hints"]
        for line in lines:
            run(*shlex.split(line)[2:], "--quiet", "--force")
        model = json.loads(run("info", "model.npz", "--json")[0])
        assert [model[key] for key in ("m", "n", "fingerprint")] == [facts[key] for key in ("m", "n", "fingerprint")], path
    return facts, [hint for hint in facts["hints"] if hint.startswith("note: column")]


def write(path, rows, delimiter=",", **more):
    opened = gzip.open(path, "wt", newline="") if path.endswith(".gz") else open(path, "w", newline="")
    with opened as file:
        csv.writer(file, delimiter=delimiter, **more).writerows(rows)


def made_column(kind, rows, mark="."):
    """Fields of a column of that kind."""
    if kind == "class":
        return [f"k{v}" for v in random.integers(0, 3, rows)]
    if kind == "id":
        return [f"n, {i}" if i % 3 else f'say "{i}"\nand more' for i in range(rows)]
    if kind == "other":
        return [f"t{v}" for v in random.integers(0, rows, rows)[:-1]] + [""]
    if kind == "spoiled":
        return [f"{i}" for i in range(rows - 1)] + ["12x"]
    if kind == "integer":
        return [str(v) for v in random.integers(-4, 4, rows)]
    if kind == "ties":  # one number, written differently
        return [("1", "1.0", "10e-1", "-0", "0", "2.5")[v].replace(".", mark) for v in random.integers(0, 6, rows)]
    return [repr(float(v)).replace(".", mark) for v in random.normal(5, 1, rows).round(3)]


def check_texts():
    """Tables with text anywhere: listed, advised about, and read by the commands; fits refuse them as they are."""
    iris = os.path.join(os.environ["ARMILLA_SOURCE"], "experiments/sets/iris.csv")
    facts, notes = check_table(iris, ["feature"] * 4 + ["no feature"])
    assert notes == ["note: column class has few different texts, as classes do (--label-column class)"], notes
    assert facts["labels"] == ["setosa", "versicolor", "virginica"] and "--label-column class" in facts["hints"][-1]
    for command in ("fit", "cluster"):
        assert "'setosa' is not a number" in run(command, iris, "--k" if command == "cluster" else "--rank", 2, "--out", "o", status=65)[1]
    kinds = ("number", "integer", "ties", "class", "id", "other", "spoiled")
    for seed in range(14):
        rows, mark, delimiter = int(random.integers(31, 60)), ".,"[seed % 2], ",;"[seed % 2]
        path = ("t.csv", "t.csv.gz")[seed // 2 % 2]
        chosen = ["number", *random.choice(kinds, int(random.integers(1, 7))), "number"]
        if seed % 3 == 0:
            chosen.append("class")
        table = list(zip(*(made_column(kind, rows, mark) for kind in chosen)))
        header = [f"c {i}" if i % 2 else f"c{i}" for i in range(len(chosen))]
        write(path, [header, *table], delimiter)
        uses = ["no feature" if kind in ("class", "id", "other", "spoiled") else "feature" for kind in chosen]
        facts, notes = check_table(path, uses, mark=mark, delimiter=delimiter)
        words = {"class": "--label-column", "id": "--name-column", "spoiled": "('12x' in row", "other": ""}
        assert len(notes) == len(set(chosen) & set(words)), notes
        for kind in set(chosen) & set(words):
            assert any(words[kind] in note for note in notes), (kind, notes)
        assert facts["m"] == uses.count("feature") and facts["n"] == rows
        if "class" in chosen:
            column = header[len(chosen) - 1 - chosen[::-1].index("class")]
            assert f"--label-column {shlex.quote(column)} " in facts["hints"][-1], facts["hints"]
        if "spoiled" not in chosen and {"id", "other"} & set(chosen):
            assert "--ignore-columns text " in facts["hints"][-1], facts["hints"]
        check_table(path, ["no sample" if use == "no feature" else "sample" for use in uses], "--samples", "columns", mark=mark,
                    delimiter=delimiter)


def check_uses():
    """What options make of columns, missing values of every kind, and odd shapes."""
    n = 40
    table = list(zip([f"p{i}" for i in range(n)], made_column("number", n), made_column("class", n), made_column("integer", n),
                     made_column("other", n)))
    header = ["who", "x", "kind", "count", "city"]
    write("t.csv", [header, *table])
    check_table("t.csv", ["names", "feature", "no feature", "feature", "no feature"])
    check_table("t.csv", ["names", "feature", "labels", "feature", "no feature"], "--label-column", "kind")
    check_table("t.csv", ["names", "feature", "no feature", "left out", "no feature"], "--ignore-columns", "count")
    check_table("t.csv", ["names", "feature", "left out", "feature", "left out"], "--ignore-columns", "text")
    check_table("t.csv", ["names", "feature", "labels", "left out", "left out"], "--label-column", "kind", "--ignore-columns", "4,city")
    check_table("t.csv", ["labels", "feature", "no feature", "feature", "names"], "--label-column", "who", "--name-column", "city")
    write("t.csv", table)
    check_table("t.csv", ["names", "feature", "no feature", "feature", "no feature"], header=False)
    write("t.csv", [header, *[("7" if i == 9 else row[0], *row[1:]) for i, row in enumerate(table)]])  # a number among names
    facts, _ = check_table("t.csv", ["names", "feature", "no feature", "feature", "no feature"])
    assert "--name-column 1 " in facts["hints"][-1]
    write("t.csv", [["a", "b", "gone", "c"], *[(MISSING[i % len(MISSING)], i, "", "x" if i % 2 else " NA ") for i in range(20)]])
    facts, _ = check_table("t.csv", ["feature", "feature", "feature", "no feature"], "--name-column", "none")
    assert facts["missing"] == 40
    write("t.csv", [["a", "a", "", "text"], *[(1 + i, "u" * (i + 1), f"v{i % 7}", "wxyz"[i // 8]) for i in range(32)]])  # names that name none
    check_table("t.csv", ["feature", "no feature", "no feature", "no feature"], "--header", "yes")
    write("t.csv", [["x", "y", "kind"], ["1", "2", "a"]])
    check_table("t.csv", ["feature", "feature", "no feature"], status=False)
    write("t.csv", [["x"], *[[i % 5] for i in range(40)]])
    check_table("t.csv", ["feature"])
    for rows in ([["x"], ["abc"], ["def"]], [["x", "y"], ["abc", "d"], ["def", "e"]]):  # nothing to fit
        write("t.csv", rows)
        facts, _ = check_table("t.csv", ["no feature"] if len(rows[0]) == 1 else ["names", "no feature"], status=False)
        assert (facts["m"], facts["n"]) == (0, 2) and "nothing to fit" in facts["hints"][-1]
    wide = [made_column("class" if i % 50 == 7 else "ties", 31) for i in range(300)]
    write("t.csv", [[f"c{i}" for i in range(300)], *zip(*wide)])
    check_table("t.csv", ["no feature" if i % 50 == 7 else "feature" for i in range(300)])
    write("t.csv", [["x", "y", "z"], *[(i, i % MOST, f"w{i}") for i in range(MOST + 1)]])
    facts = json.loads(run("info", "t.csv", "--json", "--name-column", "none")[0])
    assert [row["distinct"] for row in facts["columns"]] == [None, MOST, None]
    assert re.search(r"^  x .* more than 10000 distinct$", run("info", "t.csv", "--name-column", "none")[0], re.M)
    with open("t.csv", "w") as file:
        file.write("x,y,kind\n1,2,a\n3,b\n")
    assert "line 3 has 2 fields" in run("info", "t.csv", status=65)[1]


def check_orientation():
    """Samples that are probably columns are said, and nothing is said of others."""
    rates = np.exp(random.normal(0, 1.5, 200))
    cells = random.poisson(rates * 2, (120, 200))
    phrase = "samples are probably the columns"
    for suffix, save in (("npy", lambda path, X: np.save(path, X.astype(float))), ("csv", lambda path, X: np.savetxt(path, X, "%d", ","))):
        save(f"right.{suffix}", cells)
        save(f"turned.{suffix}", cells.T)
        assert phrase in run("info", f"turned.{suffix}")[0]
        assert phrase not in run("info", f"turned.{suffix}", "--samples", "columns")[0]
        assert phrase not in run("info", f"turned.{suffix}", "--samples", "rows")[0]
        assert phrase not in run("info", f"right.{suffix}")[0]
        assert phrase in run("cluster", f"turned.{suffix}", "--k", 3, "--out", "c.txt", "--force")[1]
        assert phrase not in run("cluster", f"right.{suffix}", "--k", 3, "--out", "c.txt", "--force")[1]
    with open("genes.csv", "w") as file:
        file.write("gene,a,b,c\n")
        file.writelines(f"ENSG{i:011d},{i},1,2\n" for i in range(30))
    assert phrase in run("info", "genes.csv")[0]
    for seed in range(20):
        noise = np.random.default_rng(seed)
        np.save("x.npy", [noise.normal(size=(50, 30)), noise.uniform(size=(60, 25)), noise.poisson(2, (40, 40)).astype(float),
                          noise.lognormal(0, 1, (80, 30))][seed % 4])
        assert phrase not in run("info", "x.npy")[0], seed
    sizes = np.exp(1.6 * random.normal(size=(80, 1))) * 1e6  # countries over the years
    np.save("x.npy", np.round(sizes * np.cumprod(1 + 0.02 * random.random((80, 40)), axis=1)))
    assert phrase not in run("info", "x.npy")[0]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_commands()
    check_advice()
    check_formats()
    check_options()
    check_words()
    check_texts()
    check_uses()
    check_orientation()
    os.chdir("/")
