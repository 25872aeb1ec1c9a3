"""What a user does with the wheel on a machine that has scikit-learn and nothing of Armilla: fits every named model and
every pair of sets below and above the rank from which LAPACK is used, transforms, clusters, saves and loads.

Prints "ok: N fits". It needs NumPy, SciPy and scikit-learn alone."""

import itertools
import pathlib
import sys
import tempfile

import numpy as np
import scipy.sparse

import armilla

RANKS = (3, 20)  # up to 16 the library's own code serves


def data():
    rng = np.random.default_rng(5)
    X = rng.random((4, 30))[rng.integers(4, size=90)] * rng.uniform(1, 5, (90, 1)) + 0.2 * rng.random((90, 30))
    X[X < 0.25] = 0
    return X


def settings(tables):
    """Options of a fit: a named model each, and a pair of a basis and a code set each."""
    named = [{"model": row["name"]} for row in tables["models"]]
    pairs = itertools.product(tables["basis"], tables["codes"])
    return named + [{"basis": basis["name"], "codes": codes["name"]} for basis, codes in pairs]


def fit(X, rank, options):
    """With a sparsity where the codes are sparse, and None where the sets are no pair: the library says so."""
    try:
        return armilla.fit(X, rank, max_iter=5, **options)
    except ValueError as error:
        if "does not go with" in str(error):
            return None
        if "sparsity" not in str(error) or "sparsity" in options:
            raise
        return fit(X, rank, {**options, "sparsity": 2})


def main():
    X, fits = data(), 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.npz"
        for rank, options in itertools.product(RANKS, settings(armilla.tables())):
            model = fit(X, rank, options)
            if model is None:
                continue
            assert np.isfinite(model.U).all() and np.isfinite(model.V).all(), options
            model.save(path, overwrite=True)
            assert np.array_equal(armilla.load(path).U, model.U), options
            fits += 1
    for estimator, stored in itertools.product((armilla.SphericalPCA, armilla.SphericalNMF), (X, scipy.sparse.csr_matrix(X))):
        codes = estimator(20, random_state=0).fit(stored).transform(stored[:7])
        assert codes.shape == (7, 20) and np.isfinite(codes).all()
    assert set(armilla.SphericalKMeans(4, random_state=0).fit_predict(X)) == set(range(4))
    assert len(set(armilla.AutoCluster(4, random_state=0).fit(X).labels_)) == 4
    assert armilla.neighbors(X, 3).shape == (90, 90)
    print(f"ok: {fits} fits with {armilla.__version__} on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
