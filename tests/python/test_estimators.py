"""Estimators as scikit-learn's users know them: scores, starts, seeds, threads, pickles, pipelines, messages and bad input."""

import io
import json
import logging
import os
import pickle
import sys
import warnings

import numpy as np
import pandas
import pytest
import scipy.sparse
from conftest import ALL, bits, make_data
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import armilla

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("kind, scales", [("f32", (1e20, 1e-24, 1e30)), ("f64", (1e200, 1e-200, 1e-310))])
def test_scales(kind, scales):
    """Directions, and the part that is explained, do not depend on the unit: not even where squares overflow."""
    X = make_data(kind)
    X[7] = 0
    kmeans = armilla.SphericalKMeans(3, random_state=0).fit(X)
    near = dict(rtol=2e-3, atol=2e-3) if kind == "f32" else dict(rtol=1e-9, atol=1e-7)
    for scale in scales:
        other = (X.astype(np.float64) * scale).astype(X.dtype)
        again = armilla.SphericalKMeans(3, random_state=0).fit(other)
        for model in (kmeans, again):
            for form in (other, scipy.sparse.csr_matrix(other)):
                np.testing.assert_allclose(model.transform(form), kmeans.transform(X), **near)
                np.testing.assert_allclose(model.score(form), kmeans.score(X), **near)
                assert model.transform(form).dtype == X.dtype
                assert np.array_equal(model.predict(form)[X.any(axis=1)], kmeans.labels_[X.any(axis=1)])
        np.testing.assert_allclose(again.inertia_, -again.score(other), rtol=1e-3 if kind == "f32" or scale < 1e-300 else 1e-9)
        # Codes that are free have the unit of the data.
        free = armilla.SphericalFactorization(3, model="pca", random_state=0).fit(X)
        if 1e-300 < scale < 1:
            np.testing.assert_allclose(free.score(other), free.score(X), **near)


def test_nonnegative_sets_refuse_negative_data():
    X = make_data("f64")
    pair = dict(basis="nonnegative", codes="one-hot")
    for estimator in (armilla.SphericalNMF(2), armilla.SphericalFactorization(2, model="nmf"), armilla.SphericalFactorization(2, **pair)):
        estimator.fit(X)
        for use in (estimator.fit, estimator.transform, estimator.score):
            for other in (-X, scipy.sparse.csr_matrix(-X)):
                with pytest.raises(ValueError, match=rf"Negative values in data passed to {type(estimator).__name__} \(input X\)"):
                    use(other)
    armilla.SphericalFactorization(2, basis="nonnegative").fit(-X).transform(-X)
    # The function is the command, which warns.
    with pytest.warns(RuntimeWarning, match="negative"):
        assert (armilla.fit(-X, 2, model="nmf").U >= 0).all()


def test_model_and_its_pair():
    """What a model stands for may be said besides, by any of its names; what contradicts it is an error."""
    X = make_data("f64")
    make = lambda **options: armilla.SphericalFactorization(3, random_state=0, **options)  # noqa: E731
    usual = make(model="spherical-nmf").fit(X).model_.U.tobytes()
    for same in (dict(basis="nonnegative"), dict(codes="v2"), dict(basis="u2", codes="nonneg-sphere"), dict(basis=None, codes=None, normalize="none")):
        assert clone(make(model="spherical-nmf", **same)).fit(X).model_.U.tobytes() == usual
    for other in (dict(basis="unit"), dict(codes="free"), dict(basis="u2", codes="v1"), dict(basis="u1", codes="v2")):
        with pytest.raises(ValueError, match="model='spherical-nmf' stands for basis='nonnegative' codes='nonneg-sphere'"):
            make(model="spherical-nmf", **other).fit(X)
    assert make(model="spherical-kmeans", normalize="l2").fit(X).model_.info["model"] == "spherical-kmeans"
    assert make().fit(X).model_.U.tobytes() == make(basis="orthonormal", codes="sphere", normalize="none").fit(X).model_.U.tobytes()


def test_pipelines():
    X = make_data("f64")
    y = np.arange(60) % 2
    pipeline = make_pipeline(StandardScaler(), armilla.SphericalPCA(3, random_state=0), armilla.SphericalKMeans(3, random_state=0))
    assert pipeline.fit(X).predict(X).shape == (60,)
    columns = ColumnTransformer([("low", armilla.SphericalNMF(2, random_state=0), slice(0, 5)), ("high", armilla.SphericalPCA(2), slice(5, 11))])
    assert columns.fit_transform(X).shape == (60, 4)
    search = GridSearchCV(armilla.SphericalFactorization(codes="sparse-sphere", sparsity=1, random_state=0), {"n_components": [2, 3], "sparsity": [1, 2]}, cv=3, n_jobs=2)
    search.fit(X, y)
    assert search.best_params_["sparsity"] == 2 and search.best_score_ > 0.5
    for make in ALL:
        assert repr(clone(make(random_state=3))) == repr(make(random_state=3))


@pytest.mark.parametrize("make", ALL)
def test_pickles(make):
    X = make_data("f32")
    estimator = make(random_state=0).fit(X)
    copy = pickle.loads(pickle.dumps(estimator))
    use = "predict" if hasattr(estimator, "predict") else "transform"
    assert np.array_equal(getattr(copy, use)(X), getattr(estimator, use)(X))
    assert copy.model_.info == estimator.model_.info
    unfitted = pickle.loads(pickle.dumps(make()))
    with pytest.raises(NotFittedError):
        getattr(unfitted, use)(X)


def test_what_failed_is_not_fitted(tmp_path):
    """Neither a fit that fails makes an estimator fitted, nor does it change one that is."""
    X = make_data("f64")
    nan = np.where(X > 5, np.nan, X)
    for make in ALL:
        estimator = make(random_state=0)
        with pytest.raises(ValueError):
            estimator.fit(nan)
        use = "predict" if hasattr(estimator, "predict") else "transform"
        with pytest.raises(NotFittedError):
            getattr(estimator, use)(X)
        with pytest.raises(NotFittedError):
            armilla.save(estimator, tmp_path / "no.npz")

    def raising(entry):
        raise LookupError

    auto = armilla.AutoCluster(3, random_state=0).fit(X)
    recipe = auto.recipe_
    with pytest.raises(LookupError):
        auto.set_params(callback=raising, random_state=1).fit(np.round(9 * X))
    assert auto.recipe_ is recipe and auto.recipe_["seed"] == 0
    with pytest.raises(TypeError, match="ndarray"):
        armilla.save(X, tmp_path / "no.npz")


def test_saved_estimators_are_models(tmp_path):
    X = make_data("f64")
    estimator = armilla.SphericalNMF(3, random_state=2).fit(X)
    estimator.save(tmp_path / "m.npz")
    model = armilla.load(tmp_path / "m.npz")
    assert np.array_equal(model.transform(X), estimator.transform(X))
    again = pickle.loads(pickle.dumps(estimator))
    again.save(tmp_path / "again.npz")
    assert armilla.load(tmp_path / "again.npz").U.tobytes() == model.U.tobytes()
    with pytest.raises(NotFittedError):
        armilla.SphericalNMF().save(tmp_path / "no.npz")


def test_estimator_has_the_bits_of_the_command(command, tmp_path):
    X = make_data("f64")
    np.save(tmp_path / "X.npy", X)
    for estimator, words in (
        (armilla.SphericalFactorization(4, basis="u1", codes="v3", sparsity=2, random_state=5, n_restarts=2), "--rank 4 --basis u1 --codes v3 --sparsity 2 --seed 5 --restarts 2"),
        (armilla.SphericalNMF(3, random_state=1, normalize="l2"), "--rank 3 --model spherical-nmf --seed 1 --normalize l2"),
        (armilla.SphericalKMeans(3, random_state=4, n_init=3), "--rank 3 --model spherical-kmeans --seed 4 --restarts 3 --max-iter 300"),
    ):
        command("fit", tmp_path / "X.npy", *words.split(), "--out", tmp_path / "m.npz", "--quiet", "--force")
        assert armilla.load(tmp_path / "m.npz").V.tobytes() == estimator.fit(X).model_.V.tobytes()
    for seed in (0, 6):
        theirs = command("cluster", tmp_path / "X.npy", "--k", 3, "--seed", seed, "--quiet").split()
        assert np.array_equal(np.array(theirs, dtype=int), armilla.AutoCluster(3, random_state=seed).fit(X).labels_)
    counts = scipy.sparse.csr_matrix(np.random.default_rng(0).poisson(0.2, (80, 30)).astype(float))
    scipy.sparse.save_npz(tmp_path / "counts.npz", counts, compressed=False)
    theirs = command("cluster", tmp_path / "counts.npz", "--k", 4, "--quiet").split()
    auto = armilla.AutoCluster(4, random_state=0).fit(counts)
    assert np.array_equal(np.array(theirs, dtype=int), auto.labels_)
    assert auto.recipe_["tfidf"] and auto.recipe_["idf"] == "plain" and auto.recipe_["method"] == "graph"
    theirs = command("cluster", tmp_path / "X.npy", "--quiet").split()
    auto = armilla.AutoCluster(None, random_state=0).fit(X)
    judged = json.loads(command("cluster", tmp_path / "X.npy", "--json", "--quiet"))
    assert judged["verdict"] == auto.verdict_ and judged["structure"]["dependence"] == auto.structure_["dependence"]
    assert np.array_equal(np.array(theirs, dtype=int), auto.labels_)
    assert np.unique(auto.labels_).size == max(auto.numbers_, key=lambda number: number["score"])["k"]


def test_transform_gives_the_codes_back():
    for kind in ("f64", "f32", "csr32"):
        X = make_data(kind)
        for row in armilla.tables()["models"]:
            sparsity = 2 if "sparse" in row["name"] or row["name"] == "dictionary" else None
            estimator = armilla.SphericalFactorization(3, model=row["name"], sparsity=sparsity, random_state=0)
            codes = estimator.fit_transform(X)
            assert codes.flags.writeable and codes.dtype == (np.float64 if kind == "f64" else np.float32)
            assert np.array_equal(codes, estimator.transform(X)), row["name"]
            assert np.array_equal(codes[7:9], estimator.transform(X[7:9])), row["name"]


def test_scores_and_inverse():
    X = make_data("f64")
    for options in (dict(), dict(center=True, scale=True), dict(normalize="l2"), dict(log1p=True)):
        estimator = armilla.SphericalFactorization(3, random_state=0, **options).fit(X)
        expected = 1 - estimator.model_.info["objective"] / estimator.model_.info["squared_norm"]
        np.testing.assert_allclose(estimator.score(X), expected, rtol=1e-9)
        np.testing.assert_allclose(estimator.score(scipy.sparse.csr_matrix(X)), expected, rtol=1e-6)
    full = armilla.SphericalFactorization(11, model="pca", center=True, scale=True).fit(X)
    np.testing.assert_allclose(full.inverse_transform(full.transform(X)), X, atol=1e-9)
    with pytest.raises(ValueError, match="codes of shape"):
        full.inverse_transform(X[:, :4])


def test_spherical_kmeans():
    X = make_data("f64")
    kmeans = armilla.SphericalKMeans(3, random_state=0).fit(X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(np.linalg.norm(kmeans.cluster_centers_, axis=1), 1, rtol=1e-12)
    cosines = unit @ kmeans.cluster_centers_.T
    assert np.array_equal(np.argmax(cosines, axis=1), kmeans.labels_)
    np.testing.assert_allclose(kmeans.inertia_, np.sum(1 - cosines.max(axis=1)), rtol=1e-9)
    np.testing.assert_allclose(kmeans.score(X), -kmeans.inertia_, rtol=1e-9)
    np.testing.assert_allclose(kmeans.transform(X), np.arccos(np.clip(cosines, -1, 1)), atol=1e-7)
    assert np.array_equal(kmeans.predict(X), kmeans.labels_) and np.array_equal(kmeans.fit_predict(X), kmeans.labels_)
    # Lengths do not matter.
    scaled = X * np.random.default_rng(0).uniform(0.01, 100, (60, 1))
    assert np.array_equal(kmeans.predict(scaled), kmeans.labels_)
    # Each centre is the mean direction of its samples.
    for k in range(3):
        mean = unit[kmeans.labels_ == k].sum(axis=0)
        np.testing.assert_allclose(kmeans.cluster_centers_[k], mean / np.linalg.norm(mean), atol=1e-9)
    with pytest.raises(ValueError, match="sample_weight"):
        kmeans.fit(X, sample_weight=np.ones(60))
    with pytest.raises(TypeError, match="weights"):
        kmeans.fit(X, weights=np.ones(60))
    with pytest.raises(ValueError, match="n_samples=60 should be >= n_clusters=61."):
        armilla.SphericalKMeans(61).fit(X)
    sparse = armilla.SphericalKMeans(3, random_state=0).fit(scipy.sparse.csr_matrix(X))
    assert np.array_equal(sparse.labels_, kmeans.labels_)


def test_autocluster_predicts():
    for X in (make_data("f64"), make_data("csr32")):
        auto = armilla.AutoCluster(3, random_state=0).fit(X)
        assert np.array_equal(auto.predict(X), auto.labels_) and set(auto.labels_) == {0, 1, 2}
        assert auto.cluster_centers_.shape == (3, auto.model_.rank)
    argmax = armilla.AutoCluster(3, method="argmax", n_components=3, random_state=0).fit(make_data("f64"))
    assert np.array_equal(argmax.predict(make_data("f64")), argmax.labels_)
    alone = armilla.AutoCluster(3, method="argmax", random_state=0).fit(make_data("f64"))  # an atom for each cluster
    assert alone.model_.rank == 3 and np.array_equal(alone.labels_, argmax.labels_)
    free = armilla.AutoCluster(None, method="argmax", n_components=3, random_state=0).fit(make_data("f64"))
    assert np.array_equal(free.labels_, argmax.labels_) and np.array_equal(free.predict(make_data("f64")), free.labels_)
    with pytest.raises(ValueError, match="give n_clusters=None, or n_components=3"):
        armilla.AutoCluster(3, method="argmax", n_components=4).fit(make_data("f64"))
    with pytest.raises(ValueError, match="n_clusters is missing"):
        armilla.AutoCluster(None, method="kmeans", n_components=3).fit(make_data("f64"))
    for method in ("graph", "smooth", "kmeans", "euclidean"):
        auto = armilla.AutoCluster(3, method=method, random_state=0).fit(make_data("f64"))
        assert np.array_equal(auto.predict(make_data("f64")), auto.labels_)
        assert (auto.recipe_["by"] is not None) == (method in ("graph", "smooth")) and auto.numbers_ == []
        assert auto.choice_["kind"] == "other" and auto.choice_["preparation"] and auto.choice_["method"] == "given"
        assert (auto.choice_["labels"] is not None) == (method in ("graph", "smooth")) and "choice" not in auto.recipe_
    assert armilla.AutoCluster(3, random_state=0).fit(make_data("f64")).choice_["method"] == "nothing else is asked for"
    with pytest.raises(ValueError, match="n_components is missing"):
        armilla.AutoCluster(None, method="argmax").fit(make_data("f64"))


def test_warm_start_and_init():
    X = make_data("f64")
    cold = armilla.SphericalNMF(3, random_state=0, tol=1e-6).fit(X)
    warm = armilla.SphericalNMF(3, random_state=0, max_iter=5, warm_start=True)
    first = warm.fit(X).model_.info["objective"]
    assert warm.fit(X).model_.info["objective"] <= first and warm.model_.info["start"] == "model"
    warm.fit(X[:40])
    assert warm.codes_.shape == (40, 3)
    given = armilla.SphericalNMF(3, init=cold.components_, tol=1e-6).fit(X)
    assert given.model_.info["start"] == "basis" and given.n_iter_ <= cold.n_iter_
    assert armilla.SphericalNMF(3, init=cold.model_, max_iter=1).fit(X).model_.info["start"] == "model"
    for init, message in (
        (cold.components_[:2], r"^init has shape \(2, 11\), but \(3, 11\) is needed$"),
        (cold.components_[0], "Expected 2D array, got 1D array instead; reshape init"),
        (np.full((3, 11), np.nan), "^init contains NaN or infinity$"),
        ("nowhere", "^init='nowhere' is no start .* and no file$"),
        (armilla.SphericalNMF(2).fit(X).model_, "^the model given as init has 11 features and rank 2, but 11 and 3 are needed$"),
        (armilla.SphericalNMF(3).fit(X[:, :5]).model_, "^the model given as init has 5 features and rank 3, but 11 and 3 are needed$"),
    ):
        with pytest.raises(ValueError, match=message):
            armilla.SphericalNMF(3, init=init).fit(X)


def test_words_of_scikit_learn():
    """What users of KMeans have typed for years."""
    X = make_data("f64")
    usual = armilla.SphericalKMeans(3, random_state=0, init="kmeans++").fit(X).model_.U.tobytes()
    for same in (dict(init="k-means++"), dict(init="k-means++", n_init="auto"), dict(init="kmeans++", n_init="auto", time_limit=np.inf)):
        assert clone(armilla.SphericalKMeans(3, random_state=0, **same)).fit(X).model_.U.tobytes() == usual
    make = lambda n_init: armilla.SphericalKMeans(3, random_state=0, init="random", n_init=n_init).fit(X).model_.options["restarts"]  # noqa: E731
    assert make("auto") == make(10) != make(1)
    assert armilla.fit(X, 3, start="k-means++").U.tobytes() == armilla.fit(X, 3, start="kmeans++").U.tobytes()
    assert armilla.fit(X, 3, time_limit=float("inf")).info["stop"] == "converged"
    for name, ours in (("random_state", "seed"), ("n_components", "rank"), ("n_jobs", "threads"), ("init", "start"), ("n_restarts", "restarts")):
        with pytest.raises(TypeError, match=f"'{name}'; did you mean '{ours}'?"):
            armilla.fit(X, 3, **{name: 1})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="The 'center' parameter of SphericalPCA must be an instance of 'bool'"):
            armilla.SphericalPCA(2, center=1).fit(X)
    for count in (0, -1):
        with pytest.raises(ValueError, match=f"count={count}"):
            armilla.fit(X, 2).top_features(count)


def test_random_state():
    X = make_data("f64")
    fit = lambda state: armilla.SphericalNMF(3, random_state=state, init="random", max_iter=3, tol=0).fit(X).model_  # noqa: E731
    assert fit(3).U.tobytes() == fit(3).U.tobytes() != fit(4).U.tobytes()
    one = fit(np.random.RandomState(5))
    assert one.U.tobytes() == fit(np.random.RandomState(5)).U.tobytes()
    np.random.seed(1)
    a, b = fit(None), fit(None)
    assert a.info["seed"] != b.info["seed"]
    np.random.seed(1)
    assert fit(None).info["seed"] == a.info["seed"]


def test_n_jobs():
    X = make_data("f64", 400)
    usual = bits(X)
    for n_jobs in (1, 2, 3, -1, -2, None):
        assert bits(X, n_jobs=n_jobs) == usual
    with pytest.raises(ValueError, match="n_jobs == 0"):
        armilla.SphericalPCA(n_jobs=0).fit(X)


def test_threads_of_the_environment(monkeypatch):
    from armilla._sklearn import threads_of

    cores = len(os.sched_getaffinity(0))
    for said, threads in (("1", 1), ("1,4", 1), (" 1 ", 1), ("5000", cores), ("0", None), ("\u00b2", None), ("many", None), ("", None)):
        monkeypatch.setenv("OMP_NUM_THREADS", said)
        assert threads_of(None) == threads and threads_of(3) == 3
        armilla.SphericalPCA(2, max_iter=2).fit(make_data("f64"))


def test_bad_input():
    X = make_data("f64")
    nan, inf = X.copy(), X.copy()
    nan[4, 5], inf[1, 2] = np.nan, np.inf
    for make in ALL:
        estimator = make(random_state=0)
        name = make.__name__
        use = "predict" if hasattr(estimator, "predict") else "transform"
        with pytest.raises(NotFittedError, match=f"This {name} instance is not fitted yet"):
            getattr(estimator, use)(X)
        with pytest.raises(AttributeError):
            estimator.n_iter_
        with pytest.raises(ValueError, match="Input X contains NaN"):
            estimator.fit(nan)
        with pytest.raises(ValueError, match="Input X contains infinity"):
            estimator.fit(inf)
        with pytest.raises(ValueError, match="contains NaN"):
            estimator.fit(scipy.sparse.csr_matrix(nan))
        with pytest.raises(ValueError, match="Complex data not supported"):
            estimator.fit(X * 1j)
        with pytest.raises(ValueError, match="0 sample"):
            estimator.fit(X[:0])
        with pytest.raises(ValueError, match="0 feature"):
            estimator.fit(X[:, :0])
        with pytest.raises(ValueError, match="Expected 2D array"):
            estimator.fit(X[0])
        with pytest.raises((ValueError, TypeError)):
            estimator.fit(np.array([[1, {}], [2, []]], dtype=object))
        estimator.fit(X)
        with pytest.raises(ValueError, match=f"X has 4 features, but {name} is expecting 11 features as input"):
            getattr(estimator, use)(X[:, :4])
        with pytest.raises(ValueError, match="Input X contains NaN"):
            getattr(estimator, use)(nan)
    with pytest.raises(ValueError, match=r"n_components=12 is more than the 11 features.*use a smaller n_components"):
        armilla.SphericalPCA(12).fit(X)
    with pytest.raises(ValueError, match="The 'n_components' parameter of SphericalPCA must be an int in the range"):
        armilla.SphericalPCA(0).fit(X)
    with pytest.raises(ValueError, match="The 'basis' parameter of SphericalFactorization must be None or a str among"):
        armilla.SphericalFactorization(basis="orthnormal").fit(X)
    with pytest.raises(ValueError) as caught:
        armilla.SphericalFactorization(model="nfm", n_jobs=2).fit(X)
    assert str(caught.value).count("None") == 1
    with pytest.raises(ValueError) as caught:
        armilla.SphericalFactorization(init=armilla.SphericalPCA()).fit(X)
    assert str(caught.value).count("None") == 1
    with pytest.raises(ValueError, match="codes='sparse-sphere' needs sparsity"):
        armilla.SphericalFactorization(codes="v3").fit(X)
    with pytest.raises(ValueError, match="stands for"):
        armilla.SphericalFactorization(model="nmf", basis="free").fit(X)


def test_warnings():
    X = make_data("f64")
    with pytest.warns(ConvergenceWarning, match="Maximum number of iterations 2 reached"):
        armilla.SphericalNMF(3, random_state=0, max_iter=2).fit(X)
    with pytest.warns(RuntimeWarning, match="normalize='l2'") as caught:
        armilla.SphericalPCA(3, random_state=0).fit(X)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        armilla.SphericalKMeans(3, random_state=0).fit(X)


def test_fewer_clusters_than_asked():
    X = np.repeat(make_data("f64")[:2], 6, axis=0)
    for estimator in (armilla.SphericalKMeans(3, random_state=0), armilla.AutoCluster(3, n_components=2, random_state=0)):
        with pytest.warns(ConvergenceWarning, match=r"Number of distinct clusters \(2\) found smaller than n_clusters \(3\). Possibly due") as caught:
            assert set(estimator.fit(X).labels_) <= {0, 1, 2}
        assert {warning.filename for warning in caught} == {__file__}
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            estimator.set_params(n_clusters=2).fit(X)


def test_verbose(capfd, caplog):
    caplog.set_level(logging.INFO, "armilla")
    X = make_data("f64")
    armilla.SphericalNMF(3, random_state=0).fit(X)
    assert capfd.readouterr() == ("", "")
    armilla.SphericalNMF(3, random_state=0, verbose=1).fit(X)
    out, err = capfd.readouterr()
    assert out == "" and err.startswith("armilla: ") and "iterations in" in err and err.count("\n") == 1
    armilla.SphericalNMF(3, random_state=0, verbose=2).fit(np.asfortranarray(X))
    assert any("iteration 3" in record.message for record in caplog.records)
    assert any("copied" in record.message for record in caplog.records)
    capfd.readouterr()
    for other, what in ((np.asfortranarray(X), "C order"), (scipy.sparse.csc_matrix(X), "csc becomes csr"), (X.astype(np.int64), "int64 numbers become float64"), (X.tolist(), "list becomes an array"), (pandas.DataFrame(X).astype({3: int}), "a data frame becomes float64 numbers")):
        armilla.SphericalNMF(3, random_state=0, verbose=1).fit(other)
        assert what in capfd.readouterr().err
    armilla.fit(X.tolist(), 3, verbose=1)
    assert "list becomes an array" in capfd.readouterr().err


class Broken(io.StringIO):
    def write(self, line):
        raise OSError("no console")


@pytest.mark.parametrize("stderr", [None, Broken(), object()])
def test_verbose_without_standard_error(monkeypatch, stderr):
    """What cannot be shown does not end a fit."""
    X = make_data("f64")
    monkeypatch.setattr(sys, "stderr", stderr)
    for verbose in (1, 2):
        assert armilla.SphericalNMF(3, random_state=0, verbose=verbose).fit(np.asfortranarray(X)).n_iter_ > 0
    closed = open(os.devnull, "w")
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    assert armilla.AutoCluster(3, random_state=0, verbose=1).fit(X).labels_.shape == (60,)
