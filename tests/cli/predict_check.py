#!/usr/bin/env python3
"""Clusters that stay: models that keep clusters, predicted labels against NumPy, bit-equal labels of training samples, the
silhouette against scikit-learn, labels with names, argmax by contribution; and what is refused.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy, SciPy or scikit-learn is missing."""

import csv
import json
import os
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy as np
    import scipy.sparse as sparse
    from sklearn.metrics import silhouette_score
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
M, N, K = 25, 200, 5


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done


def groups(random, n=N):
    """Samples around K directions, close enough to overlap a little."""
    centres = random.gamma(0.4, 1.0, (K, M))
    return random.poisson(centres[np.arange(n) % K] * 3).astype(float)


def table(path, X, names, samples):
    with open(path, "w") as file:
        file.write(",".join(["", *names]) + "\n")
        for name, row in zip(samples, X):
            file.write(",".join([name, *(repr(float(x)) for x in row)]) + "\n")


def read_table(path):
    rows = list(csv.reader(open(path, newline="")))
    assert rows[0] == ["sample", "cluster"]
    return [row[0] for row in rows[1:]], np.array([int(row[1]) for row in rows[1:]])


def reference(model, codes, method):
    """The rule of docs/clustering.md for codes that are no training sample's."""
    U, V, centres = model["U"].astype(float), model["V"].astype(float), model["cluster_centers"]
    labels = model["cluster_labels"]
    codes = codes.astype(float)
    if method == "argmax":
        return np.argmax(codes * np.linalg.norm(U, axis=0), axis=1)
    if method == "kmeans":
        return np.argmax(codes @ (centres / np.linalg.norm(centres, axis=0)), axis=1)
    if method == "euclidean":
        return np.argmin(((codes[:, :, None] - centres[None]) ** 2).sum(axis=1), axis=1)
    cosines = codes / np.linalg.norm(codes, axis=1)[:, None] @ (V / np.linalg.norm(V, axis=0))
    found = []
    for row in cosines:
        votes = np.zeros(int(labels.max()) + 1)
        for j in np.argsort(-row, kind="stable")[:15]:
            votes[labels[j]] += 1 / (max(2 - 2 * row[j], 0) + 1e-12)
        found.append(np.argmax(votes))
    return np.array(found)


def relabel(path, labels, k, method):
    """The model with clusters of another origin, as another program may write them."""
    with np.load(path) as model:
        arrays = {name: model[name] for name in model.files}
    meta = json.loads(bytes(arrays["meta"]))
    meta["clusters"] = {"k": k, "method": method}
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    arrays["cluster_labels"] = labels.astype(np.int64)
    arrays["cluster_centers"] = np.zeros((arrays["U"].shape[1], k))
    for name in ("U", "V", "cluster_centers"):
        arrays[name] = np.asfortranarray(arrays[name])
    np.savez(path, **arrays)


def check_methods(random):
    X, new = groups(random), groups(random, 60)
    names, samples = [f"g{i}" for i in range(M)], [f"cell, {i}" if i == 3 else f"cell {i}" for i in range(N)]
    quoted = [f'"{s}"' for s in samples]
    table("x.csv", X, names, quoted)
    order = random.permutation(M)
    table("new.csv", new[:, order], [names[i] for i in order], [f"new {i}" for i in range(60)])
    for method, options in (
        ("kmeans", []),
        ("euclidean", ["--precision", "f32"]),
        ("argmax", ["--model", "nmf", "--k", K]),
        ("kmeans", ["--model", "spherical-nmf", "--rank", 7]),
        (None, []),
    ):
        given = ["--method", method] if method else []
        options = options if "--k" in options else [*options, "--k", K]
        done = run("cluster", "x.csv", *options, *given, "--out", "labels.csv", "--model-out", "kept.npz", "--json", "--force")
        shown = json.loads(done.stdout)
        got, labels = read_table("labels.csv")
        assert got == samples and shown["labels"] is None and shown["model_out"] == "kept.npz"
        with np.load("kept.npz") as file:
            model = {name: file[name] for name in file.files}
        assert np.array_equal(model["cluster_labels"], labels)
        assert json.loads(bytes(model["meta"]))["clusters"] == {"k": K, "method": shown["method"]}
        check_quality(shown, model["V"].T.astype(float), labels)
        for threads in (1, 3):
            run("predict", "kept.npz", "x.csv", "--out", "again.csv", "--force", "--threads", threads)
            assert np.array_equal(read_table("again.csv")[1], labels), f"{method}: training samples"
        for out in ([], ["--out", "-"], ["--out", "/dev/stdout"]):
            assert run("predict", "kept.npz", "x.csv", "--names", *out).stdout == open("again.csv", newline="").read()
        run("predict", "kept.npz", "x.csv", "--names", "--out", "again.txt", "--force")
        assert read_table("again.txt")[0] == samples
        run("predict", "kept.npz", "x.csv", "--keep-samples", "11-50", "--out", "some.txt", "--force")
        assert np.array_equal(np.loadtxt("some.txt", dtype=int), labels[10:50]), f"{method}: some training samples"
        done = run("predict", "kept.npz", "new.csv", "--json")
        found = json.loads(done.stdout)
        run("transform", "kept.npz", "new.csv", "--out", "codes.npy", "--force")
        want = reference(model, np.load("codes.npy"), shown["method"])
        assert np.array_equal(found["labels"], want), f"{method}: new samples"
        assert found["sizes"] == [int((want == c).sum()) for c in range(K)]
        check_top(labels)


def check_quality(shown, codes, labels):
    units = codes / np.linalg.norm(codes, axis=1)[:, None]
    assert abs(shown["silhouette"] - silhouette_score(units, labels, metric="cosine")) < 1e-6
    angles = []
    for c in np.unique(labels):
        centre = units[labels == c].sum(axis=0)
        angles += list(np.arccos(np.clip(units[labels == c] @ centre / np.linalg.norm(centre), -1, 1)))
    assert abs(shown["angle"] - np.mean(angles)) < 1e-6


def check_top(labels):
    """The clusters that a model keeps are described, of the fit's samples and of data."""
    for data in ([], ["--data", "x.csv"]):
        found = json.loads(run("top", "kept.npz", *data, "--json").stdout)
        sizes = {cluster["cluster"]: cluster["size"] for cluster in found["clusters"]}
        assert sizes == {int(c): int((labels == c).sum()) for c in np.unique(labels)}
    run("score", "labels.csv", "again.csv")


def check_any_labels(random):
    """Labels that are no function of codes come back; new samples go by a vote of neighbours. Equal samples may differ."""
    X = groups(random)
    X[7] = X[3]
    np.save("x.npy", X)
    run("cluster", "x.npy", "--k", K, "--model-out", "kept.npz", "--force", "--out", "l.txt")
    labels = random.integers(0, 4, N)
    labels[3], labels[7] = 0, 1
    relabel("kept.npz", labels, 4, "communities")
    run("predict", "kept.npz", "x.npy", "--out", "l.txt", "--force")
    assert np.array_equal(np.loadtxt("l.txt", dtype=int), labels)
    shuffle = random.permutation(np.setdiff1d(np.arange(N), [3, 7]))
    np.save("part.npy", X[shuffle])
    run("predict", "kept.npz", "part.npy", "--out", "l.txt", "--force")
    assert np.array_equal(np.loadtxt("l.txt", dtype=int), labels[shuffle])
    new = groups(random, 40) + random.random((40, M))
    np.save("new.npy", new)
    run("predict", "kept.npz", "new.npy", "--out", "l.txt", "--force")
    run("transform", "kept.npz", "new.npy", "--out", "codes.npy", "--force")
    with np.load("kept.npz") as model:
        want = reference(model, np.load("codes.npy"), "communities")
    assert np.array_equal(np.loadtxt("l.txt", dtype=int), want)


def check_storages(random):
    """Dense and sparse, f32 and f64, and a file that is streamed."""
    X = groups(random, 5000)
    for dtype in (np.float32, np.float64):
        np.save("x.npy", X.astype(dtype))
        sparse.save_npz("x.npz", sparse.csr_matrix(X.astype(dtype)))
        for data in ("x.npy", "x.npz"):
            run("cluster", data, "--k", K, "--out", "l.txt", "--model-out", "kept.npz", "--force", "--quiet")
            want = np.loadtxt("l.txt", dtype=int)
            for more in ([], ["--memory", "4M"]):
                run("predict", "kept.npz", data, "--out", "l.txt", "--force", *more)
                assert np.array_equal(np.loadtxt("l.txt", dtype=int), want), (dtype, data, more)
            other = {"x.npy": "x.npz", "x.npz": "x.npy"}[data]
            run("predict", "kept.npz", other, "--out", "l.txt", "--force")
            assert (np.loadtxt("l.txt", dtype=int) == want).mean() > 0.999


def check_contribution(random):
    """argmax is by V_kj ||u_k||: atoms of any length."""
    X = groups(random)
    np.save("x.npy", X)
    run("fit", "x.npy", "--rank", K, "--model", "spherical-nmf", "--out", "model.npz", "--force", "--quiet")
    run("cluster", "model.npz", "--method", "argmax", "--out", "l.txt", "--force")
    with np.load("model.npz") as model:
        lengths = np.linalg.norm(model["U"], axis=0)
        want = np.argmax(model["V"] * lengths[:, None], axis=0)
    assert lengths.max() > 1.01 * lengths.min() and np.array_equal(np.loadtxt("l.txt", dtype=int), want)


def check_refusals():
    run("fit", "x.npy", "--rank", 2, "--out", "plain.npz", "--force", "--quiet")
    assert "--model-out" in run("predict", "plain.npz", "x.npy", status=65).stderr
    run("cluster", "x.npy", "--k", 2, "--on", "data", "--model-out", "kept2.npz", status=64)
    run("cluster", "x.npy", "--k", 2, "--model-out", "kept2.csv", status=64)
    run("cluster", "x.npy", "--k", 2, "--model-out", "kept.npz", status=73)
    run("cluster", "x.npy", "--k", 2, "--out", "same.npz", "--model-out", "same.npz", status=64)
    run("predict", "kept.npz", "x.npy", "--out", "l.txt", status=73)
    run("predict", "kept.npz", status=64)
    np.save("wide.npy", np.ones((3, M + 1)))
    run("predict", "kept.npz", "wide.npy", status=65)
    for change in (lambda a, m: a.update(cluster_labels=a["cluster_labels"] + 99),
                   lambda a, m: a.update(cluster_labels=a["cluster_labels"][:-1]),
                   lambda a, m: a.pop("cluster_labels"),
                   lambda a, m: a.pop("cluster_centers"),
                   lambda a, m: a.update(cluster_centers=a["cluster_centers"] * np.nan),
                   lambda a, m: m.update(clusters={"k": 0, "method": "kmeans"}),
                   lambda a, m: m.update(clusters={"k": K, "method": "x" * 99}),
                   lambda a, m: m.update(clusters=5)):
        with np.load("kept.npz") as model:
            arrays = {name: model[name] for name in model.files}
        meta = json.loads(bytes(arrays["meta"]))
        change(arrays, meta)
        arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
        np.savez("damaged.npz", **{n: np.asfortranarray(a) if a.ndim == 2 else a for n, a in arrays.items()})
        said = run("predict", "damaged.npz", "x.npy", status=65).stderr
        assert "cluster" in said and said.count("\n") == 1, said
    assert zipfile.is_zipfile("kept.npz")


def main():
    random = np.random.default_rng(21)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_methods(random)
        check_any_labels(random)
        check_storages(random)
        check_contribution(random)
        run("cluster", "x.npy", "--k", K, "--model-out", "kept.npz", "--out", "l.txt", "--force")
        check_refusals()


main()
