"""Constructors of the estimators, for type checkers. Written by scripts/signatures.py; a test compares them."""

from typing import Any, Callable, Optional, Union

from ._library import TraceEntry


class SphericalFactorizationSignature:
    def __init__(
        self,
        n_components: int = 2,
        *,
        model: Optional[str] = None,
        basis: Optional[str] = 'orthonormal',
        codes: Optional[str] = 'sphere',
        sparsity: Optional[int] = None,
        radius: Union[float, str] = 'auto',
        solver: str = 'fast',
        lam: Union[float, str] = '1x',
        mu: Union[float, str] = '1x',
        batch: Optional[int] = None,
        init: Any = None,
        random_state: Any = None,
        n_restarts: int = 1,
        max_iter: int = 500,
        tol: float = 1e-06,
        time_limit: Optional[Union[float, str]] = None,
        precision: Optional[str] = None,
        n_jobs: Optional[int] = None,
        kernel: str = 'auto',
        normalize: Optional[str] = 'none',
        center: bool = False,
        tfidf: bool = False,
        idf: str = 'smooth',
        log1p: bool = False,
        scale: bool = False,
        warm_start: bool = False,
        callback: Optional[Callable[[TraceEntry], Any]] = None,
        verbose: int = 0,
    ) -> None: ...


class SphericalPCASignature:
    def __init__(
        self,
        n_components: int = 2,
        *,
        radius: Union[float, str] = 'auto',
        solver: str = 'fast',
        lam: Union[float, str] = '1x',
        mu: Union[float, str] = '1x',
        batch: Optional[int] = None,
        init: Any = None,
        random_state: Any = None,
        n_restarts: int = 1,
        max_iter: int = 500,
        tol: float = 1e-06,
        time_limit: Optional[Union[float, str]] = None,
        precision: Optional[str] = None,
        n_jobs: Optional[int] = None,
        kernel: str = 'auto',
        normalize: Optional[str] = 'none',
        center: bool = False,
        tfidf: bool = False,
        idf: str = 'smooth',
        log1p: bool = False,
        scale: bool = False,
        warm_start: bool = False,
        callback: Optional[Callable[[TraceEntry], Any]] = None,
        verbose: int = 0,
    ) -> None: ...


class SphericalNMFSignature:
    def __init__(
        self,
        n_components: int = 2,
        *,
        radius: Union[float, str] = 'auto',
        solver: str = 'fast',
        lam: Union[float, str] = '1x',
        mu: Union[float, str] = '1x',
        batch: Optional[int] = None,
        init: Any = None,
        random_state: Any = None,
        n_restarts: int = 1,
        max_iter: int = 500,
        tol: float = 1e-06,
        time_limit: Optional[Union[float, str]] = None,
        precision: Optional[str] = None,
        n_jobs: Optional[int] = None,
        kernel: str = 'auto',
        normalize: Optional[str] = 'none',
        center: bool = False,
        tfidf: bool = False,
        idf: str = 'smooth',
        log1p: bool = False,
        scale: bool = False,
        warm_start: bool = False,
        callback: Optional[Callable[[TraceEntry], Any]] = None,
        verbose: int = 0,
    ) -> None: ...


class SphericalKMeansSignature:
    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: str = 'fast',
        batch: Optional[int] = None,
        init: Any = None,
        random_state: Any = None,
        n_init: Union[int, str] = 1,
        max_iter: int = 300,
        tol: float = 1e-06,
        time_limit: Optional[Union[float, str]] = None,
        precision: Optional[str] = None,
        n_jobs: Optional[int] = None,
        kernel: str = 'auto',
        center: bool = False,
        tfidf: bool = False,
        idf: str = 'smooth',
        log1p: bool = False,
        scale: bool = False,
        warm_start: bool = False,
        callback: Optional[Callable[[TraceEntry], Any]] = None,
        verbose: int = 0,
    ) -> None: ...


class AutoClusterSignature:
    def __init__(
        self,
        n_clusters: Optional[int] = 8,
        *,
        method: Optional[str] = None,
        n_init: int = 10,
        cluster_max_iter: int = 300,
        n_components: Optional[int] = None,
        solver: str = 'fast',
        batch: Optional[int] = None,
        random_state: Any = None,
        n_restarts: int = 1,
        max_iter: int = 500,
        tol: float = 1e-06,
        time_limit: Optional[Union[float, str]] = None,
        precision: Optional[str] = None,
        n_jobs: Optional[int] = None,
        kernel: str = 'auto',
        callback: Optional[Callable[[TraceEntry], Any]] = None,
        verbose: int = 0,
    ) -> None: ...
