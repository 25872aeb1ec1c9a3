"""Nearest neighbours by angle, of data or of a model's codes."""

from __future__ import annotations

import inspect
from typing import Any, Optional

import numpy as np
import scipy.sparse

from ._data import Data, are_columns, borrowed, names_of, wrap
from ._library import Context, ffi, lib
from ._model import Model
from ._options import NEIGHBOR_OPTIONS, PLAIN_NAMES, PREPARATION, Options, add_parameters, number_of, unknown
from ._progress import progress_for

#: Of the preparation; lengths do not matter.
_STEPS = [option for option in PREPARATION if option.field != "normalize"]


def neighbors(
    X: Any,
    count: int = 10,
    *,
    queries: Any = None,
    recall: Optional[float] = None,
    weights: str = "cosine",
    precision: Optional[str] = None,
    samples: str = "rows",
    seed: int = 0,
    threads: Optional[int] = None,
    verbose: int = 0,
    **preparation: Any,
) -> scipy.sparse.csr_matrix:
    """The nearest samples by angle, as `armilla neighbors` finds them: the same bits.

    Parameters
    ----------
    X : array, sparse matrix, data frame, path, or Model
        Samples; of a model its codes are compared, and it has its preparation already.
    count : int, default=10
        Neighbours of each sample.
    queries : array, sparse matrix, data frame or path, optional
        Samples whose neighbours among those of X are wanted, instead of those of X; a model codes them first.
        Features are matched by name where both have names, as data frames have.
    recall : float, optional
        The part of the nearest that is to be found, such as 0.98: for many samples, where all products would take long.
        It is measured on some hundred samples. None: all are found. Few samples, and sparse ones, are compared with all.
    weights : {'cosine', 'distance'}, default='cosine'
        What the matrix holds: the cosine, or the distance of the directions, sqrt(2 - 2cos).
    precision : {'f32', 'f64'}, optional
        Of the products; that of the data where not given.
    samples : {'rows', 'columns'}, default='rows'
        Whether a sample is a row of X and queries, or a column.
    seed : int, default=0
        Of what is drawn for `recall`.
    threads : int, optional
        The result does not depend on it.
    verbose : int, default=0
        1: a line of progress.
    {preparation}

    Returns
    -------
    scipy.sparse.csr_matrix of shape (n_samples or n_queries, n_samples)
        Row i has `count` entries, the nearest first, of equally near ones the lower number first. A sample is not its own
        neighbour, a copy of it is; one of length 0 has the cosine 0 to all.

    Examples
    --------
    >>> import armilla
    >>> X, y = armilla.datasets.load_digits(return_X_y=True)
    >>> graph = armilla.neighbors(X, 5)
    >>> graph.shape, graph.nnz
    ((1797, 1797), 8985)
    >>> bool((y[graph.indices.reshape(-1, 5)] == y[:, None]).mean() > 0.95)
    True
    """
    context = Context(PLAIN_NAMES, progress=progress_for(verbose))
    options = Options("armilla_neighbors_options")
    options.set(context, {"count": count, "recall": recall, "weights": weights})
    for field, value in (("seed", seed), ("threads", threads)):
        setattr(options.struct, field, number_of(context, field, value))
    known = {option.parameter(PLAIN_NAMES): option.field for option in _STEPS}
    if set(preparation) - set(known):
        raise unknown(preparation, {*known, *inspect.signature(neighbors).parameters}, "neighbors")
    steps = {**{known[name]: value for name, value in preparation.items()}, "precision": precision}
    fit = Options()
    fit.set(context, steps)
    by_columns = are_columns(samples)
    asked = None if queries is None else _named(context, queries, by_columns)
    pointer = ffi.NULL if asked is None else asked.pointer
    found = context.own("armilla_neighbors", lib.armilla_neighbors_free)
    if isinstance(X, Model):
        given = [name for name, value in steps.items() if value]
        if given:
            raise ValueError(f"{given[0]}={steps[given[0]]!r}: a model has its preparation already; leave it out, or give the data")
        X._need_all()
        context.call(lib.armilla_neighbors_of_model, X._pointer, pointer, options.struct, found.place)
    else:
        data = _named(context, X, by_columns)
        context.call(lib.armilla_neighbors_of_data, data.pointer, pointer, fit.struct, options.struct, found.place)
    return _matrix(found)


def _named(context: Context, X: Any, by_columns: bool) -> Data:
    """Data with the names of a data frame's features, by which those of queries are found."""
    data = wrap(context, X, by_columns)
    data.name(context, lib.ARMILLA_FEATURE_NAMES, names_of(X, "index" if by_columns else "columns"))
    return data


def _matrix(found: Any) -> scipy.sparse.csr_matrix:
    """A copy of what was found, in indices as narrow as SciPy has them."""
    summary = ffi.new("armilla_neighbors_summary *")
    lib.armilla_neighbors_summarize(found.pointer, summary)
    rows, columns, count = summary.rows, summary.columns, summary.count
    entries = (rows * count,)
    narrow = np.int32 if max(columns, entries[0]) <= np.iinfo(np.int32).max else np.int64
    targets = borrowed(lib.armilla_neighbors_targets(found.pointer), entries, np.int64, found)
    weights = borrowed(lib.armilla_neighbors_weights(found.pointer), entries, np.float32, found)
    assert targets is not None and weights is not None
    starts = np.arange(0, entries[0] + 1, count, dtype=narrow)
    return scipy.sparse.csr_matrix((np.array(weights), targets.astype(narrow), starts), shape=(rows, columns))


add_parameters(neighbors, _STEPS, "{preparation}")
