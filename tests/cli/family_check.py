#!/usr/bin/env python3
"""The models of the family against scikit-learn: NMF's objective, PCA, k-means; the record of codes without a radius.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy or scikit-learn is missing."""

import json
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.decomposition import NMF, TruncatedSVD
except ImportError:
    sys.exit(77)

ARMILLA = os.environ["ARMILLA"]
failures = 0


def expect(truth, words):
    global failures
    if not truth:
        failures += 1
        print("wrong:", words)


def run(*words, status=0):
    done = subprocess.run([ARMILLA, *map(str, words)], capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}, not {status}: {done.stderr}")
    return done


def fit(data, *words):
    """The summary and the model, which passes check."""
    done = run("fit", data, *words, "--out", "model.npz", "--force", "--json", "--quiet")
    run("check", "model.npz", data)
    with np.load("model.npz", allow_pickle=False) as arrays:
        return json.loads(done.stdout), {name: arrays[name] for name in arrays}


def parts(rng, n, m, r):
    return rng.gamma(0.6, 1, (n, r)) @ rng.gamma(0.5, 1, (r, m)) + 0.05 * rng.random((n, m))


def check_nmf(rng):
    for n, m, r in [(200, 40, 5), (120, 60, 8), (300, 25, 10)]:
        X = parts(rng, n, m, r)
        np.save("nmf.npy", X)
        summary, model = fit("nmf.npy", "--model", "nmf", "--rank", r, "--start", "nndsvd", "--tol", "1e-7",
                             "--max-iter", 3000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = NMF(r, init="nndsvd", solver="cd", tol=1e-7, max_iter=3000).fit(X).reconstruction_err_
        ours = np.sqrt(summary["objective"])
        print(f"nmf {n} x {m}, r={r}: armilla {ours:.6f} in {summary['iterations']}, scikit-learn {theirs:.6f}")
        expect(ours <= theirs * (1 + 1e-3), f"NMF ends at {ours}, scikit-learn at {theirs}")
        expect(summary["radius"] is None and np.isnan(model["radius"]), "NMF has a radius")
        expect(np.isnan(model["trace_radius"]).all(), "the trace has a radius")
        expect(np.allclose(np.linalg.norm(model["U"], axis=0), 1), "atoms of NMF are not of length 1")


def check_pca(rng):
    X = rng.standard_normal((150, 30)) * np.linspace(5, 0.5, 30)
    np.save("pca.npy", X)
    summary, model = fit("pca.npy", "--model", "pca", "--rank", 6, "--tol", "1e-12", "--max-iter", 5000)
    singular = np.linalg.svd(X, compute_uv=False)
    best = (singular[6:] ** 2).sum()
    expect(abs(summary["objective"] / best - 1) < 1e-7, f"PCA ends at {summary['objective']}, the best is {best}")
    theirs = TruncatedSVD(6, algorithm="arpack").fit(X).components_
    cosines = np.linalg.svd(theirs @ model["U"], compute_uv=False)
    expect(cosines.min() > 1 - 1e-5, f"PCA's subspace is another: {cosines}")


def check_kmeans(rng):
    centres = 3 * rng.standard_normal((5, 8))
    X = centres[rng.integers(0, 5, 250)] + rng.standard_normal((250, 8))
    start = X[rng.choice(250, 5, replace=False)]
    np.save("kmeans.npy", X)
    np.save("start.npy", start.T)
    summary, model = fit("kmeans.npy", "--model", "kmeans", "--rank", 5, "--start", "start.npy", "--tol", "1e-14")
    theirs = KMeans(5, init=start, n_init=1, tol=0, max_iter=500).fit(X)
    expect(abs(summary["objective"] / theirs.inertia_ - 1) < 1e-9,
           f"k-means ends at {summary['objective']}, scikit-learn at {theirs.inertia_}")
    pairs = set(zip(model["V"].argmax(axis=0), theirs.labels_))
    expect(len(pairs) == 5, f"k-means has other clusters: {pairs}")
    expect(set(np.unique(model["V"])) == {0, 1}, "codes of k-means are not one-hot")


def check_supports(rng):
    X = parts(rng, 100, 20, 4)
    np.save("parts.npy", X)
    _, model = fit("parts.npy", "--model", "onmf", "--rank", 4)
    expect(((model["U"] != 0).sum(axis=1) <= 1).all(), "a row of orthogonal NMF's U has several nonzeros")
    expect((model["U"] >= 0).all() and (model["V"] >= 0).all(), "orthogonal NMF has negative entries")
    _, model = fit("parts.npy", "--model", "dictionary", "--rank", 12, "--sparsity", 3)
    expect(((model["V"] != 0).sum(axis=0) <= 3).all(), "a code of the dictionary has too many nonzeros")
    summary, model = fit("parts.npy", "--model", "spherical-kmeans", "--rank", 4)
    meta = json.loads(bytes(model["meta"]))
    expect(summary["model"] == "spherical-kmeans" and summary["sparsity"] == 1, "spherical-kmeans is not so called")
    expect(meta["normalize"] == "l2", "spherical-kmeans does not normalise")
    expect(((model["V"] != 0).sum(axis=0) == 1).all(), "spherical k-means has no single atom")
    _, model = fit("parts.npy", "--model", "semi-nmf", "--rank", 4, "--center")
    expect((model["V"] >= 0).all(), "codes of semi-NMF are negative")


def check_refusals():
    for words, said in [
        (["--model", "nmf", "--radius", "2"], "no radius"),
        (["--model", "pca", "--solver", "mu"], "--model nmf"),
        (["--model", "onmf", "--solver", "palm"], "any but orthonormal-nonneg"),
        (["--basis", "orthonormal-nonneg", "--codes", "sphere"], "use --codes free, nonneg or sparse"),
        (["--model", "spherical-kmeans", "--sparsity", "2"], "stands for --sparsity 1"),
        (["--model", "dictionary"], "needs --sparsity"),
        (["--model", "kmeans", "--sparsity", "1"], "not sparse"),
    ]:
        done = run("fit", "parts.npy", "--rank", 3, *words, status=64)
        expect(said in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr}")


os.chdir(tempfile.mkdtemp())
generator = np.random.default_rng(5)
check_nmf(generator)
check_pca(generator)
check_kmeans(generator)
check_supports(generator)
check_refusals()
sys.exit(failures > 0)
