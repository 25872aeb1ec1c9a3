"""Clusters of a model's codes by the library."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from ._data import borrowed
from ._library import Context, as_dict, ffi, lib
from ._options import CLUSTER_OPTIONS, Options, number_of, unknown

if TYPE_CHECKING:
    from ._model import Model


def _structure(context: Context, data: Any, model: Model, options: Options) -> dict[str, Any]:
    """Whether the samples form groups at all, with the figures."""
    found = ffi.new("armilla_structure *")
    context.call(lib.armilla_structure_of_model, data.pointer, model._pointer, options.struct, found, best=True)
    return as_dict("armilla_structure", found)


def cluster_codes(
    model: Model,
    options: Mapping[str, Any],
    names: Mapping[str, str],
    progress: Any = None,
    interrupted: bool = False,
    data: Any = None,
    keep: bool = False,
) -> SimpleNamespace:
    """Clusters of a model's codes, and of the data they are codes of where these are given: labels, sizes and the summary;
    `interrupted`: those that are found at once. `keep`: the model keeps them."""
    model._need_all()
    context = Context(names, progress=progress)
    struct = Options("armilla_cluster_options")
    known = {option.field for option in CLUSTER_OPTIONS}
    given = {"cluster_iter" if field == "max_iter" else field: value for field, value in options.items()}
    fields = {field: value for field, value in given.items() if field not in ("seed", "threads")}
    if set(fields) - known:
        raise unknown(fields, (known - {"cluster_iter"}) | {"max_iter", "seed", "threads"}, "cluster")
    struct.set(context, fields)
    for field in ("seed", "threads"):
        setattr(struct.struct, field, number_of(context, field, given.get(field)))
    found = context.own("armilla_clustering", lib.armilla_clustering_free)
    context.hooks.interrupted = interrupted
    if data is None:
        context.call(lib.armilla_cluster_model, model._pointer, struct.struct, found.place, best=True)
    else:
        context.call(lib.armilla_cluster_fitted, data.pointer, model._pointer, struct.struct, found.place, best=True)
    if keep:
        Context(names).call(lib.armilla_model_keep_clusters, model._pointer, found.pointer)
    summary = ffi.new("armilla_cluster_summary *")
    lib.armilla_clustering_summarize(found.pointer, summary)
    if not interrupted:
        context.warn_if_interrupted()
    result = SimpleNamespace(**as_dict("armilla_cluster_summary", summary))
    labels = borrowed(lib.armilla_clustering_labels(found.pointer), (summary.n,), np.int64, found)
    result.labels = np.array(labels)
    result.structure = None if data is None else _structure(context, data, model, struct)
    result.numbers = []
    for index in range(lib.armilla_clustering_numbers(found.pointer)):
        number = ffi.new("armilla_cluster_number *")
        lib.armilla_clustering_number(found.pointer, index, number)
        result.numbers.append(as_dict("armilla_cluster_number", number))
    return result
