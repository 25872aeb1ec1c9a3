"""Fits by parts: partial_fit, and the solver that takes samples in batches."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from conftest import make_data

import armilla

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::sklearn.exceptions.ConvergenceWarning")


def parts(X, size=300):
    return [X[first : first + size] for first in range(0, X.shape[0], size)]


CONTINUED = [
    lambda **o: armilla.SphericalPCA(6, normalize="l2", random_state=0, **o),
    lambda **o: armilla.SphericalNMF(6, random_state=0, **o),
    lambda **o: armilla.SphericalFactorization(6, model="nmf", random_state=0, **o),
    lambda **o: armilla.SphericalKMeans(6, random_state=0, **o),
]


@pytest.mark.parametrize("make", CONTINUED)
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
def test_partial_fit(make, form):
    """Parts that are mixed lead near to the fit of all; a pickle in between changes no bit; fit begins anew."""
    X, _ = armilla.datasets.load_digits(return_X_y=True)
    X = np.asarray(X, np.float64)[np.random.RandomState(0).permutation(len(X))]
    whole, model, other = make().fit(form(X)), make(), make()
    for part in parts(X):
        model.partial_fit(form(part))
        other = pickle.loads(pickle.dumps(other)).partial_fit(form(part))
    assert model.n_samples_seen_ == other.n_samples_seen_ == len(X)
    assert model.n_features_in_ == X.shape[1]
    assert np.array_equal(model.model_.U, other.model_.U) and np.array_equal(model.model_.V, other.model_.V)
    if isinstance(model, armilla.SphericalKMeans):
        assert model.predict(X).shape == (len(X),) and model.labels_.shape == (len(part),)
        assert np.array_equal(model.predict(form(part)), model.labels_)
        assert model.score(X) >= 1.25 * whole.score(X)
    else:
        assert np.array_equal(model.transform(form(part)), model.codes_)
        assert 1 - model.score(X) <= 1.5 * (1 - whole.score(X))
    first = model.fit(form(X)).model_
    assert np.array_equal(first.U, whole.model_.U) and model.n_samples_seen_ == len(X)
    before = model.score(X)
    model.partial_fit(form(X[:200]))
    assert model.n_samples_seen_ == len(X) + 200
    assert abs(model.score(X) - before) <= 0.05 * abs(before)  # what was fitted is not forgotten


def test_partial_fit_bad_input():
    X = make_data("f64")
    model = armilla.SphericalPCA(2).partial_fit(X)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, 1:])
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full_like(X, np.nan))
    assert model.n_samples_seen_ == len(X)
    with pytest.raises(ValueError, match="n_samples"):
        armilla.SphericalKMeans(5).partial_fit(X[:3])
    for change in ({"n_components": 3}, {"basis": "free"}, {"codes": "nonneg-sphere"}):
        other = armilla.SphericalFactorization(2).partial_fit(X).set_params(**change)
        with pytest.raises(ValueError, match=f"{next(iter(change))} is .* fit a clone"):
            other.partial_fit(X)
        assert other.components_.shape[0] == 2
    named = armilla.SphericalFactorization(2, model="semi-nmf")
    assert named.partial_fit(X).set_params(tol=0.1).partial_fit(X).n_samples_seen_ == 2 * len(X)
    assert armilla.SphericalKMeans(5).partial_fit(X).partial_fit(X[:3]).labels_.shape == (3,)
    with pytest.raises(ValueError, match="batch does not go with"):
        armilla.SphericalPCA(2, batch=10).fit(X)


@pytest.mark.parametrize("make", CONTINUED)
def test_online(make):
    """Near the default solver, sorted or not, and codes that transform gives."""
    X, y = armilla.datasets.load_digits(return_X_y=True)
    X = np.asarray(X, np.float64)
    for data in (X, X[np.argsort(y, kind="stable")]):
        fast, online = make().fit(data).model_, make(solver="online", max_iter=30, batch=100).fit(data)
        assert online.model_.info["objective"] <= 1.1 * fast.info["objective"]
        assert online.model_.info["solver"] == "online" and online.model_.check(data).passed


@pytest.mark.parametrize("total", ["median", 1.5])
def test_partial_fit_keeps_the_total(total):
    """Samples scaled to 1.5, or to the median of the first part: later parts have the same total, in every locale."""
    X = make_data("f64", rows=200)
    model = armilla.SphericalFactorization(3, total=total, random_state=0).partial_fit(X[:100]).partial_fit(100 * X[100:])
    sums = X[:100].sum(axis=1)
    wanted = np.median(sums) if total == "median" else total
    scaled = X * (wanted / X.sum(axis=1))[:, None]
    same = armilla.SphericalFactorization(3, random_state=0).partial_fit(scaled[:100]).partial_fit(scaled[100:])
    assert np.allclose(model.components_, same.components_, atol=1e-3)
    assert np.isclose(model.radius_, same.radius_, rtol=1e-3)
