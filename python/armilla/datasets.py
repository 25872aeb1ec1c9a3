"""Small data sets: those of scikit-learn that the command has too, the paper's cones, and MNIST where it was fetched."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Optional

import numpy as np
import scipy.sparse
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.utils import Bunch, check_random_state

__all__ = ["load_cones", "load_digits", "load_iris", "load_mnist", "load_wine", "make_topics"]


def load_cones(n_samples: int = 200, *, random_state: Any = 0, return_X_y: bool = False) -> Any:
    """Two groups of points that directions tell apart and distances do not (the paper's first experiment).

    Radii span a factor of ten, while the mean directions of the groups are some 35 degrees apart.

    Parameters
    ----------
    n_samples : int, default=200
    random_state : int, RandomState instance or None, default=0
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch with `data` of shape (n_samples, 3), `target` and `feature_names`

    Examples
    --------
    >>> from armilla.datasets import load_cones
    >>> load_cones().data.shape
    (200, 3)
    """
    random = check_random_state(random_state)
    target = (np.arange(n_samples) >= n_samples // 2).astype(np.int64)
    tilt = np.radians(random.uniform(5, 45, n_samples))
    turn = np.radians(random.uniform(-5, 5, n_samples))
    radius = random.uniform(1, 10, n_samples)
    along, across = np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn)
    data = radius[:, None] * np.column_stack(
        [np.where(target == 0, along, across), np.where(target == 0, across, along), np.cos(tilt)]
    )
    return (data, target) if return_X_y else Bunch(data=data, target=target, feature_names=["x", "y", "z"])


def make_topics(n_samples: int = 600, *, random_state: Any = 0) -> Bunch:
    """Short texts about six subjects as counts of words: a stand-in for a corpus where none can be downloaded.

    Parameters
    ----------
    n_samples : int, default=600
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    Bunch with `data` (CSR counts), `target`, `target_names` and `feature_names`
    """
    random = check_random_state(random_state)
    subjects = {
        "space": "orbit launch rocket moon satellite shuttle telescope planet mission astronaut",
        "hockey": "game team season player goal coach ice score league puck",
        "medicine": "patient doctor disease treatment blood clinic drug dose symptom therapy",
        "cars": "engine wheel brake clutch tyre driver road fuel garage gear",
        "music": "melody chord guitar concert rhythm piano singer album band tempo",
        "kitchen": "recipe oven butter flour sugar pepper onion boil taste spoon",
    }
    common = "people time year good new first work said thing made day way part long great".split()
    words = [word for text in subjects.values() for word in text.split()] + common
    weights = np.full((len(subjects), len(words)), 0.02)
    for k in range(len(subjects)):
        weights[k, 10 * k : 10 * k + 10] = random.dirichlet(np.full(10, 2.0)) * 10
    weights[:, -len(common) :] = random.dirichlet(np.full(len(common), 2.0)) * 8
    weights /= weights.sum(axis=1, keepdims=True)
    target = random.randint(len(subjects), size=n_samples)
    lengths = np.exp(random.uniform(np.log(10), np.log(300), n_samples)).astype(int)
    counts = [random.multinomial(length, weights[k]) for length, k in zip(lengths, target)]
    return Bunch(
        data=scipy.sparse.csr_matrix(np.array(counts, dtype=np.float64)),
        target=target,
        target_names=list(subjects),
        feature_names=words,
    )


def _read_idx(path: pathlib.Path) -> np.ndarray:
    """The bytes of an IDX file, mapped."""
    with open(path, "rb") as file:
        dimensions = file.read(4)[3]
        shape = np.frombuffer(file.read(4 * dimensions), ">u4")
    return np.memmap(path, np.uint8, "r", 4 + 4 * dimensions, tuple(int(size) for size in shape))


def load_mnist(folder: Optional[Any] = None, *, subset: str = "test", return_X_y: bool = False) -> Any:
    """MNIST as `make mnist` leaves it: uint8 images that are mapped, not read.

    Parameters
    ----------
    folder : path, optional
        Where the four files are; the environment's ARMILLA_MNIST, or ``build/mnist``, where not given.
    subset : {'test', 'train'}, default='test'
    return_X_y : bool, default=False

    Returns
    -------
    Bunch with `data` of shape (n_samples, 784) and `target`
    """
    place = pathlib.Path(os.fsdecode(folder) if folder is not None else os.environ.get("ARMILLA_MNIST", "build/mnist"))
    prefix = {"test": "t10k", "train": "train"}.get(subset)
    if prefix is None:
        raise ValueError(f"subset={subset!r} is neither 'test' nor 'train'")
    if not place.is_dir():
        raise FileNotFoundError(f"{place}: is not there; `make mnist` in Armilla's sources fetches MNIST into build/mnist")
    images = _read_idx(next(iter(sorted(place.glob(prefix + "-images*"))), place / (prefix + "-images-idx3-ubyte")))
    labels = _read_idx(next(iter(sorted(place.glob(prefix + "-labels*"))), place / (prefix + "-labels-idx1-ubyte")))
    data, target = images.reshape(len(images), -1), np.array(labels, np.int64)
    return (data, target) if return_X_y else Bunch(data=data, target=target)
