"""Interrupts, threads, processes and leaks: what a long-lived program needs of the binding."""

import concurrent.futures
import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
import weakref

import joblib
import numpy as np
import pytest
from conftest import FEW, make_data

import armilla
from armilla import _library
from armilla._library import Context, lib

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::sklearn.exceptions.ConvergenceWarning")


def threads_now():
    return len(os.listdir("/proc/self/task"))


class InterruptLater:
    """A callback that lets another thread press Ctrl-C when the fit has come to an iteration."""

    def __init__(self, iteration):
        self._iteration, self._there = iteration, threading.Event()
        threading.Thread(target=self._press, daemon=True).start()

    def _press(self):
        self._there.wait()
        os.kill(os.getpid(), signal.SIGINT)

    def __call__(self, entry):
        if entry.iteration == self._iteration:
            self._there.set()


def slow_fit(**options):
    X = np.random.default_rng(0).random((4000, 60))
    return armilla.SphericalFactorization(12, model="nmf", max_iter=10**9, tol=0, random_state=0, n_jobs=2, **options).fit(X)


def test_interrupt_returns_the_best_so_far():
    slow_fit(time_limit=0.05)  # everything is loaded
    before = threads_now()
    with pytest.warns(armilla.InterruptedFitWarning, match="best so far"):
        estimator = slow_fit(callback=InterruptLater(3))
    assert estimator.model_.info["stop"] == "interrupted" and estimator.n_iter_ >= 3
    assert estimator.model_.check(np.random.default_rng(0).random((4000, 60))).passed
    time.sleep(0.2)
    assert threads_now() <= before
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_interrupt_with_another_handler():
    """A handler that raises, as notebooks have it: the exception comes up inside a callback, and ends the fit."""

    def handler(*_):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.warns(armilla.InterruptedFitWarning):
            estimator = slow_fit(callback=InterruptLater(2))
        assert estimator.model_.info["stop"] == "interrupted"
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, old)


def test_interrupt_of_calls_without_a_result():
    """What has nothing to return raises KeyboardInterrupt."""
    X = np.random.default_rng(0).random((60000, 60))
    model = armilla.fit(X[:500], 8, model="nmf", max_iter=5)
    model.transform(X)
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        for _ in range(10000):
            model.transform(X)


def test_no_interrupt_is_lost():
    """Also one that comes in the middle of a call too short to be asked."""

    def short_call(context):
        os.kill(os.getpid(), signal.SIGINT)
        return lib.ARMILLA_OK

    with pytest.raises(KeyboardInterrupt):
        Context().call(short_call)


def test_interrupt_of_a_fit_in_a_callback():
    """Ctrl-C ends the fit that runs inside, and the one around it."""
    inner = []

    def callback(entry):
        if entry.iteration == 1:
            inner.append(slow_fit(time_limit=30, callback=InterruptLater(2)).model_)

    begun = time.monotonic()
    with pytest.warns(armilla.InterruptedFitWarning):
        outer = slow_fit(time_limit=30, callback=callback).model_
    assert time.monotonic() - begun < 20 and [model.info["stop"] for model in (*inner, outer)] == ["interrupted"] * 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler and not _library._running


def test_callback_interrupts():
    def callback(entry):
        if entry.iteration == 3:
            raise KeyboardInterrupt

    with pytest.warns(armilla.InterruptedFitWarning):
        model = armilla.fit(make_data("f64"), 3, model="nmf", callback=callback)
    assert model.info["stop"] == "interrupted" and model.info["iterations"] == 3


def test_the_gil_is_released():
    done = threading.Event()

    def fit():
        slow_fit(time_limit=0.6)
        done.set()

    worker = threading.Thread(target=fit)
    steps = 0
    worker.start()
    while not done.is_set():
        time.sleep(0.005)
        steps += 1
    worker.join()
    assert steps >= 5  # none, were it held


def test_many_threads_at_once():
    X = make_data("f64", 300)
    expected = [armilla.SphericalNMF(3, random_state=seed).fit(X).model_.U.tobytes() for seed in range(4)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: armilla.SphericalNMF(3, random_state=seed % 4).fit(X).model_.U.tobytes(), range(24)))
        assert found == expected * 6
        # One fitted estimator, used by all.
        estimator = armilla.SphericalNMF(3, random_state=0).fit(X)
        codes = list(pool.map(estimator.transform, [X[k:] for k in range(16)]))
        with pytest.raises(ValueError, match="expecting 11 features"):
            list(pool.map(estimator.transform, [X[:, :3]] * 4))
    assert all(np.array_equal(part, estimator.codes_[k:]) for k, part in enumerate(codes))


def fit_bits(seed):
    return armilla.SphericalNMF(3, random_state=seed).fit(make_data("f64", 300)).model_.U.tobytes()


def transform_bits(estimator):
    return estimator.transform(make_data("f64", 300)).tobytes()


@pytest.mark.skipif(FEW, reason="processes are slow under a sanitizer")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    expected = [fit_bits(seed) for seed in range(3)]
    estimator = armilla.SphericalNMF(3, random_state=1).fit(make_data("f64", 300))
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(fit_bits, range(3)) == expected
        assert pool.map(transform_bits, [estimator] * 2) == [transform_bits(estimator)] * 2


def test_fork_with_a_model():
    """A child goes on with what its parent has."""
    X = make_data("f64", 300)
    estimator = armilla.SphericalNMF(3, random_state=0).fit(X)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(estimator.transform(X), estimator.codes_) and fit_bits(0) == estimator.model_.U.tobytes() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(estimator.transform(X), estimator.codes_)


@pytest.mark.skipif(FEW, reason="processes are slow under a sanitizer")
def test_joblib(tmp_path):
    expected = [fit_bits(seed) for seed in range(3)]
    for prefer in ("threads", "processes"):
        assert joblib.Parallel(2, prefer=prefer)(joblib.delayed(fit_bits)(seed) for seed in range(3)) == expected
    estimator = armilla.AutoCluster(3, random_state=0).fit(make_data("f64"))
    joblib.dump(estimator, tmp_path / "auto.joblib")
    assert np.array_equal(joblib.load(tmp_path / "auto.joblib").predict(make_data("f64")), estimator.labels_)


def test_pickle_across_processes(tmp_path):
    estimator = armilla.SphericalPCA(3, random_state=0).fit(make_data("f32"))
    (tmp_path / "e").write_bytes(pickle.dumps(estimator))
    np.save(tmp_path / "X.npy", make_data("f32"))
    script = "import pickle, sys, numpy; e = pickle.load(open('e', 'rb')); sys.exit(not numpy.array_equal(e.transform(numpy.load('X.npy')), e.codes_))"
    assert subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=False).returncode == 0


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(FEW, reason="freed memory stays resident in a sanitizer's quarantine")
def test_a_thousand_fits_leak_nothing():
    X = make_data("f64", 200)

    def work(count):
        for k in range(count):
            estimator = armilla.SphericalNMF(3, random_state=k, max_iter=5).fit(X)
            estimator.transform(X)
            pickle.loads(pickle.dumps(estimator))
            with pytest.raises(ValueError):
                armilla.fit(X, 100)
        gc.collect()

    work(100)
    before = resident()
    work(500)
    half = resident()
    work(500)
    # What the first half still took (arenas, caches) the second does not.
    assert resident() - half < 2 * 2**20 and half - before < 16 * 2**20


@pytest.mark.skipif(FEW, reason="freed memory stays resident in a sanitizer's quarantine")
def test_what_raises_after_a_fit_leaks_nothing():
    """The model is there when a callback raises, a warning is an error, or Ctrl-C comes right after the call."""
    X = make_data("f64", 20000, 4)  # 320 kB of codes

    def raising(entry):
        if entry.iteration == 1:
            raise LookupError("of the callback")

    def work(count):
        for _ in range(count):
            with pytest.raises(LookupError):
                armilla.fit(X, 2, max_iter=1, threads=1, callback=raising)
            with warnings.catch_warnings(), pytest.raises(RuntimeWarning):
                warnings.simplefilter("error")
                armilla.fit(X, 2, max_iter=1, threads=1)
            with warnings.catch_warnings(), pytest.raises(Warning):
                warnings.simplefilter("error")
                armilla.SphericalNMF(2, max_iter=1, n_jobs=1, normalize="l2").fit(X)
        gc.collect()

    work(5)
    before = resident()
    work(25)
    assert resident() - before < 8 * 2**20


def test_a_raising_callback_keeps_nothing_and_says_where():
    class Watched(np.ndarray):
        pass

    def raising(entry):
        raise LookupError("of the callback")

    X = make_data("f64").view(Watched)
    gone = weakref.ref(X)
    gc.disable()
    try:
        with pytest.raises(LookupError) as caught:
            armilla.fit(X, 2, callback=raising)
        assert "in raising" in "".join(traceback.format_tb(caught.tb))
        caught.value.__traceback__ = None
        del X, caught
        assert gone() is None
    finally:
        gc.enable()


def test_interrupt_of_a_clustering():
    """After Ctrl-C in the fit there is one try of the clustering, which ends at once, and one warning."""
    X = np.random.default_rng(0).random((4000, 60))
    auto = armilla.AutoCluster(8, n_components=12, max_iter=10**9, tol=0, n_init=10**6, cluster_max_iter=10**9, random_state=0, callback=InterruptLater(2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", armilla.InterruptedFitWarning)
        begun = time.monotonic()
        auto.fit(X)
    assert time.monotonic() - begun < 20 and auto.labels_.shape == (4000,)
    assert sum(issubclass(entry.category, armilla.InterruptedFitWarning) for entry in caught) == 1


def test_contexts_are_freed_in_any_order():
    for _ in range(4):
        context = Context()
        model = armilla.fit(make_data("f64"), 2, max_iter=1)
        cycle = [context, model, model.U, armilla._data.wrap(context, make_data("f64"))]
        cycle.append(cycle)
        del cycle, context, model
        gc.collect()


def test_declarations_are_those_of_the_headers():
    """Every function that the library exports is in the binding."""
    root = os.environ.get("ARMILLA_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
    exported = [line.strip(" ;\n") for line in open(os.path.join(root, "cmake", "exports.map")) if line.strip().startswith("armilla_")]
    missing = [name for name in exported if name.endswith(tuple("abcdefghijklmnopqrstuvwxyz")) and not hasattr(lib, name)]
    assert missing == ["armilla_output_print"]
