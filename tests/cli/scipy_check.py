#!/usr/bin/env python3
"""Sparse files as SciPy writes them: every form and type, fits against the dense form of the same matrix.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy or SciPy is missing."""

import itertools
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.sparse as sparse
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
RANK = 4


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def fit(data, *options):
    shown = json.loads(run("fit", data, "--rank", RANK, "--json", "--quiet", "--force", "--out", "model.npz", *options))
    with np.load("model.npz", allow_pickle=False) as archive:
        return shown, {name: archive[name] for name in archive.files}


def close(a, b, bound, what):
    worst = np.max(np.abs(np.asarray(a, float) - np.asarray(b, float)), initial=0)
    assert worst <= bound, f"{what}: off by {worst:g}, allowed {bound:g}"


def check_info(X, file, samples):
    """What info says of the file is what NumPy says of the matrix."""
    shown = json.loads(run("info", file, "--json", "--samples", samples))
    n, m = X.shape if samples == "rows" else X.shape[::-1]
    dense = X.toarray()
    assert (shown["m"], shown["n"]) == (m, n)
    assert shown["storage"].startswith("sparse"), shown["storage"]
    assert shown["nnz"] == np.count_nonzero(dense) and shown["zeros"] == dense.size - shown["nnz"]
    close(shown["density"], shown["nnz"] / dense.size, 1e-12, "density")
    close(shown["largest"], dense.max(), 1e-6, "largest")
    return shown["fingerprint"]


def check_forms(X):
    """CSR, CSC and COO in both orientations: one matrix, one fingerprint, one model to the bit."""
    first, prints = None, set()
    for form, samples, compressed in itertools.product(("csr", "csc", "coo"), ("rows", "columns"), (False, True)):
        matrix = X if samples == "rows" else X.T
        sparse.save_npz("x.npz", matrix.asformat(form), compressed=compressed)
        prints.add(check_info(matrix, "x.npz", samples))
        shown, model = fit("x.npz", "--samples", samples, "--max-iter", 20)
        assert shown["nnz"] == X.nnz
        first = first or model
        for name in ("U", "V", "radius", "trace_objective"):
            assert np.array_equal(first[name], model[name]), f"{form}, {samples}: {name} differs"
        run("check", "model.npz", "x.npz", "--samples", samples)
    np.save("x.npy", X.toarray())
    prints.add(json.loads(run("info", "x.npy", "--json"))["fingerprint"])
    assert len(prints) == 1, "fingerprints differ"


def check_types(X):
    """Numbers of any type, indices of either width; f32 stays f32."""
    for kind, word in ((np.float32, "f32"), (np.float64, "f64"), (np.int64, "f64"), (np.uint8, "f32"), (bool, "f32")):
        for index in (np.int32, np.int64):
            matrix = X.astype(kind).tocsr()
            matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
            sparse.save_npz("x.npz", matrix)
            assert check_info(matrix.astype(float), "x.npz", "rows")
            assert fit("x.npz", "--max-iter", 2)[0]["precision"] == word


def check_against_dense(X):
    """The same objective as the dense form, with every preparation; transform, reconstruct and check."""
    for kind, bound in ((np.float64, 1e-8), (np.float32, 1e-4)):
        sparse.save_npz("x.npz", X.astype(kind))
        np.save("x.npy", X.astype(kind).toarray())
        for options in ([], ["--center"], ["--tfidf"], ["--normalize", "l2"], ["--tfidf", "--center", "--normalize", "l2"]):
            shown, model = fit("x.npz", "--max-iter", 15, *options)
            other, _ = fit("x.npy", "--max-iter", 15, *options)
            close(shown["relative_error"], other["relative_error"], bound, f"relative error, {options}")
            run("check", "model.npz", "x.npz")
            run("transform", "model.npz", "x.npz", "--out", "codes.npy", "--force", "--quiet")
            run("transform", "model.npz", "x.npy", "--out", "dense.npy", "--force", "--quiet")
            close(np.load("codes.npy"), np.load("dense.npy"), 1e3 * bound * shown["radius"], f"codes, {options}")
            run("reconstruct", "model.npz", "--out", "back.npy", "--force", "--quiet")
            assert np.load("back.npy").shape == X.shape


def check_duplicates():
    """What stands twice in one place is added up."""
    matrix = sparse.coo_matrix(([1.0, 2.0, 3.0, 4.0], ([0, 0, 1, 2], [1, 1, 0, 2])), shape=(3, 4))
    sparse.save_npz("x.npz", matrix)
    shown = json.loads(run("info", "x.npz", "--json"))
    assert shown["stored"] == 3 and shown["largest"] == 4 and shown["squared_norm"] == 9 + 9 + 16


def check_refusals(X):
    for form in ("bsr", "dia"):
        sparse.save_npz("x.npz", X.asformat(form))
        assert "tocsr" in run("fit", "x.npz", "--rank", 2, status=65)
    np.save("x.npy", X.toarray())
    fit("x.npy", "--max-iter", 1)
    assert "is a model" in run("fit", "model.npz", "--rank", 2, status=65)
    assert json.loads(run("info", "model.npz", "--json"))["kind"] == "model"


def main():
    rng = np.random.default_rng(5)
    X = sparse.random(150, 40, density=0.15, format="csr", random_state=rng, data_rvs=lambda k: rng.integers(1, 9, k).astype(float))
    X = X.tolil()
    X[3, :] = 0
    X[:, 7] = 0
    X = X.tocsr()
    X.eliminate_zeros()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        checks = ((check_forms, X), (check_types, X), (check_against_dense, X), (check_duplicates,), (check_refusals, X))
        for check, *arguments in checks:
            try:
                check(*arguments)
            except AssertionError as wrong:
                sys.exit(f"FAILED: {check.__name__}: {wrong}")
        os.chdir("/")


main()
