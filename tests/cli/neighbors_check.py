#!/usr/bin/env python3
"""armilla neighbors against scikit-learn and plain NumPy: storages, preparations, weights, queries, recall, usage.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy, SciPy or scikit-learn is missing."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import scipy.sparse as sparse
    from sklearn.neighbors import NearestNeighbors
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def graph(file, *options, count=5):
    shown = json.loads(run("neighbors", file, "--count", count, "--out", "g.npz", "--force", "--quiet", "--json", *options))
    made = sparse.load_npz("g.npz")
    assert isinstance(made, sparse.csr_matrix) and made.dtype == np.float32
    assert (shown["rows"], shown["columns"], shown["count"]) == (*made.shape, count)
    assert np.array_equal(made.indptr, count * np.arange(made.shape[0] + 1))
    return made, shown


def unit(X):
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, float)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1)


def agrees(made, X, Q=None, bound=1e-5):
    """Each row has the largest cosines, falling, and each belongs to its sample."""
    count = made.indptr[1]
    cosines = unit(X if Q is None else Q) @ unit(X).T
    found, weights = made.indices.reshape(-1, count), made.data.reshape(-1, count)
    assert np.abs(weights - np.take_along_axis(cosines, found, 1)).max() <= bound
    if Q is None:
        np.fill_diagonal(cosines, -np.inf)
        assert (found != np.arange(len(found))[:, None]).all()
    assert np.abs(weights + np.sort(-cosines, axis=1)[:, :count]).max() <= bound
    assert (np.diff(weights, axis=1) <= 0).all()
    assert all(len(set(row)) == count for row in found)


def check_storages(random):
    X = random.standard_normal((150, 12))
    for kind in (np.float32, np.float64, np.float16, np.uint8):
        Y = (10 * np.abs(X)).astype(kind) if kind is np.uint8 else X.astype(kind)
        np.save("x.npy", Y)
        agrees(graph("x.npy")[0], Y)
        np.save("t.npy", np.asfortranarray(Y.T))
        assert (graph("t.npy", "--samples", "columns")[0] != graph("x.npy")[0]).nnz == 0
    oracle = NearestNeighbors(n_neighbors=6, metric="cosine", algorithm="brute").fit(X)
    np.save("x.npy", X)
    distances, places = oracle.kneighbors(X)
    made = graph("x.npy")[0]
    assert np.array_equal(made.indices.reshape(-1, 5), places[:, 1:])
    assert np.abs(1 - made.data.reshape(-1, 5) - distances[:, 1:]).max() < 1e-6
    S = sparse.random(200, 40, 0.2, "csr", random_state=1)
    sparse.save_npz("s.npz", S)
    agrees(graph("s.npz", "--threads", 2)[0], S)


def check_preparation(random):
    S = sparse.random(200, 30, 0.3, "csr", random_state=2)
    D = S.toarray()
    np.save("x.npy", D)
    sparse.save_npz("s.npz", S)
    for flags, Y in ((("--center",), D - D.mean(0)), (("--log1p",), np.log1p(D)), (("--scale",), D / D.std(0)),
                     (("--log1p", "--center"), np.log1p(D) - np.log1p(D).mean(0))):
        for file in ("x.npy", "s.npz"):
            agrees(graph(file, *flags)[0], Y)
    assert graph("x.npy", "--prepare", "auto")[1]["tfidf"] is False
    counts = random.poisson(0.3, (300, 40))
    sparse.save_npz("c.npz", sparse.csr_matrix(counts.astype(float)))
    counts[:, 0] = 1  # of all samples: the plain form of tf-idf leaves nothing of it
    sparse.save_npz("c.npz", sparse.csr_matrix(counts.astype(float)))
    made, shown = graph("c.npz", "--prepare", "auto")
    assert shown["tfidf"] is True and shown["idf"] == "plain", shown
    agrees(made, np.log1p(counts) * np.log(len(counts) / np.maximum((counts > 0).sum(0), 1)))
    fit = json.loads(run("cluster", "c.npz", "--k", 3, "--model-out", "m.npz", "--json", "--quiet", "--out", "l.txt"))["fit"]
    assert all(shown[step] == fit[step] for step in ("log1p", "tfidf", "scale", "center"))
    with np.load("m.npz") as model:  # as cluster prepares them
        assert json.loads(bytes(model["meta"]))["options"]["idf"] == shown["idf"]


def check_weights_and_ties():
    X = np.repeat(np.eye(3), 4, axis=0)
    np.save("x.npy", X)
    made = graph("x.npy", count=5)[0]
    assert made.indices[:5].tolist() == [1, 2, 3, 4, 5] and made.data[:5].tolist() == [1, 1, 1, 0, 0]
    assert made.indices[-5:].tolist() == [8, 9, 10, 0, 1]
    far = graph("x.npy", "--weights", "distance", count=5)[0]
    assert np.allclose(far.data[:5], [0, 0, 0, 2**.5, 2**.5]) and (far.indices == made.indices).all()
    X[0] = 0
    np.save("x.npy", X)
    made = graph("x.npy", count=3)[0]
    assert made.indices[:3].tolist() == [1, 2, 3] and made.data[:3].tolist() == [0, 0, 0]


def check_queries(random):
    X, Q = random.standard_normal((120, 9)), random.standard_normal((31, 9))
    np.save("x.npy", X)
    np.save("q.npy", Q)
    agrees(graph("x.npy", "--queries", "q.npy")[0], X, Q)
    agrees(graph("x.npy", "--queries", "q.npy", count=120)[0], X, Q)
    agrees(graph("x.npy", "--queries", "q.npy", "--center")[0], X - X.mean(0), Q - X.mean(0))
    run("fit", "x.npy", "--rank", 4, "--max-iter", 20, "--quiet", "--force", "--out", "m.npz")
    run("transform", "m.npz", "q.npy", "--out", "codes.npy", "--force", "--quiet")
    with np.load("m.npz") as model:
        V = model["V"].T
    made, shown = graph("m.npz")
    agrees(made, V)
    assert shown["on"] == "codes"
    agrees(graph("m.npz", "--queries", "q.npy")[0], V, np.load("codes.npy"))
    agrees(graph("x.npy", "--queries", "q.npy", "--keep-samples", "11-60")[0], X[10:60], Q)
    agrees(graph("x.npy", "--queries", "q.npy", "--keep-features", "2-6")[0], X[:, 1:6], Q[:, 1:6])


def write_table(path, X, names):
    np.savetxt(path, X, delimiter=",", fmt="%.17g", header=",".join(names), comments="")


def check_names(random):
    """Queries whose features come in another order, with others among them, without some, and without names."""
    X, Q = random.standard_normal((50, 5)), random.standard_normal((20, 7))
    names = ["a", "b", "c", "d", "e", "f", "g"]
    order = [4, 6, 1, 0, 5, 3, 2]
    write_table("x.csv", X, names[:5])
    write_table("q.csv", Q[:, order], [names[i] for i in order])
    write_table("few.csv", Q[:, :4], names[:4])
    write_table("else.csv", Q[:, :5], ["u", "v", "w", "y", "z"])
    np.save("q.npy", Q[:, :5])
    agrees(graph("x.csv", "--queries", "q.csv")[0], X, Q[:, :5])
    agrees(graph("x.csv", "--queries", "q.npy")[0], X, Q[:, :5])
    out = ("--count", 2, "--out", "names.npz")
    said = run("neighbors", "x.csv", "--queries", "few.csv", *out, status=65)
    assert "the queries do not have the samples' feature 'e'" in said and "--missing" not in said, said
    said = run("neighbors", "x.csv", "--queries", "else.csv", *out, status=65)
    assert "the queries have none of the samples' 5 features" in said, said
    run("neighbors", "x.csv", "--queries", "few.csv", "--missing-features", "zero", *out, status=64)
    run("fit", "x.csv", "--rank", 3, "--max-iter", 20, "--quiet", "--force", "--out", "m.npz")
    assert "--missing-features" in run("neighbors", "m.npz", "--queries", "few.csv", *out, status=65)
    run("transform", "m.npz", "few.csv", "--missing-features", "zero", "--out", "codes.npy", "--force", "--quiet")
    with np.load("m.npz") as model:
        agrees(graph("m.npz", "--queries", "few.csv", "--missing-features", "zero")[0], model["V"].T, np.load("codes.npy"))


def check_recall(random):
    X = (random.standard_normal((20, 10))[random.integers(0, 20, 4000)] + 0.5 * random.standard_normal((4000, 10))).astype("f")
    np.save("x.npy", X)
    exact, none = graph("x.npy")
    made, shown = graph("x.npy", "--recall", 0.95, "--threads", 1)
    assert none["recall"] == 1 and none["cells"] == 0 and shown["recall"] >= 0.95 and 0 < shown["probed"] < shown["cells"]
    again = graph("x.npy", "--recall", 0.95, "--threads", 2)[0]
    assert np.array_equal(made.indices, again.indices) and np.array_equal(made.data, again.data)
    hits = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(exact.indices.reshape(-1, 5), made.indices.reshape(-1, 5))])
    assert hits > 0.93, hits


def check_usage():
    np.save("x.npy", np.eye(4))
    np.save("q.npy", np.eye(3))
    out = ("--out", "new.npz")
    for arguments, status, words in (
            (("x.npy", "--count", 4, *out), 65, "at most 3 neighbours"),
            (("x.npy", "--count", 0, *out), 64, "--count"),
            (("x.npy",), 64, "--out GRAPH.npz"),
            (("x.npy", "--out", "g.txt"), 64, ".npz"),
            (("x.npy", "--recall", 1.2, *out), 64, "--recall"),
            (("x.npy", "--weights", "angle", *out), 64, "cosine"),
            (("x.npy", "--queries", "q.npy", "--count", 2, *out), 65, "features"),
            (("x.npy", "--queries", "none.npy", *out), 66, "none.npy"),
            (("none.npy", *out), 66, "none.npy"),
            (("m.npz", "--center", *out), 64, "is a model"),
            (("g.npz", "--count", 2, "--out", "g.npz", "--force"), 64, "g.npz")):
        said = run("neighbors", *arguments, status=status)
        assert words in said and said.count("\n") == 1, said
        assert not os.path.exists("new.npz")
    np.save("x.npy", np.ones((1, 3)))
    assert "at most 0 neighbours" in run("neighbors", "x.npy", "--count", 1, *out, status=65)
    bad = np.ones((5, 3))
    bad[3, 1] = np.nan
    np.save("x.npy", bad)
    said = run("neighbors", "x.npy", "--count", 2, *out, status=65)
    assert "x.npy" in said and not os.path.exists("new.npz"), said


def check_signal(random):
    """Ended on the way: nothing is left behind."""
    np.save("x.npy", random.standard_normal((60000, 200)).astype("f"))
    process = subprocess.Popen([ARMILLA, "neighbors", "x.npy", "--out", "new.npz"], stderr=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode in (130, -signal.SIGINT), process.returncode
    assert not [name for name in os.listdir(".") if name.startswith("new") or ".npz." in name], os.listdir(".")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    numbers = np.random.default_rng(0)
    check_storages(numbers)
    check_preparation(numbers)
    check_weights_and_ties()
    check_queries(numbers)
    check_names(numbers)
    check_recall(numbers)
    check_usage()
    check_signal(numbers)
