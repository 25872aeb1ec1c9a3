#!/usr/bin/env python3
"""armilla top against NumPy and SciPy: weights, lift, shares, angles, coherence, effect sizes, and rank tests corrected for
many features; and what it refuses.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy, SciPy or scikit-learn is missing."""

import csv
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.sparse as sparse
    import scipy.stats
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
M, N, R, K, COUNT = 30, 90, 4, 3, 7


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done


def top(*arguments):
    return json.loads(run("top", "model.npz", "--json", "--count", COUNT, *arguments).stdout)


def close(a, b, bound, what):
    worst = np.max(np.abs(np.asarray(a, float) - np.asarray(b, float)), initial=0)
    assert worst <= bound, f"{what}: off by {worst:g}, allowed {bound:g}"


def make(random, labels):
    """Counts in which clusters have features of their own."""
    rates = random.gamma(0.5, 1.0, (K, M)) + 0.05
    return random.poisson(rates[labels] * 2).astype(float)


def save(form, X):
    if form == "sparse":
        sparse.save_npz("x.npz", sparse.csr_matrix(X))
        return "x.npz"
    np.save("x.npy", X.astype(form))
    return "x.npy"


def prepare(X, meta, model, centred=True):
    Y = X.T.astype(float)
    if meta["log1p"]:
        Y = np.log1p(Y)
    for name in ("idf", "scale"):
        if name in model:
            Y = Y * model[name][:, None]
    if centred and "mean" in model:
        Y = Y - model["mean"][:, None]
    if meta["normalize"] == "l2":
        length = np.linalg.norm(Y, axis=0)
        Y = Y / np.where(length > 0, length, 1)
    return Y


def expect_order(got, keys, names, what):
    """The largest keys, in their order; equal ones may change places."""
    want = np.sort(keys)[::-1][: len(got)]
    place = {name: i for i, name in enumerate(names)}
    close([keys[place[name]] for name in got], want, 1e-6 * max(1, np.abs(want).max(initial=0)), what)


def check_atoms(found, U, V, samples, names, bound):
    """samples: what angles are measured of, one per column."""
    parts = np.abs(U) / np.abs(U).sum(axis=0)
    lift = parts / np.where(parts.mean(axis=1) > 0, parts.mean(axis=1), 1)[:, None]
    contributions = V * np.linalg.norm(U, axis=0)[:, None]
    share = (contributions**2).sum(axis=1) / (contributions**2).sum()
    lengths = np.linalg.norm(samples, axis=0)
    cosines = (U / np.linalg.norm(U, axis=0)).T @ samples / np.where(lengths > 0, lengths, 1)
    assert [atom["atom"] for atom in found["atoms"]] == list(range(R))
    for k, atom in enumerate(found["atoms"]):
        close(atom["share"], share[k], bound, "share")
        assert atom["size"] == np.count_nonzero(contributions.argmax(axis=0)[np.abs(V).max(axis=0) > 0] == k), "size"
        shown = [feature["name"] for feature in atom["features"]]
        assert len(shown) == min(COUNT, np.count_nonzero(U[:, k]))
        expect_order(shown, np.abs(U[:, k]), names[0], "features by weight")
        rows = [names[0].index(name) for name in shown]
        close([feature["weight"] for feature in atom["features"]], U[rows, k], bound, "weight")
        close([feature["lift"] for feature in atom["features"]], lift[rows, k], bound * R, "lift")
        expect_order([feature["name"] for feature in atom["distinctive"]], np.abs(U[:, k]) * lift[:, k], names[0], "lift")
        expect_order([sample["name"] for sample in atom["samples"]], cosines[k], names[1], "samples")
        near = [names[1].index(sample["name"]) for sample in atom["samples"]]
        close(np.cos([sample["angle"] for sample in atom["samples"]]), cosines[k, near], bound, "angle")


def benjamini_hochberg(p):
    """Plain loops: the least p_j n / rank_j over all that are not smaller."""
    order = np.argsort(p)
    corrected = np.empty(len(p))
    for i, place in enumerate(order):
        corrected[place] = min(1.0, min(p[order[j]] * len(p) / (j + 1) for j in range(i, len(p))))
    return corrected


def check_clusters(found, U, V, Y, labels, names, with_test, bound):
    rebuilt = U @ V
    units = rebuilt / np.linalg.norm(rebuilt, axis=0)
    assert [cluster["cluster"] for cluster in found["clusters"]] == list(range(K))
    for c, cluster in enumerate(found["clusters"]):
        inside = labels == c
        centre = units[:, inside].sum(axis=1)
        cosines = np.where(inside, centre / np.linalg.norm(centre) @ units, np.nan)
        assert cluster["size"] == inside.sum()
        close(cluster["coherence"], np.nanmean(cosines), bound, "coherence")
        for kind, sign in (("typical", 1), ("odd", -1)):
            keys = np.where(inside, sign * cosines, -9)
            expect_order([sample["name"] for sample in cluster[kind]], keys, names[1], kind)
            near = [names[1].index(sample["name"]) for sample in cluster[kind]]
            close(np.cos([sample["angle"] for sample in cluster[kind]]), cosines[near], bound, kind)
        if Y is not None:
            check_markers(cluster["features"], Y, inside, names[0], with_test, bound)


def check_markers(features, Y, inside, names, with_test, bound):
    a, b = Y[:, inside], Y[:, ~inside]
    pooled = ((a.shape[1] - 1) * a.var(axis=1, ddof=1) + (b.shape[1] - 1) * b.var(axis=1, ddof=1)) / (Y.shape[1] - 2)
    difference = a.mean(axis=1) - b.mean(axis=1)
    effect = np.where(pooled > 0, difference / np.sqrt(np.where(pooled > 0, pooled, 1)), 0)
    expect_order([feature["name"] for feature in features], effect, names, "features by effect")
    rows = [names.index(feature["name"]) for feature in features]
    close([feature["effect"] for feature in features], effect[rows], bound * 100, "effect")
    close([feature["inside"] for feature in features], a.mean(axis=1)[rows], bound * 10, "inside")
    close([feature["outside"] for feature in features], b.mean(axis=1)[rows], bound * 10, "outside")
    if with_test is None:
        assert all(feature["p"] is None for feature in features)
        return
    p = [scipy.stats.mannwhitneyu(a[i], b[i], method="asymptotic").pvalue for i in range(len(names))]
    want = benjamini_hochberg(np.nan_to_num(np.array(p), nan=1.0))
    for feature, row in zip(features, rows):
        assert abs(feature["p"] - want[row]) <= with_test * want[row] + 1e-12, (feature, want[row])


def check_all(random):
    names = [[f"word{i}" for i in range(M)], [f"doc {i}" for i in range(N)]]
    labels = np.concatenate([np.arange(K), random.integers(0, K, N - K)])
    X = make(random, labels)
    for stem, texts in zip(("features", "samples"), names):
        open(stem, "w").write("".join(f"{text}\n" for text in texts))
    np.savetxt("clusters", labels, fmt="%d")
    given = ["--feature-names", "features", "--sample-names", "samples"]
    for form, options in (
        ("f8", ["--model", "spherical-nmf"]),
        ("sparse", ["--model", "spherical-nmf", "--log1p", "--normalize", "l2"]),
        ("sparse", ["--model", "spherical-pca", "--tfidf", "--center", "--normalize", "l2"]),
        ("f4", ["--model", "nmf", "--scale", "--normalize", "l2"]),
        ("f8", ["--model", "spherical-pca", "--center"]),
    ):
        data = save(form, X)
        run("fit", data, "--rank", R, "--out", "model.npz", "--force", "--quiet", *options, *given)
        with np.load("model.npz") as model:
            U, V = model["U"].astype(float), model["V"].astype(float)
            meta = json.loads(bytes(model["meta"]))
            Y, plain = prepare(X, meta, model), prepare(X, meta, model, centred=False)
        # Samples of unit length may differ in their last bits from ours, and so in ties: p is then compared loosely.
        bound = 1e-5 if form == "f4" else 1e-9
        check_atoms(top(), U, V, U @ V, names, bound)
        check_atoms(top("--data", data, *given), U, V, Y, names, bound)
        found = top("--data", data, "--clusters", "clusters", *given)
        if form == "f4":  # whose prepared values go through f32 here, and not there
            check_clusters(found, U, V, None, labels, names, None, bound)
        else:
            check_clusters(found, U, V, plain, labels, names, 1e-3 if "--normalize" in options else 1e-6, bound)
        for threads in (1, 2, 5):
            assert top("--data", data, *given, "--threads", threads) == top("--data", data, *given)
        found = top("--clusters", "clusters")
        check_clusters(found, U, V, None, labels, names, None, bound)
        for c, cluster in enumerate(found["clusters"]):
            means = (U @ V[:, labels == c]).mean(axis=1), (U @ V[:, labels != c]).mean(axis=1)
            expect_order([f["name"] for f in cluster["features"]], means[0] - means[1], names[0], "rebuilt means")


def check_not_counts(random):
    """Real numbers have effects, and no test."""
    labels = np.concatenate([np.arange(K), random.integers(0, K, N - K)])
    X = random.normal(size=(N, M)) + random.normal(size=(K, M))[labels]
    names = [[str(i + 1) for i in range(M)], [str(i + 1) for i in range(N)]]
    np.save("x.npy", X)
    np.savetxt("clusters", labels, fmt="%d")
    run("fit", "x.npy", "--rank", R, "--out", "model.npz", "--force", "--quiet")
    done = run("top", "model.npz", "--data", "x.npy", "--clusters", "clusters", "--json", "--count", COUNT)
    assert "numbered from 1" in done.stderr and "--feature-names" in done.stderr
    with np.load("model.npz") as model:
        check_clusters(json.loads(done.stdout), model["U"], model["V"], X.T, labels, names, None, 1e-9)


def check_table_and_words(random):
    X = random.poisson(2.0, (N, M)).astype(float)
    np.save("x.npy", X)
    open("features", "w").write("".join(f'say "{i}", twice\n' for i in range(M)))
    open("clusters", "w").write("".join(("a, b\n", "c\n")[j % 2] for j in range(N)))
    run("fit", "x.npy", "--rank", 2, "--out", "model.npz", "--force", "--quiet")
    run("top", "model.npz", "--feature-names", "features", "--clusters", "clusters", "--out", "table.csv", "--count", 2)
    rows = list(csv.DictReader(open("table.csv", newline="")))
    assert {row["number"] for row in rows if row["kind"] == "cluster"} == {"a, b", "c"}
    assert all(row["name"].startswith('say "') for row in rows if row["list"] == "features")
    found = json.loads(run("top", "model.npz", "--clusters", "clusters", "--only-clusters", "c", "--atoms", "1", "--json").stdout)
    assert [atom["atom"] for atom in found["atoms"]] == [1] and [c["cluster"] for c in found["clusters"]] == ["c"]
    found = json.loads(run("top", "model.npz", "--clusters", "clusters", "--atoms", "none", "--json").stdout)
    assert found["atoms"] == [] and len(found["clusters"]) == 2
    assert run("top", "model.npz", "--clusters", "clusters", "--atoms", "none").stdout.startswith("cluster a, b: ")
    weights = [float(row["weight"]) for row in rows if row["kind"] == "atom" and row["list"] == "features" and row["number"] == "0"]
    assert len(weights) == 2 and abs(weights[0]) >= abs(weights[1])
    run("top", "model.npz", "--out", "table.csv", status=73)
    assert run("top", "model.npz").stdout.startswith("atom 0: share")


def check_zeros(random):
    """Samples of zeros have no angle: whatever the model, from the codes and from data, they are in no list, count for no
    share, size or coherence, and are counted."""
    labels = np.arange(N) % K
    X = make(random, labels) + 0.01
    zero = np.zeros(N, bool)
    zero[[0, 1, 4, 17, 18, 51, 80, N - 1]] = True
    labels[[0, 17, 80]] = K  # a cluster of nothing else
    X[zero] = 0
    names = [f"doc {j}" for j in range(N)]
    open("samples", "w").write("".join(f"{name}\n" for name in names))
    open("clusters", "w").write("".join(f"{label}\n" for label in labels))
    there = {names[j] for j in np.flatnonzero(~zero)}
    for form in ("float64", "float32", "sparse"):
        for model in (("--model", "spherical-nmf"), ("--model", "spherical-pca"), ("--model", "nmf"), ("--model", "kmeans"),
                      ("--model", "sparse-spherical-nmf", "--sparsity", 1), ("--model", "spherical-nmf", "--normalize", "l2")):
            path = save(form, X)
            run("fit", path, "--rank", R, *model, "--max-iter", 5, "--sample-names", "samples", "--out", "model.npz", "--force", "--quiet")
            with np.load("model.npz") as arrays:
                U, V = (np.asarray(arrays[name], float) for name in "UV")
                assert list(arrays["zero_samples"]) == list(np.flatnonzero(zero))
            parts = (V[:, ~zero] * np.linalg.norm(U, axis=0)[:, None]) ** 2
            rebuilt = U @ V[:, ~zero]
            units = rebuilt / np.maximum(np.linalg.norm(rebuilt, axis=0), 1e-300)
            for data in ((), ("--data", path, "--sample-names", "samples")):
                done = run("top", "model.npz", *data, "--clusters", "clusters", "--count", N, "--json")
                found = json.loads(done.stdout)
                assert found["zero_samples"] == zero.sum() and f"{zero.sum()} of the samples are 0" in done.stderr, done.stderr
                for atom, share in zip(found["atoms"], parts.sum(axis=1) / parts.sum()):
                    assert {sample["name"] for sample in atom["samples"]} <= there, (form, model, data)
                    close(atom["share"], share, 1e-5, "share without zeros")
                assert sum(atom["size"] for atom in found["atoms"]) <= len(there)
                for c, cluster in enumerate(found["clusters"]):
                    inside = labels == c
                    assert (cluster["size"], cluster["zero_samples"]) == (inside.sum(), (inside & zero).sum())
                    listed = {sample["name"] for kind in ("typical", "odd") for sample in cluster[kind]}
                    assert listed <= there, (form, model, data)
                    if c == K:
                        assert cluster["coherence"] is None and not listed
                        continue
                    if "nmf" not in model or not (np.linalg.norm(rebuilt, axis=0) == 0).any():
                        own = units[:, labels[~zero] == c]
                        centre = own.sum(axis=1)
                        close(cluster["coherence"], (centre / np.linalg.norm(centre) @ own).mean(), 1e-4, "coherence")
                shown = run("top", "model.npz", *data, "--clusters", "clusters", "--count", 3).stdout
                assert "nan" not in shown and f"cluster {K}: 3 samples, 3 of them zero\n" in shown, shown


def check_threads(random):
    """--threads 1 is obeyed by everything that top does: there is never another thread."""
    np.save("wide.npy", random.gamma(0.5, 1.0, (6000, 300)))
    open("many", "w").write("".join(f"{j % 5}\n" for j in range(6000)))
    run("fit", "wide.npy", "--rank", 8, "--max-iter", 1, "--out", "wide.npz", "--force", "--quiet")
    command = [ARMILLA, "top", "wide.npz", "--data", "wide.npy", "--clusters", "many", "--threads", "1", "--json"]
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "BLIS_NUM_THREADS": "1"}  # whose threads are their own
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=alone) as running:
        most = looks = 0
        while running.poll() is None:
            try:
                most = max(most, len(os.listdir(f"/proc/{running.pid}/task")))
                looks += 1
            except FileNotFoundError:
                pass
    assert running.returncode == 0 and looks > 20 and most == 1, (running.returncode, looks, most)


def check_refusals():
    open("few", "w").write("0\n1\n")
    assert "2 labels" in run("top", "model.npz", "--clusters", "few", status=65).stderr
    open("across", "w").write("0\n" * M)
    said = run("top", "model.npz", "--data", "x.npy", "--clusters", "across", status=65).stderr
    assert "30 labels" in said, said
    for atoms in ("2", "0,7", "-1", "x", "", "0,0", "none,0"):
        assert "--atoms" in run("top", "model.npz", "--atoms", atoms, status=65).stderr, atoms
    run("top", "model.npz", "--clusters", "clusters", "--only-clusters", "d", status=65)
    run("top", "model.npz", "--only-clusters", "c", status=64)
    run("top", "model.npz", "--count", "0", status=64)
    run("top", "model.npz", "--clusters", "nowhere", status=66)
    run("top", "nowhere.npz", status=66)
    run("top", "x.npy", status=65)
    run("top", status=64)
    open("short", "w").write("a\n")
    run("top", "model.npz", "--feature-names", "short", status=65)


def check_summaries(random):
    X = make(random, np.arange(N) % K)
    np.save("x.npy", X)
    open("features", "w").write("".join(f"word{i}\n" for i in range(M)))
    said = run("fit", "x.npy", "--rank", 3, "--model", "spherical-nmf", "--feature-names", "features", "--out", "model.npz", "--force").stderr
    first = [feature["name"] for feature in top()["atoms"][0]["features"][:5]]
    assert f"atom 0    {', '.join(first)}\n" in said, said
    assert "atom 0" not in run("fit", "x.npy", "--rank", 3).stderr
    said = run("cluster", "x.npy", "--k", 3, "--feature-names", "features", "--out", "l.txt").stderr
    assert said.count("\ncluster ") == 3 and "word" in said, said


def main():
    random = np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_all(random)
        check_not_counts(random)
        check_zeros(random)
        check_threads(random)
        check_table_and_words(random)
        check_refusals()
        check_summaries(random)


main()
