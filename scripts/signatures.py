"""Prints python/armilla/_signatures.pyi: constructors of the estimators for type checkers, from the library's option table.

    PYTHONPATH=build/python scripts/signatures.py >python/armilla/_signatures.pyi      (a test compares the two)
"""

import armilla
from armilla._options import CLUSTER_OPTIONS, FIT_OPTIONS
from armilla._sklearn import OWN_PARAMETERS

HEAD = '''"""Constructors of the estimators, for type checkers. Written by scripts/signatures.py; a test compares them."""

from typing import Any, Callable, Optional, Union

from ._library import TraceEntry
'''
OWN = {"warm_start": "bool", "callback": "Optional[Callable[[TraceEntry], Any]]", "verbose": "int"}
ODD = {"seed": "Any", "start": "Any", "threads": "Optional[int]", "total": "Union[str, float, None]"}


def kind_of(option, default, rules):
    """The type of a parameter: what its row takes, and what else its constraints allow."""
    if option.field in ODD:
        return ODD[option.field]
    if option.is_flag:
        return "bool"
    kinds = ["int"] if option.is_number else ["str"] if option.is_word else ["float"]
    if not (option.is_word or option.is_number) and (option.automatic or isinstance(default, str)):
        kinds.append("str")
    words = any(type(rule).__name__ == "StrOptions" for rule in rules)
    kinds += ["str"] if words and "str" not in kinds else []
    kind = f"Union[{', '.join(kinds)}]" if len(kinds) > 1 else kinds[0]
    return f"Optional[{kind}]" if None in rules else kind


def signature(make):
    """A class that has nothing but the constructor of an estimator."""
    rows = {option.parameter(make._names): option for option in (*FIT_OPTIONS, *CLUSTER_OPTIONS)}
    defaults = make().get_params()
    order = list(make.__init__.__code__.co_varnames[1 : 1 + len(defaults)])
    kinds = {}
    for name in order:
        kinds[name] = OWN[name] if name in OWN_PARAMETERS else kind_of(rows[name], defaults[name], make._parameter_constraints[name])
    lines = [f"class {make.__name__}Signature:", "    def __init__(", "        self,"]
    for place, name in enumerate(order):
        lines += [f"        {name}: {kinds[name]} = {defaults[name]!r},"] + (["        *,"] if place == 0 else [])
    return "\n".join([*lines, "    ) -> None: ..."]) + "\n"


def signatures():
    estimators = [armilla.SphericalFactorization, armilla.SphericalPCA, armilla.SphericalNMF, armilla.SphericalKMeans, armilla.AutoCluster]
    return "\n\n".join([HEAD, *map(signature, estimators)])


if __name__ == "__main__":
    print(signatures(), end="")
