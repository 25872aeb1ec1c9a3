"""scikit-learn's own checks, for every estimator and every pair of sets that accepts their data; expected failures: none."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn
from conftest import ALL, FEW
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.exceptions import SkipTestWarning
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

import armilla


def pairs():
    tables = armilla.tables()
    for basis in tables["basis"]:
        for codes in tables["codes"]:
            options = dict(basis=basis["name"], codes=codes["name"], sparsity=1 if "sparse" in codes["name"] else None)
            try:
                armilla.SphericalFactorization(**options).fit([[1.0, 2, 3], [2, 3, 1], [3, 1, 1]])
            except ValueError as error:
                assert "does not go with" in str(error)
                continue
            yield options


def models():
    for row in armilla.tables()["models"]:
        sparsity = 1 if "sparse" in row["name"] or row["name"] == "dictionary" else None
        yield dict(model=row["name"], sparsity=sparsity)


PAIRS = list(pairs())


def test_there_are_many_pairs():
    assert len(PAIRS) >= 35


def usual(make):
    """With a number of clusters: the checks begin with min(n_clusters, 2)."""
    return make(8) if make is armilla.AutoCluster else make()


def complete(estimator):
    """check_estimator, all of it: a check that is skipped is a failure here."""
    assert not estimator._get_tags()["_xfail_checks"] if hasattr(estimator, "_get_tags") else True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", SkipTestWarning)
        check_estimator(estimator)


@pytest.mark.parametrize("make", ALL)
def test_check_estimator(make):
    complete(usual(make))


@pytest.mark.parametrize("options", PAIRS[:3] if FEW else PAIRS, ids=lambda o: f"{o['basis']} x {o['codes']}")
def test_check_estimator_of_pairs(options):
    complete(armilla.SphericalFactorization(**options))


@pytest.mark.parametrize("options", list(models()), ids=lambda o: o["model"])
def test_check_estimator_of_models(options):
    complete(armilla.SphericalFactorization(**options))


FURTHER = [
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_global_ouput_transform_pandas",
    "check_param_validation",
    "check_dataframe_column_names_consistency",
    "check_n_features_in_after_fitting",
    "check_get_feature_names_out_error",
]


def further():
    """Pairs of an estimator and a check; checks of what transform returns are for those that have it."""
    for make in ALL:
        for name in FURTHER:
            of_transform = "output" in name or "feature_names_out" in name or "ouput" in name
            if hasattr(make, "transform") or not of_transform:
                yield make, name


@pytest.mark.parametrize(("make", "name"), list(further()))
def test_further_checks(make, name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"scikit-learn {sklearn.__version__} has no {name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(make.__name__, usual(make))


def test_no_expected_failures():
    for make in ALL:
        assert not make()._more_tags().get("_xfail_checks")


def test_parameters_are_the_option_table():
    """What the library's table has, every estimator has as a parameter or has decided, with ranges and words from there."""
    fields = {option.field for option in armilla._options.FIT_OPTIONS}
    estimator = armilla.SphericalFactorization()
    assert set(estimator._fields.values()) == fields
    expected = dict(
        n_components=2, basis="orthonormal", codes="sphere", sparsity=None, radius="auto", solver="fast", init=None,
        normalize="none", center=False, max_iter=500, tol="auto", n_restarts=1, random_state=None, n_jobs=None, verbose=0,
    )  # fmt: skip
    assert {name: estimator.get_params()[name] for name in expected} == expected
    for make in ALL:
        for name in make().get_params():
            assert f"\n    {name} : " in make.__doc__, (make, name)
        assert "{parameters}" not in make.__doc__ and not re.search("--[a-z]", make.__doc__)


def test_version_of_the_tags():
    positive = armilla.SphericalNMF()
    assert positive._more_tags()["requires_positive_X"]
    assert not armilla.SphericalFactorization(basis="u2")._more_tags()["requires_positive_X"]
    assert armilla.SphericalFactorization(basis="u2", codes="v2")._more_tags()["requires_positive_X"]
    assert armilla.SphericalFactorization(model="nmf")._more_tags()["requires_positive_X"]
    X = np.array([[1.0, -1], [2, 3]])
    for make in (armilla.SphericalNMF(1), armilla.SphericalFactorization(1, model="nmf")):
        with pytest.raises(ValueError, match=r"Negative values in data passed to \w+ \(input X\)"):
            make.fit(X)


def test_tags_of_later_versions(monkeypatch):
    """As scikit-learn 1.6 collects them: each mixin changes what the classes after it have said."""

    def base(self):
        return SimpleNamespace(estimator_type=None, transformer_tags=None, input_tags=SimpleNamespace(sparse=False, positive_only=False))

    def transformer(self):
        tags = super(TransformerMixin, self).__sklearn_tags__()
        tags.transformer_tags = SimpleNamespace(preserves_dtype=["float64"])
        return tags

    def clusterer(self):
        tags = super(ClusterMixin, self).__sklearn_tags__()
        tags.estimator_type = "clusterer"
        return tags

    for kind, function in ((BaseEstimator, base), (TransformerMixin, transformer), (ClusterMixin, clusterer)):
        monkeypatch.setattr(kind, "__sklearn_tags__", function, raising=False)
    for make in ALL:
        tags = make().__sklearn_tags__()
        assert tags.input_tags.sparse and tags.input_tags.positive_only == (make is armilla.SphericalNMF)
        if hasattr(make, "transform"):
            assert tags.transformer_tags.preserves_dtype == ["float64", "float32"]
        assert (tags.estimator_type == "clusterer") == hasattr(make, "predict")
