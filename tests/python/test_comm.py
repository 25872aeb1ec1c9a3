"""comm=: fits by several processes of MPI have the bits of one, and what one rank raises, all raise.

Each test runs this file by mpirun, as `test_comm.py NAME FOLDER`; they are skipped where mpirun or mpi4py is missing."""

import importlib.util
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse

import armilla

SECONDS = 120  # after which a rank hangs


def problems(folder):
    """Data, rank and options: arrays, memory-mapped and sparse ones, and paths."""
    rng = np.random.default_rng(5)
    dense = rng.random((2300, 24)).astype("f4")
    sparse = scipy.sparse.random(1500, 60, 0.1, "csr", np.float64, random_state=7)
    if not os.path.exists(folder / "sparse.npz"):
        np.save(folder / "dense.npy", dense)
        scipy.sparse.save_npz(folder / "sparse.npz", sparse, compressed=False)
    return [
        (dense, 4, {"model": "spherical-nmf", "max_iter": 6}),
        (np.load(folder / "dense.npy", mmap_mode="r"), 5, {"center": True, "max_iter": 5, "precision": "f64"}),
        (sparse, 3, {"model": "spherical-nmf", "tfidf": True, "normalize": "l2", "max_iter": 5}),
        (str(folder / "sparse.npz"), 4, {"solver": "online", "batch": 100, "max_iter": 2}),
        (str(folder / "dense.npy"), 4, {"start": "kmeans++", "restarts": 3, "max_iter": 4}),
    ]


def by_ranks_fit(comm, folder):
    own = []
    for X, rank, options in problems(folder):
        one = armilla.fit(X, rank, **options)
        many = armilla.fit(X, rank, comm=comm, **options)
        assert many.U.tobytes() == one.U.tobytes() and many.radius == one.radius
        assert np.array_equal(many.trace["objective"], one.trace["objective"])
        assert many.codes.tobytes() == one.codes[many.own_samples.start : many.own_samples.stop].tobytes()
        assert many.check(X).passed and many.info["ranks"] == comm.Get_size()
        whole = many.gather()
        assert (whole is not None) == (comm.Get_rank() == 0)
        assert whole is None or whole.codes.tobytes() == one.codes.tobytes()
        own.append(many.own_samples)
        path = folder / "many.npz"
        many.save(path, overwrite=True)
        comm.Barrier()
        assert armilla.load(path).codes.tobytes() == one.codes.tobytes()
        comm.Barrier()
    shares = comm.allgather(own)
    for k, count in enumerate((2300, 2300, 1500, 1500, 2300)):
        assert [j for share in shares for j in share[k]] == list(range(count))


def by_ranks_estimators(comm, folder):
    X = problems(folder)[0][0]
    for make in (armilla.SphericalFactorization, armilla.SphericalPCA, armilla.SphericalNMF):
        one, many = make(3, random_state=2, max_iter=5).fit(X), make(3, random_state=2, max_iter=5).fit(X, comm=comm)
        assert np.array_equal(one.components_, many.components_) and one.radius_ == many.radius_
        own = many.model_.own_samples
        assert np.array_equal(one.codes_[own.start : own.stop], many.codes_)
        assert np.array_equal(one.transform(X[:50]), many.transform(X[:50]))
    # No seed: all ranks take that of the first.
    drawn = armilla.SphericalKMeans(4, init="random").fit(X, comm=comm)
    assert len({part.tobytes() for part in comm.allgather(drawn.cluster_centers_)}) == 1
    assert sum(comm.allgather(len(drawn.labels_))) == len(X)
    warm = armilla.SphericalPCA(3, random_state=1, warm_start=True, max_iter=3).fit(X, comm=comm).fit(X, comm=comm)
    assert warm.fit(X).model_.comm is None  # by one: from the basis
    with pytest.raises(TypeError):
        armilla.AutoCluster(3).fit(X, comm=comm)


def by_ranks_what_needs_all(comm, folder):
    X = problems(folder)[0][0]
    model = armilla.fit(X, 3, max_iter=2, comm=comm)
    estimator = armilla.SphericalPCA(3, max_iter=2).fit(X, comm=comm)
    for use in (model.to_bytes, lambda: model.cluster(3), lambda: pickle.dumps(model), lambda: estimator.partial_fit(X)):
        with pytest.raises(ValueError, match=r"gather\(\)"):
            use()
    whole = model.gather()
    if whole is not None:
        assert whole.cluster(3).shape == (len(X),) and len(pickle.dumps(whole)) > 0
        assert whole.gather() is whole


def by_ranks_errors(comm, folder):
    X, last = problems(folder)[0][0], comm.Get_rank() == comm.Get_size() - 1
    bad = X.copy()
    bad[-1, 3] = np.nan
    for make, kind, says in (
        (lambda: armilla.fit(str(folder / "nowhere.npy") if last else X, 3, comm=comm), OSError, "nowhere.npy"),
        (lambda: armilla.fit(bad if last else X, 3, comm=comm), ValueError, "NaN"),
        (lambda: armilla.fit(X, 4 if last else 3, comm=comm), ValueError, "different"),
        (lambda: armilla.SphericalNMF(3).fit(-X if last else X, comm=comm), ValueError, "Negative values"),
        (lambda: armilla.SphericalNMF(3).fit(bad, comm=comm), ValueError, "NaN"),
    ):
        with pytest.raises(kind, match=says):
            make()
    with pytest.raises(TypeError, match="no communicator"):
        armilla.fit(X, 3, comm="world")
    model = armilla.fit(X, 3, max_iter=2, comm=comm)
    with pytest.raises(OSError):
        model.save(folder / "no folder" / "x.npz")

    def fails(entry):
        if last and entry.iteration == 2:
            raise LookupError("of the last rank")

    if last:
        with pytest.raises(LookupError):
            armilla.fit(X, 3, tol=0, max_iter=50, callback=fails, comm=comm)
    else:
        ended = armilla.fit(X, 3, tol=0, max_iter=50, callback=fails, comm=comm)
        assert ended.info["stop"] == "interrupted" and ended.info["iterations"] == 2


class Broken:
    """A communicator whose messages no longer arrive after some."""

    def __init__(self, comm, left):
        self._comm, self._left = comm, left

    def __getattr__(self, name):
        return getattr(self._comm, name)

    def Dup(self):
        return self

    def Free(self):
        pass

    def _count(self):
        self._left -= 1
        if self._left < 0:
            raise RuntimeError("the cable is out")

    def Send(self, *arguments, **others):
        self._count()
        self._comm.Send(*arguments, **others)

    def Recv(self, *arguments, **others):
        self._count()
        self._comm.Recv(*arguments, **others)


def by_ranks_lost_messages(comm, folder):
    """Both ends of a broken connection raise, with the reason."""
    X = problems(folder)[0][0]
    with pytest.raises(OSError, match="cannot be reached") as found:
        armilla.fit(X, 3, comm=Broken(comm, 0))
    assert "cable" in str(found.value.__cause__)


@pytest.mark.parametrize("ranks, name", [(2, "fit"), (3, "estimators"), (2, "what_needs_all"), (3, "errors"), (2, "lost_messages")])
def test_by_ranks(ranks, name, tmp_path):
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("a sanitizer would show the leaks of MPI")
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("there is no mpi4py")
    launcher = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if launcher is None:
        pytest.skip("there is no mpirun")
    problems(tmp_path)
    environment = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe="1", OMP_NUM_THREADS="1")
    environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = [launcher, "-n", str(ranks), sys.executable, "-m", "mpi4py", __file__, name, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment)
    assert done.returncode == 0 and done.stdout.count("done") == ranks, done.stdout + done.stderr


def test_mpi4py_is_not_imported():
    """Nor needed, where there is no communicator."""
    code = "import sys, armilla; armilla.fit([[1.0, 2.0], [3.0, 4.0]], 1, comm=None); assert 'mpi4py' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    from mpi4py import MPI

    warnings.simplefilter("ignore")
    globals()["by_ranks_" + sys.argv[1]](MPI.COMM_WORLD, pathlib.Path(sys.argv[2]))
    sys.stdout.write("done\n")
