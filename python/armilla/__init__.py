"""Matrix factorization on the sphere: scikit-learn's estimators, NumPy and AnnData on the C library of Armilla.

>>> import armilla
>>> X, _ = armilla.datasets.load_digits(return_X_y=True)
>>> codes = armilla.SphericalNMF(10, random_state=0).fit_transform(X)
>>> labels = armilla.SphericalKMeans(10, random_state=0).fit_predict(X)
"""

from . import _requirements  # before what needs them
from . import datasets
from ._clusters import AutoCluster, SphericalKMeans
from ._factorization import SphericalFactorization, SphericalNMF, SphericalPCA
from ._fit import fit
from ._library import InterruptedFitWarning, TraceEntry, __version__
from ._model import Model, load, save
from ._neighbors import neighbors
from ._tables import tables

__all__ = [
    "AutoCluster",
    "InterruptedFitWarning",
    "Model",
    "SphericalFactorization",
    "SphericalKMeans",
    "SphericalNMF",
    "SphericalPCA",
    "TraceEntry",
    "__version__",
    "datasets",
    "fit",
    "load",
    "neighbors",
    "save",
    "tables",
]
