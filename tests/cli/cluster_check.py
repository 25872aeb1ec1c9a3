#!/usr/bin/env python3
"""Clusters and scores against scikit-learn and SciPy.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy, SciPy or scikit-learn is missing."""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter

try:
    import numpy as np
    import scipy.sparse as sparse
    from scipy.optimize import linear_sum_assignment
    from sklearn import datasets, metrics
    from sklearn.metrics.cluster import contingency_matrix
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
EPSILON = 2.0**-52


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def cluster(*arguments):
    return json.loads(run("cluster", *arguments, "--json", "--quiet", "--force"))


def by_sklearn(labels, truth):
    table = contingency_matrix(labels, truth)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return {
        "accuracy": table[rows, columns].sum() / table.sum(),
        "nmi": metrics.normalized_mutual_info_score(truth, labels),
        "ari": metrics.adjusted_rand_score(truth, labels),
        "ami": metrics.adjusted_mutual_info_score(truth, labels),
        "purity": table.max(axis=1).sum() / table.sum(),
    }


def exact_ami(labels, truth):
    """With the expected information from whole numbers: scikit-learn's sum of rounded logarithms of factorials is off
    by more than 1e-12 where there are hundreds of classes."""
    n, expected = len(labels), 0
    sizes = [sorted(Counter(Counter(side).values()).items()) for side in (labels, truth)]
    for a, often in sizes[0]:
        for b, times in sizes[1]:
            for x in range(max(1, a + b - n), min(a, b) + 1):
                chance = math.comb(a, x) * math.comb(n - a, b - x) / math.comb(n, b)
                expected += often * times * x / n * math.log(n * x / (a * b)) * chance
    mean = sum(-sum(s * c / n * math.log(s / n) for s, c in side) for side in sizes) / 2
    room = mean - expected
    return (metrics.mutual_info_score(truth, labels) - expected) / (min(room, -EPSILON) if room < 0 else max(room, EPSILON))


def same_scores(shown, labels, truth, what):
    labels, truth = list(map(int, labels)), list(map(int, truth))
    wanted = by_sklearn(labels, truth)
    if len(set(labels)) == len(set(truth)) == len(labels):
        wanted["ami"] = 1  # 0/0: scikit-learn's value is the rounding of two equal entropies, ours a perfect match
    elif len(set(labels)) > 100:
        wanted["ami"] = exact_ami(labels, truth)
    for name, wanted in wanted.items():
        assert abs(shown[name] - wanted) <= 1e-12, f"{what}: {name} is {shown[name]!r}, scikit-learn says {wanted!r}"


def write(name, labels):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(f"{label}\n" for label in labels)


def check_scores():
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 30, 400):
        for a, b in ((1, 1), (1, 4), (4, 1), (3, 3), (7, 2), (2, 11), (n, n), (n, 2), (40, 30)):
            labels, truth = rng.integers(a, size=n), rng.integers(b, size=n)
            write("a.txt", labels)
            write("b.txt", (f"class {t} é" for t in truth))
            same_scores(json.loads(run("score", "a.txt", "b.txt", "--json")), labels, truth, f"{n} {a} {b}")
    for n in (1, 2, 60):  # everybody alone, and all together
        for labels, truth in ((range(n), range(n)), (range(n), [0] * n), ([0] * n, range(n)), ([1] * n, [2] * n)):
            write("a.txt", labels)
            write("b.txt", truth)
            same_scores(json.loads(run("score", "a.txt", "b.txt", "--json")), list(labels), list(truth), f"odd {n}")
    truth = np.arange(50) % 3
    write("a.txt", truth)
    np.save("b.npy", truth)
    with open("b.idx", "wb") as file:
        file.write(bytes([0, 0, 8, 1, 0, 0, 0, 50]) + bytes(truth.astype(np.uint8)))
    for file in ("b.npy", "b.idx"):
        assert json.loads(run("score", "a.txt", file, "--json"))["accuracy"] == 1
    write("b.txt", range(49))
    assert "50 labels" in run("score", "a.txt", "b.txt", status=65)
    run("score", "a.txt", "nothing.txt", status=66)
    run("score", "a.txt", status=64)


def check_model(X, truth):
    """Labels of a model: those of the command agree with its JSON, argmax is NumPy's, k-means is at a fixed point."""
    np.save("x.npy", X)
    write("truth.txt", truth)
    run("fit", "x.npy", "--rank", 6, "--normalize", "l2", "--codes", "nonneg-sphere", "--labels", "truth.txt", "--out",
        "model.npz", "--quiet")
    with np.load("model.npz", allow_pickle=False) as model:
        V = model["V"]
    shown = cluster("model.npz", "--method", "argmax", "--out", "labels.txt")
    labels = np.loadtxt("labels.txt", dtype=int)
    assert np.array_equal(labels, V.argmax(axis=0)) and shown["inertia"] is None and shown["k"] == 6
    shown = cluster("model.npz", "--k", 4, "--seed", 5, "--out", "labels.txt")
    labels = np.loadtxt("labels.txt", dtype=int)
    assert shown["sizes"] == np.bincount(labels, minlength=4).tolist() and shown["seed"] == 5 and shown["method"] == "kmeans"
    same_scores(shown["scores"], labels, truth, "labels in the model")
    W = (V / np.linalg.norm(V, axis=0)).T
    centers = np.array([W[labels == k].sum(axis=0) for k in range(4)])
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    assert np.array_equal((W @ centers.T).argmax(axis=1), labels), "not a fixed point of spherical k-means"
    assert abs(shown["inertia"] - (1 - (W @ centers.T).max(axis=1)).sum()) < 1e-9
    shown = run("cluster", "model.npz", "--k", 4, "--seed", 5, "--quiet", "--threads", 1)
    assert shown.split() == [str(label) for label in labels], "standard output"
    assert "fitted already" in run("cluster", "model.npz", "--k", 4, "--rank", 3, status=64)
    assert "atoms" in run("cluster", "model.npz", "--k", 4, "--method", "argmax", status=64)
    for option in ("--labels", "--label-column", "--keep-label", "--keep-samples", "--keep-features"):
        assert "is a model" in run("cluster", "model.npz", "--k", 4, option, "1", status=64), option
    assert "--k" in run("cluster", "model.npz", status=64)
    assert "exists" in run("cluster", "model.npz", "--k", 4, "--out", "labels.txt", status=73)


def check_recipe():
    """What is chosen by a look at the data, and that it is any good."""
    for name, k, least, steps in (("iris", 3, 0.95, ()), ("wine", 3, 0.9, ("scale", "center")), ("digits", 10, 0.7, ())):
        data = getattr(datasets, "load_" + name)()
        np.save("x.npy", data.data)
        write("truth.txt", data.target)
        shown = cluster("x.npy", "--k", k, "--truth", "truth.txt", "--out", "labels.txt")
        same_scores(shown["scores"], np.loadtxt("labels.txt", dtype=int), data.target, name)
        assert shown["scores"]["accuracy"] >= least, (name, shown["scores"])
        chosen = shown["fit"]
        assert chosen["normalize"] == "l2" and chosen["rank"] == min(4 * k, *data.data.shape)
        assert steps_of(chosen) == list(steps) and shown["method"] == "graph" and shown["on"] == "both", (name, shown)
    shown = cluster("x.npy", "--k", 10, "--prepare", "none")
    assert shown["fit"]["normalize"] == "none" and shown["method"] == "kmeans", shown
    assert cluster("x.npy", "--k", 10, "--method", "kmeans")["method"] == "kmeans"
    assert cluster("x.npy", "--k", 10, "--on", "data")["method"] == "kmeans"
    assert cluster("x.npy", "--k", 10, "--normalize", "none")["fit"]["normalize"] == "none"
    assert cluster("x.npy", "--k", 10, "--center")["fit"]["normalize"] == "none"
    check_counts()
    check_units()
    check_signs()
    check_sizes()


def steps_of(fit):
    return [step for step in ("log1p", "tfidf", "scale", "center") if fit[step]]


def check_counts():
    """Counts are known sparse and dense; halves and pixels are none."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(400, 0.02), 3)
    truth = np.arange(150) % 3
    counts = np.array([rng.multinomial(30, topics[t]) for t in truth]).astype(float)
    assert (counts == 0).mean() > 0.9 and np.median(counts[counts > 0]) <= 4
    write("truth.txt", truth)
    np.save("x.npy", counts)
    sparse.save_npz("x.npz", sparse.csr_matrix(counts))
    for file in ("x.npy", "x.npz"):
        shown = cluster(file, "--k", 3, "--labels", "truth.txt")
        assert shown["method"] == "graph" and steps_of(shown["fit"]) == ["log1p", "tfidf"] and shown["scores"]["accuracy"] == 1, (file, shown)
    for values in (counts * 0.5, counts * 60, np.where(counts, -counts, 0)):
        sparse.save_npz("x.npz", sparse.csr_matrix(values))
        assert steps_of(cluster("x.npz", "--k", 3)["fit"]) == [], values.max()


def check_units():
    """A feature that is large but varies as the others do is no unit of its own; one with another spread is."""
    rng = np.random.default_rng(1)
    table = rng.normal(size=(120, 12)) + 3
    table[:, 0] += 70
    np.save("x.npy", table)
    assert steps_of(cluster("x.npy", "--k", 3)["fit"]) == []
    table[:, 0] *= 100
    np.save("x.npy", table)
    assert steps_of(cluster("x.npy", "--k", 3)["fit"]) == ["scale", "center"]


def check_signs():
    """Where signs are mixed the data are centred: two groups whose directions differ only about their mean."""
    rng = np.random.default_rng(2)
    truth = np.arange(200) % 2
    table = rng.normal(size=(200, 6)) * 0.2 + np.array([3, 3, 3, -3, -3, -3])
    table[:, 0] += 2 * truth
    np.save("x.npy", table)
    write("truth.txt", truth)
    shown = cluster("x.npy", "--k", 2, "--labels", "truth.txt")
    assert steps_of(shown["fit"]) == ["center"] and shown["scores"]["accuracy"] > 0.97, shown
    assert shown["choice"]["kind"] == "signs", shown["choice"]
    np.save("x.npy", np.where(table < 0, -table, table))
    assert steps_of(cluster("x.npy", "--k", 2)["fit"]) == []


def check_sizes():
    """Groups that differ in size alone are seen around their mean, where that is asked for; k-means is the same whether
    it is named or not."""
    rng = np.random.default_rng(5)
    truth = np.arange(300) % 2
    np.save("sizes.npy", np.maximum(rng.standard_normal((300, 9)) + np.where(truth, 14, 6)[:, None], 0.1))
    write("sizes.txt", truth)
    shown = cluster("sizes.npy", "--k", 2)
    assert shown["choice"]["kind"] == "other" and shown["choice"]["method"] and shown["choice"]["labels"], shown["choice"]
    given = cluster("sizes.npy", "--k", 2, "--normalize", "l2")["choice"]
    assert given["kind"] is None and given["preparation"] == "given" and given["labels"] is None, given
    around = cluster("sizes.npy", "--k", 2, "--truth", "sizes.txt", "--center", "--normalize", "l2", "--method", "graph")
    assert around["scores"]["accuracy"] > 0.95
    assert steps_of(cluster("sizes.npy", "--k", 2)["fit"]) == []
    for words in (("--on", "data"), ("--prepare", "none"), ("--normalize", "l2")):
        shown = [cluster("sizes.npy", "--k", 2, *words, *more)["labels"] for more in ((), ("--method", "kmeans"))]
        assert shown[0] == shown[1], words


def chains(rng):
    """Three arcs on a sphere, long and close beside each other, which no k-means finds."""
    truth = np.arange(600) % 3
    along = rng.uniform(0, 2.6, 600)
    height = 0.55 * (truth - 1) + 0.02 * rng.normal(size=600)
    return np.column_stack((np.cos(along) * np.cos(height), np.sin(along) * np.cos(height), np.sin(height))), truth


def check_graph():
    """Communities find what is no ball; every method says what its labels come from; labels do not depend on threads."""
    X, truth = chains(np.random.default_rng(5))
    np.save("x.npy", X)
    write("truth.txt", truth)
    shown = cluster("x.npy", "--k", 3, "--truth", "truth.txt", "--normalize", "l2", "--method", "graph", "--out", "graph.txt")
    facts = shown["graph"]
    assert shown["scores"]["accuracy"] == 1 and facts["by"] == "communities" and shown["inertia"] is None, shown
    assert shown["tries"] is None and 0.9 < facts["coverage"] <= 1 and 0.5 < facts["modularity"] < 1, shown
    assert cluster("x.npy", "--k", 3, "--truth", "truth.txt", "--normalize", "l2")["scores"]["accuracy"] < 0.8
    for threads in (1, 3):
        again = run("cluster", "x.npy", "--k", 3, "--normalize", "l2", "--method", "graph", "--quiet", "--threads", threads)
        assert again == open("graph.txt").read(), threads
    smooth = cluster("x.npy", "--k", 3, "--normalize", "l2", "--method", "smooth")
    assert smooth["graph"]["by"] == "smoothing" and smooth["inertia"] > 0 and smooth["tries"] == 10, smooth
    assert cluster("x.npy", "--k", 3, "--on", "data", "--method", "graph", "--truth", "truth.txt")["scores"]["accuracy"] == 1
    assert "smooths codes" in run("cluster", "x.npy", "--k", 3, "--on", "data", "--method", "smooth", status=64)
    run("fit", "x.npy", "--rank", 3, "--out", "m.npz", "--quiet", "--force")
    assert cluster("m.npz", "--k", 3, "--method", "graph", "--truth", "truth.txt")["scores"]["accuracy"] == 1


def check_number():
    """Without a number: that of groups that are clear, with all that were looked at; where none can be found, an error."""
    rng = np.random.default_rng(6)
    truth = np.arange(300) % 5
    np.save("x.npy", rng.normal(size=(5, 12))[truth] + 0.2 * rng.normal(size=(300, 12)))
    write("truth.txt", truth)
    shown = cluster("x.npy", "--truth", "truth.txt")
    assert shown["k"] == 5 == len(shown["sizes"]) and shown["scores"]["accuracy"] == 1, shown
    numbers = shown["numbers"]
    assert [row["k"] for row in numbers] == sorted({row["k"] for row in numbers}) and len(numbers) > 3, numbers
    assert max(numbers, key=lambda row: row["score"])["k"] == 5
    for row in numbers:
        assert abs(row["score"] - max(row["stability"], 0) * max(row["modularity"], 0)) < 1e-12, row
    assert cluster("x.npy", "--k", 5)["numbers"] is None
    said = subprocess.run([ARMILLA, "cluster", "x.npy", "--out", "l.txt"], capture_output=True, text=True).stderr
    assert "taken" in said and "stability" in said, said
    for words in (("--method", "kmeans"), ("--method", "smooth"), ("--normalize", "l2"), ("--on", "data"), ("--model", "nmf")):
        assert "--k is missing" in run("cluster", "x.npy", *words, status=64), words
    np.save("x.npy", rng.normal(size=(12, 4)))
    assert "too few" in run("cluster", "x.npy", status=65)
    np.save("x.npy", np.ones((40, 4)))
    assert "give --k" in run("cluster", "x.npy", status=65)


def check_few():
    """Few samples each: communities where neighbours are near, not where samples have little in common."""
    rng = np.random.default_rng(11)
    angles = np.tile(np.linspace(0, 1.5, 20), 3)
    heights = np.repeat([-1.2, 0, 1.2], 20)
    arcs = np.column_stack((np.cos(angles), np.sin(angles), heights)) @ np.linalg.qr(rng.normal(size=(40, 3)))[0].T
    np.save("x.npy", arcs + 0.01 * rng.normal(size=arcs.shape))
    write("truth.txt", np.repeat(range(3), 20))
    shown = cluster("x.npy", "--k", 3, "--truth", "truth.txt")
    assert shown["graph"]["by"] == "communities" and shown["scores"]["accuracy"] == 1, shown
    words = rng.poisson(np.kron(np.eye(3), np.ones((20, 40))) * 0.1 + 0.05)
    sparse.save_npz("x.npz", sparse.csr_matrix(words))
    shown = cluster("x.npz", "--k", 3)
    assert shown["graph"]["by"] != "communities", shown


def check_odd():
    """Samples that are zero, twice there, all the same or few; more components than clusters; k as large as it can be."""
    rng = np.random.default_rng(7)
    X = np.abs(rng.normal(size=(120, 8)))
    zeros = X.copy()
    zeros[::9] = 0
    far = np.kron(np.eye(6), np.ones((20, 2))) + 0.01 * rng.random((120, 12))
    for name, table in (("plain", X), ("zeros", zeros), ("twice", np.repeat(X[:40], 3, axis=0)), ("same", np.ones((120, 8))),
                        ("apart", far), ("few", X[:6]), ("two", X[:2])):
        np.save("x.npy", table)
        sparse.save_npz("x.npz", sparse.csr_matrix(table))
        for k, file, method in ((1, "x.npy", "graph"), (2, "x.npz", "graph"), (2, "x.npy", "smooth"), (50, "x.npy", "graph"),
                                (50, "x.npz", "smooth"), (len(table), "x.npy", "graph")):
            k = min(k, len(table))
            shown = cluster(file, "--k", k, "--method", method, "--out", "l.txt")
            labels = np.loadtxt("l.txt", dtype=int, ndmin=1)
            assert len(labels) == len(table) and len(shown["sizes"]) == k, (name, k, shown)
            assert shown["sizes"] == np.bincount(labels, minlength=k).tolist(), (name, k, shown)
    np.save("x.npy", far)
    assert cluster("x.npy", "--k", 3)["graph"]["by"] != "communities"  # six components are not three


def weights(X, count):
    """The graph of X by its definition."""
    cosines = X @ X.T
    np.fill_diagonal(cosines, -2)
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    values = np.take_along_axis(cosines, nearest, 1)
    squares = np.maximum(2 - 2 * values, 0)
    scales = np.sqrt(squares[:, min(7, count) - 1])
    rows = np.repeat(np.arange(len(X)), count)
    flat = nearest.ravel()
    W = sparse.csr_matrix((np.exp(-squares.ravel() / (scales[rows] * scales[flat])), (rows, flat)), shape=(len(X), len(X)))
    return W.maximum(W.T)


def modularity(W, labels, resolution):
    pairs, degrees = W.tocoo(), np.asarray(W.sum(axis=1)).ravel()
    inside = pairs.data[labels[pairs.row] == labels[pairs.col]].sum() / W.sum()
    return inside - resolution * (np.bincount(labels, degrees) ** 2).sum() / W.sum() ** 2


def check_leiden():
    """On the same graph: the modularity that is reported is that of the labels, and igraph's Leiden finds no better one."""
    try:
        import igraph
    except ImportError:
        print("skipped: communities beside those of igraph, which is not installed (python3-igraph)")
        return
    digits = datasets.load_digits().data.astype(np.float64)
    X = digits / np.linalg.norm(digits, axis=1, keepdims=True)
    np.save("x.npy", X)
    shown = cluster("x.npy", "--on", "data", "--method", "graph", "--prepare", "none", "--out", "l.txt")
    labels, facts, W = np.loadtxt("l.txt", dtype=int), shown["graph"], weights(X, 10)
    assert abs(modularity(W, labels, 1) - facts["modularity"]) < 1e-5, (shown["graph"], modularity(W, labels, 1))
    upper = sparse.triu(W, 1).tocoo()
    graph = igraph.Graph(n=len(X), edges=np.column_stack((upper.row, upper.col)).tolist())
    for_us = modularity(W, labels, facts["resolution"])
    theirs = graph.community_leiden("modularity", weights=upper.data.tolist(), resolution_parameter=facts["resolution"], n_iterations=2)
    for_them = modularity(W, np.array(theirs.membership), facts["resolution"])
    assert for_us > for_them - 0.005, (for_us, for_them)


def check_early():
    """What cannot be clustered is refused before anything is fitted, and named sets are not centred."""
    rng = np.random.default_rng(3)
    table = rng.random((60, 13)) + 1
    table[:, 0] *= 2000
    np.save("x.npy", table)
    write("short.txt", [0, 1])
    began = time.monotonic()
    slow = ("--rank", 12, "--restarts", 1000000, "--tol", 0, "--max-iter", 1000000)
    assert "more than the 60" in run("cluster", "x.npy", "--k", 61, *slow, status=65)
    assert "has 2 labels, and the data have 60 samples" in run("cluster", "x.npy", "--k", 3, "--truth", "short.txt", *slow, status=65)
    assert "12 atoms, not 3" in run("cluster", "x.npy", "--k", 3, "--method", "argmax", *slow, status=64)
    assert time.monotonic() - began < 60
    assert "nothing is fitted" in run("cluster", "x.npy", "--k", 3, "--on", "data", "--rank", 4, status=64)
    assert steps_of(cluster("x.npy", "--k", 3, "--model", "nmf")["fit"]) == ["scale"]
    assert steps_of(cluster("x.npy", "--k", 3)["fit"]) == ["scale", "center"]
    np.save("x.npy", np.tile([1.0, -2.0, 3.0], (5, 1)))
    assert cluster("x.npy", "--k", 2)["sizes"] == [5, 0]


def check_far():
    """Distances of single precision far from the origin: three groups, as in double precision."""
    rng = np.random.default_rng(4)
    truth = np.arange(90) % 3
    X = 1000 + rng.normal(size=(3, 5))[truth] + 0.01 * rng.normal(size=(90, 5))
    write("truth.txt", truth)
    for kind in (np.float32, np.float64):
        np.save("x.npy", X.astype(kind))
        shown = cluster("x.npy", "--k", 3, "--on", "data", "--method", "euclidean", "--prepare", "none",
                       "--truth", "truth.txt")
        assert shown["scores"]["accuracy"] == 1, (kind, shown)


def check_data(X, truth):
    """Straight on data: dense and sparse alike, and Euclidean k-means reaches scikit-learn's inertia."""
    from sklearn.cluster import KMeans

    np.save("x.npy", X)
    sparse.save_npz("x.npz", sparse.csr_matrix(X))
    shown = [cluster(file, "--k", 4, "--on", "data", "--prepare", "none", "--method", "euclidean", "--out", file + ".txt")
            for file in ("x.npy", "x.npz")]
    wanted = KMeans(4, n_init=10, random_state=0).fit(X).inertia_
    for each in shown:
        assert each["inertia"] <= wanted * (1 + 1e-6) and each["fit"] is None, (each, wanted)
    first, second = (np.loadtxt(file + ".txt") for file in ("x.npy", "x.npz"))
    assert np.array_equal(first, second), "dense and sparse differ"
    assert "4 samples" in run("cluster", "x.npy", "--k", 5, "--keep-samples", "1-4", "--on", "data", status=65)


def fit_options():
    """Rows of the factorization's table with a value that they take, as --help lists them."""
    text = run("cluster", "--help")
    part = re.search(r"^factorization options:\n(.*?)^\S", text, re.MULTILINE | re.DOTALL).group(1)
    values = {"NAME": None, "SET": None, "NAME|FILE": "svd", "auto|L": "1", "auto|T": "0.5", "NUMBER|Nx": "0.5x",
              "auto|NAME": "portable", "f32|f64": "f64", "none|l2": "l2", "smooth|plain": "plain", "none|median|S": "median", "T": "0.5"}
    words = {"model": "pca", "basis": "free", "codes": "free", "solver": "palm"}
    rows = re.findall(r"^  --([a-z0-9-]+)(?: ([^ \n]+))?", part, re.MULTILINE)
    assert len(rows) > 20, rows
    return [(name, [] if not value else [words.get(name) or values.get(value) or "3"]) for name, value in rows]


def check_without_effect():
    """What has no effect is refused: of a fit that is not made, weights of a solver without them, k-means of argmax."""
    rng = np.random.default_rng(12)
    np.save("x.npy", rng.normal(size=(30, 4)))
    run("fit", "x.npy", "--rank", 2, "--out", "few.npz", "--force")
    preparation = {"normalize", "center", "tfidf", "idf", "total", "log1p", "top-features", "scale"}
    rows = dict(fit_options())
    assert preparation < set(rows), rows
    for name, value in rows.items():
        on_data = preparation | {"seed", "threads", "precision"}
        if name not in on_data:
            shown = run("cluster", "x.npy", "--k", 2, "--on", "data", f"--{name}", *value, status=64)
            assert shown.startswith(f"armilla: --{name}: ") and "nothing is fitted" in shown, shown
        if name not in {"seed", "threads", "kernel"}:
            shown = run("cluster", "few.npz", "--k", 2, f"--{name}", *value, status=64)
            assert shown.startswith(f"armilla: --{name}: ") and "fitted already" in shown, shown
    for name in ("lambda", "mu"):
        for solver in ("fast", "mu", "online"):
            model = ["--model", "nmf"] if solver == "mu" else []
            arguments = ("fit", "x.npy", "--rank", 2, "--solver", solver, *model, f"--{name}", "0.5x")
            assert f"--{name} does not go with --solver {solver}" in run(*arguments, status=64)
        run("fit", "x.npy", "--rank", 2, "--solver", "palm", f"--{name}", "0.5x", "--max-iter", 2)
    for name in ("tries", "cluster-iter"):
        shown = run("cluster", "few.npz", "--method", "argmax", f"--{name}", 3, status=64)
        assert f"--{name} has no effect with --method argmax" in shown, shown


def main():
    rng = np.random.default_rng(7)
    truth = np.arange(200) % 4
    X = np.abs(rng.normal(size=(200, 9)) * 0.3 + rng.normal(size=(4, 9))[truth] * 2)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check, arguments in ((check_scores, ()), (check_model, (X, truth)), (check_recipe, ()), (check_early, ()),
                                 (check_far, ()), (check_data, (X, truth)), (check_without_effect, ()), (check_graph, ()), (check_few, ()), (check_number, ()),
                                 (check_odd, ()), (check_leiden, ())):
            try:
                check(*arguments)
            except AssertionError as wrong:
                sys.exit(f"FAILED: {check.__name__}: {wrong}")
        os.chdir("/")


main()
