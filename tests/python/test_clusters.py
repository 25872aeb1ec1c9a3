"""Clusters in Python are those of the command: predict by one rule, saved with the model, found without a number, and
numbered by size or by the centres that are given."""

import json
import pickle

import numpy as np
import pytest
import scipy.sparse
from conftest import make_data
from sklearn.base import clone

import armilla

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::sklearn.exceptions.ConvergenceWarning")


def test_predict_is_that_of_the_command(command, tmp_path):
    """One rule, in the library, for every sample, new and of the fit; and a saved clusterer keeps its clusters."""
    X, _ = armilla.datasets.load_digits(return_X_y=True)
    np.save(tmp_path / "new.npy", X[1200:])
    np.save(tmp_path / "train.npy", X[:1200])
    for number, make in enumerate((
        armilla.AutoCluster(10, random_state=0),
        armilla.AutoCluster(random_state=0),
        armilla.AutoCluster(10, method="smooth", random_state=1),
        armilla.AutoCluster(10, method="kmeans", random_state=0),
        armilla.AutoCluster(10, method="euclidean", random_state=0),
        armilla.AutoCluster(method="argmax", n_components=6, random_state=0),
        armilla.SphericalKMeans(10, random_state=0),
    )):
        auto = make.fit(X[:1200])
        path = tmp_path / f"{number}.npz"
        auto.save(path)
        for name, part in (("new", X[1200:]), ("train", X[:1200])):
            theirs = np.array(command("predict", path, tmp_path / f"{name}.npy", "--quiet").split(), dtype=int)
            assert np.array_equal(theirs, auto.predict(part)), (make, name)
        assert np.array_equal(theirs, auto.labels_), make
        opened = armilla.load(path)
        assert np.array_equal(opened.labels_, auto.labels_) and opened.labels_.dtype == auto.labels_.dtype
        assert np.array_equal(opened.predict(X[1200:]), auto.predict(X[1200:]))
        assert np.array_equal(opened.predict(X[1200:].T, samples="columns", threads=2), auto.predict(X[1200:]))
        assert np.array_equal(opened.predict(tmp_path / "new.npy"), auto.predict(X[1200:]))
        again = pickle.loads(pickle.dumps(auto))
        assert np.array_equal(again.predict(X[1200:]), auto.predict(X[1200:])) and np.array_equal(again.model_.labels_, auto.labels_)
        sizes = np.bincount(auto.labels_)
        shown = json.loads(command("top", path, "--count", 3, "--json"))["clusters"]
        assert [row["size"] for row in shown] == list(sizes[sizes > 0])
        command("plot", path, "--kind", "clusters", "--out", tmp_path / f"{number}.svg", "--quiet")


def test_inertia_is_a_number_or_not_there():
    """What k-means minimised, by plain NumPy; communities and argmax have no such sum, and no attribute."""
    X, _ = armilla.datasets.load_digits(return_X_y=True)
    X = X[:600]
    for method in ("kmeans", "euclidean"):
        auto = armilla.AutoCluster(10, method=method, random_state=0).fit(X)
        codes = np.asarray(auto.model_.codes, np.float64)
        if method == "kmeans":
            codes = codes / np.linalg.norm(codes, axis=1, keepdims=True)
        centers = np.array([codes[auto.labels_ == k].mean(axis=0) for k in range(10)])
        if method == "kmeans":
            centers /= np.linalg.norm(centers, axis=1, keepdims=True)
        squares = np.sum((codes - centers[auto.labels_]) ** 2)
        np.testing.assert_allclose(auto.inertia_, squares / (2 if method == "kmeans" else 1), rtol=1e-6)
    for auto in (armilla.AutoCluster(10, random_state=0), armilla.AutoCluster(method="argmax", n_components=4), armilla.AutoCluster(10, method="smooth", random_state=0)):
        assert not hasattr(auto, "inertia_")
        auto.fit(X)
        if auto.recipe_["by"] in ("smoothing", "kmeans"):
            assert auto.inertia_ > 0
        else:
            assert not hasattr(auto, "inertia_") and not hasattr(pickle.loads(pickle.dumps(auto)), "inertia_")
            with pytest.raises(AttributeError, match="clusters by (communities|argmax) minimise no"):
                auto.inertia_
    assert armilla.AutoCluster(10, random_state=0).fit(X).recipe_["by"] == "communities"


def test_votes_by_plain_numpy():
    """Where most of the 15 nearest belong, each with one over its squared chord."""
    X, _ = armilla.datasets.load_digits(return_X_y=True)
    auto = armilla.AutoCluster(10, random_state=0).fit(X[:900])
    known = auto.model_.codes / np.linalg.norm(auto.model_.codes, axis=1, keepdims=True)
    codes = auto.model_.transform(X[900:])
    cosines = codes / np.linalg.norm(codes, axis=1, keepdims=True) @ known.T
    for label, row in zip(auto.predict(X[900:]), cosines):
        nearest = np.argsort(-row, kind="stable")[:15]
        votes = np.bincount(auto.labels_[nearest], 1 / (np.maximum(2 - 2 * row[nearest], 0) + 1e-12), 10)
        assert votes[label] >= (1 - 1e-9) * votes.max()


def test_models_keep_clusters(tmp_path, command):
    X = make_data("f64")
    model = armilla.fit(X, 3, seed=0)
    assert not hasattr(model, "labels_")
    with pytest.raises(ValueError, match="keeps no clusters"):
        model.predict(X)
    labels = model.cluster(3)
    assert not hasattr(model, "labels_")
    assert np.array_equal(model.cluster(3, keep=True), labels) and np.array_equal(model.labels_, labels)
    first = model.labels_
    model.cluster(4, method="euclidean", keep=True)
    assert np.array_equal(first, labels) and model.labels_.max() == 3
    np.save(tmp_path / "X.npy", X)
    command("cluster", tmp_path / "X.npy", "--k", 3, "--model-out", tmp_path / "kept.npz", "--out", tmp_path / "l.txt", "--quiet")
    assert np.array_equal(armilla.load(tmp_path / "kept.npz").labels_, np.loadtxt(tmp_path / "l.txt", dtype=int))


def test_number_is_found(command, tmp_path):
    """AutoCluster() finds the number, as the command does."""
    X, _ = armilla.datasets.load_digits(return_X_y=True)
    np.save(tmp_path / "X.npy", X)
    auto = armilla.AutoCluster(random_state=0).fit(X)
    assert auto.n_clusters is None and clone(auto).n_clusters is None
    assert np.array_equal(auto.labels_, np.array(command("cluster", tmp_path / "X.npy", "--quiet").split(), dtype=int))
    assert auto.cluster_centers_.shape[0] == auto.labels_.max() + 1 == max(auto.numbers_, key=lambda row: row["score"])["k"]


def test_given_centers_keep_their_order():
    """Label k belongs to the k-th centre, whatever its size; other clusters are numbered by size, ties by the first sample."""
    rng = np.random.default_rng(5)
    axes = np.eye(12)[:8]
    truth = rng.permutation(np.repeat(np.arange(8), [5, 9, 9, 9, 20, 9, 9, 30]))
    X = axes[truth] * rng.uniform(1, 9, (100, 1)) + 0.01 * rng.random((100, 12))
    firsts = [np.flatnonzero(truth == k)[0] for k in range(8)]
    order = sorted(range(8), key=lambda k: (-np.count_nonzero(truth == k), firsts[k]))
    wanted = np.array([order.index(k) for k in truth])
    for dtype in (np.float32, np.float64):
        for storage in (np.asarray, scipy.sparse.csr_matrix):
            data = storage(X.astype(dtype))
            for init in (axes, 3 * axes.astype(np.float32)):
                kmeans = armilla.SphericalKMeans(8, init=init).fit(data)
                assert np.array_equal(kmeans.labels_, truth) and np.array_equal(kmeans.predict(data), truth)
                assert np.argmax(kmeans.cluster_centers_, axis=1).tolist() == list(range(8))
            found = armilla.SphericalKMeans(8, random_state=0, n_init=10).fit(data)
            assert np.array_equal(found.labels_, wanted)
            again = armilla.SphericalKMeans(8, init=kmeans.model_, warm_start=True).fit(data)
            assert np.array_equal(again.labels_, truth) and np.array_equal(again.fit(data[:60]).labels_, truth[:60])
            for method in ("kmeans", "euclidean", "graph"):
                assert np.array_equal(armilla.AutoCluster(8, method=method, random_state=0).fit(data).labels_, wanted), method


def test_anndata_clusters_without_a_number(tmp_path):
    """Labels as a categorical, with what was chosen, also in the file."""
    anndata = pytest.importorskip("anndata")
    import armilla.anndata

    X, _ = armilla.datasets.load_digits(return_X_y=True)
    adata = anndata.AnnData(X[:800].astype(np.float32))
    auto = armilla.anndata.cluster(adata, random_state=0)
    assert auto.n_clusters is None and str(adata.obs["armilla"].dtype) == "category"
    assert np.array_equal(adata.obs["armilla"].cat.codes, auto.labels_)
    assert list(adata.obs["armilla"].cat.categories) == [str(k) for k in range(auto.labels_.max() + 1)]
    assert adata.uns["armilla"]["params"]["n_clusters"] == auto.labels_.max() + 1
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert again.uns["armilla"]["params"]["n_clusters"] == auto.labels_.max() + 1
    armilla.anndata.cluster(adata, 3, key="three", random_state=0)
    assert adata.uns["three"]["params"]["n_clusters"] == 3 and len(adata.obs["three"].cat.categories) == 3
