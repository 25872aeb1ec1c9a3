"""Models: the result of a fit, in the paper's orientation, its file, and what can be done with it."""

from __future__ import annotations

import functools
import json
import operator
import os
from types import SimpleNamespace
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._clustering import cluster_codes
from ._data import are_columns, as_array, as_matrix, borrowed, dtype_of, names_of, wrap
from ._library import Context, Owned, as_dict, c_path, ffi, lib, members, text
from ._options import PLAIN_NAMES, PREPARATION, Options, number_of, read
from ._ranks import together

_STOPS = [text(lib.armilla_stop_word(stop)) for stop in range(lib.ARMILLA_STOP_COUNT)]


class Model:
    """A factorization X ≈ UV that was fitted or loaded.

    Everything is in the paper's orientation: one sample per column of X, so `U` has an atom per column and `V` a code
    per column. The arrays are read-only views of the library's memory. Models can be pickled.

    Attributes
    ----------
    U : ndarray of shape (n_features, rank)
        The basis.
    V : ndarray of shape (rank, n_samples)
        The codes.
    radius : float
        Length of every code; NaN where codes are not on a sphere.
    trace : structured ndarray
        `iteration`, `objective`, `relative_error`, `dU`, `dV`, `radius` and `seconds`; entry 0 is the start. `radius`
        is that of the iterate. At the end a basis of free scale (nonnegative, free) gets the length ‖U‖_F = √rank, and
        the model's radius takes the rest: there the last entry may differ from it.
    mean, idf, scale : ndarray of shape (n_features,) or None
        What the preparation has learned.
    preparation : dict
        How the data were prepared, by the options of `fit`, with the numbers that were learned.
    info : dict
        Everything else that the library says about the model: `objective`, `relative_error`, `iterations`, `stop`, …
    comm : communicator of mpi4py, or None
        Whose ranks have fitted the model. Then `V` and `codes` have the samples of this rank alone, and `save`, `check`
        and `gather` are called by all ranks together.
    own_samples : range
        The samples whose codes are there.
    labels_ : ndarray of shape (n_samples,)
        Clusters of the samples, where the model keeps some: that of `AutoCluster` and `SphericalKMeans`, of
        `armilla cluster --model-out`, and after ``cluster(..., keep=True)``. Else there is no such attribute.

    Examples
    --------
    >>> import armilla
    >>> X, _ = armilla.datasets.load_iris(return_X_y=True)
    >>> model = armilla.fit(X, 2)
    >>> model.U.shape, model.V.shape
    ((4, 2), (2, 150))
    >>> model.check(X).passed
    True
    """

    def __init__(self, owned: Owned, comm: Any = None, own_samples: Optional[range] = None) -> None:
        self.comm = comm if comm is not None and comm.Get_size() > 1 else None
        self._owned = owned
        self._pointer = owned.pointer
        self._summary = ffi.new("armilla_model_summary *")
        lib.armilla_model_summarize(self._pointer, self._summary)
        self.own_samples: range = range(self.n_samples) if own_samples is None else own_samples

    @functools.cached_property
    def info(self) -> dict[str, Any]:
        """Everything else that the library says about the model."""
        found = as_dict("armilla_model_summary", self._summary)
        found["stop"] = _STOPS[self._summary.stop]
        found["precision"] = self.dtype.name
        found.update((name, value) for name, value in self.preparation.items() if name not in found)
        return found

    def _array(self, pointer: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        return borrowed(pointer, shape, dtype, self._owned)

    @property
    def rank(self) -> int:
        return int(self._summary.rank)

    @property
    def n_features(self) -> int:
        return int(self._summary.m)

    @property
    def n_samples(self) -> int:
        return int(self._summary.n)

    @property
    def dtype(self) -> Any:
        return np.dtype(dtype_of(self._summary.precision))

    @property
    def components(self) -> np.ndarray:
        """Uᵀ, one atom per row."""
        found: np.ndarray = self._array(
            lib.armilla_model_basis(self._pointer), (self.rank, self.n_features), self.dtype
        )
        return found

    @property
    def codes(self) -> np.ndarray:
        """Vᵀ, one sample per row; of a model with a `comm` those of `own_samples`."""
        own = self.own_samples
        first = ffi.cast("char *", lib.armilla_model_codes(self._pointer)) + own.start * self.rank * self.dtype.itemsize
        found: np.ndarray = self._array(first, (len(own), self.rank), self.dtype)
        return found

    def _need_all(self) -> None:
        """What needs all codes does not go on with those of one rank."""
        if self.comm is not None:
            raise ValueError(
                f"this rank has the codes of {len(self.own_samples)} of the model's {self.n_samples} samples; "
                "model.gather() by all ranks returns a model with all of them on rank 0"
            )

    def gather(self) -> Optional["Model"]:
        """A model with the codes of all samples on rank 0, and None on others; the model itself where it has no `comm`.

        By all ranks of `comm` together.
        """
        if self.comm is None:
            return self
        context = Context(PLAIN_NAMES)
        with together(context, self.comm):
            context.agree(last=True)
            context.call(lib.armilla_model_gather, self._pointer)
        return Model.from_bytes(self._content()) if self.comm.Get_rank() == 0 else None

    @property
    def U(self) -> np.ndarray:
        return self.components.T

    @property
    def V(self) -> np.ndarray:
        return self.codes.T

    @property
    def radius(self) -> float:
        return float(self.info["radius"])

    @property
    def mean(self) -> Optional[np.ndarray]:
        return self._learned(lib.armilla_model_mean)

    @property
    def idf(self) -> Optional[np.ndarray]:
        return self._learned(lib.armilla_model_idf)

    @property
    def scale(self) -> Optional[np.ndarray]:
        return self._learned(lib.armilla_model_scale)

    def _learned(self, function: Callable[[Any], Any]) -> Optional[np.ndarray]:
        found: Optional[np.ndarray] = self._array(function(self._pointer), (self.n_features,), np.float64)
        return found

    @property
    def preparation(self) -> dict[str, Any]:
        """How the data were prepared, by the options of `fit`, with the numbers that were learned."""
        options = Options()
        lib.armilla_model_preparation(self._pointer, options.struct)
        return read(options.struct, PREPARATION)

    @property
    def options(self) -> dict[str, Optional[str]]:
        """Every option of the fit, as it would be typed for the command."""
        found: dict[str, Optional[str]] = json.loads(text(lib.armilla_model_options(self._pointer)) or "{}")
        return found

    @property
    def feature_names(self) -> Optional[list[str]]:
        return self._names(lib.ARMILLA_FEATURE_NAMES, self.n_features)

    @property
    def sample_names(self) -> Optional[list[str]]:
        return self._names(lib.ARMILLA_SAMPLE_NAMES, self.n_samples)

    def _names(self, kind: int, count: int) -> Optional[list[str]]:
        if count == 0 or lib.armilla_model_name(self._pointer, kind, 0) == ffi.NULL:
            return None
        return [text(lib.armilla_model_name(self._pointer, kind, i)) or "" for i in range(count)]

    @property
    def trace(self) -> np.ndarray:
        names = [name for name, _ in members("armilla_trace_entry")]
        kinds = [(name, np.int64 if name == "iteration" else np.float64) for name in names]
        count = lib.armilla_model_trace_count(self._pointer)
        found = np.zeros(count, dtype=kinds)
        entry = ffi.new("armilla_trace_entry *")
        for k in range(count):
            lib.armilla_model_trace_entry(self._pointer, k, entry)
            found[k] = tuple(getattr(entry, name) for name in names)
        return found

    def _in_order(self, X: Any) -> Any:
        """A data frame with the model's features: by name where both have names."""
        theirs, ours = names_of(X), self.feature_names
        if theirs is None or ours is None or theirs == ours:
            return X
        if set(ours) - set(theirs):
            raise ValueError(f"X has no feature named {sorted(set(ours) - set(theirs))[0]!r}, which the model was fitted to")
        return X[ours]

    def transform(self, X: Any, *, samples: str = "rows", threads: Optional[int] = None) -> np.ndarray:
        """Codes of new samples.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path, of shape (n_samples, n_features)
            The preparation of the fit is applied to it.
        samples : {'rows', 'columns'}, default='rows'
            Whether a sample is a row of X, or a column.
        threads : int, optional
            The result does not depend on it.

        Returns
        -------
        ndarray of shape (n_samples, rank)
            A sample's codes depend on that sample alone.
        """
        by_columns = are_columns(samples)
        return self._codes_of(X if by_columns else self._in_order(X), threads, PLAIN_NAMES, by_columns)

    def _codes_of(self, X: Any, threads: Optional[int], names: Mapping[str, str], by_columns: bool = False) -> np.ndarray:
        context = Context(names)
        threads = number_of(context, "threads", threads)
        data = wrap(context, X, by_columns)
        codes = np.empty((data.samples, self.rank), self.dtype)
        values = ffi.cast("void *", codes.ctypes.data)
        context.call(lib.armilla_model_transform, self._pointer, data.pointer, threads, values)
        return codes

    def inverse_transform(self, codes: Any) -> np.ndarray:
        """Samples of given codes, with centring, scale, tf-idf and log1p undone (lengths are not kept).

        Parameters
        ----------
        codes : array of shape (n_samples, rank)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        codes = as_array(codes, self.dtype, "codes")
        if codes.shape[1] != self.rank:
            raise ValueError(f"codes of shape {codes.shape} do not fit the model; give (n_samples, {self.rank})")
        X = np.empty((codes.shape[0], self.n_features), self.dtype)
        Context().call(
            lib.armilla_model_reconstruct_codes,
            self._pointer,
            ffi.cast("void *", codes.ctypes.data),
            codes.shape[0],
            ffi.cast("void *", X.ctypes.data),
        )
        return X

    def reconstruct(self) -> np.ndarray:
        """The training samples as the model has them, one per row; of a model with a `comm` this rank's."""
        return self.inverse_transform(self.codes)

    def prepared(self, X: Any) -> np.ndarray:
        """Samples as the fit saw them: float64, after log1p, tf-idf, scale, centring and unit length."""
        matrix = as_matrix(self._in_order(X))
        made = np.array(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64, order="C")
        if made.shape[1] != self.n_features:
            raise ValueError(f"X has {made.shape[1]} features, but the model was fitted to {self.n_features}")
        values = ffi.cast("double *", made.ctypes.data)
        Context().call(lib.armilla_model_prepare_columns, self._pointer, made.shape[0], values, ffi.NULL)
        return made

    def check(self, X: Any, *, samples: str = "rows") -> SimpleNamespace:
        """Recomputes objective, constraints and radius from the data by other code, and compares.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path
            The data of the fit.
        samples : {'rows', 'columns'}, default='rows'
            Whether a sample is a row of X, or a column.

        Returns
        -------
        SimpleNamespace
            `passed`, `finding` (the first difference in words) and every figure that was compared.
        """
        context = Context(PLAIN_NAMES)
        by_columns = are_columns(samples)
        found = ffi.new("armilla_check *")
        with together(context, self.comm):
            data = wrap(context, X if by_columns else self._in_order(X), by_columns)
            context.agree(last=True)
            context.call(lib.armilla_model_check, self._pointer, data.pointer, found)
        return SimpleNamespace(**as_dict("armilla_check", found))

    def top_features(self, count: int = 10, feature_names: Optional[Sequence[str]] = None) -> list[list[tuple[Any, float]]]:
        """The features with the largest weights of each atom.

        Parameters
        ----------
        count : int, default=10
        feature_names : sequence of str, optional
            Those of the model, or numbers from 0, where not given.

        Returns
        -------
        list of lists of (feature, weight)
            One list for each atom, heaviest first by size.
        """
        if operator.index(count) < 1:
            raise ValueError(f"count={count} features cannot be shown; give 1 or more")
        names: Sequence[Any] = feature_names if feature_names is not None else (self.feature_names or range(self.n_features))
        if len(names) != self.n_features:
            raise ValueError(f"feature_names has {len(names)} names, but the model has {self.n_features} features")
        places = [np.argsort(-np.abs(atom), kind="stable")[:count] for atom in self.components]
        return [[(names[i], float(atom[i])) for i in place] for atom, place in zip(self.components, places)]

    def cluster(self, k: int = 0, *, keep: bool = False, **options: Any) -> np.ndarray:
        """Clusters of the codes, as `armilla cluster MODEL` finds them.

        Parameters
        ----------
        k : int
            How many; not needed with ``method='argmax'``, nor with ``method='graph'``, which finds a number.
        keep : bool, default=False
            The model keeps them, as `labels_` and for `predict`, and its file will.
        **options
            `method`, `tries`, `max_iter`, `seed`, `threads`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from 0: by size, ties by the first sample; with ``method='argmax'`` the numbers of atoms.
        """
        return cluster_codes(self, {"k": k or None, **options}, {}, keep=keep).labels

    @property
    def labels_(self) -> np.ndarray:
        found = self._array(lib.armilla_model_clusters(self._pointer, ffi.NULL), (self.n_samples,), np.int64)
        if found is None:
            raise AttributeError("this model keeps no clusters; model.cluster(k, keep=True) finds some")
        # A copy: clusters that are kept later take the place of these.
        return np.array(found)

    def predict(self, X: Any, *, samples: str = "rows", threads: Optional[int] = None) -> np.ndarray:
        """Clusters of new samples by those that the model keeps, as `armilla predict` gives them.

        Samples of the fit have their labels. Any other sample belongs to the nearest centre (``method='kmeans'``: by
        angle, ``'euclidean'``: by distance), with ``'argmax'`` to the atom that contributes most, and with any other
        method where most of its 15 nearest training samples belong, each with a vote of one over its squared angle.

        Parameters
        ----------
        X : array, sparse matrix, data frame or path, of shape (n_samples, n_features)
            The preparation of the fit is applied to it.
        samples : {'rows', 'columns'}, default='rows'
            Whether a sample is a row of X, or a column.
        threads : int, optional
            The result does not depend on it.

        Returns
        -------
        ndarray of shape (n_samples,)

        Examples
        --------
        >>> import armilla
        >>> X, _ = armilla.datasets.load_iris(return_X_y=True)
        >>> model = armilla.fit(X[:100], 2)
        >>> labels = model.cluster(2, keep=True)
        >>> bool((model.predict(X[:100]) == labels).all()), model.predict(X[100:]).shape
        (True, (50,))
        """
        by_columns = are_columns(samples)
        return self._labels_of(X if by_columns else self._in_order(X), threads, PLAIN_NAMES, by_columns)

    def _labels_of(self, X: Any, threads: Optional[int], names: Mapping[str, str], by_columns: bool = False) -> np.ndarray:
        if lib.armilla_model_clusters(self._pointer, ffi.NULL) == ffi.NULL:
            raise ValueError("this model keeps no clusters; model.cluster(k, keep=True) finds some")
        context = Context(names)
        threads = number_of(context, "threads", threads)
        data = wrap(context, X, by_columns)
        labels = np.empty(data.samples, np.int64)
        values = ffi.cast("int64_t *", labels.ctypes.data)
        context.call(lib.armilla_model_predict, self._pointer, data.pointer, threads, values)
        return labels

    def save(self, path: Any, overwrite: bool = False) -> None:
        """Writes the model file that the command reads and writes; it appears whole or not at all."""
        save(self, path, overwrite)

    def to_bytes(self) -> bytes:
        """The model file, in memory."""
        self._need_all()
        return self._content()

    def _content(self) -> bytes:
        context = Context()
        block = context.own("void", functools.partial(lib.armilla_release, context.pointer))
        count = ffi.new("size_t *")
        context.call(lib.armilla_model_save_memory, self._pointer, block.place, count)
        return bytes(ffi.buffer(block.pointer, count[0]))

    @classmethod
    def from_bytes(cls, content: bytes) -> "Model":
        """The model of a file's content."""
        context = Context()
        owned = context.own("armilla_model", lib.armilla_model_free)
        context.call(lib.armilla_model_open_memory, ffi.from_buffer(content), len(content), owned.place)
        return cls(owned)

    def __reduce__(self) -> Any:
        return Model.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        info = self.info
        return (
            f"<armilla.Model {info['model'] or info['basis'] + ' x ' + info['codes']}, {self.n_features} features, "
            f"{self.n_samples} samples, rank {self.rank}, relative error {info['relative_error']:.4g}>"
        )


def load(path: Any) -> Model:
    """Opens a model file, of this package or of the command.

    Parameters
    ----------
    path : str, bytes or path-like

    Returns
    -------
    Model

    Examples
    --------
    >>> import os, tempfile
    >>> import armilla
    >>> X, _ = armilla.datasets.load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.npz")
    ...     armilla.save(armilla.SphericalPCA(2, center=True).fit(X), path)
    ...     armilla.load(path).transform(X).shape
    (150, 2)
    """
    context = Context(PLAIN_NAMES)
    # Into memory: a file that changes later changes nothing here.
    lib.armilla_context_set_never_map(context.pointer, True)
    name = c_path(path)
    if not os.path.exists(path):
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
    owned = context.own("armilla_model", lib.armilla_model_free)
    context.call(lib.armilla_model_open, name, owned.place)
    return Model(owned)


def model_of(thing: Any) -> Model:
    """The model, or that of a fitted estimator."""
    if isinstance(thing, Model):
        return thing
    if not hasattr(thing, "fit"):
        raise TypeError(f"a Model or a fitted estimator is needed, not {type(thing).__name__}")
    check_is_fitted(thing)
    found: Model = thing.model_
    return found


def save(model: Union[Model, Any], path: Any, overwrite: bool = False) -> None:
    """Writes a model, or that of a fitted estimator, to the command's model file.

    Parameters
    ----------
    model : Model or estimator
    path : str, bytes or path-like
    overwrite : bool, default=False
        Replace a file that exists; FileExistsError otherwise.

    Examples
    --------
    See :func:`load`.
    """
    model = model_of(model)
    context = Context({"overwrite": "overwrite"})
    with together(context, model.comm):
        if not overwrite and os.path.exists(path):
            raise FileExistsError(17, "File exists; give overwrite=True to replace it", os.fspath(path))
        name = c_path(path)
        context.agree(last=True)
        context.call(lib.armilla_model_save, model._pointer, name, overwrite)
