#!/usr/bin/env python3
"""Labels beside the names of their samples: score, --truth, --labels and --clusters match them by name, in any order, never by
position where names disagree; and which of two columns has the names is told from what is there twice.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy is missing."""

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
N, K = 60, 3
CLASSES = ["red", "green", "blue"]
random = np.random.default_rng(5)


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done


def write(path, *columns, head=None, separator=","):
    with open(path, "w", encoding="utf-8") as file:
        if head:
            file.write(head + "\n")
        file.writelines(separator.join(map(str, row)) + "\n" for row in zip(*columns))


def write_data(path, names, X):
    with open(path, "w", encoding="utf-8") as file:
        file.write(("name," if names else "") + "a,b,c,d\n")
        for i, row in enumerate(X):
            file.write((f"{names[i]}," if names else "") + ",".join(f"{value:.6f}" for value in row) + "\n")


def accuracy(*arguments):
    shown = json.loads(run(*arguments, "--json").stdout)
    return shown.get("scores", shown)["accuracy"]


def refused(*arguments):
    said = run(*arguments, status=65).stderr
    assert said.count("\n") == 1, said
    return said


def check_score(names, truth, found):
    """Every order and either file may be the one that is shuffled."""
    order = random.permutation(N)
    shuffled = [names[i] for i in order], [truth[i] for i in order]
    wanted = np.mean(np.array(truth) == np.array([CLASSES[k] for k in found]))
    write("found.csv", names, found, head="sample,cluster")
    for separator, head in ((",", "sample,class"), (",", None), (";", None), ("\t", None), (",", "id,label"), ("\t", "barcode\tcell_type")):
        write("truth.csv", *shuffled, head=head, separator=separator)
        assert abs(accuracy("score", "found.csv", "truth.csv") - wanted) < 1e-12, (separator, head)
        assert abs(accuracy("score", "truth.csv", "found.csv") - wanted) < 1e-12, (separator, head)
    write("truth.csv", shuffled[1], shuffled[0])  # the class first
    assert abs(accuracy("score", "found.csv", "truth.csv") - wanted) < 1e-12
    shown = json.loads(run("score", "found.csv", "truth.csv", "--json").stdout)
    assert (shown["samples"], shown["clusters"], shown["classes"]) == (N, K, K), shown
    # Names on one side only: by position, which is said.
    write("plain.txt", truth)
    done = run("score", "found.csv", "plain.txt", "--json")
    assert abs(json.loads(done.stdout)["accuracy"] - wanted) < 1e-12 and "names are not used" in done.stderr, done.stderr
    assert "names are not used" in run("score", "plain.txt", "found.csv").stderr
    write("numbered.csv", range(1, N + 1), found, head="sample,cluster")  # as samples without names are written
    assert "names" not in run("score", "numbered.csv", "plain.txt").stderr
    assert "names" not in run("score", "plain.txt", "plain.txt").stderr
    # Some without a label; names that are unknown, or there twice.
    write("some.csv", shuffled[0][5:], shuffled[1][5:])
    done = run("score", "found.csv", "some.csv", "--json")
    assert json.loads(done.stdout)["classes"] == K + 1 and f"5 of {N} are missing" in done.stderr, done
    write("other.csv", ["stranger", *shuffled[0][1:]], shuffled[1])
    assert "'stranger', and no sample is called that (1 of its 60" in refused("score", "found.csv", "other.csv")
    write("twice.csv", [*shuffled[0], names[7]], [*shuffled[1], "red"], head="sample,class")
    assert f"more than one label of sample '{names[7]}'" in refused("score", "found.csv", "twice.csv")
    write("twice.csv", [*shuffled[0], names[7]], [*shuffled[1], "red"])
    assert f"more than one label of sample '{names[7]}'" in refused("score", "found.csv", "twice.csv")


def check_columns(names, truth):
    """Two columns of which one is another in every line; labels with commas are labels."""
    write("both.csv", names, [f"class {i}" for i in range(N)])
    assert "both differ in every line" in refused("score", "both.csv", "both.csv")
    write("both.csv", names, [f"class {i}" for i in range(N)], head="sample,class")
    assert json.loads(run("score", "both.csv", "both.csv", "--json").stdout)["classes"] == N
    write("commas.txt", [("T cell, CD4", "T cell, CD8", "B cell, naive")[i % 3] for i in range(N)])
    assert json.loads(run("score", "commas.txt", "commas.txt", "--json").stdout)["classes"] == 3
    write("quoted.csv", [f'"{name}, of us"' for name in names], truth)
    assert json.loads(run("score", "quoted.csv", "quoted.csv", "--json").stdout)["classes"] == K


def check_commands(names, truth, X):
    order = random.permutation(N)
    write("truth.csv", [names[i] for i in order], [truth[i] for i in order])
    write("plain.txt", truth)
    write_data("named.csv", names, X)
    write_data("bare.csv", None, X)
    options = ("--k", K, "--method", "kmeans", "--seed", 1)
    wanted = accuracy("cluster", "named.csv", *options, "--truth", "plain.txt")
    assert wanted > 0.9, wanted
    for option in ("--truth", "--labels"):
        assert accuracy("cluster", "named.csv", *options, option, "truth.csv") == wanted, option
        done = run("cluster", "bare.csv", *options, option, "truth.csv", "--json")
        assert "names are not used" in done.stderr and json.loads(done.stdout)["scores"]["accuracy"] < 0.7, done.stderr
    run("cluster", "named.csv", *options, "--out", "found.csv", "--model-out", "m.npz", "--force", "--quiet")
    assert accuracy("score", "found.csv", "truth.csv") == wanted
    assert accuracy("cluster", "m.npz", *options, "--truth", "truth.csv") > 0.9
    write("other.csv", ["stranger", *names[1:]], truth)
    for words in (("cluster", "named.csv", *options, "--truth"), ("cluster", "m.npz", *options, "--truth"), ("cluster", "named.csv", *options, "--labels"),
                  ("fit", "named.csv", "--rank", 2, "--labels"), ("top", "m.npz", "--clusters")):
        assert "no sample is called that" in refused(*words, "other.csv"), words
    shown = json.loads(run("top", "m.npz", "--clusters", "truth.csv", "--atoms", "none", "--json").stdout)
    assert sorted(row["size"] for row in shown["clusters"]) == [20, 20, 20], shown
    run("fit", "named.csv", "--rank", 2, "--labels", "truth.csv", "--out", "l.npz", "--force", "--quiet")
    with np.load("l.npz") as model:
        assert [str(label) for label in model["labels"]] == truth
    # Names that are there twice among the samples say nothing, unless the file has them in the same order.
    write_data("named.csv", [names[0], *names[:-1]], X)
    assert "more than one sample is called" in refused("fit", "named.csv", "--rank", 2, "--labels", "truth.csv")
    write("same.csv", [names[0], *names[:-1]], truth, head="sample,class")
    run("fit", "named.csv", "--rank", 2, "--labels", "same.csv", "--quiet")


def main():
    names = [f"s{i}" for i in random.permutation(1000)[:N]]
    kinds = np.arange(N) % K
    truth = [CLASSES[k] for k in kinds]
    found = [int(k) if random.random() < 0.8 else int((k + 1) % K) for k in kinds]
    X = np.eye(4)[kinds] * 5 + random.random((N, 4))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_score(names, truth, found)
        check_columns(names, truth)
        check_commands(names, truth, X)
        os.chdir("/")


main()
