#!/usr/bin/env python3
"""The options of reading: each row of their table beside a model, and what a model remembers of them.

The table is read from --help, so that a new row is tested without an edit here. $ARMILLA is the command. Exit status 77
(skipped) where NumPy is missing."""

import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
random = np.random.default_rng(24)


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout, done.stderr


def options_of(command):
    """Every option of reading that the command has: its name, and a value that is one."""
    section = re.search(r"\nreading options:\n(.*?)\n\n", run("help", command)[0], re.S).group(1)
    rows = re.split(r"\n  (?=--)", "\n" + section)[1:]
    found = {}
    for row in rows:
        name = re.match(r"--(\S+)", row).group(1)
        words = re.search(r"one of\s+(\w+)", row)
        found[name] = "1G" if name == "memory" else words.group(1) if words else "1"
    assert len(found) > 15, found
    return found


def check_models():
    """Where no data are read, a model refuses every option that says how."""
    np.save("x.npy", random.normal(size=(30, 6)))
    run("fit", "x.npy", "--rank", 3, "--out", "model.npz", "--quiet")
    named = ("feature-names", "sample-names")  # top gives these to the model
    commands = {
        "cluster": (["--k", 2], ()),
        "info": ([], ()),
        "neighbors": (["--count", 2, "--out", "graph.npz", "--force"], ()),
        "top": ([], named),
        "compare": (["model.npz"], ()),
    }
    for command, (more, taken) in commands.items():
        for name, value in options_of(command).items():
            if name in taken:
                continue
            fine = name == "memory"
            _, said = run(command, "model.npz", *more, f"--{name}", value, status=0 if fine else 64)
            assert fine or (f"--{name}: model.npz is a model" in said and said.count("\n") == 1), said
    # Where data are read beside the model, they are about these.
    run("neighbors", "model.npz", "--queries", "x.npy", "--samples", "rows", "--count", 2, "--out", "graph.npz", "--force")
    run("top", "model.npz", "--data", "x.npy", "--keep-samples", "1-9")
    run("compare", "model.npz", "model.npz", "--data", "x.npy", "--format", "npy")


def table(path, X, labels=None, names=None, separator=",", header=True, mark="."):
    columns = ([names] if names else []) + [[str(v).replace(".", mark) for v in x] for x in X.T] + ([labels] if labels else [])
    with open(path, "w", encoding="utf-8") as file:
        if header:
            heads = (["who"] if names else []) + [f"f{i}" for i in range(X.shape[1])] + (["kind"] if labels else [])
            file.write(separator.join(heads) + "\n")
        for row in zip(*columns):
            file.write(separator.join(map(str, row)) + "\n")


def codes(*arguments):
    said = run("transform", *arguments, "--out", "codes.npy", "--force")[1]
    return np.load("codes.npy"), said


def check_recall():
    """A model applied to another table reads it as its own, unless options say otherwise."""
    n = 40
    X = random.normal(size=(n, 5)).round(4) + 2
    labels, names = [int(v) for v in random.integers(0, 3, n)], [int(v) for v in random.permutation(n) + 100]
    np.save("plain.npy", X)
    cases = {
        "label": (dict(labels=labels), ["--label-column", "kind"]),
        "label number": (dict(labels=labels, header=False), ["--label-column", "6"]),
        "names": (dict(names=names), ["--name-column", "who"]),
        "ignored": (dict(names=names, labels=labels), ["--ignore-columns", "who,kind"]),
        "separator": (dict(labels=labels, separator="|"), ["--separator", "|", "--label-column", "kind"]),
        "decimal": (dict(separator="\t", mark=","), ["--decimal", "comma", "--separator", "tab"]),
        "header": (dict(header=False, names=names), ["--header", "no", "--name-column", "1"]),
    }
    for what, (how, options) in cases.items():
        table("t.csv", X, **how)
        run("fit", "t.csv", "--rank", 2, "--out", "model.npz", "--force", "--quiet", *options)
        meta = json.loads(bytes(np.load("model.npz")["meta"]))["reading"]
        assert meta["format"] == "csv" and all(meta[o[2:]] == v for o, v in zip(options[::2], options[1::2])), meta
        wanted, said = codes("model.npz", "t.csv", *options)
        assert "reading" not in said
        found, said = codes("model.npz", "t.csv")
        assert np.array_equal(wanted, found) and "reading   as the model's data: " in said, (what, said)
        assert all(option in said for option in options[::2]), said
        assert np.array_equal(wanted, np.load("model.npz")["V"].T), what
        run("check", "model.npz", "t.csv")
        run("top", "model.npz", "--data", "t.csv")
        run("compare", "model.npz", "model.npz", "--data", "t.csv")
        run("neighbors", "model.npz", "--queries", "t.csv", "--count", 2, "--out", "graph.npz", "--force")
        run("fit", "t.csv", "--start", "model.npz", "--out", "again.npz", "--force")
        assert json.loads(bytes(np.load("again.npz")["meta"]))["reading"] == meta
        # Other formats are read as they are, and so is a table that has no such column.
        assert np.array_equal(codes("model.npz", "plain.npy")[0], wanted), what
        if "separator" not in how:
            table("new.csv", X, header=how.get("header", True))
            assert np.array_equal(codes("model.npz", "new.csv")[0], wanted), what
    # What is given wins.
    table("t.csv", X, labels=labels)
    run("fit", "t.csv", "--rank", 2, "--label-column", "kind", "--out", "model.npz", "--force", "--quiet")
    assert "has no column 'nope'" in run("transform", "model.npz", "t.csv", "--label-column", "nope", "--out", "c.npy", status=64)[1]
    # Samples in columns: of a text table, and the codes lie alike; rows are what other files have unless options say so.
    np.save("turned.npy", X.T.copy())
    np.savetxt("turned.csv", X.T, delimiter=",")
    for file in ("turned.csv", "turned.npy"):
        run("fit", file, "--samples", "columns", "--rank", 2, "--out", "model.npz", "--force", "--quiet")
        wanted = np.load("model.npz")["V"]
        recalled = [] if file == "turned.csv" else ["--samples", "columns"]
        assert np.array_equal(codes("model.npz", file, *recalled)[0], wanted)
        assert np.array_equal(codes("model.npz", "plain.npy")[0], wanted.T)
    # One of several arrays.
    np.savez("several.npz", a=X, b=X + 1)
    run("fit", "several.npz", "--array", "b", "--rank", 2, "--out", "model.npz", "--force", "--quiet")
    assert np.array_equal(codes("model.npz", "several.npz")[0], np.load("model.npz")["V"].T)
    # A file that cannot be read so says where the options came from.
    np.savez("other.npz", c=X)
    assert "is read as the model's data, by --array b" in run("transform", "model.npz", "other.npz", "--out", "c.npy", status=65)[1]
    table("t.csv", X, separator="|")
    run("fit", "t.csv", "--rank", 2, "--separator", "|", "--out", "model.npz", "--force", "--quiet")
    table("comma.csv", X)
    said = run("transform", "model.npz", "comma.csv", "--out", "c.npy", status=65)[1]
    assert "is read as the model's data, by --separator '|'" in said and said.count("\n") == 1, said
    assert np.array_equal(codes("model.npz", "comma.csv", "--separator", "comma")[0], codes("model.npz", "t.csv")[0])
    # Clusters that a model keeps.
    table("t.csv", X, labels=labels)
    run("cluster", "t.csv", "--k", 3, "--label-column", "kind", "--out", "c.txt", "--model-out", "kept.npz", "--quiet")
    run("predict", "kept.npz", "t.csv", "--out", "p.txt", "--quiet")
    assert open("p.txt").read() == open("c.txt").read()


def check_old_models():
    """A model that does not say how its data were read is opened, and nothing is recalled."""
    X = random.normal(size=(20, 4))
    np.save("x.npy", X)
    run("fit", "x.npy", "--rank", 2, "--out", "model.npz", "--force", "--quiet")
    arrays = dict(np.load("model.npz"))
    for reading, status in ((None, 0), ("gone", 0), ({"header": 3}, 65), ([], 65), ({"header": "maybe"}, 64)):
        meta = json.loads(bytes(arrays["meta"]))
        meta["reading"] = reading
        if reading == "gone":
            del meta["reading"]
        np.savez("old.npz", **{**arrays, "meta": np.frombuffer(json.dumps(meta).encode(), np.uint8)})
        run("transform", "old.npz", "x.npy", "--out", "codes.npy", "--force", status=status)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_models()
    check_recall()
    check_old_models()
    os.chdir("/")
