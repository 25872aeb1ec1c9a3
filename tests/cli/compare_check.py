#!/usr/bin/env python3
"""armilla compare against NumPy and SciPy: matched atoms, principal angles, errors and clusters of model files.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy, SciPy or scikit-learn is missing."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from scipy.linalg import subspace_angles
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
random = np.random.default_rng(5)


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def fit(out, data, rank, *options):
    run("fit", data, "--rank", rank, "--quiet", "--force", "--out", out, *options)
    return read(out)


def read(path):
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def change(path, model, **arrays):
    """The model file with other arrays of the same shapes."""
    with open(path, "wb") as file:
        np.savez(file, **{**model, **arrays})


def compare(*arguments):
    return json.loads(run("compare", *arguments, "--json"))


def close(a, b, bound, what):
    worst = np.max(np.abs(np.asarray(a, float) - np.asarray(b, float)), initial=0)
    assert worst <= bound, f"{what}: off by {worst:g}, allowed {bound:g}"


def angles_between(A, B, lines):
    """In long double, so that the cosine has the digits of its angle. NaN where an atom is zero."""
    A, B = A.astype(np.longdouble), B.astype(np.longdouble)
    with np.errstate(invalid="ignore"):
        A, B = A / np.sqrt((A * A).sum(0)), B / np.sqrt((B * B).sum(0))
    angles = np.empty((A.shape[1], B.shape[1]))
    for i in range(A.shape[1]):
        for j in range(B.shape[1]):
            a, b = A[:, i], B[:, j]
            if lines and a @ b < 0:
                b = -b
            angles[i, j] = 2 * np.arctan2(np.sqrt(((a - b) ** 2).sum()), np.sqrt(((a + b) ** 2).sum()))
    return angles


def check(found, A, B, lines, what, epsilon=2.3e-16):
    """What compare says about the bases A and B."""
    angles = angles_between(A, B, lines)
    costs = np.where(np.isnan(angles), np.pi, angles)
    rows, columns = linear_sum_assignment(costs)
    matches = found["matches"]
    assert found["lines"] == lines, what
    assert len(matches) == min(A.shape[1], B.shape[1]), what
    for side in ("first", "second"):
        paired = {match[side] for match in matches}
        assert len(paired) == len(matches), f"{what}: not one to one"
        assert found[side]["unmatched"] == [k for k in range(found[side]["rank"]) if k not in paired], f"{what}: unmatched"
    bound = 1e-14 * np.sqrt(A.shape[0]) + epsilon
    for match in matches:
        angle = angles[match["first"], match["second"]]
        assert (match["angle"] is None) == bool(np.isnan(angle)), what
        if match["angle"] is not None:
            close(match["angle"], angle, bound, f"{what}: angle")
        if lines and match["angle"] is not None:
            product = A[:, match["first"]].astype(float) @ B[:, match["second"]].astype(float)
            assert abs(product) < 1e-12 or match["negated"] == (product < 0), f"{what}: sign"
    total = sum(costs[match["first"], match["second"]] for match in matches)
    close(total, costs[rows, columns].sum(), bound * len(matches), f"{what}: sum of the angles")
    known = [match["angle"] for match in matches if match["angle"] is not None]
    assert known == sorted(known), f"{what}: nearest first"
    if known:
        close(found["mean_angle"], np.mean(known), 1e-12, f"{what}: mean")
        close(found["largest_angle"], max(known), 0, f"{what}: largest")
    A, B = (Z[:, np.linalg.norm(Z, axis=0) > 0] for Z in (A, B))
    expected = np.sort(subspace_angles(A.astype(float), B.astype(float))) if A.size and B.size else []
    assert len(found["principal_angles"]) == len(expected), f"{what}: {len(found['principal_angles'])} principal angles"
    close(found["principal_angles"], expected, 20 * bound, f"{what}: principal angles")
    return matches


def contribution(model):
    U, V = model["U"].astype(float), model["V"].astype(float)
    return np.argmax(V * np.linalg.norm(U, axis=0)[:, None], axis=0)


def copies():
    """Of one basis: permuted, negated, rotated, with noise; with an atom of zeros; of rank 1."""
    for m, n, r, options in ((30, 40, 5, ()), (9, 60, 9, ()), (400, 50, 1, ()), (25, 30, 7, ("--precision", "f32")),
                             (40, 90, 6, ("--model", "nmf")), (40, 90, 6, ("--model", "spherical-nmf")),
                             (50, 40, 4, ("--codes", "nonneg-sphere")), (300, 700, 64, ("--max-iter", "5"))):
        np.save("x.npy", np.abs(random.normal(size=(n, m))) ** 2)
        model = fit("a.npz", "x.npy", r, *options)
        U, V = model["U"], model["V"]
        what = f"{m} x {n}, rank {r} {' '.join(options)}"
        lines = not any(word in options for word in ("nmf", "spherical-nmf", "nonneg-sphere"))
        same = compare("a.npz", "a.npz")
        check(same, U, U, lines, what + ", itself")
        assert all(match["first"] == match["second"] and match["angle"] < 1e-7 for match in same["matches"]), what
        assert same["clusters"]["accuracy"] == 1 and same["clusters"]["samples"] == n, what
        order = random.permutation(r)
        signs = random.choice([-1, 1], size=r) if lines else np.ones(r)
        change("b.npz", model, U=(U * signs)[:, order].astype(U.dtype), V=(V * signs[:, None])[order].astype(V.dtype))
        found = compare("a.npz", "b.npz")
        matches = check(found, U, (U * signs)[:, order], lines, what + ", permuted")
        assert all(order[match["second"]] == match["first"] for match in matches), what
        agreement = normalized_mutual_info_score(contribution({"U": U, "V": V}), contribution({"U": U, "V": V * signs[:, None]}))
        assert found["largest_angle"] < 1e-7 and abs(found["clusters"]["nmi"] - agreement) < 1e-12, what
        rotation = np.linalg.qr(random.normal(size=(r, r)))[0]
        for name, other in (("rotated", U @ rotation), ("noisy", U + 1e-3 * random.normal(size=U.shape)),
                            ("faint noise", U * (1 + 1e-9 * random.normal(size=U.shape))),
                            ("zero atom", np.where(np.arange(r) == r // 2, 0, U)), ("all zero", 0 * U),
                            ("twice the same", U[:, np.arange(r) // 2])):
            change("b.npz", model, U=np.asarray(other, U.dtype))
            other = np.asarray(other, U.dtype)
            if name == "twice the same" and U.dtype == np.float32:
                continue  # SciPy's own rank would be that of doubles
            epsilon = 1e-6 if U.dtype == np.float32 else 2.3e-16
            check(compare("a.npz", "b.npz"), U, other, lines, f"{what}, {name}", epsilon if name == "rotated" else 0)
            check(compare("b.npz", "a.npz"), other, U, lines, f"{what}, {name}, turned",
                  epsilon if name == "rotated" else 0)


def ranks_and_precisions():
    """Fits of other ranks and precisions; errors on new data by NumPy."""
    X = np.abs(random.normal(size=(80, 20))) @ np.abs(random.normal(size=(20, 20)))
    np.save("x.npy", X[:60])
    np.save("new.npy", X[60:])
    a = fit("a.npz", "x.npy", 6, "--center")
    b = fit("b.npz", "x.npy", 3, "--precision", "f32", "--start", "random", "--model", "spherical-nmf")
    found = compare("a.npz", "b.npz")
    check(found, a["U"], b["U"], True, "other rank and precision")
    assert found["first"]["rank"] == 6 and found["second"]["rank"] == 3 and not found["same_preparation"]
    for order, side in ((("a.npz", "b.npz"), 0), (("b.npz", "a.npz"), 1)):
        rows = [line.split() for line in run("compare", *order).splitlines() if line.endswith("not matched")]
        assert [int(row[side]) for row in rows] == found["first"]["unmatched"] and {row[1 - side] for row in rows} == {"-"}
    labels = contribution(a), contribution(b)
    close(found["clusters"]["nmi"], normalized_mutual_info_score(*labels), 1e-12, "NMI")
    close(found["clusters"]["ari"], adjusted_rand_score(*labels), 1e-12, "ARI")
    assert found["first"]["data_error"] is None and found["data_samples"] is None
    found = compare("a.npz", "b.npz", "--data", "new.npy")
    for side, path, model in (("first", "a.npz", a), ("second", "b.npz", b)):
        run("transform", path, "new.npy", "--out", "codes.npy", "--force", "--quiet")
        Y = X[60:].T - (model["mean"][:, None] if "mean" in model else 0)
        codes = np.load("codes.npy").astype(float).T
        error = np.linalg.norm(Y - model["U"].astype(float) @ codes) / np.linalg.norm(Y)
        close(found[side]["data_error"], error, 1e-12 if side == "first" else 1e-6, f"error of the {side}")
        model["V"] = codes
    close(found["clusters"]["nmi"], normalized_mutual_info_score(contribution(a), contribution(b)), 1e-12, "NMI of data")
    assert found["data_samples"] == 20 == found["clusters"]["samples"]
    assert run("compare", "a.npz", "b.npz", "--threads", 1, "--json") == run("compare", "a.npz", "b.npz", "--threads", 3,
                                                                            "--json")
    np.save("x.npy", X[10:70])
    fit("b.npz", "x.npy", 6, "--center")
    assert compare("a.npz", "b.npz")["clusters"] is None, "other samples"
    assert "not compared" in run("compare", "a.npz", "b.npz")


def write_csv(path, names, X):
    with open(path, "w") as file:
        file.write(",".join(names) + "\n")
        for row in X:
            file.write(",".join(repr(float(x)) for x in row) + "\n")


def features():
    """Names are matched; features that differ are refused, with what differs."""
    X = np.abs(random.normal(size=(40, 5)))
    names = ["height", "width", "depth", "weight", "age"]
    order = [3, 0, 4, 1, 2]
    write_csv("a.csv", names, X)
    write_csv("b.csv", [names[i] for i in order], X[:, order])
    write_csv("c.csv", ["height", "width", "depth", "weight", "price"], X)
    write_csv("d.csv", names[:4], X[:, :4])
    np.save("e.npy", X)
    for name in "abcd":
        fit(f"{name}.npz", f"{name}.csv", 2)
    fit("e.npz", "e.npy", 2)
    found = compare("a.npz", "b.npz")
    assert found["reordered"] and found["largest_angle"] < 1e-6, "matched by name"
    assert not compare("a.npz", "e.npz")["reordered"]
    for other, message in (("c.npz", "'age', feature 5 of the first, is not one of the second"),
                           ("d.npz", "the first model has 5 features, the second 4")):
        line = run("compare", "a.npz", other, status=65)
        assert line.startswith(f"armilla: {other}: ") and message in line and line.count("\n") == 1, line
    for kept in ("1-3", "2-4"):
        fit(f"kept{kept}.npz", "e.npy", 2, "--keep-features", kept)
    line = run("compare", "kept1-3.npz", "kept2-4.npz", "--data", "e.npy", status=65)
    assert "feature 1 is number 1 of the data in the first and number 2 in the second" in line, line
    line = run("compare", "a.npz", "a.npz", "--data", "d.csv", status=65)
    assert line.startswith("armilla: d.csv: "), line
    run("compare", "a.npz", status=64)
    run("compare", "a.npz", "nosuch.npz", status=66)
    run("compare", "a.npz", "e.npy", status=65)
    text = run("compare", "a.npz", "b.npz")
    assert "matched by name" in text and "0.00°" in text and "principal angles" in text, text


def pictures():
    """The numbers that are drawn: matched atoms on the diagonal, nearest first."""
    line = run("compare", "a.npz", "b.npz", "--plot", "atoms.txt", status=64)
    assert line.startswith("armilla: --plot: atoms.txt does not end in .svg"), line
    if not shutil.which("gnuplot"):
        print("skipped: pictures, for want of gnuplot")
        return
    np.save("x.npy", np.abs(random.normal(size=(60, 30))))
    for ranks in ((4, 7), (7, 4), (1, 1), (70, 66)):
        models = [fit(name, "x.npy", rank, "--start", "random", "--seed", rank, "--max-iter", 3, "--model", "nmf")
                  for name, rank in zip(("a.npz", "b.npz"), ranks)]
        found = json.loads(run("compare", "a.npz", "b.npz", "--plot", "atoms.svg", "--force", "--json"))
        table = np.loadtxt("atoms.dat", ndmin=2)
        assert table.shape == (ranks[0] * ranks[1], 3) and os.path.getsize("atoms.svg") > 1000
        drawn = np.empty(ranks)
        drawn[table[:, 1].astype(int), table[:, 0].astype(int)] = table[:, 2]
        close(np.diag(drawn), np.degrees([match["angle"] for match in found["matches"]]), 1e-4, "the diagonal")
        all_angles = np.degrees(angles_between(models[0]["U"], models[1]["U"], False))
        close(np.sort(drawn, axis=None), np.sort(all_angles, axis=None), 1e-4, "all angles")
        with open("atoms.gp", encoding="utf-8") as file:
            script = file.read()
        tics = [dict((int(place), int(atom)) for atom, place in re.findall(r'"(\d+)" (\d+)', line))
                for line in (re.search(rf"^set {axis}tics \((.*)\)", script, re.MULTILINE)[1] for axis in "yx")]
        assert all(len(found) >= min(rank, 30) for found, rank in zip(tics, ranks)), tics
        for a, first in tics[0].items():
            close([drawn[a, b] for b in tics[1]], [all_angles[first, second] for second in tics[1].values()], 1e-4, "tics")
    assert "--force" in run("compare", "a.npz", "b.npz", "--plot", "atoms.svg", status=73)


def kept_clusters():
    """Clusters that both models keep are scored against each other."""
    X = np.abs(random.normal(size=(50, 8)))
    np.save("x.npy", X)
    for name, seed in (("a", 1), ("b", 2)):
        run("cluster", "x.npy", "--k", 3, "--method", "kmeans", "--tries", 1, "--seed", seed, "--out", name + ".txt",
            "--model-out", name + ".npz", "--force", "--quiet")
    labels = [np.loadtxt(name + ".txt", dtype=int) for name in "ab"]
    found = compare("a.npz", "b.npz")["kept_clusters"]
    assert found["samples"] == 50
    close(found["nmi"], normalized_mutual_info_score(*labels), 1e-12, "NMI of kept clusters")
    close(found["ari"], adjusted_rand_score(*labels), 1e-12, "ARI of kept clusters")
    assert "kept      clusters of 50 samples" in run("compare", "a.npz", "b.npz")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    copies()
    ranks_and_precisions()
    features()
    pictures()
    kept_clusters()
    os.chdir("/")
