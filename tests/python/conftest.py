"""Fixtures: the command, data of several kinds, and how thorough to be (a sanitizer has time for little)."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

import armilla

sys.path.insert(0, str(pathlib.Path(__file__).parent))
ROOT = pathlib.Path(os.environ.get("ARMILLA_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
EXAMPLES = ["topics", "parts", "cosine_kmeans", "cells", "choose", "streaming"]
ALL = [armilla.SphericalFactorization, armilla.SphericalPCA, armilla.SphericalNMF, armilla.SphericalKMeans, armilla.AutoCluster]
FEW = os.environ.get("ARMILLA_EFFORT") == "few"


@pytest.fixture(scope="session")
def command():
    """Runs `armilla WORDS...` and returns what it prints."""
    program = os.environ.get("ARMILLA", str(ROOT / "build" / "armilla"))

    def run(*words):
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def make_data(kind, rows=60, columns=11, seed=3):
    """Nonnegative data with three directions and lengths that differ, stored as `kind`."""
    rng = np.random.default_rng(seed)
    directions = rng.random((3, columns)) ** 3
    X = directions[rng.integers(3, size=rows)] * rng.uniform(1, 9, (rows, 1)) + 0.1 * rng.random((rows, columns))
    if kind == "u8":
        return np.round(20 * X).clip(0, 255).astype(np.uint8)
    if kind in ("f16", "i8"):
        return np.round(10 * X).clip(0, 127).astype({"f16": np.float16, "i8": np.int8}[kind])
    if kind.startswith("csr"):
        X[X < np.quantile(X, 0.6)] = 0
        return scipy.sparse.csr_matrix(X.astype(np.float32 if kind == "csr32" else np.float64))
    return X.astype({"f32": np.float32, "f64": np.float64}[kind])


def bits(X, **options):
    return armilla.SphericalPCA(3, random_state=0, **options).fit(X).model_.U.tobytes()
