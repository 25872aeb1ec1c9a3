#!/usr/bin/env python3
"""Preparation, choice of samples and features, and names, against scikit-learn and NumPy.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy, SciPy or scikit-learn is missing."""

import csv
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
CELL_STEPS = ("total", "log1p", "top_features", "tfidf", "scale", "center", "normalize")


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def fit(data, *options):
    shown = json.loads(run("fit", data, "--rank", 4, "--json", "--quiet", "--force", "--out", "model.npz", *options))
    with np.load("model.npz", allow_pickle=False) as archive:
        return shown, {name: archive[name] for name in archive.files}


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
    if meta["total"]:
        sums = X.sum(axis=0)
        X = X * (model["total"] / np.where(sums > 0, sums, model["total"]))
    if meta["log1p"]:
        X = np.log1p(X)
    for name in ("top_features", "idf", "scale"):
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
                shown, model = fit(file, *flags, "--max-iter", 15, "--precision", "f64")
                what = f"{form} {' '.join(steps)}"
                close(by_the_model(X, model), wanted, 1e-10, what)
                objective = np.linalg.norm(wanted.T - model["U"] @ model["V"]) ** 2
                close(shown["objective"], objective, 1e-9 * np.linalg.norm(wanted) ** 2, f"objective, {what}")
                run("check", "model.npz", file)


def most_variable(X, count):
    """Standardised variances about a trend in bins of the mean (docs/algorithm.md#variable-features), in plain NumPy."""
    mean, variance = X.mean(axis=0), X.var(axis=0)
    vary = np.flatnonzero(np.sqrt(variance) > 8 * np.finfo(float).eps * np.abs(mean))
    vary = vary[np.lexsort((vary, mean[vary].astype(np.float32)))]
    bins = min(max(len(vary) // 20, 1), 20)
    scores = np.empty(len(vary))
    for b in range(bins):
        own = slice(b * len(vary) // bins, (b + 1) * len(vary) // bins)
        logs = np.log(variance[vary[own]])
        spread = np.median(np.abs(logs - np.median(logs)))
        scores[own] = (logs - np.median(logs)) / (spread if spread > 0 else 1)
    return np.sort(vary[np.lexsort((vary, -scores))][:count])


def prepared_cells(X, steps, total, count):
    X = X.astype(float)
    if "total" in steps:
        sums = X.sum(axis=1)
        wanted = np.median(sums[sums > 0]) if total == "median" else float(total)
        X = X * np.where(sums > 0, wanted / np.where(sums > 0, sums, 1), 1)[:, None]
    if "log1p" in steps:
        X = np.log1p(X)
    chosen = most_variable(X, count) if "top_features" in steps else np.arange(X.shape[1])
    rest = [step for step in steps if step in ("tfidf", "scale", "center", "normalize")]
    wanted = np.zeros(X.shape)
    # Unit length is the last step and goes by the chosen features alone: others are 0.
    wanted[:, chosen] = prepared(X[:, chosen], rest)
    return wanted, chosen


def check_cells(_):
    """Totals and variable features with every combination of the other steps, dense, sparse, streamed."""
    random = np.random.default_rng(17)
    n, m, count = 90, 130, 37
    X = random.poisson(random.gamma(0.7, 2, size=(1, m)) * random.gamma(3, 1 / 3, size=(n, 1)))
    X = X * (random.random((n, m)) < 0.6)
    X[:, 5], X[7] = 0, 0  # a feature and a sample without anything
    X[:, 20] = X[:, 21]
    for number in range(1 << len(CELL_STEPS)):
        steps = [step for i, step in enumerate(CELL_STEPS) if number >> i & 1]
        if not {"total", "top_features"} & set(steps):
            continue
        total = "median" if number % 3 else "1e4"
        wanted, chosen = prepared_cells(X, steps, total, count)
        words = {"total": ("--total", total), "top_features": ("--top-features", count), "normalize": ("--normalize", "l2")}
        flags = [word for step in steps for word in words.get(step, ("--" + step,))]
        form = ("f8", "sparse", "f4", "u1")[number % 4]
        file = write(form, X)
        shown, model = fit(file, *flags, "--max-iter", 5, "--precision", "f64")
        what = f"{form} {' '.join(steps)}"
        close(by_the_model(X, model), wanted, 1e-9 * max(1, np.abs(wanted).max()), what)
        if "top_features" in steps:
            assert np.array_equal(np.flatnonzero(model["top_features"]), chosen), what
            assert not model["U"][model["top_features"] == 0].any() or "nonneg" in flags, what
        objective = np.linalg.norm(wanted.T - model["U"] @ model["V"]) ** 2
        close(shown["objective"], objective, 1e-8 * np.linalg.norm(wanted) ** 2, f"objective, {what}")
        run("check", "model.npz", file)
        run("transform", "model.npz", file, "--out", "codes.npy", "--force", "--quiet", "--threads", 3)
        assert np.array_equal(np.load("codes.npy").T, model["V"]), f"transform, {what}"
        if number % 8 < 4:
            _, other = fit(file, *flags, "--max-iter", 5, "--precision", "f64", "--threads", 3)
            assert all(np.array_equal(model[name], other[name]) for name in ("U", "V")), f"threads: {what}"
    np.save("long.npy", np.tile(X, (60, 1)).astype(float))
    whole, streamed = (fit("long.npy", "--total", "median", "--log1p", "--top-features", count, "--center", *limit)
                       for limit in ((), ("--memory", "3M")))
    assert streamed[0]["streamed"] and not whole[0]["streamed"]
    assert all(np.array_equal(whole[1][name], streamed[1][name]) for name in ("U", "V", "total", "top_features")), "streamed"
    # A choice that is not that of the data, and a total that is not, are found.
    file = write("f8", X)
    _, model = fit(file, "--total", "median", "--top-features", count)
    for name, value in (("total", model["total"] * 1.01), ("top_features", np.roll(model["top_features"], 40))):
        with open("other.npz", "wb") as out:
            np.savez(out, **{**model, name: value})
        done = subprocess.run([ARMILLA, "check", "other.npz", file], capture_output=True, text=True)
        assert done.returncode == 1, (name, done.stderr)
    X[3, 4] = -2
    line = run("fit", write("f8", -X), "--rank", 2, "--total", "median", status=65)
    assert "sample 1, feature" in line and "--total" in line, line
    line = run("fit", write("f8", X), "--rank", 2, "--total", "median", status=65)
    assert "sample 4, feature 5 (counted from 1) is -2, but --total scales samples to a sum" in line, line
    for bad in ("0", "-3", "some", "nan", "inf", ""):
        line = run("fit", file, "--rank", 2, "--total", bad, status=64)
        assert line.count("\n") == 1 and "total" in line, line
    run("fit", file, "--rank", 2, "--top-features", 0, status=64)


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
        shown = run("fit", name, "--rank", 2, "--log1p", "--center", status=65)
        assert "sample 8, feature 4 " in shown and "is -1" in shown and shown.count("\n") == 1, shown
        run("fit", name, "--rank", 2, "--quiet")


def named(X):
    """Files with names and labels: the arrays beside the matrix."""
    n, m = X.shape
    names = {
        "feature_names": np.array([f"gène {i}" for i in range(m)]),
        "sample_names": np.array([f"s,{j}" for j in range(n)]),
        "labels": np.array([str(j % 4) for j in range(n)]),
    }
    np.savez("named.npz", X=X.astype(float), **names)
    return names


def check_selection(X):
    """Chosen by label, number and name: the model is that of the same numbers picked by NumPy, bit for bit."""
    names = named(X)
    rows = np.flatnonzero((np.arange(len(X)) % 4 == 3) | (np.arange(len(X)) % 4 == 0))
    columns = np.r_[0, 3:9]
    with open("genes.txt", "w", encoding="utf-8") as file:
        file.write("gène 8\n1\n4-8\n")
    for features in ("1,4-8,gène 8", "genes.txt"):
        shown, model = fit("named.npz", "--array", "X", "--keep-label", "3,0", "--keep-features", features, "--tfidf")
        np.save("picked.npy", X[np.ix_(rows, columns)].astype(float))
        _, wanted = fit("picked.npy", "--tfidf")
        for array in ("U", "V", "radius", "idf"):
            assert np.array_equal(model[array], wanted[array]), f"{array} differs, {features}"
        assert (shown["m"], shown["n"]) == (len(columns), len(rows))
        fit("named.npz", "--array", "X", "--keep-label", "3,0", "--keep-features", features, "--tfidf")  # again, for check
        assert np.array_equal(model["kept_features"], columns) and np.array_equal(model["kept_samples"], rows)
        assert list(model["feature_names"]) == list(names["feature_names"][columns])
        assert list(model["sample_names"]) == list(names["sample_names"][rows])
        assert list(model["labels"]) == list(names["labels"][rows])
        run("check", "model.npz", "named.npz", "--array", "X")
    run("transform", "model.npz", "named.npz", "--array", "X", "--out", "codes.npy", "--force", "--quiet")
    assert np.array_equal(np.load("codes.npy")[rows], model["V"].T), "codes of the samples that were kept"


def check_names_in_outputs(X):
    names = named(X)
    _, model = fit("named.npz", "--array", "X")
    run("transform", "model.npz", "named.npz", "--array", "X", "--out", "codes.csv", "--force", "--quiet")
    run("reconstruct", "model.npz", "--out", "back.csv", "--force", "--quiet")
    for file, across, numbers in (("codes.csv", [f"code{k}" for k in range(4)], model["V"].T),
                                  ("back.csv", list(names["feature_names"]), (model["U"] @ model["V"]).T)):
        with open(file, newline="", encoding="utf-8") as lines:
            table = list(csv.reader(lines))
        assert table[0][1:] == [*across, "label"], table[0]
        assert [row[0] for row in table[1:]] == list(names["sample_names"])
        assert [row[-1] for row in table[1:]] == list(names["labels"])
        close([[float(x) for x in row[1:-1]] for row in table[1:]], numbers, 1e-12, file)
    run("transform", "model.npz", "named.npz", "--array", "X", "--out", "codes.npz", "--force", "--quiet")
    with np.load("codes.npz", allow_pickle=False) as codes:
        assert list(codes["sample_names"]) == list(names["sample_names"])
    shown = json.loads(run("info", "model.npz", "--json"))
    assert shown["feature_names"][:2] == ["gène 0", "gène 1"] and shown["labels"] == ["0", "1", "2", "3"]
    shown = json.loads(run("info", "named.npz", "--array", "X", "--json"))
    assert shown["sample_names"][0] == "s,0" and shown["labels"] == ["0", "1", "2", "3"]
    words = shown["hints"][-1].split()[2:]  # "try: armilla fit ..." can be run as it is
    run(*words[:-1], "tried.npz", "--quiet", "--force")


def check_info(X):
    """Missing values are counted and the first is named; density and norms are NumPy's."""
    X = X.astype(float)
    X[5, 2], X[4, 9], X[70, 0] = np.nan, np.inf, np.nan
    np.save("x.npy", X)
    shown = json.loads(run("info", "x.npy", "--json"))
    assert (shown["missing"], shown["bad_sample"], shown["bad_feature"]) == (3, 5, 10), shown
    assert shown["feature_names"] is None and shown["labels"] is None
    X[~np.isfinite(X)] = 0
    np.save("x.npy", X)
    shown = json.loads(run("info", "x.npy", "--json", "--keep-samples", "1-40"))
    assert shown["missing"] == 0 and shown["bad_sample"] is None and shown["n"] == 40
    close(shown["density"], np.count_nonzero(X[:40]) / X[:40].size, 1e-12, "density")
    close(shown["norm_high"], np.linalg.norm(X[:40], axis=1).max(), 1e-9, "longest sample")


def check_memory(X):
    """A limit that cannot be kept is refused, one that can changes nothing."""
    np.save("x.npy", np.asfortranarray(X.astype(float)))
    assert "--memory" in run("info", "x.npy", "--memory", "1K", status=71)
    assert "--memory" in run("fit", "x.npy", "--rank", 4, "--memory", "13K", status=71)
    assert "not a size" in run("fit", "x.npy", "--rank", 4, "--memory", "many", status=64)
    _, free = fit("x.npy")
    _, limited = fit("x.npy", "--memory", "1M")
    assert np.array_equal(free["V"], limited["V"])


def warnings(*options):
    done = subprocess.run([ARMILLA, "fit", "x.npy", "--rank", "2", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.splitlines() if "warning" in line]


def check_warnings(X):
    """One line each, where the data call for it, and none with --quiet."""
    X = X.astype(float) + 1
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    np.save("x.npy", X)
    assert warnings() == []
    X[0] *= 7 / 2
    X[1] /= 2
    X[2] = 0
    X[3, 3] *= -1
    np.save("x.npy", X)
    shown = warnings("--model", "spherical-nmf")
    assert len(shown) == 3 and "7 times the shortest" in shown[0] and "--normalize l2" in shown[0], shown
    assert "1 of 90 samples is 0 and has" in shown[1] and "1 entry is negative" in shown[2], shown
    X[4], X[5, 5] = 0, -X[5, 5]
    np.save("x.npy", X)
    shown = warnings("--model", "spherical-nmf")
    assert "2 of 90 samples are 0 and have" in shown[1] and "2 entries are negative" in shown[2], shown
    X[4], X[5, 5] = X[6], -X[5, 5]
    np.save("x.npy", X)
    assert len(warnings("--normalize", "l2")) == 1 and warnings("--model", "spherical-nmf", "--quiet") == []


def check_cancellation(X):
    """Sparse entries are rounded before the mean is subtracted: f32 is refused where nothing else would be left."""
    rng = np.random.default_rng(3)
    for mean, spread, refused in ((1000, 1e-6, True), (1000, 1e-4, True), (3e7, 1, True), (1000, 1, False), (1, 1, False)):
        sparse.save_npz("x.npz", sparse.csr_matrix(mean + spread * rng.normal(size=(40, 6))))
        for unit in ("none", "l2"):
            options = ["--rank", 3, "--center", "--normalize", unit, "--quiet", "--force", "--json", "--out"]
            double = json.loads(run("fit", "x.npz", *options, "double.npz", "--precision", "f64"))
            run("check", "double.npz", "x.npz")
            found = run("fit", "x.npz", *options, "single.npz", "--precision", "f32", status=65 if refused else 0)
            if refused:
                assert "fit with --precision f64" in found, found
                continue
            run("check", "single.npz", "x.npz")
            close(json.loads(found)["relative_error"], double["relative_error"], 1e-3, f"{mean} +- {spread}, {unit}")


def check_nothing_left(_):
    """Samples that are multiples of one another are alike after --total: whatever else is done, a fit of what centring
    leaves is refused with advice that helps, or it is one that the check confirms."""
    rng = np.random.default_rng(5)
    refused = 0
    for count, features in enumerate((1, 2, 30, 1000)):
        X = np.outer(rng.uniform(1, 100, 25), rng.uniform(0.1, 1, features))
        np.save("x.npy", X)
        sparse.save_npz("x.npz", sparse.csr_matrix(X))
        others = ("--log1p", "--tfidf", "--scale", "--normalize")
        for taken in itertools.product((False, True), repeat=len(others)):
            words = [word for step, word in zip(taken, others) if step]
            words += ["l2"] if taken[-1] else []
            data = "x.npz" if (count + sum(taken)) % 3 == 0 else "x.npy"
            options = ["--rank", 1, "--total", ("10", "median")[taken[0]], "--quiet", "--force", "--out", "left.npz",
                       "--precision", ("f64", "f32")[(count + sum(taken)) % 2], *words]
            if subprocess.run([ARMILLA, "fit", data, *map(str, options), "--center"], capture_output=True).returncode == 0:
                run("check", "left.npz", data)
                continue
            found = run("fit", data, *options, "--center", status=65)
            assert "after centring" in found or "fit without --center" in found or "or without --center" in found, found
            refused += 1
            run("fit", data, *options)
            run("check", "left.npz", data)
    assert refused > 40, refused


def main():
    rng = np.random.default_rng(7)
    X = rng.poisson(0.7, (90, 17)) * rng.integers(1, 40, (90, 17)).clip(0, 9)
    X[:, 5] = 0
    X[:, 6] = 3
    X[11, :] = 0
    X[11, 6] = 3
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check in (check_against_sklearn, check_cells, check_undone, check_refusal, check_selection, check_names_in_outputs,
                      check_info, check_memory, check_warnings, check_cancellation, check_nothing_left):
            try:
                check(X.copy())
            except AssertionError as wrong:
                sys.exit(f"FAILED: {check.__name__}: {wrong}")
        os.chdir("/")


main()
