"""Arrays as the library's data, without a copy where their layout allows it.

A C-order array with one sample per row, and a CSR matrix, are the paper's X by columns byte for byte. Read-only and
memory-mapped arrays are used where they lie. Everything else is converted once, which the log says.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Callable, Optional, Sequence

import numpy as np
import scipy.sparse

from ._library import Context, ffi, lib, logger

_TYPES = {
    np.dtype(np.float32): lib.ARMILLA_F32,
    np.dtype(np.float64): lib.ARMILLA_F64,
    np.dtype(np.uint8): lib.ARMILLA_U8,
}
#: Types of numbers that are used as they are; others become the first of these.
DTYPES = [np.float64, np.float32, np.uint8]


def dtype_of(kind: int) -> Any:
    """NumPy's type of the library's."""
    return next(dtype for dtype, number in _TYPES.items() if number == kind)


def note_copy(what: str, verbose: bool) -> None:
    """Says that X is converted: in the log, and to whom asked for it."""
    logger.info("X is copied once: %s", what)
    if verbose:
        print("armilla: X is copied once:", what, file=sys.stderr)


class Data:
    """The library's view of an array, a matrix or a file, and what it borrows."""

    def __init__(self, context: Context, borrowed: Any, function: Callable[..., int], *arguments: Any) -> None:
        self._owned = context.own("armilla_data", lib.armilla_data_free)
        self._borrowed = borrowed
        context.call(function, *arguments, self._owned.place)

    @property
    def pointer(self) -> Any:
        return self._owned.pointer

    @property
    def features(self) -> int:
        return int(lib.armilla_data_features(self.pointer))

    @property
    def samples(self) -> int:
        return int(lib.armilla_data_samples(self.pointer))

    def name(self, context: Context, kind: int, names: Optional[Sequence[str]]) -> None:
        """Names of features or samples, which the model keeps."""
        if names is None:
            return
        texts = [ffi.new("char[]", str(name).encode()) for name in names]
        context.call(
            lambda _, *arguments: lib.armilla_data_set_names(self.pointer, *arguments),
            kind,
            ffi.new("char *[]", texts),
            len(texts),
        )


def _lies_by_sample(X: np.ndarray) -> bool:
    """Whether each row is contiguous and the rows follow each other: what the library can borrow."""
    size = X.itemsize
    rows, columns = X.shape
    inside = columns <= 1 or X.strides[1] == size
    between = rows <= 1 or (X.strides[0] >= columns * size and X.strides[0] % size == 0)
    return bool(inside and between and X.flags.aligned and X.dtype.isnative)


def _wrap_dense(context: Context, X: np.ndarray) -> Data:
    if X.dtype not in _TYPES:
        note_copy(f"{X.dtype} numbers become float64", context.verbose)
        X = X.astype(np.float64, order="C")
    elif not _lies_by_sample(X):
        note_copy("its layout is not one sample after the other (C order)", context.verbose)
        X = np.ascontiguousarray(X, dtype=X.dtype.newbyteorder("="))
    rows, columns = X.shape
    stride = X.strides[0] // X.itemsize if rows > 1 else columns
    return Data(context, X, lib.armilla_data_wrap_dense, _TYPES[X.dtype], _address(X), columns, rows, stride)


def _address(array: np.ndarray) -> Any:
    return ffi.cast("void *", array.__array_interface__["data"][0])


def _wrap_sparse(context: Context, X: Any) -> Data:
    if X.format != "csr":
        note_copy(f"{X.format} becomes csr", context.verbose)
        X = X.tocsr()
    values = X.data
    if values.dtype.newbyteorder("=") not in _TYPES:
        note_copy(f"{values.dtype} numbers become float64", context.verbose)
        values = values.astype(np.float64)
    values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    wide = any(part.dtype.itemsize > 4 for part in (X.indices, X.indptr))
    integers = np.int64 if wide else np.int32
    features = np.ascontiguousarray(X.indices, dtype=integers)
    starts = np.ascontiguousarray(X.indptr, dtype=integers)
    # A view may have more memory than entries.
    values, features = values[: starts[-1]], features[: starts[-1]]
    return Data(
        context,
        (values, features, starts),
        lib.armilla_data_wrap_sparse,
        _TYPES[values.dtype],
        lib.ARMILLA_I64 if wide else lib.ARMILLA_I32,
        _address(values),
        _address(features),
        _address(starts),
        X.shape[1],
        X.shape[0],
    )


def _open(context: Context, path: Any, by_columns: bool) -> Data:
    options = ffi.new("armilla_read_options *")
    lib.armilla_read_options_default(options)
    options.sample_columns = by_columns
    return Data(context, None, lib.armilla_data_open, ffi.new("char[]", os.fsencode(path)), options)


def is_path(X: Any) -> bool:
    return isinstance(X, (str, os.PathLike))


def names_of(X: Any) -> Optional[list[str]]:
    """The columns of a data frame, where all are texts."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return list(columns)


def as_matrix(X: Any, by_columns: bool = False) -> Any:
    """A two-dimensional array or sparse matrix with one sample per row; no copy of what is one."""
    if scipy.sparse.issparse(X):
        matrix = X
    else:
        matrix = np.asarray(X)
        if matrix.dtype == object:
            matrix = matrix.astype(np.float64)
        if matrix.dtype.kind not in "biuf":
            raise ValueError(f"Complex data not supported\n{X!r}\n" if matrix.dtype.kind == "c" else f"X has {matrix.dtype} entries; give numbers")
    if matrix.ndim != 2:
        raise ValueError(f"Expected 2D array, got {matrix.ndim}D array instead; reshape X to (samples, features)")
    return matrix.T if by_columns else matrix


def some_rows(X: Any, first: int, count: int) -> Any:
    """Neighbouring rows of an array or a CSR matrix, without a copy of their numbers."""
    if not scipy.sparse.issparse(X):
        return X[first : first + count]
    starts = X.indptr[first : first + count + 1]
    entries = slice(starts[0], starts[-1])
    parts = (X.data[entries], X.indices[entries], starts - starts[0])
    return scipy.sparse.csr_matrix(parts, shape=(len(starts) - 1, X.shape[1]), copy=False)


def wrap(context: Context, X: Any, by_columns: bool = False) -> Data:
    """The library's data of an array, a sparse matrix, a data frame or the path of a file."""
    if is_path(X):
        return _open(context, X, by_columns)
    matrix = as_matrix(X, by_columns)
    return _wrap_sparse(context, matrix) if scipy.sparse.issparse(matrix) else _wrap_dense(context, matrix)
