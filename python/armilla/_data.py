"""Arrays as the library's data, without a copy where their layout allows it.

A C-order array with one sample per row, and a CSR matrix, are the paper's X by columns byte for byte. Read-only and
memory-mapped arrays are used where they lie. Everything else is converted once, which the log says.
"""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator, Optional, Sequence

import numpy as np
import scipy.sparse

from ._library import Context, NotBuiltError, c_path, c_text, ffi, lib, logger, say

#: Types of numbers that are used as they are; others become the first of these.
DTYPES = [np.float64, np.float32, np.float16, np.uint8, np.int8]
_TYPES = dict(
    zip(map(np.dtype, DTYPES), [lib.ARMILLA_F64, lib.ARMILLA_F32, lib.ARMILLA_F16, lib.ARMILLA_U8, lib.ARMILLA_I8])
)


def dtype_of(kind: int) -> Any:
    """NumPy's type of the library's."""
    return next(dtype for dtype, number in _TYPES.items() if number == kind)


def note_copy(what: str, verbose: bool) -> None:
    """Says that X is converted: in the log, and to whom asked for it."""
    logger.info("X is copied once: %s", what)
    if verbose:
        say(f"armilla: X is copied once: {what}")


class Data:
    """The library's view of an array, a matrix or a file, and what it borrows."""

    def __init__(
        self, context: Context, borrowed: Any, function: Callable[..., int], *arguments: Any, at_once: bool = False
    ) -> None:
        self._owned = context.own("armilla_data", lib.armilla_data_free)
        self._borrowed = borrowed
        if at_once:
            context.ask(function, *arguments, self._owned.place)
        else:
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

    def own(self, context: Context) -> range:
        """The samples of this rank, of those that the context has joined."""
        first, last = ffi.new("int64_t *"), ffi.new("int64_t *")
        lib.armilla_data_own(context.pointer, self.pointer, first, last)
        return range(first[0], last[0])

    def name(self, context: Context, kind: int, names: Optional[Sequence[str]]) -> None:
        """Names of features or samples, which the model keeps."""
        if names is None:
            return
        texts = [c_text(str(name)) for name in names]
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


def _ready(array: np.ndarray, dtype: Any) -> np.ndarray:
    """An array that C can read: contiguous, aligned, in the machine's order of bytes. A copy only where it is not so."""
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def _wrap_dense(context: Context, X: np.ndarray) -> Data:
    dtype = X.dtype.newbyteorder("=")
    if dtype not in _TYPES:
        note_copy(f"{X.dtype} numbers become float64", context.verbose)
        X = _ready(X, np.float64)
    elif not _lies_by_sample(X):
        note_copy("its layout is not one sample after the other (C order, aligned)", context.verbose)
        X = _ready(X, dtype)
    rows, columns = X.shape
    stride = X.strides[0] // X.itemsize if rows > 1 else columns
    described = (_TYPES[X.dtype], _address(X), columns, rows, stride)
    return Data(context, X, lib.armilla_data_wrap_dense, *described, at_once=True)


def _address(array: np.ndarray) -> Any:
    return ffi.cast("void *", array.__array_interface__["data"][0])


def _wrap_sparse(context: Context, X: Any) -> Data:
    if X.format != "csr":
        note_copy(f"{X.format} becomes csr", context.verbose)
        X = X.tocsr()
    dtype = X.data.dtype.newbyteorder("=")
    if dtype not in _TYPES or lib.armilla_type_precision(_TYPES[dtype]) != _TYPES[dtype]:
        dtype = dtype_of(lib.armilla_type_precision(_TYPES.get(dtype, lib.ARMILLA_F64)))
        note_copy(f"{X.data.dtype} numbers become {dtype}", context.verbose)
    wide = not all(np.can_cast(part.dtype, np.int32) for part in (X.indices, X.indptr))
    integers = np.int64 if wide else np.int32
    values, features, starts = _ready(X.data, dtype), _ready(X.indices, integers), _ready(X.indptr, integers)
    _check_sizes(X, values, features, starts)
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


def _check_sizes(X: Any, values: np.ndarray, features: np.ndarray, starts: np.ndarray) -> None:
    """The library sees where arrays begin, but not how long they are."""
    if starts.size != X.shape[0] + 1:
        raise ValueError(f"X is no CSR matrix: indptr has {starts.size} entries for {X.shape[0]} rows")
    if not 0 <= starts[-1] <= min(values.size, features.size):
        raise ValueError(
            f"X is no CSR matrix: indptr ends with {starts[-1]}, but there are {features.size} indices and {values.size} values"
        )


#: Files that other packages read, by how their names end.
_READERS = {
    ".h5ad": "adata = anndata.read_h5ad(path); armilla.anndata.factorize(adata, rank)",
    ".mat": "X = scipy.io.loadmat(path)[name]",
    ".h5": "X = h5py.File(path)[name][:]",
    ".hdf5": "X = h5py.File(path)[name][:]",
}


def _open(context: Context, path: Any, by_columns: bool) -> Data:
    name, place = os.fsdecode(path), c_path(path)
    if not os.path.exists(name):
        raise FileNotFoundError(2, "No such file or directory", name)
    options = ffi.new("armilla_read_options *")
    lib.armilla_read_options_default(options)
    options.sample_columns = by_columns
    try:
        return Data(context, None, lib.armilla_data_open, place, options)
    except NotBuiltError as error:
        reader = _READERS.get(os.path.splitext(name)[1].lower())
        if reader is None:
            raise
        raise ValueError(f"{name}: is read in Python by {reader}; or convert it in a shell: armilla convert FILE data.npz") from error


def is_path(X: Any) -> bool:
    return isinstance(X, (str, bytes, os.PathLike))


def are_columns(samples: str) -> bool:
    """What `samples` says: whether a sample is a column."""
    if samples not in ("rows", "columns"):
        raise ValueError(f"samples={samples!r} is neither 'rows' nor 'columns'")
    return samples == "columns"


def names_of(X: Any, axis: str = "columns") -> Optional[list[str]]:
    """The columns (or the index) of a data frame, where all are texts."""
    labels = getattr(X, axis) if hasattr(X, "columns") else None
    if labels is None or not all(isinstance(name, str) for name in labels):
        return None
    return list(labels)


def _as_float(matrix: Any, X: Any) -> Any:
    """Objects as numbers; what a data frame has for a missing one is NaN."""
    try:
        return X.to_numpy(np.float64, na_value=np.nan) if hasattr(X, "to_numpy") else matrix.astype(np.float64)
    except TypeError as error:
        raise ValueError(f"X has entries that are no numbers: {error}") from None


def refuse_anndata(X: Any) -> None:
    if hasattr(X, "obsm") and hasattr(X, "var_names"):
        raise TypeError("X is an AnnData; use armilla.anndata.factorize(adata, rank) or armilla.anndata.cluster, or give adata.X")


def as_matrix(X: Any, by_columns: bool = False, what: str = "X") -> Any:
    """A two-dimensional array or sparse matrix with one sample per row; no copy of what is one."""
    refuse_anndata(X)
    matrix = X if scipy.sparse.issparse(X) else np.asarray(X)
    if matrix.dtype == object:
        matrix = _as_float(matrix, X)
    if matrix.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{X!r}\n")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{what} has {matrix.dtype} entries; give numbers")
    if matrix.ndim != 2:
        raise ValueError(f"Expected 2D array, got {matrix.ndim}D array instead; reshape {what} to (samples, features)")
    return matrix.T if by_columns else matrix


def as_array(X: Any, dtype: Any, what: str) -> np.ndarray:
    """Some numbers that C can read, such as codes or a basis, dense and C-contiguous."""
    matrix = as_matrix(X, what=what)
    return _ready(matrix.toarray() if scipy.sparse.issparse(matrix) else matrix, dtype)


def some_rows(X: Any, first: int, count: int) -> Any:
    """Neighbouring rows of an array or a CSR matrix, without a copy of their numbers."""
    if not scipy.sparse.issparse(X):
        return X[first : first + count]
    starts = X.indptr[first : first + count + 1]
    entries = slice(starts[0], starts[-1])
    parts = (X.data[entries], X.indices[entries], starts - starts[0])
    return scipy.sparse.csr_matrix(parts, shape=(len(starts) - 1, X.shape[1]), copy=False)


def blocks(X: Any, width: int) -> Iterator[tuple[slice, Any]]:
    """Neighbouring rows, so few that `width` numbers for each take some megabytes."""
    count = max(1, 2**19 // max(width, 1))
    for first in range(0, X.shape[0], count):
        yield slice(first, first + count), some_rows(X, first, count)


def unit_rows(X: Any) -> Any:
    """Rows of length 1, as float64, whatever their scale; those of length 0 stay as they are."""
    sparse = scipy.sparse.issparse(X)
    if sparse:
        X = X.copy()  # before SciPy sorts indices that are the user's
        X.sum_duplicates()
    X = X.astype(np.float64)

    def divide(lengths: Any) -> None:
        lengths = np.asarray(lengths.toarray() if hasattr(lengths, "toarray") else lengths).ravel()
        lengths = np.where(lengths > 0, lengths, 1.0)
        if sparse:
            X.data /= np.repeat(lengths, np.diff(X.indptr))
        else:
            np.divide(X, lengths[:, None], out=X)

    divide(abs(X).max(axis=1))
    divide(np.sqrt((X.multiply(X) if sparse else X * X).sum(axis=1)))
    return X


def wrap(context: Context, X: Any, by_columns: bool = False) -> Data:
    """The library's data of an array, a sparse matrix, a data frame or the path of a file."""
    if is_path(X):
        return _open(context, X, by_columns)
    matrix = as_matrix(X, by_columns)
    if not hasattr(X, "dtype") and not hasattr(X, "columns"):
        note_copy(f"{type(X).__name__} becomes an array", context.verbose)
    return _wrap_sparse(context, matrix) if scipy.sparse.issparse(matrix) else _wrap_dense(context, matrix)


def label_classes(texts: Sequence[str]) -> np.ndarray:
    """The class of each label in the library's order of them; -1 where it means that there is none."""
    found = np.empty(len(texts), np.int64)
    if not len(texts):
        return found
    context = Context()
    data = wrap(context, np.zeros((len(texts), 1)))
    data.name(context, lib.ARMILLA_SAMPLE_LABELS, texts)
    made = ffi.new("armilla_labels *")
    context.call(lib.armilla_labels_of_data, data.pointer, made)
    found[:] = np.frombuffer(ffi.buffer(made.values, found.nbytes), np.int64)
    if made.missing:
        found[found == made.classes - 1] = -1
    lib.armilla_labels_free(context.pointer, made)
    return found


class _Borrowed:
    """Memory of the library's, for NumPy: read-only, and alive as long as an array looks at it."""

    def __init__(self, pointer: Any, shape: tuple[int, ...], dtype: Any, owner: Any) -> None:
        self._owner = owner
        self.__array_interface__ = {
            "data": (int(ffi.cast("uintptr_t", pointer)), True),
            "shape": shape,
            "typestr": np.dtype(dtype).str,
            "version": 3,
        }


def borrowed(pointer: Any, shape: tuple[int, ...], dtype: Any, owner: Any) -> Optional[np.ndarray]:
    """A view of them; None for NULL."""
    if pointer == ffi.NULL:
        return None
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.asarray(_Borrowed(pointer, shape, dtype, owner))
