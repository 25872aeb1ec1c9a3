#!/usr/bin/env python3
"""Features are matched by name: shuffled, extra and missing ones, over formats, storages and precisions. The reference is
the same data in the model's order, whose codes must have the same bits.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy or SciPy is missing."""

import gzip
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.io
    import scipy.sparse as sparse
except ImportError:
    sys.exit(77)
try:
    import h5py
except ImportError:
    h5py = None

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
CONVERTS = h5py and os.path.exists(os.path.join(os.path.dirname(ARMILLA), "armilla-convert"))
M, N, R = 23, 60, 4


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done


def names_of(count, stem="gene"):
    return [f"{stem}{i}" for i in range(count)]


def lines(path, texts):
    with open(path, "w") as file:
        file.write("".join(f"{text}\n" for text in texts))


def save_csv(stem, X, names, samples):
    with open(f"{stem}.csv", "w") as file:
        file.write(",".join(["", *names]) + "\n")
        for name, row in zip(samples, X):
            file.write(",".join([name, *(repr(float(x)) for x in row)]) + "\n")
    return [f"{stem}.csv"]


def save_mtx(stem, X, names, samples):
    scipy.io.mmwrite(f"{stem}.mtx", sparse.coo_matrix(X))
    lines(f"{stem}.features", names)
    lines(f"{stem}.samples", samples)
    return [f"{stem}.mtx", "--feature-names", f"{stem}.features", "--sample-names", f"{stem}.samples"]


def save_npy(stem, X, names, samples, dtype=np.float32):
    np.save(f"{stem}.npy", np.ascontiguousarray(X.astype(dtype)))
    lines(f"{stem}.features", names)
    return [f"{stem}.npy", "--feature-names", f"{stem}.features"]


def save_npz(stem, X, names, samples):
    np.savez(f"{stem}.npz", X=X, feature_names=np.array(names), sample_names=np.array(samples))
    return [f"{stem}.npz"]


def save_10x(stem, X, names, samples):
    os.makedirs(stem, exist_ok=True)
    scipy.io.mmwrite(f"{stem}/matrix.mtx", sparse.coo_matrix(X.T))
    lines(f"{stem}/features.tsv", [f"ENSG{i}\t{name}\tGene Expression" for i, name in enumerate(names)])
    lines(f"{stem}/barcodes.tsv", samples)
    return [stem]


def save_h5ad(stem, X, names, samples):
    with h5py.File(f"{stem}.h5ad", "w") as file:
        file["X"] = X
        for group, texts in (("obs", samples), ("var", names)):
            made = file.create_group(group)
            made.attrs["_index"] = "_index"
            made["_index"] = np.array(texts, dtype=h5py.string_dtype())
    return [f"{stem}.h5ad"]


FORMATS = {"csv": save_csv, "mtx": save_mtx, "npy": save_npy, "npz": save_npz, "10x": save_10x}
if CONVERTS:
    FORMATS["h5ad"] = save_h5ad


def codes(data, *options):
    run("transform", "model.npz", *data, "--out", "codes.npy", "--force", *options)
    return np.load("codes.npy")


def check_format(word, random):
    save = FORMATS[word]
    X = random.poisson(1.0, (N, M)).astype(float) * random.integers(1, 4, (N, M))
    X[:, 0] += 1
    names, samples = names_of(M), names_of(N, "s")
    data = save("whole", X, names, samples)
    for options in ([], ["--log1p", "--tfidf", "--normalize", "l2"]):
        run("fit", *data, "--rank", R, "--out", "model.npz", "--force", "--quiet", "--max-iter", 40, *options)
        want = codes(data)
        order = random.permutation(M)
        shuffled = save("shuffled", X[:, order], [names[i] for i in order], samples)
        assert np.array_equal(codes(shuffled), want), f"{word}: other order"
        shown = run("check", "model.npz", *shuffled, "--json")
        found = json.loads(shown.stdout)
        assert found["passed"] and found["fingerprint_matches"], f"{word}: check of another order"
        check_extra(save, X, names, samples, want)
        check_missing(save, X, names, samples)
        other = save("other", X, names_of(M, "else"), samples)
        for more in ([], ["--missing-features", "zero"]):
            said = run("transform", "model.npz", *other, "--out", "codes.npy", "--force", *more, status=65).stderr
            assert "none of the model's 23 features" in said and "'else0'" in said and "'gene0'" in said, said


def check_extra(save, X, names, samples, want):
    wide = np.hstack([X[:, ::-1], np.full((N, 3), 7.0)])
    data = save("extra", wide, names[::-1] + ["x", "y", "z"], samples)
    said = run("transform", "model.npz", *data, "--out", "codes.npy", "--force").stderr
    assert "3 features of the data are left out: the model does not have 'x', and others" in said, said
    assert np.array_equal(np.load("codes.npy"), want)


def check_missing(save, X, names, samples):
    keep = [i for i in range(M) if i not in (5, 9)]
    zeroed = X.copy()
    zeroed[:, [5, 9]] = 0
    data = save("missing", X[:, keep], [names[i] for i in keep], samples)
    said = run("transform", "model.npz", *data, "--out", "codes.npy", "--force", status=65).stderr
    assert "'gene5'" in said and "--missing-features zero" in said, said
    want = codes(save("zeroed", zeroed, names, samples))
    said = run("transform", "model.npz", *data, "--out", "codes.npy", "--force", "--missing-features", "zero").stderr
    assert "2 of the model's 23 features are not in the data" in said, said
    assert np.array_equal(np.load("codes.npy"), want)


def check_types_and_streams(random):
    """Shuffled columns of every stored type, in memory and streamed."""
    for dtype in (np.float32, np.float64, np.uint8, np.float16):
        X = random.integers(0, 9, (40000, 70))
        order = random.permutation(70)
        names = names_of(70)
        data = save_npy("typed", X, names, None, dtype)
        run("fit", *data, "--rank", 5, "--out", "model.npz", "--force", "--quiet", "--max-iter", 10)
        want = codes(data)
        shuffled = save_npy("typed2", X[:, order], [names[i] for i in order], None, dtype)
        assert np.array_equal(codes(shuffled), want), dtype
        # f32 and f64 do not fit, and are streamed.
        assert np.array_equal(codes(shuffled, "--memory", "6M"), want), f"{dtype} streamed"


def check_kept(random):
    """A model of some features picks them by name, wherever they are."""
    X = random.random((N, M))
    names, samples = names_of(M), names_of(N, "s")
    data = save_csv("kept", X, names, samples)
    run("fit", *data, "--rank", 3, "--keep-features", "gene2,4,gene9,gene20", "--out",
        "model.npz", "--force", "--quiet", "--max-iter", 20)
    want = codes(data)
    order = random.permutation(M)
    shuffled = save_csv("kept2", X[:, order], [names[i] for i in order], samples)
    done = run("transform", "model.npz", *shuffled, "--out", "codes.npy", "--force")
    assert "left out" not in done.stderr and np.array_equal(np.load("codes.npy"), want)
    assert json.loads(run("check", "model.npz", *shuffled, "--json").stdout)["passed"]


def check_equal_names(random):
    """Of equal names the first belongs to the first."""
    X = random.random((N, 5))
    names = ["a", "b", "a", "c", "a"]
    samples = names_of(N, "s")
    data = save_npz("equal", X, names, samples)
    run("fit", *data, "--rank", 2, "--out", "model.npz", "--force", "--quiet", "--max-iter", 20)
    want = codes(data)
    order = [3, 0, 2, 1, 4]
    assert np.array_equal(codes(save_npz("equal2", X[:, order], [names[i] for i in order], samples)), want)
    fewer = save_npz("equal3", X[:, :4], names[:4], samples)
    assert "'a'" in run("transform", "model.npz", *fewer, "--out", "codes.npy", "--force", status=65).stderr


def check_unnamed(random):
    X = random.random((N, M))
    data = save_csv("named", X, names_of(M), names_of(N, "s"))
    run("fit", *data, "--rank", 2, "--out", "model.npz", "--force", "--quiet", "--max-iter", 20)
    np.save("plain.npy", X)
    done = run("transform", "model.npz", "plain.npy", "--out", "codes.npy", "--force")
    assert "the model's features have names, the data's do not" in done.stderr and "--feature-names" in done.stderr
    assert np.array_equal(codes(["plain.npy"]), codes(data))
    run("fit", "plain.npy", "--rank", 2, "--out", "model.npz", "--force", "--quiet", "--max-iter", 20)
    assert run("transform", "model.npz", *data, "--out", "codes.npy", "--force").stderr.count("warning") == 0


def check_start(random):
    """--start MODEL with data in another order, and with more features: the fit has the model's."""
    X = random.random((N, M))
    names, samples = names_of(M), names_of(N, "s")
    data = save_csv("first", X, names, samples)
    run("fit", *data, "--rank", 3, "--out", "start.npz", "--force", "--quiet", "--max-iter", 5)
    run("fit", *data, "--rank", 3, "--start", "start.npz", "--out", "want.npz", "--force", "--quiet", "--max-iter", 5)
    wide = save_csv("second", np.hstack([X[:, :1] * 3, X[:, ::-1]]), ["new", *names[::-1]], samples)
    done = run("fit", *wide, "--rank", 3, "--start", "start.npz", "--out", "got.npz", "--force", "--max-iter", 5)
    assert "1 feature of the data is left out: the model does not have 'new'" in done.stderr
    with np.load("want.npz") as want, np.load("got.npz") as got:
        for array in ("U", "V", "trace_objective", "feature_names"):
            assert np.array_equal(want[array], got[array]), array
    assert json.loads(run("check", "got.npz", *wide, "--json").stdout)["passed"]


def check_names_files(random):
    X = random.random((N, M))
    np.save("x.npy", X)
    lines("few", names_of(M - 1))
    said = run("info", "x.npy", "--feature-names", "few", status=65).stderr
    assert "has 22 names, and the data have 23 features" in said, said
    lines("many", names_of(N))
    said = run("info", "x.npy", "--feature-names", "many", status=65).stderr
    assert "as many samples" in said and "--samples" in said, said
    lines("labels", ["a"] * M)
    said = run("info", "x.npy", "--labels", "labels", status=65).stderr
    assert "as many features" in said and "--samples" in said, said
    run("info", "x.npy", "--sample-names", "nowhere", status=66)
    with gzip.open("packed.gz", "wt") as file:
        file.write("".join(f"id{i}\tname {i}\tkind\n" for i in range(M)))
    run("fit", "x.npy", "--rank", 2, "--feature-names", "packed.gz", "--out", "model.npz", "--force", "--quiet")
    with np.load("model.npz") as model:
        assert list(model["feature_names"]) == [f"name {i}" for i in range(M)]


def labels_in(path, *options):
    run("fit", path, "--rank", 2, "--out", "labelled.npz", "--force", "--quiet", "--max-iter", 2, *options)
    with np.load("labelled.npz") as model:
        return list(model["labels"])


def check_label_arrays(random):
    """Vectors of .npz and .mat are labels; the only matrix is the data."""
    X = random.random((N, M))
    gnd = random.integers(1, 5, N)
    want = [str(g) for g in gnd]
    np.savez("several.npz", gnd=gnd[:, None], fea=X, weight=np.ones(7), words=np.array([f"w{g}" for g in gnd]))
    assert labels_in("several.npz", "--label-array", "gnd") == want
    assert labels_in("several.npz", "--label-array", "words") == [f"w{g}" for g in gnd]
    run("info", "several.npz", "--label-array", "nothing", status=65)
    run("info", "several.npz", "--label-array", "weight", status=65)
    run("info", "several.npz", "--label-array", "fea", status=65)
    if not CONVERTS:
        return
    for compressed in (False, True):
        scipy.io.savemat("several.mat", {"gnd": gnd[:, None].astype(float), "fea": X, "one": 3.0}, do_compression=compressed)
        assert labels_in("several.mat", "--label-array", "gnd") == want
        run("info", "several.mat", "--label-array", "nothing", status=65)
        run("info", "several.mat", "--label-array", "fea", status=65)


def check_obs_columns(random):
    X = random.random((N, M))
    kinds = np.array(["T cell", "B cell", "NK"])
    codes_of = random.integers(0, 3, N).astype(np.int8)
    save_h5ad("cells", X, names_of(M), names_of(N, "s"))
    with h5py.File("cells.h5ad", "a") as file:
        obs = file["obs"]
        group = obs.create_group("kind")
        group.attrs["encoding-type"] = "categorical"
        group["codes"] = np.where(np.arange(N) == 3, -1, codes_of).astype(np.int8)
        group["categories"] = np.array(kinds, dtype=h5py.string_dtype())
        obs["batch"] = codes_of.astype(np.int64)
        obs["depth"] = np.linspace(0, 1, N)
        obs["text"] = np.array(kinds[codes_of], dtype=h5py.string_dtype())
        obs["old"] = codes_of
        obs.create_group("__categories")["old"] = np.array(kinds, dtype=h5py.string_dtype())
        obs["short"] = np.arange(N - 1)
    want = list(kinds[codes_of])
    missing = list(want)
    missing[3] = "NA"
    assert labels_in("cells.h5ad", "--label-column", "kind") == missing
    assert labels_in("cells.h5ad", "--label-column", "text") == want
    assert labels_in("cells.h5ad", "--label-column", "old") == want
    assert labels_in("cells.h5ad", "--label-column", "batch") == [str(c) for c in codes_of]
    assert [float(t) for t in labels_in("cells.h5ad", "--label-column", "depth")] == list(np.linspace(0, 1, N))
    assert "nowhere" in run("info", "cells.h5ad", "--label-column", "nowhere", status=65).stderr
    run("info", "cells.h5ad", "--label-column", "short", status=65)


def main():
    random = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for word in FORMATS:
            check_format(word, random)
        check_types_and_streams(random)
        check_kept(random)
        check_equal_names(random)
        check_unnamed(random)
        check_start(random)
        check_names_files(random)
        check_label_arrays(random)
        if CONVERTS:
            check_obs_columns(random)


main()
