"""Parameters from the library's tables of options: names, defaults, ranges, help, and the C struct that they fill.

Nothing here lists an option: a row that the library gains is a parameter, with its check and its docstring.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import math
import operator
import re
import textwrap
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Mapping, Optional

import numpy as np

from ._library import Context, c_text, ffi, lib, reworded, text

#: How users of a plain function name a field that is a word of Python's.
PLAIN_NAMES = {"lambda": "lam", "sample_columns": "samples"}
#: How scikit-learn names what the library has under another name.
ESTIMATOR_NAMES = {
    **PLAIN_NAMES,
    "rank": "n_components",
    "start": "init",
    "seed": "random_state",
    "restarts": "n_restarts",
    "threads": "n_jobs",
    "overwrite": "overwrite",
}


#: Words of scikit-learn's for the library's, by field.
_OTHER_WORDS = {("start", "k-means++"): "kmeans++"}


@dataclass(frozen=True)
class Option:
    """A row of an option table."""

    row: Any
    name: str
    kind: int
    open: bool
    preset: Optional[str]
    low: float
    high: float
    automatic: Optional[str]
    placeholder: Optional[str]
    choices: tuple[str, ...]
    aliases: tuple[str, ...]
    group: Optional[str]

    @functools.cached_property
    def field(self) -> str:
        """As a member of the C struct."""
        return self.name.replace("-", "_")

    @property
    def is_flag(self) -> bool:
        return bool(self.kind == lib.ARMILLA_OPTION_FLAG)

    @property
    def is_word(self) -> bool:
        return bool(self.kind == lib.ARMILLA_OPTION_WORD)

    @property
    def is_number(self) -> bool:
        return self.kind in (lib.ARMILLA_OPTION_INTEGER, lib.ARMILLA_OPTION_SIZE)

    @property
    def is_word_or_number(self) -> bool:
        """Whether it takes some words, or a number: what else an open word stands for is a file."""
        return self.is_word and self.open and not (self.placeholder or "").endswith("FILE")

    def parameter(self, names: Mapping[str, str]) -> str:
        """Its name in Python."""
        name = names.get(self.field, self.field)
        return name + "_" if keyword.iskeyword(name) else name

    def help(self, names: Mapping[str, str]) -> str:
        return reworded(self.row.help, names)

    def default(self) -> Any:
        """The preset as a value of Python; None where there is none."""
        return self.value(self.preset)

    def value(self, typed: Optional[str]) -> Any:
        """What a user of the command has typed, as a value of Python; None stands for nothing, and for no limit."""
        if self.is_flag:
            return typed == "yes"
        if typed is None or typed == self.automatic == "none":
            return None
        if self.is_number:
            return int(typed)
        if self.is_word or self.kind == lib.ARMILLA_OPTION_TEXT:
            return typed
        try:
            return float(typed)
        except ValueError:
            return typed

    def typed(self, value: Any) -> str:
        """A value of Python as a user of the command would type it."""
        if isinstance(value, str):
            return _OTHER_WORDS.get((self.field, value), value)
        if self.automatic == "none" and value == math.inf:
            return self.automatic
        if self.is_number:
            return str(operator.index(value))
        return repr(float(value))


def _aliases(option: str) -> Iterator[str]:
    """Other names of the rows of the table that an option chooses from."""
    row = ffi.new("armilla_table_row *")
    for table in range(lib.ARMILLA_TABLE_COUNT):
        if text(lib.armilla_table_name(table)) == option:
            index = 0
            while lib.armilla_table_get(table, index, row):
                if text(row.alias):
                    yield text(row.alias) or ""
                index += 1


def _choices(row: Any) -> Iterator[str]:
    index = 0
    while row.choice != ffi.NULL and row.choice(index) != ffi.NULL:
        yield text(row.choice(index)) or ""
        index += 1


def _read(row: Any) -> Option:
    name = text(row.name) or ""
    return Option(
        row=row,
        name=name,
        kind=row.kind,
        open=row.open,
        preset=text(row.preset),
        low=row.low,
        high=row.high,
        automatic=text(row.automatic),
        placeholder=text(row.value),
        choices=tuple(_choices(row)),
        aliases=tuple(_aliases(name)) if row.resolve != ffi.NULL else (),
        group=text(row.group),
    )


def _table(row: Any) -> Iterator[Option]:
    while row.name != ffi.NULL:
        yield _read(row)
        row = lib.armilla_option_next(row)


FIT_OPTIONS: tuple[Option, ...] = tuple(_table(lib.armilla_option_table()))
#: Those of them that say how data are prepared.
PREPARATION: tuple[Option, ...] = tuple(option for option in FIT_OPTIONS if option.group == "preparation")
CLUSTER_OPTIONS: tuple[Option, ...] = tuple(_table(lib.armilla_cluster_option_table()))
NEIGHBOR_OPTIONS: tuple[Option, ...] = tuple(_table(lib.armilla_neighbors_option_table()))
#: The rows of each struct of options, by field.
_ROWS = {
    kind: {option.field: option for option in table}
    for kind, table in (
        ("armilla_options", FIT_OPTIONS),
        ("armilla_cluster_options", CLUSTER_OPTIONS),
        ("armilla_neighbors_options", NEIGHBOR_OPTIONS),
    )
}


def rows(table: int) -> list[dict[str, str]]:
    """A table of the library's: name, alias, meaning, use and sign of each row."""
    found: list[dict[str, str]] = []
    row = ffi.new("armilla_table_row *")
    while lib.armilla_table_get(table, len(found), row):
        found.append({name: text(getattr(row, name)) or "" for name in ("name", "alias", "meaning", "use", "sign")})
    return found


def _is_true(value: Any, name: str) -> bool:
    """A flag's value: only what is true or false, for a word such as 'no' would be true."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return bool(value)


class Options:
    """A C struct of options, with the texts that it borrows."""

    def __init__(self, kind: str = "armilla_options") -> None:
        self.struct = ffi.new(kind + " *")
        getattr(lib, kind + "_default")(self.struct)
        self._table = _ROWS[kind]
        self._texts: list[Any] = []

    def set(self, context: Context, values: Mapping[str, Any]) -> None:
        """Sets fields by the library's own parser; None leaves one as it is, and so does what it is."""
        for field, value in values.items():
            option = self._table[field]
            if value is None:
                continue
            if option.is_flag and not _is_true(value, option.parameter(context.hooks.names)):
                continue
            typed = "" if option.is_flag else option.typed(value)
            if typed == option.preset:
                continue
            self._texts.append(c_text(typed))
            context.ask(lib.armilla_option_set, option.row, self.struct, self._texts[-1])

    def keep(self, thing: Any) -> Any:
        """Something that the struct points to, and that must live as long."""
        self._texts.append(thing)
        return thing


def number_of(context: Context, field: str, value: Any) -> int:
    """A seed or a number of threads for a call without a row for it, checked by that of the fit; None is the default."""
    options = Options()
    options.set(context, {field: value})
    return int(getattr(options.struct, field))


def read(struct: Any, table: Iterable[Option]) -> dict[str, Any]:
    """The fields of a struct of options as values of Python; None where one is not set."""
    found = {}
    for option in table:
        value = getattr(struct, option.field)
        found[option.field] = text(value) if option.is_word else value or None if option.is_number else value
    return found


def unknown(given: Iterable[str], known: Iterable[str], function: str) -> TypeError:
    """As Python says it, with the nearest name."""
    name, known = sorted(set(given) - set(known))[0], sorted(known)
    ours = {parameter: field for field, parameter in ESTIMATOR_NAMES.items()}.get(name)
    near = ours if ours in known else min(known, key=lambda word: lib.armilla_word_distance(word.encode(), name.encode()))
    return TypeError(f"{function}() got an unexpected keyword argument '{name}'; did you mean '{near}'?")


def _kind_words(option: Option) -> str:
    """The type of a parameter as NumPy's docstrings say it."""
    words = {
        lib.ARMILLA_OPTION_FLAG: "bool",
        lib.ARMILLA_OPTION_INTEGER: "int",
        lib.ARMILLA_OPTION_SIZE: "int",
        lib.ARMILLA_OPTION_REAL: "float",
        lib.ARMILLA_OPTION_MULTIPLE: "float or str",
        lib.ARMILLA_OPTION_TEXT: "str",
    }
    if option.field == "seed":
        return "int, RandomState instance or None"
    if option.automatic:
        return "float" if option.automatic == "none" else f"{option.automatic!r} or float"
    if option.is_word:
        others = " or float" if option.is_word_or_number else " or str" if option.open else ""
        return "{" + ", ".join(map(repr, option.choices)) + "}" + others
    return words[option.kind]


def add_parameters(function: Any, table: Iterable[Option], place: str) -> None:
    """Rows of a table as keywords of the function, and as paragraphs of its docstring in place of that word."""
    table = tuple(table)
    own = inspect.signature(function)
    kept = [parameter for parameter in own.parameters.values() if parameter.kind != inspect.Parameter.VAR_KEYWORD]
    keywords = [
        inspect.Parameter(option.parameter(PLAIN_NAMES), inspect.Parameter.KEYWORD_ONLY, default=option.default())
        for option in table
    ]
    function.__signature__ = own.replace(parameters=kept + keywords)
    paragraphs = "\n".join(describe(option, PLAIN_NAMES, option.default()) for option in table)
    margin = re.search(rf"^ *(?={re.escape(place)})", function.__doc__ or "", re.MULTILINE)
    if margin is not None:  # python -OO has no docstrings
        function.__doc__ = function.__doc__.replace(margin[0] + place, textwrap.indent(paragraphs, margin[0]))


def describe(
    option: Option, names: Mapping[str, str], default: Any, words: Optional[str] = None, more: str = ""
) -> str:
    """The paragraph of a docstring for one parameter."""
    help_text = words or option.help(names)
    ending = f", default={default!r}"
    paragraph = textwrap.fill(help_text[0].upper() + help_text[1:] + "." + (" " + more if more else ""), 100)
    return f"{option.parameter(names)} : {_kind_words(option)}{ending}\n" + textwrap.indent(paragraph, "    ")
