#!/usr/bin/env python3
"""Models as NumPy sees them: every pair, precision and file form, each number recomputed independently.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy is missing."""

import itertools
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
BASES = ["orthonormal", "nonnegative"]
CODES = ["sphere", "nonneg-sphere", "sparse-sphere", "nonneg-sparse-sphere"]
TYPES = {"f32": np.float32, "f64": np.float64}
RANK = 4
SPARSITY = 2
TRACES = ["objective", "relative_error", "dU", "dV", "radius", "seconds"]


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout


def fit(data, basis, codes, *options):
    sparse = ["--sparsity", SPARSITY] if "sparse" in codes else []
    shown = json.loads(run("fit", data, "--rank", RANK, "--basis", basis, "--codes", codes, *sparse, "--json", "--quiet",
                          "--force", "--out", "model.npz", "--trace", "trace.csv", *options))
    with np.load("model.npz", allow_pickle=False) as archive:
        return shown, {name: archive[name] for name in archive.files}


def close(a, b, bound, what):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape, f"{what}: shapes {a.shape} and {b.shape}"
    worst = np.max(np.abs(a - b), initial=0)
    assert worst <= bound, f"{what}: off by {worst:g}, allowed {bound:g}"


def check_objective(X, model, shown, precision):
    U, V = model["U"].astype(float), model["V"].astype(float)
    objective, norm = np.sum((X - U @ V) ** 2), np.sum(X**2)
    bound = 1e-10 if precision == "f64" else 1e-5
    close(shown["objective"], objective, bound * objective, "objective")
    close(shown["relative_error"], np.sqrt(objective / norm), bound, "relative error")
    close(shown["radius"], model["radius"], 0, "radius")
    if shown["solver"] == "palm":
        close(model["trace_objective"][-1], objective, bound * objective, "last trace entry")
        close(model["trace_radius"][-1], model["radius"], 1e-12 * model["radius"], "last radius of the trace")
    else:  # sealed: a little above the last entry at most, or below it
        assert objective <= model["trace_objective"][-1] + 1e-6 * norm, "sealing"


def check_constraints(model, basis, codes, precision):
    U, V, radius = model["U"].astype(float), model["V"].astype(float), float(model["radius"])
    epsilon = np.finfo(TYPES[precision]).eps
    assert radius > 0
    close(np.linalg.norm(V, axis=0) / radius, np.ones(V.shape[1]), 10 * epsilon, "lengths of codes")
    if basis == "orthonormal":
        close(U.T @ U, np.eye(RANK), 30 * np.sqrt(len(U)) * epsilon, "orthonormality")
    else:
        assert U.min() >= 0, "a negative atom"
    if "nonneg" in codes:
        assert V.min() >= 0, "a negative code"
    if "sparse" in codes:
        assert np.count_nonzero(V, axis=0).max() <= SPARSITY, "a code with too many nonzeros"


def check_trace(X, model, shown, precision):
    rise = 100 * np.finfo(TYPES[precision]).eps * np.sum(X**2)
    for name in TRACES:
        assert model["trace_" + name].shape == (shown["iterations"] + 1,), "length of trace_" + name
    assert np.all(np.diff(model["trace_objective"]) <= rise), "the objective rises"
    assert np.all(np.diff(model["trace_seconds"]) >= 0), "time goes back"
    assert model["trace_dU"][0] == 0 and model["trace_dV"][0] == 0
    with open("trace.csv") as file:
        assert file.readline().strip() == "iter," + ",".join(TRACES)
        table = np.loadtxt(file, delimiter=",", ndmin=2)
    close(table[:, 0], np.arange(shown["iterations"] + 1), 0, "iterations of the CSV")
    for k, name in enumerate(TRACES):
        close(table[:, k + 1], model["trace_" + name], 0, "the CSV's " + name)


def check_arrays(model, data, basis, precision):
    """transform and reconstruct, in both orientations."""
    U, V, radius = model["U"], model["V"], float(model["radius"])
    epsilon = np.finfo(TYPES[precision]).eps
    run("transform", "model.npz", data, "--out", "codes.npy", "--force", "--quiet")
    codes = np.load("codes.npy")
    assert codes.dtype == TYPES[precision] and codes.shape == V.T.shape
    if basis == "orthonormal":
        close(codes, V.T, 1e4 * epsilon * radius, "transform of the training data")
    for samples, shape in (("rows", V.T.shape[:1] + U.shape[:1]), ("columns", U.shape[:1] + V.shape[1:])):
        run("reconstruct", "model.npz", "--out", "x.npy", "--samples", samples, "--force", "--quiet")
        found = np.load("x.npy")
        assert found.dtype == TYPES[precision] and found.shape == shape
        product = U.astype(float) @ V.astype(float)
        close(found if samples == "columns" else found.T, product, 100 * epsilon * radius, "reconstruct")


def check_meta(model, basis, codes, precision):
    meta = json.loads(bytes(model["meta"]).decode("utf-8"))
    assert model["meta"].dtype == np.uint8 and model["meta"].ndim == 1
    text = json.dumps(meta)
    for word in (basis, codes, "format", "fingerprint"):
        assert word in text, "meta does not have " + word
    assert model["U"].dtype == TYPES[precision] and model["V"].dtype == TYPES[precision]
    assert model["radius"].shape == () and model["radius"].dtype == np.float64


def check_pair(rows, data, basis, codes, precision):
    shown, model = fit(data, basis, codes, "--precision", precision)
    X = rows.T.astype(TYPES[precision]).astype(float)
    assert (shown["m"], shown["n"], shown["rank"]) == X.shape + (RANK,)
    check_objective(X, model, shown, precision)
    check_constraints(model, basis, codes, precision)
    check_trace(X, model, shown, precision)
    check_arrays(model, data, basis, precision)
    check_meta(model, basis, codes, precision)
    run("check", "model.npz", data)


def check_forms(rows):
    """The same numbers in any form give the same model; the precision follows the data."""
    for word, kind in TYPES.items():
        values = rows.astype(kind)
        np.save("c.npy", np.ascontiguousarray(values))
        np.save("fortran.npy", np.asfortranarray(values))
        np.save("columns.npy", np.ascontiguousarray(values.T))
        shown, first = fit("c.npy", "nonnegative", "nonneg-sphere", "--max-iter", 30)
        assert shown["precision"] == word
        for file, samples in (("fortran.npy", "rows"), ("columns.npy", "columns")):
            _, other = fit(file, "nonnegative", "nonneg-sphere", "--max-iter", 30, "--samples", samples)
            for name in ("U", "V", "radius", "trace_objective"):
                assert np.array_equal(first[name], other[name]), f"{file}: {name} differs"
            run("check", "model.npz", file, "--samples", samples)
        run("transform", "model.npz", "c.npy", "--out", "codes.npy", "--force", "--quiet")
        run("transform", "model.npz", "columns.npy", "--samples", "columns", "--out", "t.npy", "--force", "--quiet")
        assert np.array_equal(np.load("codes.npy").T, np.load("t.npy")), "codes depend on the orientation"


def check_starts(rows):
    np.save("data.npy", rows)
    rng = np.random.default_rng(3)
    start = np.linalg.qr(rng.normal(size=(rows.shape[1], RANK)))[0]
    for kind, order in itertools.product(TYPES.values(), "CF"):
        np.save("start.npy", np.array(start, dtype=kind, order=order))
        _, model = fit("data.npy", "orthonormal", "sphere", "--start", "start.npy", "--max-iter", 0)
        close(np.abs(model["U"]), np.abs(start), 1e-6, "the basis given as a start")
    _, first = fit("data.npy", "orthonormal", "sphere", "--max-iter", 3)
    os.replace("model.npz", "first.npz")
    _, again = fit("data.npy", "orthonormal", "sphere", "--start", "first.npz", "--max-iter", 0)
    for name in ("U", "V", "radius"):
        close(again[name], first[name], 1e-12 * max(1, float(first["radius"])), f"{name} of the model given as a start")


def check_bad_numbers(rows):
    """info reports the first NaN or infinity, a fit refuses it."""
    for value in (np.nan, np.inf, -np.inf):
        values = rows.copy()
        values[7, 2] = values[50, 1] = value
        np.save("bad.npy", values)
        shown = json.loads(run("info", "bad.npy", "--json"))
        assert (shown["bad_sample"], shown["bad_feature"]) == (8, 3), "the first bad place"
        run("info", "bad.npy")
        run("fit", "bad.npy", "--rank", 2, "--out", "bad.npz", status=65)
        assert not os.path.exists("bad.npz")


def check_preparation(rows):
    """Centring and unit length are applied as documented: weights, centring, length."""
    np.save("data.npy", rows)
    shown, model = fit("data.npy", "orthonormal", "sphere", "--center", "--normalize", "l2")
    centred = rows - rows.mean(axis=0)
    close(model["mean"], rows.mean(axis=0), 1e-12, "mean")
    X = (centred / np.linalg.norm(centred, axis=1, keepdims=True)).T
    check_objective(X, model, shown, "f64")
    shown, model = fit("data.npy", "orthonormal", "sphere", "--center")
    check_objective(centred.T, model, shown, "f64")
    run("reconstruct", "model.npz", "--out", "x.npy", "--force", "--quiet")
    close(np.load("x.npy"), (model["U"] @ model["V"]).T + model["mean"], 1e-12, "reconstruct of centred data")


def main():
    rng = np.random.default_rng(1)
    rows = rng.gamma(1.0, size=(90, RANK)) @ rng.gamma(0.5, size=(RANK, 12)) + 0.05 * rng.random((90, 12))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        np.savetxt("data.csv", rows, delimiter=",", fmt="%.17g")
        np.save("data.npy", rows)
        for basis, codes, precision, data in itertools.product(BASES, CODES, TYPES, ("data.csv", "data.npy")):
            try:
                check_pair(rows, data, basis, codes, precision)
            except AssertionError as wrong:
                sys.exit(f"FAILED: {basis} x {codes}, {precision}, {data}: {wrong}")
        for check in (check_forms, check_starts, check_bad_numbers, check_preparation):
            try:
                check(rows)
            except AssertionError as wrong:
                sys.exit(f"FAILED: {check.__name__}: {wrong}")
        os.chdir("/")


main()
