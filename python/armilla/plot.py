"""Pictures by Matplotlib: convergence, the sphere, atoms, clusters. Each function draws into axes and returns them."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from ._data import label_classes
from ._model import Model, model_of

__all__ = ["atoms", "clusters", "convergence", "sphere"]

#: More kinds of labels than this are not listed beside a picture.
_LEGEND = 20
#: What the class of missing labels is called, here and in pictures of the command.
_MISSING = "(missing)"


def _axes(ax: Any, **options: Any) -> Any:
    import matplotlib.pyplot as plt

    return ax if ax is not None else plt.figure(figsize=(5, 4), layout="constrained").add_subplot(**options)


def _kinds(labels: Any, count: int) -> list[tuple[str, np.ndarray]]:
    """Names of the classes, each with the samples that have it, in the library's order of labels, or in their own where
    they are an ordered categorical. Missing labels are one class, the last."""
    import pandas

    if len(labels) != count:
        raise ValueError(f"labels has {len(labels)} entries, but there are {count} samples")
    kinds = pandas.Categorical(labels)
    names = [str(name) for name in kinds.categories]
    classes = np.append(label_classes(names), -1)  # the last is that of missing values, whose code is -1
    if kinds.ordered:
        classes[:-1] = np.where(classes[:-1] < 0, -1, np.arange(len(names)))
    found = classes[kinds.codes]
    called = {number: name for number, name in zip(classes, names) if number >= 0}
    called[-1] = _MISSING
    return [(called[number], np.flatnonzero(found == number)) for number in [*range(len(names)), -1] if (found == number).any()]


def _scatter(ax: Any, points: np.ndarray, labels: Any, size: int) -> None:
    """Points with a colour for each kind of label, and what it stands for."""
    if labels is None:
        ax.scatter(*points.T, s=size)
        return
    import matplotlib.pyplot as plt

    kinds = _kinds(labels, len(points))
    colours = plt.get_cmap("tab10" if len(kinds) <= 10 else "tab20")
    for k, (name, samples) in enumerate(kinds):
        ax.scatter(*points[samples].T, s=size, color=[colours(k % colours.N)], label=name)
    if len(kinds) <= _LEGEND:
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if len(kinds) > 6 else {}
        ax.legend(title=getattr(labels, "name", None), frameon=False, fontsize=8, **place)


def convergence(*models: Any, labels: Optional[Sequence[str]] = None, by: str = "iteration", ax: Any = None) -> Any:
    """The relative error after each iteration.

    Parameters
    ----------
    *models : Model or fitted estimator
    labels : sequence of str, optional
        One for each model.
    by : {'iteration', 'seconds'}, default='iteration'
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    if by not in ("iteration", "seconds"):
        raise ValueError(f"by={by!r} is neither 'iteration' nor 'seconds'")
    if labels is not None and len(labels) != len(models):
        raise ValueError(f"labels has {len(labels)} entries, but there are {len(models)} models")
    found = [model_of(thing) for thing in models]
    ax = _axes(ax)
    for k, model in enumerate(found):
        name = labels[k] if labels is not None else model.info["model"] or f"{model.info['basis']} × {model.info['codes']}"
        trace = model.trace
        ax.plot(trace[by], trace["relative_error"], marker="." if len(trace) < 60 else None, label=name)
    ax.set_xlabel(by)
    ax.set_ylabel("relative error")
    if found:
        ax.legend(frameon=False)
    return ax


def sphere(thing: Any, labels: Any = None, *, components: Sequence[int] = (0, 1, 2), ax: Any = None) -> Any:
    """Codes on their sphere, in three components, or on the circle where the rank is 2.

    Parameters
    ----------
    thing : Model or fitted estimator
    labels : array of numbers or texts, categorical or None
        Colours: a class or cluster for each sample, listed in a legend: by number where all are numbers, otherwise by
        text, as the command orders them; an ordered categorical by its categories. Missing ones come last.
    components : sequence of int, default=(0, 1, 2)
    ax : matplotlib axes, optional
        In three dimensions where three components are drawn.

    Returns
    -------
    matplotlib axes
    """
    model = model_of(thing)
    if not np.isfinite(model.radius):
        raise ValueError(f"codes={model.info['codes']!r} are not on a sphere and have no radius; draw a model whose codes are")
    shown = [k for k in components if k < model.rank]
    radius = model.radius
    codes = np.asarray(model.codes)[:, shown]
    if len(shown) < 2:
        raise ValueError(f"a model of rank {model.rank} has no two components to draw")
    if len(shown) == 2:
        ax = _axes(ax)
        angle = np.linspace(0, 2 * np.pi, 200)
        ax.plot(radius * np.cos(angle), radius * np.sin(angle), color="0.8", zorder=0)
        ax.set_aspect("equal")
    else:
        ax = _axes(ax, projection="3d")
        around, up = np.meshgrid(np.linspace(0, 2 * np.pi, 25), np.linspace(0, np.pi, 13), indexing="ij")
        ax.plot_wireframe(
            radius * np.cos(around) * np.sin(up), radius * np.sin(around) * np.sin(up), radius * np.cos(up), color="0.85", linewidth=0.5
        )
        ax.set_box_aspect((1, 1, 1), zoom=0.8)  # or the label of the third axis is beyond the edge
        for axis in "xyz":
            ax.locator_params(axis, nbins=4)
        ax.tick_params(labelsize=8)
        ax.set_zlabel(f"code {shown[2]}")
    _scatter(ax, codes, labels, 12)
    ax.set_xlabel(f"code {shown[0]}")
    ax.set_ylabel(f"code {shown[1]}")
    return ax


def atoms(thing: Any, shape: Optional[tuple[int, int]] = None, *, columns: int = 5, count: int = 8, feature_names: Optional[Sequence[str]] = None) -> Any:
    """The atoms: as images where `shape` is given, else as bars of their heaviest features.

    Parameters
    ----------
    thing : Model or fitted estimator
    shape : (height, width), optional
        Of an image.
    columns : int, default=5
        Atoms side by side.
    count : int, default=8
        Bars for each atom.
    feature_names : sequence of str, optional

    Returns
    -------
    matplotlib figure
    """
    import matplotlib.pyplot as plt

    model = model_of(thing)
    columns = min(columns, model.rank)
    lines = -(-model.rank // columns)
    size = (1.4 * columns, 1.4 * lines) if shape is not None else (2.4 * columns, 2.4 * lines)
    figure, places = plt.subplots(lines, columns, figsize=size, squeeze=False, layout="constrained")
    tops = model.top_features(count, feature_names) if shape is None else None
    for k, ax in enumerate(places.flat):
        if k >= model.rank:
            ax.axis("off")
            continue
        if shape is not None:
            atom = np.asarray(model.components[k]).reshape(shape)
            signed = atom.min() < 0
            limit = np.abs(atom).max() or 1.0
            ax.imshow(atom, cmap="RdBu_r" if signed else "gray_r", vmin=-limit if signed else 0, vmax=limit)
            ax.set_xticks([])
            ax.set_yticks([])
        elif tops is not None:
            names, weights = zip(*reversed(tops[k]))
            ax.barh(range(len(names)), weights, color="0.4")
            ax.set_yticks(range(len(names)), [str(name) for name in names], fontsize=7)
            ax.tick_params(axis="x", labelsize=6)
        ax.set_title(f"atom {k}", fontsize=8)
    return figure


def clusters(thing: Any, labels: Any = None, *, X: Any = None, ax: Any = None) -> Any:
    """Samples in the plane of the two leading directions of their codes, coloured by cluster.

    Parameters
    ----------
    thing : Model or fitted estimator
    labels : array of numbers or texts, categorical or None
        A class or cluster for each sample, listed in a legend as `sphere` lists them; those of the estimator where not
        given.
    X : array of shape (n_samples, n_features), optional
        Draw the directions of these samples instead of codes, which for k-means say no more than the cluster.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    model = model_of(thing)
    labels = getattr(thing, "labels_", None) if labels is None else labels
    if X is not None:
        codes = np.asarray(X, dtype=np.float64)
        codes = codes / np.maximum(np.linalg.norm(codes, axis=1, keepdims=True), np.finfo(float).tiny)
    else:
        codes = np.asarray(model.codes, dtype=np.float64)
    codes = codes - codes.mean(axis=0)
    left, sizes, _ = np.linalg.svd(codes, full_matrices=False)
    plane = (left * sizes)[:, :2]
    if plane.shape[1] < 2:
        plane = np.column_stack([plane, np.zeros(len(plane))])
    ax = _axes(ax)
    _scatter(ax, plane, labels, 10)
    what = "codes" if X is None else "samples"
    ax.set_xlabel(f"{what} along their first principal direction")
    ax.set_ylabel("along the second")
    return ax
