#!/usr/bin/env python3
"""armilla-mpi by one to four ranks: the bits of armilla on any number of threads, and one end for all ranks.

$ARMILLA and $ARMILLA_MPI are the commands, $MPIRUN the launcher of the second, $ARMILLA_INJECT the library that makes
system calls fail. Exit status 77 (skipped) where a command or NumPy is missing."""

import errno
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

from launch import ARMILLA, ENVIRONMENT, HAS_MPI, LAUNCH, PROGRAM, RANK, SECONDS, digest

if not HAS_MPI:
    sys.exit(77)

INJECT = os.environ.get("ARMILLA_INJECT", "")


def alone(*arguments):
    subprocess.run([ARMILLA, *map(str, arguments)], check=True, capture_output=True)


def together(ranks, *arguments, status=0, shell=None):
    """By so many ranks; where shell is given it runs first on each, with the program and its arguments as "$@"."""
    command = [PROGRAM, *map(str, arguments)]
    if shell:
        command = ["sh", "-c", shell, "sh", *command]
    done = subprocess.run([*LAUNCH, "-n", str(ranks), *command], capture_output=True, text=True, timeout=SECONDS,
                          env=ENVIRONMENT)
    assert status is None or done.returncode == status, f"{ranks} ranks, {arguments}: {done.returncode}\n{done.stderr}"
    return done


def make_data():
    random = np.random.default_rng(3)
    dense = random.random((2500, 30)).astype("f4")
    np.save("dense.npy", dense)
    np.save("bytes.npy", (200 * random.random((1500, 20))).astype("u1"))
    sparse = np.where(random.random((1500, 60)) < 0.1, random.integers(1, 9, (1500, 60)), 0)
    with open("sparse.mtx", "w", encoding="ascii") as file:
        rows, columns = np.nonzero(sparse)
        print("%%MatrixMarket matrix coordinate real general\n", *sparse.shape, len(rows), file=file)
        for row, column in zip(rows, columns):
            print(row + 1, column + 1, sparse[row, column], file=file)
    bad = dense.copy()
    bad[7, 3] = np.nan
    np.save("bad.npy", bad)
    save_csr("sparse.npz", sparse)
    save_csr("outside.npz", sparse, last=60)


def save_csr(path, dense, last=None):
    """As scipy.sparse.save_npz(path, csr, compressed=False); last: the last index, where it is to be wrong."""
    rows, columns = np.nonzero(dense)
    indices = columns.astype("i4")
    if last is not None:
        indices[-1] = last
    starts = np.searchsorted(rows, np.arange(len(dense) + 1)).astype("i4")
    np.savez(path, format=np.array(b"csr"), shape=np.array(dense.shape), data=dense[rows, columns].astype("f4"),
             indices=indices, indptr=starts)


FITS = [
    ["dense.npy", "--rank", 5, "--basis", "nonnegative", "--codes", "nonneg-sphere"],
    ["dense.npy", "--rank", 4, "--solver", "palm", "--start", "kmeans++", "--precision", "f64"],
    ["bytes.npy", "--rank", 4, "--codes", "sparse-sphere", "--sparsity", 2, "--center"],
    ["sparse.mtx", "--rank", 4, "--basis", "nonnegative", "--codes", "nonneg-sphere", "--tfidf", "--normalize", "l2"],
    ["sparse.mtx", "--rank", 4, "--total", "median", "--log1p", "--top-features", 9, "--center"],
    ["sparse.mtx", "--rank", 6, "--model", "kmeans"],
    ["sparse.npz", "--rank", 4, "--basis", "nonnegative", "--codes", "nonneg-sphere", "--normalize", "l2"],
    ["dense.npy", "--rank", 4, "--solver", "online", "--batch", 100],
    ["sparse.npz", "--rank", 4, "--solver", "online", "--batch", 60, "--precision", "f64"],
]


def test_fits():
    for number, options in enumerate(FITS):
        digests = []
        for threads in (1, 2, 3) if number < 5 else (2,):
            alone("fit", *options, "--max-iter", 8, "--threads", threads, "--out", "one.npz", "--force")
            digests.append(digest("one.npz"))
        for ranks in (1, 2, 3, 4) if number == 0 else (2 + number % 3,):
            together(ranks, "fit", *options, "--max-iter", 8, "--out", "many.npz", "--force", "--threads",
                     1 + number % 2)
            digests.append(digest("many.npz"))
        assert all(found == digests[0] for found in digests), f"{options}: {digests}"
        together(3, "check", "many.npz", options[0])


def test_other_commands():
    done = together(3, "fit", *FITS[0], "--max-iter", 5, "--out", "model.npz", "--json")
    assert '"ranks": 3' in done.stdout and done.stdout.count('"ranks"') == 1, done.stdout
    for name in ("codes.npy", "codes.csv"):
        alone("transform", "model.npz", "dense.npy", "--out", "one-" + name)
        together(2, "transform", "model.npz", "dense.npy", "--out", name)
        with open(name, "rb") as found, open("one-" + name, "rb") as wanted:
            assert found.read() == wanted.read(), name
    refused = together(2, "cluster", "sparse.mtx", "--k", 3, "--out", "many.txt", status=64)
    assert "one process" in refused.stderr and "kmeans" in refused.stderr, refused.stderr
    refused = together(2, "cluster", "sparse.mtx", "--k", 3, "--method", "smooth", "--out", "many.txt", status=64)
    assert "--method smooth is for one process" in refused.stderr, refused.stderr
    for extra in (["--method", "kmeans"], ["--on", "data"]):
        alone("cluster", "sparse.mtx", "--k", 3, "--out", "one.txt", "--force", *extra)
        together(3, "cluster", "sparse.mtx", "--k", 3, "--out", "many.txt", "--force", *extra)
        with open("one.txt", "rb") as found, open("many.txt", "rb") as wanted:
            assert found.read() == wanted.read(), f"clusters {extra}"
    assert together(2, "--version").stdout.count("armilla") == 1
    assert "6000" not in together(2, "info", "dense.npy").stdout


def complaints(done):
    return [line for line in done.stderr.splitlines() if line.startswith("armilla:")]


def test_one_rank_ends_all():
    other = f'if [ "{RANK}" = 1 ]; then set -- "$1" fit %s --rank 3 --out x.npz; fi; exec "$@"'
    # The first several times: a launcher may send TERM to ranks that end a moment after the first one.
    for file, status, says in 5 * [("missing.npy", 66, "missing.npy")] + [
            ("bad.npy", 65, None), ("bytes.npy", 64, "different"), ("outside.npz", 65, "has the index 60")]:
        shell = other % file if file not in ("bad.npy", "outside.npz") else None
        done = together(3, "fit", file if not shell else "dense.npy", "--rank", 3, "--out", "x.npz", status=None,
                        shell=shell)
        lines = complaints(done)
        assert done.returncode == status and len(lines) == 1, f"{file}: {done.returncode} {done.stderr}"
        assert not says or says in lines[0], lines
        assert not os.path.exists("x.npz"), file


def test_ranks_with_other_options():
    other = f'if [ "{RANK}" = 1 ]; then set -- "$1" %s; fi; exec "$@"'
    for words in ("fit dense.npy --rank 3 --dry-run", "fit dense.npy --rank 3 --json", "info dense.npy", "fit --help"):
        done = together(3, "fit", "dense.npy", "--rank", 3, "--max-iter", 2, status=64, shell=other % words)
        assert len(complaints(done)) == 1 and "rank 1 was given another" in complaints(done)[0], done.stderr
    together(2, "fit", "dense.npy", "--rank", 3, "--max-iter", 2, shell=other % "fit dense.npy --max-iter=2 --rank 3 --quiet")
    done = together(2, "fit", "dense.npy", "--rank", 3, "--kernel", "auto", status=None,
                    shell=other % "fit dense.npy --rank 3 --kernel portable --seed 1")
    assert done.returncode == 64 and len(complaints(done)) == 1, f"{done.returncode} {done.stderr}"


def test_no_memory():
    done = together(2, "fit", "dense.npy", "--rank", 20, "--out", "x.npz", status=None,
                    shell=f'if [ "{RANK}" = 1 ]; then exec "$@" --memory 50K; fi; exec "$@"')
    assert done.returncode == 71 and len(complaints(done)) == 1, f"{done.returncode} {done.stderr}"


def test_full_disk():
    """Every write of a model fails in turn, on whichever rank it is: by tests/fault/inject.c, because a limit of the system
    on the sizes of files is one on the launcher's shared memory too."""
    if not INJECT:
        return
    fit = ["fit", "dense.npy", "--rank", 20, "--max-iter", 2, "--out", "x.npz"]
    preload = f'export LD_PRELOAD="{INJECT}" ARMILLA_FAULT_LOG="log-{RANK}"; exec "$@"'
    together(3, *fit, shell=preload)
    os.remove("x.npz")
    writes = []
    for rank in range(3):
        with open(f"log-{rank}", encoding="utf-8") as file:
            writes += [(rank, at) for at, line in enumerate(file) if line.startswith("write ")]
    assert writes, "no rank has written anything"
    for rank, at in writes[:2] + writes[-2:]:
        fault = f'export LD_PRELOAD="{INJECT}" ARMILLA_FAULT={errno.ENOSPC} ARMILLA_FAULT_AT={at}'
        done = together(3, *fit, status=None, shell=f'if [ "{RANK}" = {rank} ]; then {fault}; fi; exec "$@"')
        lines = complaints(done)
        assert done.returncode == 74 and len(lines) == 1, f"{rank} {at}: {done.returncode} {done.stderr}"
        assert os.strerror(errno.ENOSPC) in lines[0] and "x.npz" in lines[0], lines
        assert not os.path.exists("x.npz") and not [name for name in os.listdir() if name.startswith(".")], os.listdir()


def test_killed_rank():
    shell = f'if [ "{RANK}" = 1 ]; then (sleep 1; kill -9 $$) & fi; exec "$@"'
    done = together(3, "fit", "dense.npy", "--rank", 20, "--max-iter", 1000000, "--tol", 0, "--out", "x.npz",
                    status=None, shell=shell)
    assert done.returncode != 0 and not os.path.exists("x.npz"), done.stderr


def test_signalled_rank():
    shell = f'if [ "{RANK}" = 1 ]; then (sleep 2; kill -TERM $$) & fi; exec "$@"'
    done = together(3, "fit", "dense.npy", "--rank", 5, "--max-iter", 1000000, "--tol", 0, "--out", "kept.npz",
                    status=None, shell=shell)
    assert done.returncode == 143 and os.path.exists("kept.npz"), f"{done.returncode} {done.stderr}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_data()
        for test in (test_fits, test_other_commands, test_one_rank_ends_all, test_ranks_with_other_options,
                     test_no_memory, test_full_disk, test_killed_rank, test_signalled_rank):
            test()
        os.chdir("/")


main()
