"""The library's tables, as `armilla list` prints them."""

from __future__ import annotations

from ._library import lib, reworded, text
from ._options import ESTIMATOR_NAMES, rows


def tables() -> dict[str, list[dict[str, str]]]:
    """Sets, solvers, starts, formats and named models: what parameters can be, by the name of the table.

    Examples
    --------
    >>> import armilla
    >>> [row["name"] for row in armilla.tables()["solvers"]][:2]
    ['fast', 'palm']
    """
    found = {}
    for table in range(lib.ARMILLA_TABLE_COUNT):
        made = rows(table)
        for row in made:
            row["meaning"] = reworded(row["meaning"].encode(), ESTIMATOR_NAMES)
        found[text(lib.armilla_table_name(table)) or ""] = made
    return found
