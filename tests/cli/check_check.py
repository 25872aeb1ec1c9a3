#!/usr/bin/env python3
"""armilla check: one number of a model file changed by more than rounding explains is found, by less it is not; a model
of other data is found although it bears their fingerprint; and good models at odd scales are left alone."""
import json
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.sparse as sparse
except ImportError:
    print("skipped: needs NumPy and SciPy")
    sys.exit(77)

armilla = os.environ["ARMILLA"]
os.chdir(tempfile.mkdtemp(prefix="armilla-check-"))
failures = 0
EPSILON = {"f64": 2.0**-52, "f32": 2.0**-23}


def run(*words):
    return subprocess.run([armilla, *map(str, words)], capture_output=True, text=True, check=False)


def expect(wanted, got, what):
    global failures
    if got.returncode != wanted:
        failures += 1
        print(f"{what}: exit status {got.returncode}, not {wanted}: {got.stderr.strip()}")


def fit(data, *options):
    got = run("fit", data, "--out", "model.npz", "--force", "--quiet", *options)
    expect(0, got, f"fit {' '.join(map(str, options))}")
    return dict(np.load("model.npz"))


def check(arrays, data, wanted, what):
    np.savez("changed.npz", **arrays)
    expect(wanted, run("check", "changed.npz", data), what)


def changed(arrays, name, place, value):
    """The arrays with one number replaced; a name that is no array is a member of the record."""
    made = {key: np.copy(array, order="K") for key, array in arrays.items()}
    if name in made:
        made[name][place] = value
        return made
    record = json.loads(bytes(made["meta"]))
    record[name] = value
    made["meta"] = np.frombuffer(json.dumps(record).encode(), np.uint8)
    return made


def both_sides(arrays, data, name, place, value, tolerance, what):
    """Half of the tolerance is left alone, on either side; three times of it is found."""
    for sign in (-1, 1):
        check(changed(arrays, name, place, value + sign * tolerance / 2), data, 0, f"{what}: {name} within rounding")
        check(changed(arrays, name, place, value + sign * 3 * tolerance), data, 1, f"{what}: {name} beyond rounding")


def step_of(gradient, curvature, change):
    """The step t with gradient*t + curvature*t^2 = change, of the sign that makes h rise."""
    root = math.sqrt(gradient * gradient + 4 * curvature * change)
    return math.copysign(2 * change / (abs(gradient) + root), gradient)


def check_factor(arrays, data, X, name, what):
    """One entry of U or V, by steps that change h by half and by three times its tolerance."""
    U, V = arrays["U"].astype(float), arrays["V"].astype(float)
    tolerance = json.loads(run("check", "model.npz", data, "--json").stdout)["objective_tolerance"]
    rest = U @ V - X
    for i, j in ((0, 0), (2, 1), (1, 2)):
        gradient = 2 * (rest[i] @ V[j] if name == "U" else rest[:, j] @ U[:, i])
        curvature = V[j] @ V[j] if name == "U" else U[:, i] @ U[:, i]
        for share, wanted in ((0.3, 0), (3, 1)):
            value = float(arrays[name][i, j]) + step_of(gradient, curvature, share * tolerance)
            made = changed(arrays, name, (i, j), value)
            moved = made[name][i, j].astype(float) - float(arrays[name][i, j])
            shift = gradient * moved + curvature * moved * moved
            if wanted == 0 and not abs(shift) <= 0.6 * tolerance:
                continue  # f32 has no number there
            check(made, data, wanted, f"{what}: {name}[{i},{j}] changes h by {shift / tolerance:.2g} tolerances")


def check_constraints(arrays, data, what):
    """One entry of an orthonormal U, or of a code on its sphere, by a share of what rounding explains and by more."""
    record = json.loads(bytes(arrays["meta"]))
    m, r, epsilon = record["shape"]["m"], record["shape"]["r"], EPSILON[record["precision"]]
    radius = float(arrays["radius"])
    limits = {"U": 2 * epsilon + 30 * math.sqrt(m) * 2**-52, "V": 2 * epsilon + (r + 16) * 2**-52}
    for name, unit in (("U", 0.5), ("V", radius * radius)):
        i, j = np.unravel_index(np.argmax(np.abs(arrays[name])), arrays[name].shape)
        value = float(arrays[name][i, j])
        check(changed(arrays, name, (i, j), value + 4 * limits[name] * unit / value), data, 1, f"{what}: {name} off its set")


def check_record(arrays, data, what):
    record = json.loads(bytes(arrays["meta"]))
    epsilon = EPSILON[record["precision"]]
    found = json.loads(run("check", "model.npz", data, "--json").stdout)
    h = record["objective"]
    # The relative error goes along with the objective, and palm's last entry of the trace too: else these are found.
    for share, wanted in ((0.5, 0), (3, 1)):
        value = h + share * found["objective_tolerance"]
        made = changed(arrays, "objective", (), value)
        made = changed(made, "relative_error", (), math.sqrt(value / record["squared_norm"]))
        made["trace_objective"][-1] = value
        made["trace_relative_error"][-1] = math.sqrt(value / record["squared_norm"])
        check(made, data, wanted, f"{what}: objective {share} tolerances away")
    both_sides(arrays, data, "relative_error", (), record["relative_error"], 6 * 2**-52 * record["relative_error"], what)
    check(changed(arrays, "squared_norm", (), record["squared_norm"] * (1 + 1e3 * epsilon)), data, 1, f"{what}: norm")
    check(changed(arrays, "zero_samples", (), record["zero_samples"] + 1), data, 1, f"{what}: zero samples")
    check(changed(arrays, "fingerprint", (), "0123456789abcdef"), data, 1, f"{what}: fingerprint")


def check_trace(arrays, data, what):
    middle = len(arrays["trace_objective"]) // 2
    check(changed(arrays, "trace_relative_error", middle, arrays["trace_relative_error"][middle] * (1 + 1e-14)), data, 1,
          f"{what}: relative error in the trace")
    made = changed(arrays, "trace_objective", middle, arrays["trace_objective"][middle - 1] * (1 + 1e-3))
    squared_norm = json.loads(bytes(arrays["meta"]))["squared_norm"]
    made["trace_relative_error"][middle] = math.sqrt(made["trace_objective"][middle] / squared_norm)
    check(made, data, 1, f"{what}: a rise in the trace")
    for name, place, value in (("trace_dU", 1, math.inf), ("trace_dV", 1, math.nan), ("trace_dV", 1, -1.0),
                               ("trace_dU", 0, 1.0), ("trace_seconds", middle, -1.0), ("trace_seconds", 0, 1e9),
                               ("trace_radius", middle, -1.0), ("trace_radius", middle, math.inf)):
        # What no fit can have written is refused when the file is read.
        refused = value < 0 or math.isnan(value) or (name == "trace_radius" and math.isinf(value))
        check(changed(arrays, name, place, value), data, 65 if refused else 1, f"{what}: {name}[{place}] = {value}")


rng = np.random.default_rng(7)
counts = rng.integers(0, 6, (15, 12)).astype(float)  # samples by rows
np.save("counts.npy", counts)
for solver in ("fast", "palm"):
    for precision in ("f64", "f32"):
        what = f"{solver} {precision}"
        model = fit("counts.npy", "--rank", 3, "--solver", solver, "--precision", precision, "--max-iter", 12, "--tol", 0)
        check(model, "counts.npy", 0, what)
        check_record(model, "counts.npy", what)
        check_trace(model, "counts.npy", what)
        check_constraints(model, "counts.npy", what)
        radius, tolerance = float(model["radius"]), 2 * EPSILON[precision] + 19 * 2**-52
        made = changed(model, "radius", (), radius * (1 + 3 * tolerance))
        made["trace_radius"][-1] = made["radius"]
        check(made, "counts.npy", 1, f"{what}: radius")
        if solver == "palm":
            check(changed(model, "trace_radius", -1, np.nextafter(radius, 0)), "counts.npy", 1, f"{what}: last radius")

# Without constraints on the factors it is the objective that tells.
for precision in ("f64", "f32"):
    model = fit("counts.npy", "--rank", 3, "--basis", "free", "--codes", "free", "--precision", precision, "--max-iter", 3)
    for factor in ("U", "V"):
        check_factor(model, "counts.npy", counts.T, factor, f"free {precision}")

# What was learned from the data.
for storage in ("dense", "sparse"):
    data = "counts.npy" if storage == "dense" else "counts.npz"
    sparse.save_npz("counts.npz", sparse.csr_matrix(counts))
    model = fit(data, "--rank", 3, "--tfidf", "--scale", "--center", "--max-iter", 5)
    check(model, data, 0, f"{storage}, prepared")
    n = len(counts)
    weights = model["idf"] * model["scale"]
    size = (np.abs(counts).mean(axis=0) * weights)[4]
    both_sides(model, data, "mean", 4, model["mean"][4], (n + 16) * 2**-52 * size, storage)
    both_sides(model, data, "idf", 3, model["idf"][3], 8 * 2**-52 * model["idf"][3], storage)
    both_sides(model, data, "scale", 5, model["scale"][5], (n + 16) * 2**-52 * model["scale"][5], storage)

# A fit that silently lost samples, as unit lengths whose squares overflow once did: it states what it saw, with the
# fingerprint of the data that it should have seen.
whole = sparse.random(40, 30, 0.2, format="csr", random_state=1, data_rvs=lambda k: rng.uniform(0.5, 1, k)) * 1e100
lost = whole.copy()
lost.data[: whole.indptr[33]] = 0
lost.eliminate_zeros()
for name, matrix in (("whole.npz", whole), ("lost.npz", lost)):
    sparse.save_npz(name, matrix.tocsr())
model = fit("lost.npz", "--rank", 3, "--normalize", "l2", "--max-iter", 5)
run("fit", "whole.npz", "--rank", 3, "--normalize", "l2", "--max-iter", 5, "--out", "right.npz", "--force", "--quiet")
fingerprint = json.loads(bytes(np.load("right.npz")["meta"]))["fingerprint"]
check(changed(model, "fingerprint", (), fingerprint), "whole.npz", 1, "samples lost")

# Good models at odd scales.
X = rng.random((40, 30))
np.save("plain.npy", X)
np.save("span.npy", X * 10.0 ** np.linspace(-150, 150, 30))
np.save("span-rows.npy", X * 10.0 ** np.linspace(-150, 150, 40)[:, None])
np.save("far.npy", 5 + 5e-7 * X)  # logarithms that vary in their last few digits alone
for data, options in (
    ("plain.npy", ("--radius", "1e20")),
    ("plain.npy", ("--radius", "1e20", "--solver", "palm")),
    ("plain.npy", ("--radius", "1e-20", "--basis", "nonnegative")),
    ("span.npy", ()),
    ("span-rows.npy", ()),
    ("span.npy", ("--solver", "palm")),
    ("span.npy", ("--basis", "nonnegative", "--codes", "nonneg-sphere", "--solver", "palm")),
    ("span-rows.npy", ("--basis", "free", "--codes", "free")),
    ("span.npy", ("--normalize", "l2", "--scale", "--center")),
    ("far.npy", ("--log1p", "--scale")),
    ("far.npy", ("--log1p", "--scale", "--center")),
    ("far.npy", ("--log1p", "--tfidf", "--scale", "--normalize", "l2")),
):
    model = fit(data, "--rank", 3, "--max-iter", 8, *options)
    check(model, data, 0, f"{data} {' '.join(options)}")
for scale in (1e-24, 1e-20, 1e-9, 1e9, 1e15, 1e28):
    np.save("scaled.npy", X * scale)
    for basis, codes in (("orthonormal", "sphere"), ("nonnegative", "nonneg-sphere"), ("free", "sphere")):
        model = fit("scaled.npy", "--rank", 3, "--max-iter", 8, "--precision", "f32", "--basis", basis, "--codes", codes)
        check(model, "scaled.npy", 0, f"f32 at {scale}, {basis} x {codes}")

# Scales that cannot be computed with are errors of the data.
np.save("large.npy", X * 1e28)
np.save("small.npy", X * 1e-24)
for options in (("plain.npy", "--radius", "1e200"), ("plain.npy", "--radius", "1e39", "--precision", "f32"),
                ("large.npy", "--precision", "f32", "--codes", "nonneg", "--basis", "nonnegative"),
                ("small.npy", "--precision", "f32", "--codes", "nonneg"),
                ("large.npy", "--precision", "f32", "--codes", "nonneg")):
    got = run("fit", *options, "--rank", 3)
    expect(65, got, " ".join(options))
    advice = "nearer" if "--radius" in options else "divide" if options[0] == "large.npy" else "multiply"
    if advice not in got.stderr:
        failures += 1
        print(f"{' '.join(options)}: no advice to {advice}: {got.stderr.strip()}")

print(f"{failures} failed")
sys.exit(failures != 0)
