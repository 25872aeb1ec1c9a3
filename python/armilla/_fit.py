"""The plain function `fit`: the command's names, defaults and bits; and what estimators share of it."""

from __future__ import annotations

import inspect
import os
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np

from ._data import Data, are_columns, as_array, is_path, names_of, wrap
from ._library import Context, TraceEntry, c_path, ffi, lib
from ._model import Model, load
from ._options import FIT_OPTIONS, PLAIN_NAMES, Options, add_parameters, unknown
from ._progress import progress_for
from ._ranks import together


#: The fields of the options by their parameters.
_FIELDS = {option.parameter(PLAIN_NAMES): option.field for option in FIT_OPTIONS}


def basis_of(start: Any, shape: tuple[int, int], name: str) -> np.ndarray:
    """The array to begin with that a user gave as the parameter `name`."""
    basis = as_array(start, np.float64, name)
    if basis.shape != shape:
        raise ValueError(f"{name} has shape {basis.shape}, but {shape} is needed")
    if not np.isfinite(basis).all():
        raise ValueError(f"{name} contains NaN or infinity")
    return basis


def _set_start(options: Options, start: Any, data: Data, name: str, comm: Any) -> None:
    """A model or a basis to begin with, instead of the word for a start."""
    rank = options.struct.rank
    if isinstance(start, Model):
        if (start.n_features, start.rank) != (data.features, rank):
            raise ValueError(
                f"the model given as {name} has {start.n_features} features and rank {start.rank}, "
                f"but {data.features} and {rank} are needed"
            )
        if start.n_samples == data.samples and (start.comm is None or comm is not None):
            options.struct.start_model = options.keep(start)._pointer
            return
        start = start.U
    basis = np.asfortranarray(basis_of(start, (data.features, rank), name))
    options.struct.start_basis = ffi.cast("double *", options.keep(basis).ctypes.data)


class Checkpoint:
    """The C struct that says where a fit writes its state and what it goes on from, with the texts that it borrows."""

    def __init__(self, path: Any, every: float, resume: Any) -> None:
        self.struct = ffi.new("armilla_checkpoint *")
        lib.armilla_checkpoint_default(self.struct)
        resumed = resume is not None and os.path.exists(resume)
        if path is not None and os.path.exists(path) and not (resumed and os.path.samefile(path, resume)):
            raise FileExistsError(17, "File exists; go on from it by resume=, or remove it", os.fspath(path))
        if resume is not None and not os.path.exists(resume):
            raise FileNotFoundError(2, "No such checkpoint; without resume= the fit begins at its beginning", os.fspath(resume))
        self._texts = [c_path(name) if name is not None else ffi.NULL for name in (path, resume)]
        self.struct.path, self.struct.resume = self._texts
        self.struct.every = every


def fit_data(
    context: Context,
    data: Data,
    values: Mapping[str, Any],
    before: Optional[Model] = None,
    checkpoint: Optional[Checkpoint] = None,
    comm: Any = None,
) -> Model:
    """A fit of the library: `values` by the names of its option table; `start` may be a model or an array.

    With a model `before` that one is continued on the data. `comm` is that of the ranks that the context has joined.
    """
    options = Options()
    start: Any = values.get("start")
    options.set(context, {**values, "start": os.fsdecode(start) if is_path(start) else None})
    name = context.hooks.names.get("start", "start")
    if is_path(start):
        start = _start_of_file(options, os.fsdecode(start), name)
    if start is not None:
        _set_start(options, start, data, name, comm)
    if context.hooks.callback is not None or context.hooks.progress is not None:
        options.struct.callback = lib.armilla_python_callback
        options.struct.callback_user = context.handle
    owned = context.own("armilla_model", lib.armilla_model_free)
    context.agree(last=True)
    if before is not None:
        context.call(lib.armilla_model_update, options.keep(before)._pointer, data.pointer, options.struct, owned.place, best=True)
    elif checkpoint is not None:
        context.call(lib.armilla_fit_checkpointed, data.pointer, options.struct, checkpoint.struct, owned.place, best=True)
    else:
        context.call(lib.armilla_fit, data.pointer, options.struct, owned.place, best=True)
    model = Model(owned, comm, data.own(context) if comm is not None else None)
    context.warn_if_interrupted()
    return model


def _start_of_file(options: Options, path: str, name: str) -> Any:
    """A start that is no row of the table is a file: a model, or an array with U."""
    option = next(option for option in FIT_OPTIONS if option.field == "start")
    words = option.choices
    if option.typed(path) in words:
        return None
    options.struct.start = ffi.NULL
    if not os.path.exists(path):
        raise ValueError(f"{name}={path!r} is no start ({', '.join(words)}) and no file")
    return np.load(path) if path.endswith(".npy") else load(path)


def fit(
    X: Any,
    rank: int,
    *,
    samples: str = "rows",
    feature_names: Optional[Sequence[str]] = None,
    sample_names: Optional[Sequence[str]] = None,
    callback: Optional[Callable[[TraceEntry], Any]] = None,
    verbose: int = 0,
    checkpoint: Any = None,
    checkpoint_every: float = 60,
    resume: Any = None,
    comm: Any = None,
    **options: Any,
) -> Model:
    """Fits X ≈ UV, as `armilla fit` does: the same bits for the same options.

    It says what the command says, too: negative data with a nonnegative basis and nonnegative codes are a RuntimeWarning
    here, and a ValueError of the estimators.

    Parameters
    ----------
    X : array, CSR or CSC matrix, data frame, or path of a file that `armilla fit` reads (not HDF5, .h5ad and .mat)
        One sample per row. C-order float32, float64, float16, uint8 and int8 arrays and CSR matrices are not copied;
        nor is a CSC matrix with one sample per column (``samples='columns'``). Everything else is converted once.
    rank : int
        Number of atoms.
    samples : {'rows', 'columns'}, default='rows'
        Whether a sample is a row of X, or a column as in the paper.
    feature_names : sequence of str, optional
        Names that the model keeps; those of a data frame where not given.
    sample_names : sequence of str, optional
        Names of the samples, which the model keeps; those of a data frame where not given.
    callback : callable, optional
        Called with a `TraceEntry` after the start and each iteration; true ends the fit.
    verbose : int, default=0
        1: a line of progress; 2: every iteration in the log.
    checkpoint : path, optional
        File for the state of the fit, written now and then, when the fit is interrupted, and at the end.
    checkpoint_every : float, default=60
        Seconds from one checkpoint to the next; 0: after every iteration.
    resume : path, optional
        Checkpoint of the same data and options to go on from; may be `checkpoint`. The model has the same bits.
    comm : communicator of mpi4py, optional
        Fit by all its ranks together, each of which calls this with the same X: the same bits. See `Model.gather`.
    {options}

    Returns
    -------
    Model

    Examples
    --------
    >>> import armilla
    >>> X, _ = armilla.datasets.load_digits(return_X_y=True)
    >>> model = armilla.fit(X, 10, model="spherical-nmf", seed=1)
    >>> bool((model.U >= 0).all())
    True
    """
    context = Context(PLAIN_NAMES, callback, progress_for(verbose, comm))
    if not options.keys() <= _FIELDS.keys():
        raise unknown(options, {*_FIELDS, *inspect.signature(fit).parameters}, "fit")
    by_columns = are_columns(samples)
    axes = ("index", "columns") if by_columns else ("columns", "index")
    values = {"rank": rank, **{_FIELDS[name]: value for name, value in options.items()}}
    with together(context, comm):
        data = wrap(context, X, by_columns)
        for kind, names, axis in zip((lib.ARMILLA_FEATURE_NAMES, lib.ARMILLA_SAMPLE_NAMES), (feature_names, sample_names), axes):
            data.name(context, kind, names if names is not None else names_of(X, axis))
        saved = Checkpoint(checkpoint, checkpoint_every, resume) if checkpoint is not None or resume is not None else None
        return fit_data(context, data, values, checkpoint=saved, comm=comm)


add_parameters(fit, (option for option in FIT_OPTIONS if option.field != "rank"), "{options}")
