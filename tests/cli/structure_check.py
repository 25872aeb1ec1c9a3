#!/usr/bin/env python3
"""The verdict on structure: kinds of noise that have none, planted groups that have, however they are clustered; and what is
said where clusters are empty, samples are the same, or figures are undefined.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy is missing."""

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

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ARMILLA = os.path.abspath(os.environ["ARMILLA"])
EUCLIDEAN = ("--prepare", "none", "--on", "data", "--method", "euclidean", "--k", "3")


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done


def judge(X, *options):
    np.save("x.npy", np.asarray(X, float))
    return json.loads(run("cluster", "x.npy", "--json", "--quiet", "--threads", 1, *options).stdout)


def shuffled(random, X):
    return np.column_stack([random.permutation(column) for column in X.T])


def planted(random, n, m, k, apart):
    centres = random.standard_normal((k, m))
    centres *= apart / np.linalg.norm(centres, axis=1)[:, None]
    labels = np.arange(n) % k
    return centres[labels] + random.standard_normal((n, m)), labels


def kinds_of_noise(random, n, m):
    """(name, data) of n samples with m features."""
    normal = random.standard_normal
    t, direction, factor = random.random((n, 1)), normal((1, m)), normal((n, 1))
    yield "normal", normal((n, m))
    yield "normal beside the origin", normal((n, m)) + 5
    yield "uniform", random.random((n, m))
    yield "a correlated blob", normal((n, m)) @ normal((m, m))
    yield "a correlated blob beside the origin", normal((n, m)) @ normal((m, m)) + 9
    yield "one factor", normal((n, 1)) @ normal((1, m)) + 0.3 * normal((n, m))
    yield "heavy tails", random.standard_t(3, (n, m))
    yield "heavy tails, correlated", random.standard_t(3, (n, m)) @ normal((m, m))
    yield "lognormal", np.exp(normal((n, m)))
    yield "lognormal, correlated", np.exp(0.5 * normal((n, m)) @ normal((m, m)) / m**0.5)
    yield "a line", t * direction + 0.02 * normal((n, m))
    yield "a line beside the origin", t * direction + 0.02 * normal((n, m)) + 3
    yield "units", normal((n, m)) * 10.0 ** np.minimum(np.arange(m), 6)
    yield "a sphere", (lambda X: X / np.linalg.norm(X, axis=1)[:, None])(normal((n, m)))
    yield "answers from 1 to 5", random.integers(1, 6, (n, m))
    yield "answers with one factor", np.clip(np.round(3 + factor + 0.7 * normal((n, m))), 1, 5)
    yield "binary", random.random((n, m)) < 0.3
    yield "features of two modes", 8.0 * random.integers(0, 2, (n, m)) + normal((n, m))
    yield "groups, shuffled", shuffled(random, planted(random, n, m, 3, 9)[0])


def check_noise(random):
    count = 0
    for n, m in ((40, 3), (100, 20), (300, 5)):
        for name, X in kinds_of_noise(random, n, m):
            options = EUCLIDEAN if count % 5 == 4 else ("--k", 4) if count % 3 == 2 else ()
            found = judge(X, *options)
            assert found["verdict"] != "structure", f"{name}, {n} x {m} {options}: {found['structure']}"
            assert n < 100 or found["verdict"] == "no structure", found["verdict"]
            count += 1
    for n, m in ((60, 100), (200, 300)):
        depth, share = np.exp(0.7 * random.standard_normal((n, 1))), random.gamma(0.3, 1, (1, m))
        sparse = random.poisson(depth * share * 3)
        for X in (
            random.poisson(0.05, (n, m)),
            random.poisson(depth * share * 0.5),
            np.log1p(sparse / np.maximum(sparse.sum(1, keepdims=True), 1) * 1e4),
            random.random((n, m)) < 0.03,
        ):
            found = judge(X)
            assert found["verdict"] == "no structure", found["structure"]
            count += 1
    assert count >= 50, count


def check_groups(random):
    for n, m, k, apart in ((100, 20, 3, 9), (150, 4, 3, 7), (300, 10, 5, 6), (400, 20, 20, 9), (300, 5, 2, 7), (60, 80, 3, 13)):
        X, _ = planted(random, n, m, k, apart)
        for options in ((), ("--k", k), ("--k", k, "--method", "kmeans"), EUCLIDEAN, ("--k", k, "--model", "spherical-kmeans")):
            found = judge(X, *options)
            assert found["verdict"] == "structure", f"{n} x {m}, {k} {options}: {found['structure']}"
            figures = found["structure"]
            assert figures["cut"] < 0.65 * figures["expected"] and figures["ratio"] < 0.65
            assert figures["distinct"] == n and figures["features"] == m
    topics = random.dirichlet(np.full(300, 0.1), 4)
    counts = np.array([random.multinomial(60, 0.6 * topics[j % 4] + 0.4 / 300) for j in range(300)])
    assert judge(counts)["verdict"] == "structure"
    sets = os.path.join(SOURCE, "experiments", "sets")
    for name in ("iris.csv", "wine.csv", "digits.csv.gz"):
        found = json.loads(run("cluster", os.path.join(sets, name), "--label-column", "class", "--json").stdout)
        assert found["verdict"] == "structure", f"{name}: {found['structure']}"


def check_far(random):
    """Groups that are very far apart: data of their covariance are nearly a line, whose cut is small too."""
    for n, m, apart in ((200, 4, 40), (100, 6, 30), (200, 4, 2000)):
        X = random.standard_normal((n, m)) + (np.arange(n) % 2)[:, None] * apart / m**0.5
        for options in (("--k", 2), EUCLIDEAN):
            np.save("x.npy", X)
            first = run("cluster", "x.npy", "--out", "far.txt", "--force", *options).stderr.splitlines()[0]
            assert re.match(r"verdict   structure: groups .* \(edges between them are 0\.0 % of chance", first), f"{n} x {m}, {apart}: {first}"


def check_words(random):
    """The verdict comes first, with its figure; labels come all the same; threads change nothing."""
    X, _ = planted(random, 200, 6, 3, 8)
    for name, data, word in (("groups", X, "structure"), ("noise", random.standard_normal((100, 20)), "no structure")):
        np.save("x.npy", data)
        done = run("cluster", "x.npy", "--k", 3, "--out", f"{name}.txt")
        first = done.stderr.splitlines()[0]
        assert re.match(rf"verdict   {word}: .*\d", first), first
        assert "below" in first or word == "structure", first
        assert len(open(f"{name}.txt").read().split()) == len(data)
        one, two = (json.loads(run("cluster", "x.npy", "--k", 3, "--json", "--threads", t).stdout) for t in (1, 2))
        assert one["structure"] == two["structure"] and one["verdict"] == two["verdict"] == word
        run("fit", "x.npy", "--rank", 4, "--model", "spherical-pca", "--out", "m.npz", "--force")
        assert json.loads(run("cluster", "m.npz", "--k", 3, "--json").stdout)["verdict"] == word
    np.save("x.npy", np.abs(X))
    run("fit", "x.npy", "--rank", 3, "--model", "spherical-nmf", "--out", "m.npz", "--force")
    assert "not judged: codes" in run("cluster", "m.npz", "--k", 3, "--out", "l.txt", "--force").stderr
    np.save("x.npy", X[:15])
    assert "not judged: fewer than 20" in run("cluster", "x.npy", "--k", 3, "--out", "l.txt", "--force").stderr


def check_empty(random):
    """Samples that are the same leave clusters empty: how many and why is said, and no figure is nan."""
    three = np.repeat(random.standard_normal((3, 5)), 20, axis=0)
    for X, filled, why in ((np.ones((50, 5)), 1, "all samples are alike as prepared"), (three, 3, "only 3 samples differ"),
                           (np.zeros((50, 5)), 1, "all samples are alike as prepared")):
        for options in (("--method", "kmeans"), ("--method", "euclidean"), ("--method", "graph"), ("--on", "data", "--method", "kmeans"),
                        ("--prepare", "none", "--on", "data", "--method", "euclidean")):
            if not X.any() and "--on" not in options:
                continue  # nothing to factorise: refused
            np.save("x.npy", X)
            line = ("cluster", "x.npy", "--k", 6, *options)
            done = run(*line, "--out", "l.txt", "--model-out", "m.npz", "--force") if "--on" not in options else run(*line, "--out", "l.txt", "--force")
            said = done.stderr
            assert f"{6 - filled} empty: {why}" in said, f"{options}: {said}"
            assert not re.search(r"\b(nan|inf)\b", said), said
            found = json.loads(run(*line, "--json").stdout)
            assert found["empty"] == 6 - filled == found["sizes"].count(0)
            assert "NaN" not in json.dumps(found)
            if filled == 1 and "--on" not in options:
                assert "silhouette undefined: one cluster has all samples" in said and found["silhouette"] is None


def check_no_nan():
    """Features without a spread have no effect that is a number."""
    np.save("x.npy", np.array([[0.3, 0.9, 0.1], [0.6, 0.2, 0.8]]))
    open("two.txt", "w").write("0\n1\n")
    run("fit", "x.npy", "--rank", 1, "--model", "pca", "--out", "m.npz", "--force")
    said = run("top", "m.npz", "--data", "x.npy", "--clusters", "two.txt").stdout
    assert "without spread" in said and not re.search(r"\b(nan|inf)\b", said), said


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        random = np.random.default_rng(20)
        check_noise(random)
        check_groups(random)
        check_far(random)
        check_words(random)
        check_empty(random)
        check_no_nan()
        os.chdir("/")


main()
