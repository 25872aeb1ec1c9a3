#!/usr/bin/env python3
"""Names that could be taken for something else, through every command that writes them: convert, transform, reconstruct,
cluster, predict and top. What a command writes the others read back, and so does Python's csv module: not a sample is
lost, not a name changed. $ARMILLA is the command. Exit status 77 (skipped) where NumPy is missing."""

import csv
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])

HOSTILE = [
    "#b", "plain", "", "#", "# c", "#N/A", "'tis", "don't", "'a'", '"q"', 'a"b', '"', '""', " t", "t ", "t", "  ", "\t",
    "a b", "a,b", "a;b", ";", ",", "a\nb", "\n", "a\r\nb", "\r", "a\r", "1", "0", "-2.5", "1e3", "1e999", "1,5", "nan",
    "-inf", "NA", "null", "label", "x1", "sample", "sample,cluster", "%%MatrixMarket matrix array real general", "sep=;",
    "SEP=|", "\ufeffb", "\u202eabc\u202c", "\x9b31m", "\x1b[31m", "\x7f", "PK\x03\x04", "é", "😀", "n" * 10240,
]  # fmt: skip
BROKEN = [b"\xff\xfe", b"\x80\xff", b"a\xc3", b"plain", b"\xed\xa0\x80", b"#\xff"]


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True)
    assert done.returncode == status, f"armilla {arguments}: {done.returncode}\n{done.stderr.decode(errors='replace')}"
    return done.stdout


def encoded(names):
    """As bytes, whichever kind of array they stand in."""
    return [name if isinstance(name, bytes) else str(name).encode() for name in names]


def table(path):
    with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
        return [[field.encode("utf-8", "surrogateescape") for field in row] for row in csv.reader(file)]


def same(path, X, **names):
    found = np.load(path)
    assert np.array_equal(found["X"], X), path
    for name, wanted in names.items():
        assert encoded(found[name]) == encoded(wanted), (path, name)


def check(names, ending):
    """One sample for each name, features and labels with the same names from the other end."""
    rng = np.random.default_rng(len(names))
    n, m = len(names), 7
    X = rng.uniform(0.5, 2, (n, m))
    features, labels = list(reversed(names))[:m], list(reversed(names))
    kept = dict(sample_names=names, feature_names=features, labels=labels)
    np.savez("s.npz", X=X, **{name: np.array(texts) for name, texts in kept.items()})
    label = ["--label-column", "label2" if "label" in features else "label"]
    run("convert", "s.npz", "s" + ending, "--force")
    run("convert", "s" + ending, "back.npz", *label, "--force")
    same("back.npz", X, **kept)

    run("fit", "s" + ending, *label, "--rank", 2, "--max-iter", 5, "--out", "model.npz", "--force", "--quiet")
    run("transform", "model.npz", "s" + ending, *label, "--out", "codes" + ending, "--force")
    run("convert", "codes" + ending, "codes.npz", "--label-column", "label", "--force")
    run("transform", "model.npz", "s.npz", "--out", "codes.npy", "--force")
    same("codes.npz", np.load("codes.npy"), sample_names=names, labels=labels)

    run("reconstruct", "model.npz", "--out", "again" + ending, "--force")
    run("convert", "again" + ending, "again.npz", *label, "--force")
    run("reconstruct", "model.npz", "--out", "again.npy", "--force")
    same("again.npz", np.load("again.npy"), **kept)

    run("cluster", "model.npz", "--k", 3, "--out", "c.csv", "--force", "--quiet")
    run("cluster", "model.npz", "--k", 3, "--out", "c.txt", "--force", "--quiet")
    run("cluster", "s.npz", "--k", 3, "--model-out", "clusters.npz", "--out", "d.csv", "--force", "--quiet")
    run("predict", "clusters.npz", "s" + ending, *label, "--out", "e.csv", "--force")
    for path in ("c.csv", "d.csv", "e.csv"):
        assert [row[0] for row in table(path)[1:]] == encoded(names), path
    clusters = open("c.txt").read().split()
    assert [row[1] for row in table("c.csv")[1:]] == encoded(clusters)
    assert json.loads(run("score", "c.csv", "c.txt", "--json"))["accuracy"] == 1

    run("top", "model.npz", "--out", "top.csv", "--force")
    assert {row[4] for row in table("top.csv")[1:]} <= set(encoded(features + names))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for ending in (".csv", ".tsv"):
            for start in range(0, len(HOSTILE), 18):
                # What stands over the first column must not be empty where that holds numbers: here it holds names.
                check(HOSTILE[start:] + HOSTILE[:start], ending)
            check(BROKEN + [b"a", b"b"], ending)


if __name__ == "__main__":
    main()
