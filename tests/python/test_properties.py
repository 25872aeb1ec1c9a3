"""Hypothesis: whatever the shape, storage, scale, pair and preparation, a model keeps its promises."""

import pickle
import warnings

import numpy as np
import scipy.sparse
from conftest import FEW
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import armilla

MODELS = [row["name"] for row in armilla.tables()["models"]]
BASES = [row["name"] for row in armilla.tables()["basis"]]
CODES = [row["name"] for row in armilla.tables()["codes"]]
quick = settings(max_examples=20 if FEW else 250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@st.composite
def data(draw):
    """An array, a view of one or a sparse matrix, of any sign, scale and shape."""
    rows, columns = draw(st.integers(1, 30)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.standard_normal((rows, columns)) if draw(st.booleans()) else rng.random((rows, columns))
    X *= 10.0 ** draw(st.integers(-20, 20))
    X[rng.random(X.shape) < draw(st.sampled_from([0, 0.3, 0.9]))] = 0
    kind = draw(st.sampled_from(["f64", "f32", "fortran", "slice", "csr", "csc", "bytes", "f16", "i8"]))
    if kind == "bytes":
        return np.round(255 * np.abs(X) / max(np.abs(X).max(), 1e-300)).astype(np.uint8)
    if kind in ("f16", "i8"):
        return np.round(127 * X / max(np.abs(X).max(), 1e-300)).astype({"f16": np.float16, "i8": np.int8}[kind])
    if kind in ("csr", "csc"):
        return scipy.sparse.csr_matrix(X).asformat(kind)
    if kind == "slice":
        return np.repeat(X, 2, axis=0)[::2]
    return {"f64": X, "f32": X.astype(np.float32), "fortran": np.asfortranarray(X)}[kind]


def dense(X):
    return np.asarray(X.todense() if scipy.sparse.issparse(X) else X, dtype=np.float64)


@quick
@given(X=data(), basis=st.sampled_from(BASES), codes=st.sampled_from(CODES), rank=st.integers(1, 6), options=st.fixed_dictionaries({}, optional=dict(center=st.booleans(), scale=st.booleans(), normalize=st.sampled_from(["none", "l2"]), solver=st.sampled_from(["fast", "palm"]), max_iter=st.integers(0, 30), seed=st.integers(0, 2**62), threads=st.integers(1, 3))))
def test_models_keep_their_promises(X, basis, codes, rank, options):
    sparsity = 1 + options.get("seed", 0) % rank if "sparse" in codes else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = armilla.fit(X, rank, basis=basis, codes=codes, sparsity=sparsity, **options)
        except ValueError as error:
            assert str(error) and "--" not in str(error) and "\x01" not in str(error)
            return
    check = model.check(X)
    assert check.passed, check.finding
    assert model.U.shape == (X.shape[1], rank) and model.V.shape == (rank, X.shape[0])
    assert np.isfinite(model.U).all() and np.isfinite(model.V).all()
    if "nonneg" in basis:
        assert (model.U >= 0).all()
    if "nonneg" in codes:
        assert (model.V >= 0).all()
    if sparsity:
        assert (np.count_nonzero(model.V, axis=0) <= sparsity).all()
    if basis == "orthonormal":
        np.testing.assert_allclose(model.U.T.astype(float) @ model.U, np.eye(rank), atol=1e-5 if model.dtype == np.float32 else 1e-13)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.U.tobytes() == model.U.tobytes() and copy.V.tobytes() == model.V.tobytes()
    if model.info["sealed"]:
        assert np.array_equal(model.transform(X), model.codes)
        assert np.array_equal(copy.transform(X), model.codes)


@quick
@given(X=data(), rank=st.integers(1, 4), model=st.sampled_from(["spherical-pca", "spherical-nmf", "pca"]))
def test_storage_does_not_matter(X, rank, model):
    """Layouts of one kind give the same bits, and a model of sparse data is right for the dense ones, and the reverse."""
    values = dense(X)
    kinds = (values, np.asfortranarray(values)), (scipy.sparse.csr_matrix(values), scipy.sparse.coo_matrix(values))
    fitted = []
    for forms in kinds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = [armilla.fit(form, rank, model=model, max_iter=3, tol=0) for form in forms]
            except ValueError as error:
                fitted.append(str(error))
                continue
        assert found[0].U.tobytes() == found[1].U.tobytes() and found[0].V.tobytes() == found[1].V.tobytes()
        fitted.append(found[0])
    if isinstance(fitted[0], str):
        assert fitted[0] == fitted[1]
        return
    for other, forms in zip(fitted, reversed(kinds)):
        check = other.check(forms[0])
        assert check.passed and check.fingerprint_matches, check.finding


@quick
@given(X=data(), k=st.integers(1, 5), seed=st.integers(0, 1000))
def test_kmeans_is_a_fixed_point(X, k, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kmeans = armilla.SphericalKMeans(k, random_state=seed).fit(X)
        except ValueError as error:
            assert "n_clusters" in str(error) or "radius" in str(error) or "zero" in str(error), error
            return
    assert kmeans.labels_.min() >= 0 and kmeans.labels_.max() < k
    assert np.array_equal(kmeans.predict(X), kmeans.labels_)
    assert kmeans.transform(X).shape == (X.shape[0], k)
    assert 0 <= kmeans.inertia_ <= 2 * X.shape[0] + 1e-6


@quick
@given(seed=st.integers(0, 10**6), value=st.one_of(st.floats(), st.integers(), st.text(max_size=5), st.none(), st.booleans()))
def test_any_value_of_any_parameter(seed, value):
    """A parameter with any value: a fit, or an error of a kind that a caller expects."""
    option = armilla._options.FIT_OPTIONS[seed % len(armilla._options.FIT_OPTIONS)]
    name = option.parameter(armilla._options.ESTIMATOR_NAMES)
    if name in ("n_jobs", "time_limit", "n_restarts") and isinstance(value, (int, float)) and value > 4:
        return
    X = np.random.default_rng(0).random((12, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            parameters = {"random_state": 0, "max_iter": 5, **{name: value}}
            estimator = armilla.SphericalFactorization(**parameters).fit(X)
        except (ValueError, TypeError, MemoryError, OverflowError) as error:
            assert str(error)
            return
    assert estimator.model_.check(X).passed
