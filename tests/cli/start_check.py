#!/usr/bin/env python3
"""`fit --start MODEL` goes on as the model was fitted unless told otherwise.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy is missing."""

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
random = np.random.default_rng(11)


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout, done.stderr


def fit(out, *options, data="x.npy"):
    shown, said = run("fit", data, *options, "--json", "--force", "--out", out)
    with np.load(out, allow_pickle=False) as archive:
        model = {name: archive[name] for name in archive.files}
    return json.loads(shown), json.loads(bytes(model["meta"])), model, said


def check_taken():
    whole = ("--rank", 3, "--basis", "nonnegative", "--codes", "nonneg-sparse-sphere", "--sparsity", 2, "--total", "median",
             "--log1p", "--top-features", 9, "--tfidf", "--normalize", "l2", "--precision", "f32", "--solver", "palm",
             "--lambda", "2x")
    first, _, _, said = fit("a.npz", *whole, "--max-iter", 2)
    assert "start     " not in said
    shown, meta, model, said = fit("b.npz", "--start", "a.npz", "--max-iter", 20)
    lines = [line for line in said.splitlines() if line.startswith("start     a.npz, with its")]
    assert len(lines) == 1 and sorted(lines[0].split()[4:]) == sorted(map(str, whole)), said
    for name in ("rank", "basis", "codes", "sparsity", "precision", "solver"):
        assert shown[name] == first[name], name
    assert meta["options"]["total"] == "median" and meta["options"]["lambda"] == "2x"
    assert meta["total"] and meta["log1p"] and meta["top_features"] and meta["tfidf"] and meta["normalize"] == "l2"
    assert not meta["center"] and not meta["scale"]
    assert shown["objective"] <= first["objective"] * (1 + 1e-5), "goes on from the model"
    _, _, told, _ = fit("c.npz", "--start", "a.npz", *whole, "--max-iter", 20)
    assert all(np.array_equal(model[name], told[name]) for name in ("U", "V")), "the same as in full"
    run("check", "b.npz", "x.npy")
    assert run("fit", "x.npy", "--start", "a.npz", "--quiet")[1] == ""
    shown = json.loads(run("fit", "x.npy", "--start", "a.npz", "--dry-run", "--json")[0])
    assert shown["rank"] == 3 and shown["basis"] == "nonnegative"


def check_every_option():
    """Of the model's record the next fit takes every row of the option table but those that are of one fit."""
    own = {"model", "start", "seed", "restarts", "max-iter", "tol", "time-limit", "threads", "kernel"}
    np.save("c.npy", random.poisson(1.0, size=(60, 12)).astype(float))
    common = ("--rank", 3, "--max-iter", 2, "--quiet")
    cases = {
        "basis": "nonnegative", "codes": "free", "radius": 2, "solver": "palm", "precision": "f32", "center": None, "log1p": None,
        "scale": None, "tfidf": None, "total": 7.5, "top-features": 5, "normalize": "l2", "rank": 4,
        "idf": ("plain", "--tfidf"), "lambda": ("2x", "--solver", "palm"), "mu": ("3x", "--solver", "palm"),
        "batch": (16, "--solver", "online"), "sparsity": (2, "--codes", "sparse-sphere"),
    }
    _, meta, _, _ = fit("a.npz", *common)
    assert set(meta["options"]) - own == set(cases), "a case for every option"
    for name, value in cases.items():
        value, *needs = value if isinstance(value, tuple) else (value,)
        _, first, _, _ = fit("a.npz", *common, f"--{name}", *([] if value is None else [value]), *needs, data="c.npy")
        _, second, _, _ = fit("b.npz", "--start", "a.npz", "--max-iter", 1, "--quiet", data="c.npy")
        for option in set(meta["options"]) - own:
            assert first["options"][option] == second["options"][option], (name, option, first["options"], second["options"])
    _, first, _, _ = fit("a.npz", "--model", "spherical-kmeans", *common)
    _, second, _, _ = fit("b.npz", "--start", "a.npz", "--quiet")
    assert (second["model"], second["normalize"]) == ("spherical-kmeans", "l2")


def check_told_otherwise():
    """An option counts instead; one of a kind instead of all of its kind."""
    fit("a.npz", "--rank", 4, "--scale", "--center", "--codes", "sparse-sphere", "--sparsity", 2, "--solver", "palm")
    _, meta, _, said = fit("b.npz", "--start", "a.npz", "--log1p")
    assert meta["log1p"] and not meta["scale"] and not meta["center"] and meta["sparsity"] == 2, meta
    assert "--scale" not in said.split("start     ")[1].splitlines()[0]
    _, meta, _, _ = fit("b.npz", "--start", "a.npz", "--codes", "sphere")
    assert meta["codes"] == "sphere" and meta["sparsity"] is None and meta["scale"] and meta["solver"] == "palm"
    _, meta, _, _ = fit("b.npz", "--start", "a.npz", "--model", "pca", "--solver", "fast", "--precision", "f32")
    assert meta["model"] == "pca" and meta["solver"] == "fast" and meta["precision"] == "f32" and meta["center"]
    said = run("fit", "x.npy", "--start", "a.npz", "--rank", 5, status=65)[1]
    assert "the start's basis is" in said and said.count("\n") == 1, said
    run("fit", "x.npy", "--start", "nosuch.npz", "--rank", 2, status=66)
    run("fit", "x.npy", "--start", "svd", status=64)  # a start of the table has no rank
    np.save("u.npy", np.eye(12, 3))
    run("fit", "x.npy", "--start", "u.npy", status=64)  # nor has an array


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    np.save("x.npy", random.poisson(random.gamma(1, 2, size=(1, 12)), size=(60, 12)).astype(float) + 0.5)
    check_taken()
    check_every_option()
    check_told_otherwise()
    os.chdir("/")
