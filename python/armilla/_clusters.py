"""Clusterers: spherical k-means on data, and the recipe of `armilla cluster`."""

from __future__ import annotations

from typing import Any, Mapping, Optional, TypeVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions

from ._clustering import cluster_codes
from ._data import Data, blocks, unit_rows
from ._factorization import Factorizer
from ._library import Context, ffi, lib, text, warn
from ._options import CLUSTER_OPTIONS, ESTIMATOR_NAMES, PREPARATION, Options, read
from ._progress import progress_for
from ._signatures import AutoClusterSignature, SphericalKMeansSignature
from ._sklearn import OWN_PARAMETERS, Tags, check_is_fitted, estimator, finite, threads_of, validate

_KMeans = TypeVar("_KMeans", bound="SphericalKMeans")
_Auto = TypeVar("_Auto", bound="AutoCluster")
_KMEANS_NAMES = {**ESTIMATOR_NAMES, "rank": "n_clusters", "restarts": "n_init"}


def _refuse(given: Mapping[str, Any], whom: Any) -> None:
    """Only what fit takes; weights of samples are not among it."""
    if given.get("sample_weight") is not None:
        raise ValueError(f"{type(whom).__name__} does not take sample_weight: all samples count the same")
    others = sorted(set(given) - {"sample_weight"})
    if others:
        raise TypeError(f"{type(whom).__name__}.fit() got an unexpected keyword argument {others[0]!r}")


def _check_count(X: Any, n_clusters: Optional[int]) -> None:
    if n_clusters is not None and X.shape[0] < n_clusters:
        raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={n_clusters}.")


def _warn_of_few(labels: np.ndarray, n_clusters: Optional[int]) -> None:
    """As scikit-learn's KMeans says it."""
    found = np.unique(labels).size
    if n_clusters is not None and found < n_clusters:
        warn(
            f"Number of distinct clusters ({found}) found smaller than n_clusters ({n_clusters}). "
            "Possibly due to duplicate points in X.",
            ConvergenceWarning,
        )


class _Clusterer(ClusterMixin, Factorizer):
    """What both clusterers do the same way."""

    labels_: np.ndarray

    def fit_predict(self, X: Any, y: Any = None, **refused: Any) -> np.ndarray:
        """Fits, and returns the clusters of the samples.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.fit(X, **refused).labels_  # type: ignore[attr-defined, no-any-return]


@estimator(
    names=_KMEANS_NAMES,
    without=("model", "basis", "codes", "sparsity", "radius", "normalize", "lambda", "mu"),
    defaults={"n_clusters": 8, "max_iter": 300},
    words={
        "rank": "Number of clusters",
        "restarts": "Starts, of which the best by objective is taken; 'auto': 10 with init='random' or 'samples', else 1",
    },
)
class SphericalKMeans(SphericalKMeansSignature, Tags, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Clusterer):
    """k-means by angle: clusters of directions, whatever the lengths of the samples.

    The right k-means for texts, counts and everything else for which cosine similarity is used. Samples are scaled to
    length 1 on the fly; dense and sparse data are not copied.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Directions, of length 1.
    labels_ : ndarray of shape (n_samples,)
        Clusters are numbered by size, ties by the first sample; with centres as `init` by the order of these.
    inertia_ : float
        Sum over samples of 1 - cosine to the centre.
    n_iter_ : int
    n_samples_seen_ : int
        Samples of the fit, and of every `partial_fit` since.
    trace_ : structured ndarray
    model_ : Model
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from armilla import SphericalKMeans
    >>> from armilla.datasets import load_cones
    >>> X, y = load_cones(return_X_y=True)
    >>> kmeans = SphericalKMeans(2, random_state=0).fit(X)
    >>> kmeans.cluster_centers_.shape
    (2, 3)
    """

    _decided = {"model": "spherical-kmeans"}

    def fit(self: _KMeans, X: Any, y: Any = None, *, comm: Any = None, **refused: Any) -> _KMeans:
        """Finds the clusters of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        comm : communicator of mpi4py, optional
            Fit by all its ranks together, each of which calls this with the same parameters and X: the same bits.
            `labels_` are then those of this rank's samples, ``model_.own_samples``.

        Returns
        -------
        self
        """
        _refuse(refused, self)
        self._fit_model(X, comm)
        self._find_labels()
        if comm is None:
            _warn_of_few(self.labels_, self.n_clusters)  # type: ignore[attr-defined]
        return self

    def _find_labels(self) -> None:
        """Sets labels_: the atom of each code. The model keeps them, unless ranks have some each."""
        if self.model_.comm is None:
            self.labels_ = cluster_codes(self.model_, {"method": "argmax"}, self._names, keep=True).labels
        else:
            self.labels_ = np.argmax(self.model_.codes, axis=1)

    def partial_fit(self: _KMeans, X: Any, y: Any = None, **refused: Any) -> _KMeans:
        """Continues the clusters with new samples, without those before: one pass of solver `online` over X.

        The first call begins them, and needs as many samples as clusters. Clusters keep their numbers; `labels_` and
        `inertia_` are those of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self

        Examples
        --------
        >>> from armilla import SphericalKMeans
        >>> from armilla.datasets import load_digits
        >>> X, _ = load_digits(return_X_y=True)
        >>> kmeans = SphericalKMeans(10, random_state=0).partial_fit(X[:1000])
        >>> kmeans.partial_fit(X[1000:]).n_samples_seen_
        1797
        """
        _refuse(refused, self)
        self._continue_model(X)
        self._find_labels()
        return self

    def _values(self) -> dict[str, Any]:
        found = super()._values()
        if found["restarts"] == "auto":  # as scikit-learn: few starts where they are good ones
            found["restarts"] = 10 if isinstance(found["start"], str) and found["start"] in ("random", "samples") else 1
        return found

    def _check_data(self, X: Any) -> None:
        _check_count(X, self.n_clusters)  # type: ignore[attr-defined]

    @property
    def cluster_centers_(self) -> np.ndarray:
        return self._fitted_model.components

    @property
    def inertia_(self) -> float:
        # h = sum |x|^2 + n l^2 - 2 l sum cos
        info = self._fitted_model.info
        cosines = (info["squared_norm"] + info["n"] * info["radius"] ** 2 - info["objective"]) / (2 * info["radius"])
        return float(max(info["n"] - cosines, 0.0))

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[0]

    def predict(self, X: Any) -> np.ndarray:
        """The nearest cluster, by angle, of each sample.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        labels = np.empty(X.shape[0], np.int64)
        for rows, part in blocks(X, self.model_.rank):
            labels[rows] = np.argmax(self._codes(part), axis=1)
        return labels

    def _cosines(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        # Sparse samples that are only to have length 1 stay sparse.
        prepared = self.model_.preparation
        steps = [option for option in PREPARATION if prepared[option.field] not in (None, option.default())]
        stays_sparse = hasattr(X, "indptr") and all(option.field == "normalize" for option in steps)
        seen = unit_rows if stays_sparse else self.model_.prepared
        centers = self.cluster_centers_.astype(np.float64)
        found = np.empty((X.shape[0], centers.shape[0]))
        width = X.nnz // X.shape[0] if stays_sparse else X.shape[1]
        for rows, part in blocks(X, max(width, centers.shape[0])):
            finite(self, part)
            np.clip(np.asarray(seen(part) @ centers.T), -1, 1, out=found[rows])
        return found

    def transform(self, X: Any) -> np.ndarray:
        """The angles, in radians, between samples and centres.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        return np.arccos(self._cosines(X)).astype(self.model_.dtype, copy=False)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum over samples of 1 - cosine to the nearest centre.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        float
        """
        return -float(np.sum(1.0 - self._cosines(X).max(axis=1)))


SphericalKMeans._parameter_constraints["n_init"].append(StrOptions({"auto"}))

_AUTO_NAMES = {**ESTIMATOR_NAMES, "k": "n_clusters", "tries": "n_init", "cluster_iter": "cluster_max_iter", "cluster.max_iter": "cluster_max_iter"}


@estimator(
    names=_AUTO_NAMES,
    lead=CLUSTER_OPTIONS,
    without=("model", "basis", "codes", "sparsity", "radius", "lambda", "mu", "start", *(option.field for option in PREPARATION)),
    defaults={"n_clusters": None, "n_components": None},
    own={name: row for name, row in OWN_PARAMETERS.items() if name != "warm_start"},
    words={"k": "Number of clusters; None: as many as the data say (`numbers_`), or with method='argmax' one for each component", "rank": "Number of atoms of the fit; None: four for each cluster, with method='argmax' one"},
)
class AutoCluster(AutoClusterSignature, Tags, _Clusterer):
    """Clusters of data by the recipe of `armilla cluster`: nothing but their number needs to be said, and not even that.

    A look at the data chooses the preparation (unit length; log1p and tf-idf for counts; scale and centring for tables
    with different units; centring where signs are mixed). Spherical PCA then gives codes. The graph of nearest neighbours
    in the data and in the codes is divided into communities; where it says too little, codes are smoothed along it, or
    left as they are, and clustered by k-means.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters are numbered by size, ties by the first sample.
    recipe_ : dict
        What was chosen: `rank`, `method`, `seed`, the steps of the preparation, and with the methods graph and smooth
        what the clusters come from, as `by`: communities, smoothing or kmeans.
    choice_ : dict
        Why: the `kind` of data that they were taken for ("counts", "units", "signs", "zeros" or "other"), and in words the
        reasons for the `preparation`, for the `method`, and with the methods graph and smooth for the `labels`.
    verdict_ : str
        Whether the samples form groups at all: "structure", "no structure" or "not judged".
    structure_ : dict
        The figures of that: `reason`, `cut`, `expected`, `ratio`, `score`, `dependence`, `communities`, `samples`,
        `distinct`, `features`, `beside`.
    numbers_ : list of dict
        With ``n_clusters=None`` the numbers of clusters that were looked at: `k`, `resolution`, `stability`,
        `modularity` and their product, the `score`.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Centres among the codes. Clusters by a graph have any shape: `predict` then goes by the nearest training samples.
    inertia_ : float
        Where k-means found the clusters, what it minimised: the sum over samples of 1 - cosine between code and centre,
        with method='euclidean' of their squared distance. Of codes that were smoothed (``recipe_["by"] == "smoothing"``)
        it is that of the smoothed ones. Communities and ``method='argmax'`` minimise no such sum: there is no such
        attribute then.
    n_iter_ : int
        Iterations of the fit.
    trace_ : structured ndarray
    model_ : Model
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from armilla import AutoCluster
    >>> from armilla.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> AutoCluster(10, random_state=0).fit_predict(X).shape
    (1797,)
    """

    n_clusters: Optional[int]

    def _cluster_values(self) -> dict[str, Any]:
        """Parameters of the clustering by the library's names."""
        return {option.field: getattr(self, option.parameter(self._names)) for option in CLUSTER_OPTIONS}

    def _check_data(self, X: Any) -> None:
        _check_count(X, self.n_clusters)

    def _choose(self, data: Data, values: dict[str, Any]) -> dict[str, Any]:
        """The library's choice of preparation, rank and method by a look at the data, with its reasons as `choice`."""
        context = Context(self._names)
        fit, clusters = Options(), Options("armilla_cluster_options")
        fit.set(context, values)
        clusters.set(context, self._cluster_values())
        choice = ffi.new("armilla_cluster_choice *")
        choice.size = ffi.sizeof("armilla_cluster_choice")
        context.call(lib.armilla_cluster_choose, data.pointer, fit.struct, clusters.struct, choice)
        chosen = read(fit.struct, PREPARATION)
        rank, method = fit.struct.rank, text(clusters.struct.method)
        if method == "argmax" and self.n_clusters not in (None, rank):
            raise ValueError(
                f"method='argmax' gives a cluster to each of the {rank} components, not {self.n_clusters}; "
                f"give n_clusters=None, or n_components={self.n_clusters}"
            )
        values.update(chosen, rank=rank or None)
        reasons = {"kind": text(choice.kind), "preparation": text(choice.preparation_reason), "method": text(choice.method_reason)}
        return {"rank": rank, "method": method, **chosen, "seed": values["seed"], "choice": reasons}

    def fit(self: _Auto, X: Any, y: Any = None, **refused: Any) -> _Auto:
        """Chooses the preparation, fits, and finds the clusters of the codes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        _refuse(refused, self)
        new = self._new_model(X)
        values = {**self._cluster_values(), "threads": threads_of(self.n_jobs)}  # type: ignore[attr-defined]
        values.update((name, new.chosen[name]) for name in ("method", "seed"))
        if new.interrupted:
            values["tries"] = 1
        found = cluster_codes(
            new.model, values, self._names, progress_for(self.verbose), new.interrupted, new.data, keep=True  # type: ignore[attr-defined]
        )
        self.choice_ = {**new.chosen.pop("choice"), "labels": found.reason}
        self.model_, self.recipe_ = new.model, {**new.chosen, "by": found.by}
        self.numbers_ = found.numbers
        self.verdict_, self.structure_ = found.structure["verdict"], found.structure
        self.labels_, self._inertia = found.labels, found.inertia
        self.cluster_centers_ = self._centers()
        _warn_of_few(self.labels_, self.n_clusters)
        return self

    @property
    def inertia_(self) -> float:
        check_is_fitted(self)
        if np.isnan(self._inertia):
            by = self.recipe_["by"] or self.recipe_["method"]
            raise AttributeError(f"clusters by {by} minimise no distance to centres and have no inertia_; method='kmeans' does")
        return float(self._inertia)

    def _places(self, codes: np.ndarray) -> np.ndarray:
        """Where codes are for the method: their directions, or themselves."""
        return codes.astype(np.float64) if self.recipe_["method"] == "euclidean" else unit_rows(codes)

    def _centers(self) -> np.ndarray:
        if self.recipe_["method"] == "argmax":
            return np.eye(self.model_.rank)
        places = self._places(self.model_.codes)
        counts = np.bincount(self.labels_, minlength=self.n_clusters or 0)
        sums = np.zeros((counts.size, places.shape[1]))
        np.add.at(sums, self.labels_, places)
        return self._places(sums / np.maximum(counts, 1)[:, None])

    def predict(self, X: Any) -> np.ndarray:
        """Clusters of samples, as `armilla predict` gives them: those of the fit have their labels, any other belongs to
        the nearest centre of its code, and with the methods graph and smooth, whose clusters have any shape, where most of
        the 15 training samples belong whose codes are nearest by angle.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        try:
            return self.model_._labels_of(X, threads_of(self.n_jobs), self._names)  # type: ignore[attr-defined]
        except ValueError:
            finite(self, X)
            raise
