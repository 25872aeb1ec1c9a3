"""SphericalFactorization and its subclasses: scikit-learn's transformers on the library's fit."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, Mapping, Optional, TypeVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from ._data import Data, blocks, is_path, wrap
from ._library import Context, lib, warn
from ._fit import basis_of, fit_data
from ._model import Model, save
from ._options import rows
from ._progress import progress_for
from ._ranks import together
from ._signatures import SphericalFactorizationSignature, SphericalNMFSignature, SphericalPCASignature
from ._sklearn import (
    ArmillaEstimator,
    Tags,
    check_is_fitted,
    check_non_negative_data,
    estimator,
    finite,
    threads_of,
    validate,
)

_Self = TypeVar("_Self", bound="SphericalFactorization")

#: The pairs that named models stand for.
_PAIRS = {row["name"]: tuple(row["alias"].split(" x ")) for row in rows(lib.ARMILLA_TABLE_MODELS)}
_SETS = [*rows(lib.ARMILLA_TABLE_BASIS), *rows(lib.ARMILLA_TABLE_CODES)]
_ALIASES = {row["alias"]: row["name"] for row in _SETS if row["alias"]}
#: The sets whose entries are never negative: of a basis, and of codes.
_NONNEGATIVE = [
    {row["name"] for row in rows(table) if row["sign"] == "nonnegative"}
    for table in (lib.ARMILLA_TABLE_BASIS, lib.ARMILLA_TABLE_CODES)
]
_PAIR_FIELDS = ("basis", "codes")
#: What the parameters are where nothing else is said; a model that is named takes their place.
_USUAL = {"basis": "orthonormal", "codes": "sphere", "normalize": "none"}


def _of_model(options: Mapping[str, Any]) -> dict[str, str]:
    """The basis and the codes that the model stands for, where one is named."""
    model = options.get("model")
    return dict(zip(_PAIR_FIELDS, _PAIRS.get(model, ()) if isinstance(model, str) else ()))


def _pair(options: Mapping[str, Any]) -> tuple[str, str]:
    """Names of the basis and the codes that options of a fit stand for."""
    named: Mapping[str, Any] = _of_model(options) or options
    basis, codes = str(named.get("basis") or "orthonormal"), str(named.get("codes") or "sphere")
    return _ALIASES.get(basis, basis), _ALIASES.get(codes, codes)


def needs_positive(options: Mapping[str, Any]) -> bool:
    """Whether the pair cannot have negative entries, so that data with some are a mistake."""
    return all(name in names for name, names in zip(_pair(options), _NONNEGATIVE)) and not options.get("center")


def _norm(X: np.ndarray) -> float:
    """The Frobenius norm, at any scale."""
    peak = max(float(X.max()), -float(X.min()))
    return peak * float(np.linalg.norm(X / peak)) if peak > 0 else 0.0


class Factorizer(ArmillaEstimator):
    """A fit by the library, whatever its result is used for."""

    #: Fields that the class has decided.
    _decided: dict[str, Any] = {}

    def _options(self) -> dict[str, Any]:
        """The parameters by the library's names, as they were given, with what the class has decided."""
        return {**{field: getattr(self, name) for name, field in self._fields.items()}, **self._decided}

    def _values(self) -> dict[str, Any]:
        found = {**super()._values(), **self._decided}
        if found.get("model") is not None:
            found.update({field: None for field, usual in _USUAL.items() if found.get(field) == usual})
        # The library takes a model or a pair; a set that is the model's own says nothing more.
        for field, name in _of_model(found).items():
            given = found.get(field)
            if given is not None and _ALIASES.get(given, given) == name:
                found[field] = None
        return found

    def _positive(self) -> bool:
        return needs_positive(self._options())

    def _check_sign(self, X: Any) -> None:
        if self._positive():
            check_non_negative_data(X, f"{type(self).__name__} (input X)")

    def _check_data(self, X: Any) -> None:
        """What scikit-learn has words for."""
        self._check_sign(X)

    def _choose(self, data: Data, values: dict[str, Any]) -> Any:
        """What is left to decide when the data are there: warm_start, and an array in scikit-learn's orientation."""
        start, before = values.get("start"), self.__dict__.get("model_")
        if getattr(self, "warm_start", False) and before is not None:
            if before.rank == values["rank"] and before.n_features == data.features:
                values["start"] = before
                return
        if start is not None and not isinstance(start, Model) and not is_path(start):
            values["start"] = basis_of(start, (values["rank"], data.features), self._names["start"]).T

    def _fit_model(self, X: Any, comm: Any = None) -> None:
        """Sets model_."""
        self.model_ = self._new_model(X, comm=comm).model

    def _continue_model(self, X: Any) -> None:
        """Sets model_ to the model before, continued on X by one pass of solver `online`; to a first one where there is none."""
        once = {"solver": "online", "max_iter": 1, "tol": 0.0, "restarts": 1}
        self.model_ = self._new_model(X, once, self.__dict__.get("model_")).model

    def _new_model(
        self, X: Any, others: Mapping[str, Any] = {}, before: Optional[Model] = None, comm: Any = None
    ) -> SimpleNamespace:
        """The `model` of a fit, its `data`, what was `chosen` for it, and whether it was `interrupted`; the estimator stays as it is.

        `others` take the place of parameters; a model `before` is continued; the ranks of `comm` fit together.
        """
        context = Context(self._names)
        with together(context, comm):
            if before is not None:
                before._need_all()
            self._check()
            context.hooks.callback = self.callback  # type: ignore[attr-defined]
            context.hooks.progress = progress_for(self.verbose, comm)  # type: ignore[attr-defined]
            X = validate(self, X, reset=before is None)
            (self._check_data if before is None else self._check_sign)(X)
            values = {**self._values(), **others}
            context.agree()
            values["seed"] = context.common(values["seed"])
            try:
                data = wrap(context, X)
                data.name(context, lib.ARMILLA_FEATURE_NAMES, getattr(self, "feature_names_in_", None))
                if before is not None:
                    self._check_continued(before, values)
                    values["start"] = None
                chosen = self._choose(data, values) if before is None else None
                model = fit_data(context, data, values, before, comm=comm)
            except ValueError:
                if comm is None:
                    finite(self, X)
                raise
        if model.info["stop"] == "max-iter" and values.get("tol", 1):
            warn(
                f"Maximum number of iterations {values['max_iter']} reached. Increase max_iter or tol to improve convergence.",
                ConvergenceWarning,
            )
        return SimpleNamespace(model=model, data=data, chosen=chosen, interrupted=context.hooks.interrupted)

    def _check_continued(self, before: Model, values: Mapping[str, Any]) -> None:
        """A model keeps its rank and its sets: parameters that have changed since then would be passed over in silence."""
        now = (values["rank"], *_pair(values))
        was = (before.rank, before.info["basis"], before.info["codes"])
        for name, asked, had in zip((self._names["rank"], "basis", "codes"), now, was):
            if asked != had:
                raise ValueError(f"{name} is {asked!r}, but the model that partial_fit continues has {had!r}; fit a clone instead")

    def _transform(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        self._check_sign(X)
        return self._codes(X)

    def _codes(self, X: Any) -> np.ndarray:
        """Codes of data that were validated."""
        try:
            return self.model_._codes_of(X, threads_of(self.n_jobs), self._names)  # type: ignore[attr-defined]
        except ValueError:
            finite(self, X)
            raise

    @property
    def n_iter_(self) -> int:
        return max(int(self._fitted_model.info["iterations"]), 1)  # of PCA the start can be all

    @property
    def n_samples_seen_(self) -> int:
        return int(self._fitted_model.info["samples_seen"])

    @property
    def trace_(self) -> np.ndarray:
        return self._fitted_model.trace

    def save(self, path: Any, overwrite: bool = False) -> None:
        """Writes the fitted model to a file that the command and `armilla.load` read.

        Parameters
        ----------
        path : str, bytes or path-like
        overwrite : bool, default=False
            Replace a file that exists; FileExistsError otherwise.
        """
        check_is_fitted(self)
        save(self.model_, path, overwrite)


@estimator(defaults={"n_components": 2, **_USUAL})
class SphericalFactorization(SphericalFactorizationSignature, Tags, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Factorizer):
    """Matrix factorization with codes on a sphere, and its relatives: X ≈ codes_ @ components_.

    Every sample is a combination of `n_components` atoms; what atoms and codes may be is chosen by `basis` and `codes`,
    or by the name of a `model`. With the codes on a sphere, all samples have codes of one length, `radius_`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The atoms (Uᵀ of the paper).
    codes_ : ndarray of shape (n_samples, n_components)
        Codes of the training samples (Vᵀ), which `transform` gives for them too.
    radius_ : float
        Length of all codes; NaN where they are not on a sphere.
    reconstruction_err_ : float
        Frobenius norm of X - codes_ @ components_, of the data as fitted.
    n_iter_ : int
        Iterations, at least 1 (the start of PCA can be all of it); passes over the data with ``solver='online'``.
    n_samples_seen_ : int
        Samples of the fit, and of every `partial_fit` since.
    trace_ : structured ndarray
        What each iteration reached; `radius` in it is that of the iterate, before the final scaling of the atoms.
    model_ : Model
        The library's model, with everything else.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X is a data frame whose columns are all texts.

    Examples
    --------
    >>> from armilla import SphericalFactorization
    >>> from armilla.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> parts = SphericalFactorization(10, model="spherical-nmf", random_state=0)
    >>> parts.fit_transform(X).shape
    (1797, 10)
    """

    def fit(self: _Self, X: Any, y: Any = None, *, comm: Any = None) -> _Self:
        """Fits the model to X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        comm : communicator of mpi4py, optional
            Fit by all its ranks together, each of which calls this with the same parameters and X: the same bits.
            `codes_` are then those of this rank's samples, ``model_.own_samples``.

        Returns
        -------
        self
        """
        self._fit_model(X, comm)
        return self

    def partial_fit(self: _Self, X: Any, y: Any = None) -> _Self:
        """Continues the model on new samples, without those before: one pass of solver `online` over X.

        The first call begins the model; one after `fit` continues what was fitted. What is learned of the data beside
        the atoms (`center`, `tfidf`, `scale`) stays as it was learned from the first. Atoms keep their places.
        `codes_`, `reconstruction_err_` and `trace_` are those of X. `solver`, `max_iter`, `tol` and `restarts` do not
        count here; another `n_components`, `basis` or `codes` than the model has is a ValueError.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self

        Examples
        --------
        >>> from armilla import SphericalPCA
        >>> from armilla.datasets import load_digits
        >>> X, _ = load_digits(return_X_y=True)
        >>> pca = SphericalPCA(10, normalize="l2", random_state=0)
        >>> for part in range(0, 1797, 300):
        ...     pca = pca.partial_fit(X[part : part + 300])
        >>> pca.n_samples_seen_
        1797
        """
        self._continue_model(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fits the model to X and returns its codes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        self._fit_model(X)
        return np.array(self.model_.codes)

    def transform(self, X: Any) -> np.ndarray:
        """Codes of samples. Those of the training samples are `codes_`; each depends on its sample alone.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return self._transform(X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Samples of codes; centring, scale, tf-idf and log1p are undone.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return self.model_.inverse_transform(X)

    def score(self, X: Any, y: Any = None) -> float:
        """The part of the squared length of X that its codes explain: 1 - ‖X - UV‖² / ‖X‖², at most 1.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Prepared as for the fit.
        y : ignored

        Returns
        -------
        float
        """
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        self._check_sign(X)
        codes = self._codes(X)
        components = self.model_.components.astype(np.float64)
        lost = total = 0.0
        for rows, part in blocks(X, X.shape[1]):
            seen = self.model_.prepared(part)
            total = math.hypot(total, _norm(seen))
            seen -= codes[rows].astype(np.float64) @ components
            lost = math.hypot(lost, _norm(seen))
        part = lost / total if total > 0 else 1.0
        return 1.0 - part * part

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    @property
    def components_(self) -> np.ndarray:
        return self._fitted_model.components

    @property
    def codes_(self) -> np.ndarray:
        return self._fitted_model.codes

    @property
    def n_components_(self) -> int:
        return self._fitted_model.rank

    @property
    def radius_(self) -> float:
        return self._fitted_model.radius

    @property
    def reconstruction_err_(self) -> float:
        return float(np.sqrt(self._fitted_model.info["objective"]))


_DECIDED_FIELDS = ("model", "basis", "codes", "sparsity")


@estimator(without=_DECIDED_FIELDS, defaults={"n_components": 2, "normalize": "none"})
class SphericalPCA(SphericalPCASignature, SphericalFactorization):
    """Principal components with codes on a sphere: an orthonormal basis, codes of one length.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    components_, codes_, radius_, reconstruction_err_, n_iter_, trace_, model_, n_features_in_, feature_names_in_
        As of :class:`SphericalFactorization`.

    Examples
    --------
    >>> from armilla import SphericalPCA
    >>> from armilla.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> pca = SphericalPCA(2, center=True).fit(X)
    >>> pca.components_.shape
    (2, 4)
    """

    _decided = {"model": "spherical-pca"}


@estimator(without=_DECIDED_FIELDS, defaults={"n_components": 2, "normalize": "none"})
class SphericalNMF(SphericalNMFSignature, SphericalFactorization):
    """Nonnegative parts that add up, with codes on a sphere.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    components_, codes_, radius_, reconstruction_err_, n_iter_, trace_, model_, n_features_in_, feature_names_in_
        As of :class:`SphericalFactorization`.

    Examples
    --------
    >>> from armilla import SphericalNMF
    >>> from armilla.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> parts = SphericalNMF(10, random_state=0).fit(X)
    >>> bool((parts.components_ >= 0).all())
    True
    """

    _decided = {"model": "spherical-nmf"}
