#!/usr/bin/env python3
"""Preparation, choice of samples and features, and names, against scikit-learn and NumPy.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy, SciPy or scikit-learn is missing."""

import itertools
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.sparse as sparse
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import StandardScaler, normalize
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
STEPS = ("log1p", "tfidf", "scale", "center", "normalize")


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def fit(data, *options):
    told = json.loads(run("fit", data, "--rank", 4, "--json", "--quiet", "--force", "--out", "model.npz", *options))
    with np.load("model.npz", allow_pickle=False) as archive:
        return told, {name: archive[name] for name in archive.files}


def close(a, b, bound, what):
    worst = np.max(np.abs(np.asarray(a, float) - np.asarray(b, float)), initial=0)
    assert worst <= bound, f"{what}: off by {worst:g}, allowed {bound:g}"


def prepared(X, steps):
    """The same by scikit-learn, step by step; X has a sample per row."""
    X = sparse.csr_matrix(X, dtype=float)
    if "log1p" in steps:
        X = X.log1p()
    if "tfidf" in steps:
        X = TfidfTransformer(norm=None, smooth_idf=True).fit_transform(X)
    if "scale" in steps:
        X = StandardScaler(with_mean=False).fit_transform(X)
    X = X.toarray()
    if "center" in steps:
        X = StandardScaler(with_std=False).fit_transform(X)
    return normalize(X) if "normalize" in steps else X


def by_the_model(X, model):
    """What docs/model-file.md says how to prepare X with what stands in the file."""
    meta = json.loads(bytes(model["meta"]))
    X = X.T.astype(float)
    if meta["log1p"]:
        X = np.log1p(X)
    for name in ("idf", "scale"):
        if name in model:
            X = X * model[name][:, None]
    if "mean" in model:
        X = X - model["mean"][:, None]
    if meta["normalize"] == "l2":
        length = np.linalg.norm(X, axis=0)
        X = X / np.where(length > 0, length, 1)
    return X.T


def write(form, X):
    if form == "sparse":
        sparse.save_npz("x.npz", sparse.csr_matrix(X.astype(float)))
        return "x.npz"
    np.save("x.npy", X.astype({"f4": "f4", "f8": "f8", "u1": "u1"}[form]))
    return "x.npy"


def check_against_sklearn(X):
    for count in range(len(STEPS) + 1):
        for steps in itertools.combinations(STEPS, count):
            wanted = prepared(X, steps)
            flags = [word for step in steps for word in (("--normalize", "l2") if step == "normalize" else ("--" + step,))]
            for form in ("f8", "f4", "u1", "sparse"):
                file = write(form, X)
                told, model = fit(file, *flags, "--max-iter", 15, "--precision", "f64")
                what = f"{form} {' '.join(steps)}"
                close(by_the_model(X, model), wanted, 1e-10, what)
                objective = np.linalg.norm(wanted.T - model["U"] @ model["V"]) ** 2
                close(told["objective"], objective, 1e-9 * np.linalg.norm(wanted) ** 2, f"objective, {what}")
                run("check", "model.npz", file)


def check_undone(X):
    """A model of full rank with every step but the last gives the data back."""
    np.save("x.npy", X.astype(float))
    run("fit", "x.npy", "--rank", X.shape[1], "--basis", "orthonormal", "--log1p", "--tfidf", "--scale", "--center",
        "--max-iter", 5, "--out", "model.npz", "--force", "--quiet")
    run("reconstruct", "model.npz", "--out", "back.npy", "--force", "--quiet")
    with np.load("model.npz", allow_pickle=False) as model:
        weights = (model["idf"] * model["scale"])[:, None]
        wanted = np.expm1((model["U"] @ model["V"] + model["mean"][:, None]) / weights)
    close(np.load("back.npy"), wanted.T, 1e-12, "reconstruction")


def check_refusal(X):
    X = X.astype(float)
    X[7, 3] = -1
    X[9, 1] = -2.5
    for name, save in (("x.npy", np.save), ("x.npz", lambda file, a: sparse.save_npz(file, sparse.csr_matrix(a)))):
        save(name, X)
        told = run("fit", name, "--rank", 2, "--log1p", "--center", status=65)
        assert "sample 8, feature 4 " in told and "is -1" in told and told.count("\n") == 1, told
        run("fit", name, "--rank", 2, "--quiet")


def main():
    rng = np.random.default_rng(7)
    X = rng.poisson(0.7, (90, 17)) * rng.integers(1, 40, (90, 17)).clip(0, 9)
    X[:, 5] = 0
    X[:, 6] = 3
    X[11, :] = 0
    X[11, 6] = 3
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check in (check_against_sklearn, check_undone, check_refusal):
            try:
                check(X.copy())
            except AssertionError as wrong:
                sys.exit(f"FAILED: {check.__name__}: {wrong}")
        os.chdir("/")


main()
