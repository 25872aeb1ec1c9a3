"""Factorizations of AnnData, kept where scanpy's users look for them."""

from __future__ import annotations

import operator
from typing import Any, Optional

import numpy as np

from ._clustering import cluster_codes
from ._clusters import AutoCluster
from ._data import as_matrix
from ._factorization import needs_positive
from ._fit import fit
from ._model import Model
from ._options import FIT_OPTIONS, PLAIN_NAMES
from ._sklearn import check_non_negative_data

__all__ = ["factorize", "cluster"]

_CLUSTER_NAMES = {**PLAIN_NAMES, "k": "n_clusters"}


def _matrix(adata: Any, layer: Optional[str]) -> Any:
    if not hasattr(adata, "obsm"):
        raise TypeError(f"an AnnData is needed, not {type(adata).__name__}; armilla.fit takes arrays")
    if layer is not None:
        if layer not in adata.layers:
            raise ValueError(f"layer={layer!r} is not in adata.layers; there are: {', '.join(map(repr, adata.layers)) or 'none'}")
        return adata.layers[layer]
    if adata.X is None:
        raise ValueError(f"adata.X is None; give a layer: {', '.join(map(repr, adata.layers)) or 'there is none'}")
    if adata.isbacked:
        raise ValueError("adata.X is in a file (backed mode); read it first: adata = adata.to_memory()")
    return adata.X


def factorize(
    adata: Any,
    rank: int,
    layer: Optional[str] = None,
    key: str = "X_armilla",
    *,
    n_clusters: Optional[int] = None,
    clusters_key: str = "armilla",
    copy: bool = False,
    **options: Any,
) -> Any:
    """Factorizes the cells of an AnnData, and writes the result into it.

    Parameters
    ----------
    adata : anndata.AnnData
        Cells × genes. CSR and C-order matrices are not copied.
    rank : int
        Number of atoms.
    layer : str, optional
        The layer to fit instead of ``adata.X``.
    key : str, default='X_armilla'
        Where the result goes: codes to ``adata.obsm[key]``, atoms to ``adata.varm[key]``, everything else (radius,
        trace, options as ``params``, error) to ``adata.uns[key]``.
    n_clusters : int, optional
        Also cluster the codes, into ``adata.obs[clusters_key]`` (a categorical, as scanpy has it).
    clusters_key : str, default='armilla'
    copy : bool, default=False
        Write into a copy, which is returned.
    **options
        Those of :func:`armilla.fit`, such as ``model='spherical-nmf'``, ``log1p=True``, ``normalize='l2'``, ``seed=0``.

    Returns
    -------
    Model, or AnnData with ``copy=True``

    Raises
    ------
    ValueError
        Where atoms and codes are nonnegative but the data are not, as the estimators do (scaled data often have
        negative entries: give the layer of the counts). :func:`armilla.fit` only warns.

    Examples
    --------
    >>> import numpy as np, anndata
    >>> import armilla.anndata
    >>> adata = anndata.AnnData(np.random.default_rng(0).poisson(1.0, (60, 12)).astype(np.float32))
    >>> model = armilla.anndata.factorize(adata, 4, log1p=True, normalize="l2", n_clusters=3)
    >>> adata.obsm["X_armilla"].shape, adata.varm["X_armilla"].shape
    ((60, 4), (12, 4))
    """
    X = _matrix(adata, layer)
    if "samples" in options:
        raise TypeError("factorize() got an unexpected keyword argument 'samples': cells are the rows of an AnnData")
    if n_clusters is not None and not 1 <= operator.index(n_clusters) <= X.shape[0]:
        raise ValueError(f"n_clusters={n_clusters} is not between 1 and n_samples={X.shape[0]}")
    if needs_positive(options):
        check_non_negative_data(as_matrix(X), f"factorize ({'adata.X' if layer is None else f'layer {layer!r}'})")
    adata = adata.copy() if copy else adata
    model = fit(
        X,
        rank,
        feature_names=list(map(str, adata.var_names)),
        sample_names=list(map(str, adata.obs_names)),
        **options,
    )
    _write(adata, model, key, layer)
    if n_clusters is not None:
        values = {"k": n_clusters, "seed": options.get("seed", 0), "threads": options.get("threads")}
        _write_clusters(adata, clusters_key, cluster_codes(model, values, _CLUSTER_NAMES).labels, {"n_clusters": n_clusters, "from": key})
    return adata if copy else model


def cluster(adata: Any, n_clusters: Optional[int] = None, layer: Optional[str] = None, key: str = "armilla", **parameters: Any) -> AutoCluster:
    """Clusters cells by the recipe of `armilla cluster`, into ``adata.obs[key]``.

    Parameters
    ----------
    adata : anndata.AnnData
    n_clusters : int, optional
        As many as the cells say where it is not given.
    layer : str, optional
    key : str, default='armilla'
        Where the result goes: labels to ``adata.obs[key]`` (a categorical, as scanpy has it), what was chosen to
        ``adata.uns[key]``.
    **parameters
        Those of :class:`armilla.AutoCluster`.

    Returns
    -------
    AutoCluster
        Fitted.
    """
    found = AutoCluster(n_clusters, **parameters).fit(_matrix(adata, layer))
    _write_clusters(adata, key, found.labels_, {"n_clusters": int(found.cluster_centers_.shape[0]), **found.recipe_})
    return found


def _params(model: Model) -> dict[str, Any]:
    """The options of the fit as `fit` takes them; h5ad files have no place for None."""
    typed = model.options
    values = {option.parameter(PLAIN_NAMES): option.value(typed.get(option.name)) for option in FIT_OPTIONS}
    return {name: value for name, value in values.items() if value is not None}


def _write(adata: Any, model: Model, key: str, layer: Optional[str]) -> None:
    adata.obsm[key] = np.array(model.codes)
    adata.varm[key] = np.array(model.U)
    trace = model.trace
    adata.uns[key] = {
        "radius": model.radius,
        "relative_error": model.info["relative_error"],
        "objective": model.info["objective"],
        "stop": model.info["stop"],
        "params": _params(model),
        "layer": layer or "X",
        "trace": {name: np.array(trace[name]) for name in trace.dtype.names},
    }


def _write_clusters(adata: Any, key: str, labels: np.ndarray, how: dict[str, Any]) -> None:
    import pandas

    names = [str(k) for k in range(int(labels.max()) + 1)]
    adata.obs[key] = pandas.Categorical.from_codes(labels, names)
    adata.uns[key] = {"params": {name: value for name, value in how.items() if value is not None}}
