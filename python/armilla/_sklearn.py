"""What differs between versions of scikit-learn, and what estimators are made of: constructor, constraints, docstring.

scikit-learn reads an estimator's parameters off the signature of its constructor. The parameters are rows of the
library's option table, so the constructor is written from it when the package is imported, as `dataclasses` does.
"""

from __future__ import annotations

import numbers
import os
from typing import Any, Iterable, Mapping, Optional

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.validation import assert_all_finite, check_is_fitted

from ._data import DTYPES, note_copy, refuse_anndata
from ._library import lib
from ._model import Model
from ._options import ESTIMATOR_NAMES, FIT_OPTIONS, Option, describe

try:
    from sklearn.utils.validation import validate_data as _validate_data

    _FINITE = "ensure_all_finite"
except ImportError:  # before scikit-learn 1.6

    def _validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        return estimator._validate_data(X, **options)

    _FINITE = "force_all_finite"

__all__ = ["ArmillaEstimator", "check_is_fitted", "check_non_negative_data"]


def validate(estimator: Any, X: Any, *, reset: bool, **options: Any) -> Any:
    """X as an array or CSR matrix that the library can borrow, checked as scikit-learn checks it.

    Whether all numbers are finite is seen by the library's first look at the data; `finite` says it in scikit-learn's
    words where it fails, so that nothing is read twice.
    """
    refuse_anndata(X)
    was = X
    if isinstance(getattr(X, "dtype", None), np.dtype) and not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))  # or scikit-learn would make float32 float64
    X = _validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        accept_large_sparse=True,
        dtype=DTYPES,
        order=None,
        **{_FINITE: False},
        **options,
    )
    what = _conversion(was, X)
    if what:
        note_copy(what, bool(estimator.verbose))
    return X


def _conversion(was: Any, now: Any) -> str:
    """What scikit-learn has converted, in words."""
    kinds = [getattr(form, "format", None) for form in (was, now)]
    if kinds[0] != kinds[1]:
        return f"{kinds[0] or type(was).__name__} becomes {kinds[1] or 'an array'}"
    if hasattr(was, "dtypes"):
        return "" if all(dtype == now.dtype for dtype in was.dtypes) else f"a data frame becomes {now.dtype} numbers"
    if not hasattr(was, "dtype"):
        return f"{type(was).__name__} becomes an array"
    return "" if was.dtype == now.dtype else f"{was.dtype} numbers become {now.dtype}"


def finite(estimator: Any, X: Any) -> None:
    """Raises what scikit-learn says of NaN and infinity; returns where there are none."""
    assert_all_finite(X.data if hasattr(X, "indptr") else X, estimator_name=type(estimator).__name__, input_name="X")


def check_non_negative_data(X: Any, whom: str) -> None:
    """As scikit-learn's NMF says it; NaN is left to `finite`."""
    values = X.data if hasattr(X, "indptr") else X
    if values.dtype.kind != "u" and values.size and np.min(values) < 0:
        raise ValueError(f"Negative values in data passed to {whom}")


def threads_of(n_jobs: Optional[int]) -> Optional[int]:
    """n_jobs as scikit-learn means it, as a number for the library: None is all cores.

    None is all cores too, unless OMP_NUM_THREADS says fewer, as joblib sets it for its workers. No result depends on it.
    """
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning; give a positive number, -1 for all cores, or None")
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if n_jobs is not None:
        return max(1, cores + 1 + int(n_jobs))
    said = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(int(said), cores) or None if said.isdecimal() else None


def seed_of(random_state: Any) -> int:
    """The library's seed: a number is that seed, as for the command; anything else draws one."""
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def constraints_of(option: Option) -> list[Any]:
    """The values that a parameter may have, in scikit-learn's words."""
    high = None if option.high >= 9e18 else option.high
    if option.field == "seed":
        return ["random_state"]
    if option.field == "threads":
        return [numbers.Integral, None]
    if option.field == "start":
        return [str, bytes, os.PathLike, "array-like", Model, None]
    if option.is_flag:
        return [bool, np.bool_]  # scikit-learn's "boolean" warns of numbers before the library refuses them
    allowed: list[Any] = [] if option.default() is not None or option.field == "rank" else [None]
    if option.is_number:
        whole = None if high is None else int(high)
        return allowed + [Interval(numbers.Integral, int(option.low), whole, closed="left" if high is None else "both")]
    words = [] if option.automatic is None else [StrOptions({option.automatic})]
    if option.kind == lib.ARMILLA_OPTION_REAL:
        return allowed + [Interval(numbers.Real, option.low, high, closed="left" if high is None else "both"), *words]
    if option.kind == lib.ARMILLA_OPTION_POSITIVE:
        endless = option.automatic == "none"
        return allowed + [Interval(numbers.Real, 0, np.inf if endless else None, closed="right" if endless else "neither"), *words]
    if option.kind == lib.ARMILLA_OPTION_MULTIPLE or option.is_word_or_number:
        return allowed + [Interval(numbers.Real, 0, None, closed="neither"), str]
    if option.is_word and not option.open:
        return allowed + [StrOptions(set(option.choices + option.aliases))]
    return allowed + [str]


#: Parameters that no option of the library is: name, default, constraints, docstring.
OWN_PARAMETERS: dict[str, tuple[Any, list[Any], str]] = {
    "warm_start": (False, ["boolean"], "warm_start : bool, default=False\n    Begin with the result of the fit before, where there is one."),
    "callback": (None, [callable, None], "callback : callable, default=None\n    Called with an `armilla.TraceEntry` after the start and each iteration; true ends the fit."),
    "verbose": (0, ["verbose"], "verbose : int, default=0\n    1: a line of progress on standard error; 2: every iteration in the log `armilla`."),
}

#: What the option table says for the command, and scikit-learn's users should know besides.
_MORE = {
    "seed": "A number is the seed of the command, and gives the same bits. None draws one from NumPy's global state.",
    "threads": "None and -1: the cores this process may use, unless OMP_NUM_THREADS says fewer.",
    "model": "Then the defaults of `basis`, `codes` and `normalize` give way to it; others that are not what it stands for are an error.",
}

#: What a parameter means, where the option table says it for the command.
_WORDS = {
    "rank": "Number of atoms, and so of coefficients of a code",
    "sparsity": "Most nonzero coefficients of a code, 1 to n_components; for the sparse code sets",
    "radius": "Radius of the sphere; 'auto': learned, a number: kept",
    "solver": "The algorithm: 'fast', or for comparison 'palm' (the paper's) or 'mu' (multiplicative updates); 'online' for very many samples",
    "seed": "Of all random numbers",
    "start": "The name of a start, or where to begin: a file with a model or (.npy) with U, a model, or an array of shape (n_components, n_features); None: by basis and codes",
    "basis": "What the atoms may be",
    "codes": "What the code of a sample may be",
    "normalize": "Scale every sample to length 1, on the fly",
    "batch": "Samples of a block of solver='online' and of partial_fit; None: by the data and n_components",
}


def constructor(defaults: Mapping[str, Any]) -> Any:
    """``def __init__(self, first, *, others)`` that keeps each parameter under its own name."""
    first, *others = defaults
    names = ", ".join([f"{first}=defaults[{first!r}]", "*", *(f"{name}=defaults[{name!r}]" for name in others)])
    body = "\n".join(f"    self.{name} = {name}" for name in defaults)
    place: dict[str, Any] = {"defaults": dict(defaults)}
    exec(f"def __init__(self, {names}):\n{body}\n", place)  # noqa: S102
    return place["__init__"]


def estimator(
    names: Mapping[str, str] = ESTIMATOR_NAMES,
    without: Iterable[str] = (),
    defaults: Mapping[str, Any] = {},
    lead: Iterable[Option] = (),
    own: Mapping[str, tuple[Any, list[Any], str]] = OWN_PARAMETERS,
    words: Mapping[str, str] = {},
) -> Any:
    """A class decorator: the constructor, its constraints and the parameters in its docstring from the option table.

    `names` are those of parameters by the library's fields, `without` fields that the class has decided, `defaults`
    other defaults by parameter, `lead` rows of another table that come first, `own` parameters that are no options,
    `words` what a field means to the class where that differs from what it means to the library.
    """

    def make(cls: Any) -> Any:
        of_fit = [option for option in FIT_OPTIONS if option.field not in without]
        options = [*lead, *of_fit]
        cls._fields = {option.parameter(names): option.field for option in of_fit}
        cls._names = dict(names)
        preset = {**defaults, names["seed"]: None}
        values = {option.parameter(names): preset.get(option.parameter(names), option.default()) for option in options}
        values.update({name: defaults.get(name, row[0]) for name, row in own.items()})
        cls._parameter_constraints = {option.parameter(names): constraints_of(option) for option in options}
        for name, value in values.items():
            # A parameter that is left out may be left out by name, too.
            allowed = cls._parameter_constraints.get(name, [None])
            if value is None and None not in allowed and allowed != ["random_state"]:
                allowed.append(None)
        cls._parameter_constraints.update({name: row[1] for name, row in own.items()})
        cls._presets, made = values, constructor(values)
        made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
        cls.__init__ = made
        said = {**_WORDS, **words}
        paragraphs = [
            describe(option, names, values[option.parameter(names)], said.get(option.field), _MORE.get(option.field, ""))
            for option in options
        ]
        text = "\n".join(paragraphs + [row[2] for row in own.values()])
        indented = "\n".join("    " + line if line else "" for line in text.splitlines()).strip()
        cls.__doc__ = (cls.__doc__ or "").replace("{parameters}", indented)
        return cls

    return make


class Tags:
    """What scikit-learn is told about an estimator: the first base class, so that no mixin has the last word."""

    def _more_tags(self) -> dict[str, Any]:
        return {
            "preserves_dtype": [np.float64, np.float32],
            "requires_positive_X": self._positive(),  # type: ignore[attr-defined]
        }

    def __sklearn_tags__(self) -> Any:  # scikit-learn 1.6 and later
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._positive()  # type: ignore[attr-defined]
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class ArmillaEstimator(BaseEstimator):
    """What all estimators share: parameters to options, the library's errors in scikit-learn's words."""

    _fields: Mapping[str, str]
    _names: Mapping[str, str]
    _presets: Mapping[str, Any]
    model_: Model

    def _values(self) -> dict[str, Any]:
        """The parameters by the library's names."""
        found = {field: getattr(self, name) for name, field in self._fields.items()}
        found["seed"] = seed_of(found["seed"])
        found["threads"] = threads_of(found["threads"])
        return found

    def _check(self) -> None:
        """As scikit-learn's own, but without parameters that are as the class has them, which takes longer than small fits do."""
        given = {name: value for name, value in self.__dict__.items() if self._is_given(name, value)}
        validate_parameter_constraints(self._parameter_constraints, given, caller_name=type(self).__name__)

    def _is_given(self, name: str, value: Any) -> bool:
        return name in self._parameter_constraints and value is not self._presets.get(name, self)

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def _positive(self) -> bool:
        """Whether X must not have negative entries."""
        return False

    @property
    def _fitted_model(self) -> Model:
        """The model, for attributes: what is not fitted does not have them."""
        try:
            found: Model = self.__dict__["model_"]
        except KeyError:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first") from None
        return found
